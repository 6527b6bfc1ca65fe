"""The main job as a person types it: from a prompt to a folder, and back after a break."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.app.conftest import Command, Outcome, Started, wait_for
from tests.processes import PATIENCE_S

DISCS = (
    "a game for two players where discs fall and three in a row wins, on a board of four rows and "
    "five columns"
)
FILES = ("rulebook.md", "game.py", "design.json", "checks.json", "players", "records",
         "report.html", "run.json", "trace.jsonl")  # fmt: skip


def same_every_time(folder: Path) -> dict[str, bytes]:
    """The files of a run that depend on nothing but the prompt and the seed."""
    files = [folder / "game.py", folder / "rulebook.md", folder / "design.json"]
    files += [*folder.glob("records/*"), *folder.glob("players/*")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(autouse=True)
def _lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    """These runs fit heuristics too."""
    monkeypatch.setenv("LESSONS", "200")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "discs"


@pytest.fixture(scope="module")
def results() -> dict[str, Outcome]:
    return {}


@pytest.fixture
def made(command: Command, kept: Path, results: dict[str, Outcome]) -> Outcome:
    """The first run of this page, which is made once."""
    if "made" not in results:
        asked = ("new", DISCS, "--quick", "--seed", "7", "--json", "--out", kept)
        results["made"] = command(*asked)
    return results["made"]


@pytest.mark.essential
def test_a_prompt_becomes_a_folder_with_everything(kept: Path, made: Outcome) -> None:
    done = made
    assert done.code == 0, done.err
    assert done.json  # one JSON object and nothing else, or this raises
    assert done.err.count("sandbox grade: ") == 1
    assert done.json["end"] == "made"
    assert (done.json["players"], done.json["seed"]) == (2, 7)
    for name in FILES:
        assert (kept / name).exists(), name
    assert {clause["status"] for clause in done.json["clauses"]} == {"honoured"}
    asked = {"rows": 4, "columns": 5, "connect": 3, "gravity": True}
    assert asked.items() <= done.json["parameters"].items()
    for clause in done.json["clauses"]:
        assert clause["rules"], clause  # each names the rules that say it
        assert clause["seen"], clause  # and a match that was checked shows it


@pytest.mark.essential
@pytest.mark.skipif(sys.platform != "linux", reason="the strong grade is Linux's")
def test_a_run_is_strong_by_default_in_every_file_it_leaves(kept: Path, made: Outcome) -> None:
    run, checks = (json.loads((kept / name).read_text()) for name in ("run.json", "checks.json"))
    told = made.json
    holders = [told, told["evaluation"], run, run["evaluation"], checks]
    grades = [(one["sandbox"]["name"], one["sandbox"]["backend"]) for one in holders]
    assert grades == [("strong", "linux")] * 5


@pytest.mark.essential
@pytest.mark.usefixtures("made")
def test_the_game_passes_its_checks_by_hand(command: Command, kept: Path) -> None:
    done = command("check", kept / "game.py", "--players", "2", "--json")
    assert (done.code, done.json["outcome"]) == (0, "passed")


@pytest.mark.whole
def test_a_run_that_ctrl_c_stopped_goes_on_to_the_same_bytes_as_the_same_seed_gave(
    command: Command, started: Started, kept: Path, made: Outcome, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    run = started("new", DISCS, "--quick", "--seed", "7", "--out", folder)
    wait_for(run, "evaluate: series random")
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    assert f"rulewright resume {folder}" in told
    assert "Traceback" not in told
    resumed = command("resume", folder, "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["evaluation"] == made.json["evaluation"]
    assert same_every_time(folder) == same_every_time(kept)


@pytest.mark.essential
def test_a_run_that_ended_is_resumed_as_it_is(command: Command, kept: Path, made: Outcome) -> None:
    before = same_every_time(kept)
    done = command("resume", kept, "--json")
    assert (done.code, done.json["evaluation"]) == (0, made.json["evaluation"])
    assert same_every_time(kept) == before


@pytest.mark.essential
@pytest.mark.usefixtures("made")
def test_the_trace_shows_every_node(command: Command, kept: Path) -> None:
    names = json.dumps(command("trace", kept, "--json").json)
    for node in ("intake", "design", "code", "check", "strategize", "evaluate", "report"):
        assert f'"name": "{node}"' in names


def test_without_a_terminal_the_approval_waits_for_resume(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    asked = command("new", "tic tac toe", "--quick", "--approve", "--out", folder)
    assert asked.code == 3
    assert f"rulewright resume {folder} --answer" in asked.out
    assert not (folder / "game.py").exists()
    still = command("resume", folder, "--json")
    assert (still.code, still.json["end"]) == (3, "waiting")
    done = command("resume", folder, "--answer", "yes", "--json")
    assert (done.code, done.json["end"]) == (0, "made")


def test_a_rulebook_that_is_not_approved_is_not_coded(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert command("new", "tic tac toe", "--quick", "--approve", "--out", folder).code == 3
    done = command("resume", folder, "--answer", "no", "--json")
    assert (done.code, done.json["reason"]) == (2, "the rulebook was not approved")
