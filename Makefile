# Two commands matter: `make demo` and `make test`. Each sets everything up on a fresh machine.
VENV := .venv
BIN := $(VENV)/bin
STUDIO := .venv-studio
export OPENBLAS_NUM_THREADS := 1
# Dozens of processes start in a test run: each would compile every module again without this.
export PYTHONDONTWRITEBYTECODE :=
export LANGSMITH_TRACING ?= false
# The prompt travels through the environment, unexpanded: neither make nor a shell reads the words.
PROMPT ?= a trick-taking game for three players where taking hearts costs points and the last trick counts double
override PROMPT := $(value PROMPT)
export PROMPT

.PHONY: demo test check setup studio clean

demo: setup
	@$(BIN)/python scripts/demo.py

test: setup check
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	$(MAKE) studio

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: $(VENV)/.ready

$(VENV)/.ready: requirements.lock requirements-embeddings.lock requirements-uv.lock pyproject.toml
	./scripts/setup.sh $(VENV) requirements.lock
	@touch $@

studio: $(STUDIO)/.ready
	$(STUDIO)/bin/python -m pytest -m studio -p no:cacheprovider tests/studio

$(STUDIO)/.ready: requirements-studio.lock requirements-embeddings.lock requirements-uv.lock pyproject.toml
	./scripts/setup.sh $(STUDIO) requirements-studio.lock
	@touch $@

clean:
	rm -rf $(VENV) $(STUDIO)
