"""A person's way back into a run: answers, the form, edits, signals."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graph.new.context import RunSettings
from graph.new.requests import Request, leave_question, write_request
from graph.run.folder import RunFolder
from tests.app.conftest import Command, Started, wait_for
from tests.processes import PATIENCE_S


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "made"


@pytest.fixture
def finished(command: Command, made: Path, tmp_path: Path) -> Path:
    if not made.exists():
        done = command("new", "--family", "tic_tac_toe", "--quick", "--out", made)
        assert done.code == 0, done.err
    return Path(shutil.copytree(made, tmp_path / "copy"))


def test_a_question_says_how_to_answer_and_takes_the_answer(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    asked = command("new", "something nice for the evening", "--approve", "--out", folder)
    assert (asked.code, "Which game" in asked.out) == (3, True)
    assert f"answer with: rulewright resume {folder} --answer" in asked.out
    assert "Which game do you want? Go on: rulewright resume run" in command("runs").out
    still = command("resume", folder, "--json")
    assert (still.code, still.json["end"]) == (3, "question")
    done = command("resume", folder, "--answer", "Tic Tac Toe", "--json")
    assert (done.code, done.json["end"], done.json["family"]) == (3, "waiting", "tic_tac_toe")
    assert "Approve this rulebook? Go on: rulewright resume run" in command("runs").out


def test_a_run_that_was_answered_or_stopped_is_listed_as_one_to_go_on_with(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    request = Request(prompt="whist", settings=RunSettings())
    folder = RunFolder(tmp_path / "mine")
    write_request(request, folder)
    leave_question("Approve?", request, folder)
    (row,) = command("runs", "--json").json["runs"]
    assert (row["end"], row["asks"]) == ("waiting", "Approve?")
    write_request(request.model_copy(update={"answers": ("yes",)}), folder)
    (row,) = command("runs", "--json").json["runs"]
    assert (row["end"], row["asks"]) == ("unfinished", None)
    assert "go on: rulewright resume mine" in command("runs").out
    folder.write_json("run.json", {"end": "question", "reason": "Approve?"})  # from before
    (row,) = command("runs", "--json").json["runs"]
    assert (row["end"], row["asks"]) == ("unfinished", None)


def test_an_answer_that_nobody_asked_for_is_refused_and_not_dropped(
    command: Command, finished: Path
) -> None:
    done = command("resume", finished, "--answer", "make it go fish")
    assert done.code == 2
    assert "'make it go fish' was not used" in done.err
    assert "--from design" in done.err


@pytest.mark.whole
def test_edits_and_broken_checkpoints_are_given_up_with_consent_alone(
    command: Command, finished: Path
) -> None:
    rulebook = finished / "rulebook.md"
    own = rulebook.read_text()
    rulebook.write_text("mine")
    (finished / ".state" / "checkpoints.sqlite").write_text("broken " * 1000)
    told = command("resume", finished)
    assert (told.code, "rulebook.md" in told.err) == (2, True)
    assert told.err.count("rulewright resume") == 1
    assert "--discard-checkpoints" in told.err
    kept = command("resume", finished, "--discard-checkpoints", "--json")
    assert (kept.json["end"], kept.json["edited"]) == ("made", ["rulebook.md"])
    assert rulebook.read_text() == "mine"
    given_up = command("resume", finished, "--discard-edits", "--json")
    assert (given_up.json["end"], given_up.json["edited"]) == ("made", [])
    assert rulebook.read_text() == own


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("num_players: 2", "num_players: 9", "2 players"),
        ("family: tic_tac_toe", "family: chess", "connect_four"),
        ("misere: ", "chips: 1\n  misere: ", "misere"),
        ("misere: ", "misere: true\n  misere: ", "twice"),
        ("misere: false", "misere: 7", "misere can be"),
        ("misere: ", "# " + "x" * 70_000 + "\n  misere: ", "more than 64 KiB"),
    ],
)
def test_a_form_that_no_game_can_be_made_of_leaves_the_run_as_it_is(
    command: Command, finished: Path, old: str, new: str, said: str
) -> None:
    form = finished / "design.yaml"
    assert old in form.read_text()
    form.write_text(form.read_text().replace(old, new))
    done = command("resume", finished, "--from", "design")
    assert (done.code, said in done.err) == (2, True), done.err
    assert (finished / "game.py").exists()


def test_an_unknown_source_is_refused(command: Command, finished: Path) -> None:
    done = command("resume", finished, "--from", "rulebook")
    assert (done.code, "known: design" in done.err) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_a_signal_ended_says_how_to_go_on(
    started: Started, tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "run"
    run = started("new", "--family", "goofspiel", "--out", folder)
    wait_for(run, "design: ")
    run.send_signal(number)
    _, told = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 128 + number
    assert f"rulewright resume {folder}" in told
    assert "Traceback" not in told


INTERRUPTED = """
import os, signal, sys
from rulewright import main

