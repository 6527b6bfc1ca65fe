# Two commands matter: `make demo` and `make test`. Each sets everything up on a fresh machine.
VENV := .venv
BIN := $(VENV)/bin
STUDIO := .venv-studio
export OPENBLAS_NUM_THREADS := 1
# Dozens of processes start in a test run: each would compile every module again without this.
export PYTHONDONTWRITEBYTECODE :=
export LANGSMITH_TRACING ?= false
# The prompt travels through the environment, so that neither make nor the shell reads the words.
PROMPT ?= a trick-taking game for three players where taking hearts costs points and the last trick counts double
override PROMPT := $(value PROMPT)
export PROMPT

# A home with a built store, which tests copy instead of building one each.
TEST_HOME := .test-home
export TEST_HOME
# The seconds of each test of the last run.
TIMES := .test-times.xml

.PHONY: demo serve test test-browser whole check setup studio suite slow clean test-home screenshots

demo: setup
	@$(BIN)/rulewright new --quick -- "$$PROMPT"

# The page in the browser: it prints its address, and Ctrl-C ends it.
serve: setup
	@$(BIN)/rulewright serve

# What waits for a server or needs one core runs beside the rest.
test: setup
	@$(MAKE) --no-print-directory -j3 --output-sync=line check studio suite

# Two processes more than two cores: tests wait for processes of their own.
TESTS := $(BIN)/python -m pytest -p xdist.plugin -n 4 --dist loadfile --no-loadscope-reorder

suite: test-home
	$(TESTS)

# The page in a real browser: the system's Chromium, which is installed where it may be.
test-browser: setup
	./scripts/browser.sh $(VENV)
	@[ -d $(TEST_HOME) ] || $(MAKE) --no-print-directory test-home
	$(BIN)/python -m pytest -q -m browser -p no:cacheprovider tests/browser

# The pictures in the documents and in the gallery.
screenshots: setup
	./scripts/browser.sh $(VENV)
	$(BIN)/python -m scripts.screenshots

# All tests, those too of which the suite runs a sample.
whole: test-home
	$(TESTS) -m "not browser" --junitxml $(TIMES)

# The list of slow tests, from the last run of `make whole`.
slow:
	$(BIN)/python -m scripts.slow $(TIMES)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -m "" -p no:cacheprovider tests/test_house.py

setup: $(VENV)/.ready

$(VENV)/.ready: requirements.lock requirements-learn.lock requirements-embeddings.lock requirements-uv.lock pyproject.toml
	./scripts/setup.sh $(VENV) requirements.lock
	@touch $@

test-home: setup
	@rm -rf $(TEST_HOME)
	RULEWRIGHT_HOME=$(TEST_HOME) $(BIN)/python -m app.cli index

studio: $(STUDIO)/.ready test-home
	$(STUDIO)/bin/python -m pytest -m studio -p no:cacheprovider tests/studio

$(STUDIO)/.ready: requirements-studio.lock requirements-embeddings.lock requirements-uv.lock pyproject.toml
	./scripts/setup.sh $(STUDIO) requirements-studio.lock
	@touch $@

clean:
	rm -rf $(VENV) $(STUDIO) $(TEST_HOME) $(TIMES)
