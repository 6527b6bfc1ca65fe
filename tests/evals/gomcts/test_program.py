"""The protocol of a program outside the repository: good answers, and every kind of bad one."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from agents.players.registry import PRELOAD
from agents.players.specs import PlayerSpecError
from evals.gomcts.hearts import ONE_DEAL
from evals.gomcts.worlds import HeartsRoster
from games import library
from tools.playtest.jobs import GameSetup
from tools.playtest.series import Series, SeriesSettings, play_series
from tools.sandbox import Sandbox

HEARTS = GameSetup("hearts", library.source("hearts"), 4, ONE_DEAL)
GOOD = 'print(row["legal"][-1])'
BAD = {
    "an illegal card": ('print("1X")', "answered '1X'; required: one of 2H, "),
    "a card of another": ('print(next(c for c in ALL if c not in row["hand"]))', "required: one"),
    "nothing": ("time.sleep(60)", "did not answer in 0.5 seconds"),
    "half a line, then nothing": (
        'print(row["legal"][0], end="", flush=True); time.sleep(60)',
        "did not answer in 0.5 seconds",
    ),
    "a crash": ("1 / 0", "ended before it answered"),
    "an exit": ("sys.exit(0)", "ended before it answered"),
    "garbage": ('sys.stdout.buffer.write(b"\\xff\\xfe\\n")', "required: one of"),
    "an empty line": ("print()", "answered ''; required: one of"),
    "endless": ('print("2C" * 5000)', "answered more than 1024 bytes"),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


def program(folder: Path, answer: str) -> Path:
    """A program that writes down what it is told, and does `answer` for it."""
    path = folder / "program"
    path.write_text(
        dedent(f"""\
        #!{sys.executable}
        import json, os, sys, time
        ALL = [r + s for r in "23456789TJQKA" for s in "CDHS"]
        for line in sys.stdin:
            with open({str(folder / "told")!r}, "a") as told:
                told.write(line)
            row = json.loads(line)
            {answer}
            sys.stdout.flush()
        """)
    )
    path.chmod(0o755)
    return path


def played(sandbox: Sandbox, path: Path, deadline: float = 30) -> Series:
    """A match of the program in all four seats."""
    spec = f"program:path={path},deadline={deadline}"
    asked = SeriesSettings(matches=1, seed=5, record=False, replay=False)
    return play_series(HEARTS, (spec,) * 4, HeartsRoster(), asked, sandbox=sandbox)


def test_a_program_plays_whole_matches_and_is_told_what_its_seat_knows(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")  # which no other program is told
    series = played(sandbox, program(tmp_path, f'"OPENAI_API_KEY" in os.environ and 1 / 0; {GOOD}'))
    assert series.endings["finished"] == 1
    rows = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert {row["phase"] for row in rows} == {"pass", "play"}
    for row in rows:
        assert {*row["legal"]} <= {*row["hand"]}
        assert len(row["legal"]) > 1  # what is forced is not asked
        assert [len(hand) for hand in row["dealt"]] == [13] * 4
        assert {
            *("seat", "phase", "direction", "hand", "passing", "passed", "received", "leader"),
            *("trick", "tricks", "legal", "seed", "dealt", "passes"),
        } == {*row}
    known = series.plan.players[0].settings
    assert (known["budget"], len(str(known["sha256"]))) == ("time", 16)


@pytest.mark.parametrize("kind", BAD)
def test_a_program_that_answers_badly_forfeits_with_the_reason(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    answer, reason = BAD[kind]
    deadline = 0.5 if "sleep" in answer else 30
    series = played(sandbox, path := program(tmp_path, answer), deadline)
    entry = series.entries[0]
    assert entry.ending == "forfeit"
    assert entry.culprit == 0  # who passes first
    assert str(path) in entry.reason
    assert reason in entry.reason
    assert "Traceback" not in entry.reason


def test_what_cannot_be_run_or_has_changed_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for path in ("", tmp_path / "nowhere", tmp_path, plain):
        with pytest.raises(PlayerSpecError, match="required: a program that can be run"):
            HeartsRoster().effective(f"program:path={path}")
    path = program(tmp_path, GOOD)
    spec = HeartsRoster().effective(f"program:path={path}")
    path.write_text(path.read_text() + "# another\n")
    with pytest.raises(PlayerSpecError, match="has changed"):
        HeartsRoster().seat(spec, seat=0, match=0, game=HEARTS, sandbox=sandbox)
    plain.chmod(0o755)  # an executable that no system can start
    entry = played(sandbox, plain).entries[0]
    assert entry.ending == "forfeit"
    assert "cannot be asked" in entry.reason
