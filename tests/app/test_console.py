"""What a command prints of a game's own words cannot steer the terminal."""

import errno
import io
import re
import sys
import time
from importlib import import_module

import pytest
from rich.text import Text

from agents.players.specs import PlayerSpecError
from app.commands.trace import _safe
from app.console import KNOWN, Progress, explained, note, say
from games.engine import PlayerFault
from games.values import IllegalActionError, ModuleFault
from graph.run.events import Begins, Designed, MatchPlayed, Refines, Waits
from tools.sandbox import OperationError, SandboxUnavailableError
from tools.sources import GameNotFoundError

HOSTILE = "\x1b[2J\x1b]0;owned\x07card \u202egnp\x9b1A\r\x08♥ 中"


def test_a_line_on_either_stream_holds_no_control_character(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(HOSTILE)
    note(HOSTILE)
    out, err = capsys.readouterr()
    assert out == err == "card gnp♥ 中\n"  # 0x9b begins a control sequence, as ESC [ does


def test_a_line_of_progress_holds_none_either(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False) as progress:
        progress(Designed(title=HOSTILE, rules=3, family="rummy"))
    said = capsys.readouterr().err
    assert "title card gnp♥" in said
    assert not {"\x1b", "\x07", "\u202e", "\x9b", "\r"} & set(said)


def test_without_a_terminal_a_line_says_who_waits_for_which_model_and_which_try(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = Waits(model="MODEL", role="designer", seconds=35, attempt=2, of=4)
    with Progress(quiet=False) as progress:
        progress(told)
        for seconds in (35, 45):
            after = f"status 500: {HOSTILE}"
            progress(told.model_copy(update={"lines": 7, "seconds": seconds, "after": after}))
    said = capsys.readouterr().err
    assert "waiting for MODEL: designer, 35 s, try 2 of 4\n" in said
    assert "designer, 35 s, 7 lines of it, try 2 of 4, after: status 500: card gnp♥" in said
    assert said.endswith("designer, 45 s, 7 lines of it, try 2 of 4\n")  # the reason once


def test_long_work_is_told_without_a_terminal_too(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False, every_s=0.05) as progress:
        progress(MatchPlayed(node="matches", series="random", played=7, of=40))
        time.sleep(0.4)
        progress.pause()  # a person is asked
        capsys.readouterr()
        time.sleep(0.2)
        silence = capsys.readouterr().err
        progress(Begins(node="evaluate"))
        time.sleep(0.2)
    assert silence == ""
    assert "playing matches" in capsys.readouterr().err


def test_once_a_model_has_answered_nobody_is_told_to_wait_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = Waits(model="MODEL", role="coder", seconds=10, attempt=1, of=4)
    with Progress(quiet=False, every_s=0.05) as progress:
        progress(Begins(node="refine"))
        progress(Refines(round=1, candidate=0))
        progress(told)
        time.sleep(0.2)  # the next line of it comes with its next event
        progress(told.model_copy(update={"over": True}))
        progress(Begins(node="check"))
        time.sleep(0.2)
    said = capsys.readouterr().err
    assert said.count("waiting for MODEL") == 1
    assert said.rstrip().endswith("checking")
    assert "refine: round 1" in said


def test_a_line_of_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=False, every_s=0.05) as progress:
        progress(MatchPlayed(node="matches", series="random", played=7, of=40))
        time.sleep(0.4)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all("playing matches: series random, played 7, of 40" in line for line in lines)


def test_a_quiet_run_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True, every_s=0.05) as progress:
        progress(MatchPlayed(node="matches", series="random", played=7, of=40))
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "error",
    [
        PlayerSpecError("there is no player 'x'"),
        GameNotFoundError("no game called 'x'"),
        SandboxUnavailableError("no worker can be had"),
        ModuleFault("raised", "apply_action", "KeyError: 3", line=7),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_person_asked_for_and_cannot_have_is_told_in_its_own_words(error: Exception) -> None:
    assert explained(error) == str(error)


def test_what_the_machine_refuses_names_the_file() -> None:
    told = explained(OSError(errno.ENOSPC, "No space left on device", "/somewhere"))
    assert told is not None
    assert "/somewhere" in told
    assert "make room" in told


@pytest.mark.parametrize(
    "error",
    [
        # A player's settings and a game's functions are refused by name before they come to this.
        OperationError("operation 'choose' failed in the sandbox: ValueError: no such edge"),
        # The engine ends a match with these; one that gets past it is a bug.
        PlayerFault("no decision within 60 s"),
        IllegalActionError("take 3"),
        ValueError("held out of range"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "prompts/coder.md"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_only_a_bug_of_ours_raises_stays_a_traceback(error: Exception) -> None:
    assert explained(error) is None


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_known_error_is_there_under_its_name(name: str) -> None:
    module, _, kind = name.rpartition(".")
    assert issubclass(getattr(import_module(module), kind), Exception)
    assert getattr(import_module(module), kind).__module__ == module


def test_what_a_terminal_is_told_of_progress_is_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with Progress(quiet=False) as progress:
        progress(MatchPlayed(node="[/x]", series="[bold]all passed", played=1, of=2))
    told = capsys.readouterr()
    assert "[/x]" in told.out + told.err
    assert "[bold]all passed" in told.out + told.err


def test_what_is_noted_stands_on_a_line_of_its_own_above_one_that_moves(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with Progress(quiet=False) as progress:
        progress(MatchPlayed(node="matches", series="random", played=1, of=2))
        time.sleep(0.3)  # by now it has moved
        note("roles: composer")
    note("afterwards")
    told = capsys.readouterr()
    lines = re.split(r"[\n\r]|\x1b\[[?\d]*[a-zA-Z]", told.out + told.err)
    assert {"roles: composer", "afterwards"} <= {*lines}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_no_word_is_broken_and_a_command_stays_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    command = "rulewright playtest runs/a b --matches 210"
    for stream, tell in (("stdout", say), ("stderr", note)):
        monkeypatch.setattr(sys, stream, shown := Terminal())
        tell(f"Is it fair? About 210 matches would decide: {command}\n  short\n\n{'x' * 30}")
        assert shown.getvalue().splitlines() == [
            "Is it fair? About 210",
            "matches would decide:",
            command,
            "  short",
            "",
            "x" * 30,
        ]


def test_a_trace_shows_brackets_and_backslashes_as_they_are() -> None:
    told = r"\[bold]all passed\[/bold] \[/x] [y]"
    assert Text.from_markup(_safe(told)).plain == told
