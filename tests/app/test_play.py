"""`play` and the approval, driven through a real terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S

PROMPT = "Your move: "
# The terminal becomes the one that controls the process, so that Ctrl-C reaches it.
ON_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from app.cli import main
sys.exit(main())
"""


class Terminal:
    """The command on a terminal of its own, as a person has it."""

    def __init__(self, *arguments: str | Path) -> None:
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-c", ON_TERMINAL, *map(str, arguments)]
        # A shell's background job ignores Ctrl-C, and its children would inherit that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        signal.signal(signal.SIGINT, before)
        os.close(theirs)
        self.screen = ""

    def read_until(self, *ends: str, seconds: float = PATIENCE_S) -> str:
        """What appears until one of `ends` does, or the command ends."""
        new, deadline = "", time.monotonic() + seconds
        while not any(end in new for end in ends):
            left = deadline - time.monotonic()
            if left <= 0:
                self.screen += new
                raise TimeoutError(f"none of {ends} came: {self.screen}")
            if not select.select([self._ours], [], [], left)[0]:
                continue
            try:
                data = os.read(self._ours, 65_536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not data:
                break
            new += data.decode(errors="replace")
        new = new.replace("\r\n", "\n")
        self.screen += new
        return new

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> int:
        """Press Ctrl-C until the command ends, and return the exit code.

        Once may not do: a signal that comes just before the read begins is seen after it.
        """
        for _ in range(10):
            self.type("\x03")
            with suppress(TimeoutError):
                self.read_until("\0", seconds=2)
                break
        return self.process.wait(timeout=PATIENCE_S)

    def end(self) -> int:
        """Read to the end and return the exit code."""
        self.read_until("\0", seconds=200)
        return self.process.wait(timeout=PATIENCE_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*arguments: str | Path) -> Terminal:
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def play_to_the_end(terminal: Terminal) -> int:
    """Answer every question with the first choice, or the next where it is none any more."""
    choice = 1  # which may be taken
    while PROMPT in (new := terminal.read_until(PROMPT, "The match is over", "did not finish")):
        choice = choice + 1 if "nothing you can do now" in new else 1
        terminal.type(f"{choice}\n")
    return terminal.end()


def test_a_board_game_is_played_to_its_end(terminal: Callable[..., Terminal]) -> None:
    one = terminal("play", "tic_tac_toe")
    assert play_to_the_end(one) == 0
    assert "     1 2 3\n  1  . . .\n  2  . . .\n  3  . . .\n" in one.screen
    assert re.search(r"You win\.|You share|Player \d wins\.", one.screen)


def test_the_screen_never_shows_another_hand(terminal: Callable[..., Terminal]) -> None:
    one = terminal("play", "leduc_poker", "--opponent", "random", "--seed", "4")
    first = one.read_until(PROMPT)
    mine = re.findall(r"You are dealt (\w\w)", first)
    assert len(mine) == 1
    assert set(re.findall(r"\b[JQK][CDHS]\b", first)) == set(mine)


def test_wrong_input_is_answered_and_asked_again(terminal: Callable[..., Terminal]) -> None:
    one = terminal("play", "tic_tac_toe")
    one.read_until(PROMPT)
    for wrong in ("castle", "0", "10", "-1", "99999999999999999999", "", "１２"):
        one.type(f"{wrong}\n")
        assert "nothing you can do now" in one.read_until(PROMPT)
    one.type("x 2,2\n")  # words do as well
    assert "row 2, column 2" in one.read_until(PROMPT)


def test_the_end_of_the_input_ends_the_match(terminal: Callable[..., Terminal]) -> None:
    one = terminal("play", "tic_tac_toe")
    one.read_until(PROMPT)
    one.type("\x04")
    assert one.end() == 1
    assert "left unfinished" in one.screen
    assert "Traceback" not in one.screen


def test_ctrl_c_leaves_the_match(terminal: Callable[..., Terminal]) -> None:
    one = terminal("play", "tic_tac_toe")
    one.read_until(PROMPT)
    assert one.interrupt() == 130
    assert "left unfinished" in one.screen
    assert "Traceback" not in one.screen


def test_a_person_approves_the_rulebook_and_plays_the_made_game_to_its_end(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    one = terminal("new", "tic tac toe", "--quick", "--approve", "--out", tmp_path / "run")
    shown = one.read_until("[yes]: ")
    assert "## A turn" in shown or "## What you may do" in shown
    one.type("\n")
    assert one.end() == 0
    assert (tmp_path / "run" / "report.html").exists()
    two = terminal("play", tmp_path / "run", "--seat", "2", "--opponent", "random")
    assert play_to_the_end(two) == 0
    verdicts = ("You win.", "Player 1 wins.", "All have the same result: 0.")
    assert sum(verdict in two.screen for verdict in verdicts) == 1


def test_without_words_three_questions_are_asked_and_a_refusal_is_answered_at_once(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    one = terminal("new", "--approve", "--out", tmp_path / "run")
    for asked, answer in (
        ("a few words: ", "something nice"),
        ("[as usual]: ", "two"),
        ("[as usual]: ", "2"),
        ("[nothing]: ", "no, thanks"),
        ("Your answer [none]: ", "tic tac toe"),
        ("[yes]: ", "no"),
    ):
        one.read_until(asked)
        one.type(f"{answer}\n")
    assert one.end() == 2
    assert "family: tic_tac_toe\nnum_players: 2" in (tmp_path / "run" / "design.yaml").read_text()
    request = json.loads((tmp_path / "run" / ".state" / "request.json").read_text())
    assert request["prompt"] == "something nice"


def test_ctrl_c_at_the_approval_says_how_to_resume(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    one = terminal("new", "tic tac toe", "--quick", "--approve", "--out", tmp_path / "run")
    one.read_until("[yes]: ")
    assert one.interrupt() == 130
    assert f"rulewright resume {tmp_path / 'run'}" in one.screen


@pytest.mark.whole
def test_the_end_of_the_input_leaves_the_approval_open(
    terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    one = terminal("new", "tic tac toe", "--quick", "--approve", "--out", tmp_path / "run")
    one.read_until("[yes]: ")
    one.type("\x04")
    assert one.end() == 3
    assert "--answer" in one.screen


def test_a_narrow_terminal_gets_lines_of_its_width() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "play", "trick_taking", "--seed", "1"],
        input="rules\nhelp\nquit\n",
        env={**os.environ, "COLUMNS": "60"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    lines = [
        line.removeprefix("Your move: ")  # which a person would have ended
        for line in done.stdout.splitlines()
        if not line.startswith(("The record", "To go"))
    ]
    assert len(lines) > 30
    assert max(map(len, lines)) <= 60, [line for line in lines if len(line) > 60]
