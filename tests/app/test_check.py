"""`check` on modules that are broken in every way a module can be."""

import os
from pathlib import Path

import pytest

from tests.app.conftest import Command
from tests.games.checks.test_checks import SOUND


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return tmp_path / "game.py"


def test_a_sound_module_passes(command: Command, module: Path) -> None:
    module.write_text(SOUND)
    done = command("check", module, "--json")
    assert (done.code, done.json["outcome"]) == (0, "passed")
    assert done.json["sandbox"]["name"] != "none"
    assert done.json["players"] == 2
    assert "game.py: passed (2 players, defaults; " in command("check", module).out


@pytest.mark.parametrize(
    ("hints", "code", "told"),
    [
        ('{"fields": {"pot": {"as": "track"}}}', 0, "passed           presentation"),
        ("[1]", 1, "PRESENTATION is no dict"),
        ('{"colors": {}}', 1, "did you mean 'colours'?"),
    ],
)
def test_hints_for_a_drawing_are_checked(
    command: Command, module: Path, hints: str, code: int, told: str
) -> None:
    module.write_text(f"{SOUND}\n\nPRESENTATION = {hints}\n")
    done = command("check", module)
    assert done.code == code
    assert told in done.out


def test_a_module_that_plays_otherwise_in_counted_matches_fails(command: Command) -> None:
    """It is sound to whoever asks for what players see, which counted matches do not."""
    module = Path(__file__).parents[2] / "evals/sandbox/forgeries/lean_only.py"
    done = command("check", module, "--json")
    failed = [f["check"] for f in done.json["findings"] if f["outcome"] != "passed"]
    assert (done.code, failed) == (1, ["play"])


def test_a_library_name_passes(command: Command) -> None:
    assert command("check", "tic_tac_toe").code == 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("def get_rewards(state):", "def get_rewards(state:", "line "),
        ("def get_events", "def no_events", "does not define get_events"),
        ("    total = float(", "    while True: pass\n    total = float(", "timed_out"),
        ("    total = float(", "    x = [0] * 10**11\n    total = float(", "out_of_memory"),
        ('return ["bid 1", "bid 2"]', 'return {"bid 1", "bid 2"}', "set"),
    ],
    ids=["no python", "a function is missing", "loops for ever", "eats memory", "returns a set"],
)
def test_what_is_wrong_is_named(
    command: Command, module: Path, old: str, new: str, words: str
) -> None:
    assert SOUND.count(old) == 1
    module.write_text(SOUND.replace(old, new))
    done = command("check", module)
    assert done.code == 1
    assert words in done.out
    assert "Traceback" not in done.out + done.err


def test_the_line_of_a_fault_is_named(command: Command, module: Path) -> None:
    source = SOUND.replace("    total = float(", "    while True: pass\n    total = float(")
    module.write_text(source)
    line = 1 + source[: source.index("while True")].count("\n")
    found = [f for f in command("check", module, "--json").json["findings"] if f["line"]]
    assert {f["line"] for f in found} == {line}


def test_a_module_that_prints_a_gigabyte_does_not_fill_ours(command: Command, module: Path) -> None:
    module.write_text(SOUND + "\nfor _ in range(1000):\n    print('x' * 1_000_000)\n")
    done = command("check", module, "--json")
    assert len(done.out) < 200_000


def test_a_run_is_checked_by_its_name(command: Command) -> None:
    run = Path(os.environ["RULEWRIGHT_RUNS"]) / "checked-run"
    run.mkdir()
    assert "there is no" in command("check", "checked-run").err  # the run has no game yet
    (run / "game.py").write_text(SOUND)
    assert command("check", "checked-run").code == 0


def test_a_file_that_is_not_there_is_an_error_with_the_library(command: Command) -> None:
    done = command("check", "no_such_game")
    assert done.code == 2
    assert "tic_tac_toe" in done.err


def test_a_file_that_is_no_text_is_refused(command: Command, module: Path) -> None:
    module.write_bytes(b"\xff\xfe\x00")
    done = command("check", module)
    assert (done.code, "UTF-8" in done.err) == (2, True)
