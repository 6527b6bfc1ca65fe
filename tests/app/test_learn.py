"""`learn` on the command line: from recorded matches to a module that is checked and played."""

import os
import re
from pathlib import Path

import pytest

from tests.agents.model.endpoint import error, message, serving
from tests.app.conftest import Command
from tests.app.test_surface import ELSEWHERE, lost
from tests.tools.predicting.material import TIC_TAC_TOE


@pytest.fixture
def asked(command: Command, tmp_path: Path) -> list[object]:
    rules, file = tmp_path / "rules.txt", tmp_path / "m.jsonl"
    rules.write_text("Three own marks in a row win.")
    done = command("record", "openspiel:tic_tac_toe", "--matches", 30, "--out", file)
    assert done.code == 0, done.err
    return ["learn", "--rules", rules, "--trajectories", file]


def test_recorded_matches_become_a_module_that_is_checked_and_played(
    command: Command, asked: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with serving(message(f"```python\n{TIC_TAC_TOE}```")) as endpoint:
        monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        done = command(*asked, "--out", out, "--quick")
        assert done.code in (0, 1), done.err  # passed, or a branch that few matches never met
        assert "accuracy 1.0000" in done.out
        assert "call 1, accuracy 1.0000" in done.err
        assert "20 calls at most, each of up to 4 requests" in done.err  # 3 tries after the first
        assert "of transition, inference not asked for: nothing is hidden" in done.err
    monkeypatch.delenv("RULEWRIGHT_MODEL")
    again = command("resume", out, "--json")  # it has ended: nobody is asked
    assert (again.code, again.json["accuracy"]) == (done.code, 1.0)
    assert lost(ELSEWHERE["learn"], again.json) == []
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    (listed,) = command("runs", "--json").json["runs"]
    assert (listed["end"], listed["title"]) == (again.json["end"], "openspiel:tic_tac_toe")
    model = out / "model.py"
    checked = command("check", model, "--json").json
    outcomes = {one["check"]: one["outcome"] for one in checked["findings"]}
    assert outcomes.pop("leak_audit") == "could_not_judge"  # a learned module declares no zones
    assert set(outcomes.values()) == {"passed"}
    (advice,) = re.findall(r"play it with: rulewright (match .*)", done.out)
    assert "4 finished" in command(*advice.split(), "--games", 4).out


def test_several_syntheses_are_told_each_and_go_on_where_one_broke_off(
    command: Command, asked: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, right = tmp_path / "runs" / "three", message(f"```python\n{TIC_TAC_TOE}```")
    monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("RULEWRIGHT_RETRIES", "0")
    with serving(right, error(401)) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        broken = command(*asked, "--out", out, "--quick", "--seed", 5, "--syntheses", 3)
    assert (broken.code, (out / "synthesis-1" / "model.py").is_file()) == (2, True)
    with serving(right) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        done = command("resume", out, "--json")
        assert len(endpoint.requests) == 2  # the first is not paid again
    told = done.json["syntheses"]
    assert [one["settings"]["seed"] for one in told.values()] == [5, 6, 7]
    assert {one["accuracy"] for one in told.values()} == {1.0}
    assert sorted(done.json["kept"]) == ["synthesis-1", "synthesis-2", "synthesis-3"]
    assert "nothing is hidden" in done.json["note"]
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path / "runs"))
    (listed,) = command("runs", "--json").json["runs"]
    assert listed["end"] == done.json["end"]
    assert "by its own folder" in command("resume", out, "--rounds", 2).err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--closed-deck"], "leave --closed-deck away"),
        (["--active", 3], "give --environment"),
        (["--environment", "openspiel:kuhn_poker"], "were recorded in openspiel:tic_tac_toe"),
        (["--environment", "openspiel:nothing"], "no environment"),
        (["--environment", "nothing"], "no game called 'nothing'"),
        (["--refine", "hills"], "known: tree, conversation"),
        (["--inference", "guess"], "known: auto, history, state, none"),
        (["--arena-matches", 4], "give --environment"),
        (["--closed-deck", "--active", 1, "--environment", "openspiel:tic_tac_toe"], "states"),
        ([], "set RULEWRIGHT_MODEL"),
    ],
)
def test_what_cannot_be_used_is_said_before_a_folder_is_made(
    command: Command, asked: list[object], tmp_path: Path, more: list[object], said: str
) -> None:
    done = command(*asked, *more, "--out", tmp_path / "run")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe"])
def test_rules_that_are_empty_or_no_text_are_refused(
    command: Command, asked: list[object], tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "rules.txt").write_bytes(content)
    done = command(*asked, "--out", tmp_path / "run")
    assert (done.code, (tmp_path / "run").exists()) == (2, False)
    assert "--rules" in done.err


def test_rules_without_an_end_are_refused_and_not_read_for_ever(
    command: Command, asked: list[object], tmp_path: Path
) -> None:
    (tmp_path / "rules.txt").unlink(missing_ok=True)
    (tmp_path / "rules.txt").symlink_to("/dev/zero")
    done = command(*asked, "--out", tmp_path / "run")
    assert (done.code, (tmp_path / "run").exists()) == (2, False)
    assert "--rules" in done.err


@pytest.mark.parametrize("name", ["rules.txt", "m.jsonl"])
def test_a_pipe_is_no_file_and_is_not_waited_for(
    command: Command, asked: list[object], tmp_path: Path, name: str
) -> None:
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    done = command(*asked, "--out", tmp_path / "run")
    assert (done.code, (tmp_path / "run").exists()) == (2, False)
    assert "is a pipe, a socket or a device; required: a file" in done.err