class Interrupting:
    def find_spec(self, name, *others):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

module, sys.argv[1] = sys.argv[1], "games"
sys.meta_path.insert(0, Interrupting())
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["app.cli", "typer", "app.console", "games.library"])
def test_ctrl_c_while_the_command_loads_gives_no_traceback(module: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("where", ["prompt", "answer"])
def test_a_byte_that_is_no_utf8_gets_a_sentence(
    command: Command, finished: Path, tmp_path: Path, where: str
) -> None:
    text = os.fsdecode(b"trick taking game \xff for three")
    told = (
        command("new", text, "--out", tmp_path / "run")
        if where == "prompt"
        else command("resume", finished, "--answer", text)
    )
    assert (told.code, "no UTF-8" in told.err) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_finished_game_is_revised_beside_itself_and_asked_about(
    command: Command, finished: Path
) -> None:
    game = (finished / "game.py").read_bytes()
    asked = command("revise", finished, "why does the first player win?")
    assert (asked.code, "Is it fair?" in asked.out) == (0, True)
    done = command("revise", finished, "four squares each way", "--json")
    assert (done.code, done.json["end"], done.json["revision"]) == (0, "made", 1)
    assert done.json["parameters"]["size"] == 4
    assert Path(done.json["folder"]) == finished / "revisions" / "1"
    assert (finished / "game.py").read_bytes() == game
    assert command("resume", finished / "revisions" / "1", "--json").json["revision"] == 1


def test_a_revision_takes_the_options_of_a_new_game_and_keeps_the_others(
    command: Command, finished: Path
) -> None:
    before = json.loads((finished / "run.json").read_text())["settings"]
    done = command("revise", finished, "four squares each way", "--rounds", "2", "--json")
    after = json.loads((Path(done.json["folder"]) / "run.json").read_text())["settings"]
    assert (done.code, done.json["end"]) == (0, "made")
    assert after == {**before, "max_rounds": 2}
    wrong = command("revise", finished, "five squares", "--refine", "luck")
    assert (wrong.code, "known: conversation, tree" in wrong.err) == (2, True)


def test_the_reply_to_a_question_is_in_reply(command: Command, finished: Path) -> None:
    asked = command("revise", finished, "how many can play?", "--json")
    assert (asked.code, asked.json["revision"]) == (0, 0)
    assert asked.json["reply"] == "It takes 2 players only; this game is made for 2."
    assert (
        command("revise", finished, "size=4", "--json").json["reply"].startswith("Changed: size=4")
    )
    assert "- R1: " in command("revise", finished, "explain rule R1", "--json").json["reply"]


def test_what_has_no_game_yet_is_not_revised(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert command("new", "something nice for the evening", "--out", folder).code == 3
    refused = command("revise", folder, "make it four players")
    assert (refused.code, "no finished game yet" in refused.err) == (2, True)
    empty = command("revise", folder, "  ")
    assert (empty.code, "the message is empty" in empty.err) == (2, True)


def test_a_rule_is_explained_by_its_code_its_findings_and_the_plies_that_met_it(
    command: Command, finished: Path
) -> None:
    rules = json.loads((finished / "design.json").read_text())["rules"]
    found = command("explain", finished, rules[0]["id"], "--json")
    assert found.code == 0, found.err
    assert found.json["text"] == rules[0]["text"]
    assert found.json["followed"] > 0
    source = (finished / "game.py").read_text().splitlines()
    for row in found.json["lines"]:
        assert row["code"].splitlines()[0] == source[row["first"] - 1]
    every = [command("explain", finished, rule["id"], "--json").json for rule in rules[:4]]
    assert any(one["lines"] and one["fired"] for one in every)
    assert any(one["mechanics"] for one in every)
    fired = max(every, key=lambda one: len(one["fired"]))
    told = command("explain", finished, fired["rule"]).out
    assert f"and {len(fired['fired']) - 10} more" in told
    assert told.partition("Fired:")[2].count(", ply ") == 10
    first = fired["fired"][0]  # people count from 1, as the texts of the records do
    assert f"match {first['match']} of {first['players'].partition(':')[0]}, ply " in told
    assert f", ply {first['ply'] + 1}: {first['action']}\n" in told.partition("Fired:")[2]
    assert " none" not in told
    design = json.loads((finished / "design.json").read_text())
    design["clauses"] = [{"text": "by a model", "status": "honoured", "setting": "R2, R1"}]
    (finished / "design.json").write_text(json.dumps(design))
    assert command("explain", finished, "R1", "--json").json["clauses"] == ["by a model"]
    checks = finished / "checks.json"
    for crafted in ('{"findings": [{"check": "x"}]}', '{"claims": [{"id": 1}]}', '{"findings": 3}'):
        checks.write_text(crafted)
        wrong = command("explain", finished, "R1")
        assert (wrong.code, "checks.json tells no findings" in wrong.err) == (2, True), wrong.err
    unknown = command("explain", finished, "R99")
    assert (unknown.code, "has no rule 'R99'; its rules: R1" in unknown.err) == (2, True)
    (finished / "records" / "random.jsonl").write_text("mine\n")
    assert "no game that can be read" in command("explain", finished, "R1").err
    (finished / "design.json").unlink()  # as in a run that still waits for its first answer
    waiting = command("explain", finished, "R1")
    assert (waiting.code, "has no design yet" in waiting.err) == (2, True)
    assert f"rulewright resume {finished}" in waiting.err


def test_a_run_that_a_process_works_at_is_left_to_it(
    command: Command, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    folder = tmp_path / "run"
    at_work = started("new", "--family", "tic_tac_toe", "--quick", "--out", folder)
    wait_for(at_work, "design:")
    kept = (folder / ".state" / "request.json").read_bytes()
    for words in (("resume", folder), ("revise", folder, "on a larger board")):
        refused = command(*words)
        assert (refused.code, "another process works at" in refused.err) == (2, True), words
    assert (folder / ".state" / "request.json").read_bytes() == kept
    (row,) = command("runs", "--json").json["runs"]
    assert (row["end"], "go on" in command("runs").out) == ("working", False)
    at_work.kill()
    at_work.wait()
    assert command("resume", folder, "--json").json["end"] == "made"


@pytest.mark.parametrize("words", [("--rounds", "2"), ("--answer", "x")])
def test_two_ways_to_go_on_are_refused_before_anything_is_begun_again(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "run"
    asked = ("new", "something nice for the evening", "--out", folder)
    assert command(*asked).code == 3
    before = sorted(path.name for path in folder.iterdir())
    refused = command("resume", folder, "--from", "design", *words)
    assert (refused.code, "separate ways" in refused.err) == (2, True)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_all_seats_stand_in_before_and_after_and_the_report_leads_to_what_lies_beside_it(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    made = ("new", "pig for two, target_score=10", "--quick", "--out", folder)
    assert command(*made).code == 0
    assert command("revise", folder, "four players instead of two").code == 0
    newest = folder / "revisions" / "1"
    page, changes = ((newest / name).read_text() for name in ("report.html", "changes.md"))
    for seat in (1, 2, 3, 4):
        assert f"| player {seat} wins |" in changes
        assert f"<th>player {seat} wins</th>" in page.partition("Before and after")[2]
    links = re.findall(r'<a href="([^"]*)">', page)
    assert {"rulebook.md", "game.py", "records/", "../../report.html"} <= set(links)
    assert all((newest / link).exists() for link in links)


def test_a_revision_of_a_game_that_was_edited_by_hand_is_refused_and_says_so(
    command: Command, finished: Path
) -> None:
    kept = (finished / "game.py").read_text() + "# by hand\n"
    (finished / "game.py").write_text(kept)
    refused = command("revise", finished, "size=4", "--json").json
    assert "game.py" in refused["reply"]
    assert "edited by hand" in refused["reply"]
    assert (refused["revision"], (finished / "game.py").read_text()) == (0, kept)
    assert command("resume", finished, "--discard-edits").code == 0
    assert command("revise", finished, "size=4", "--json").json["revision"] == 1
