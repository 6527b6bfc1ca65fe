"""Which errors end a command in one sentence, and which stay as loud as a bug of ours must be."""

import errno
from importlib import import_module

import pytest

from agents.players.specs import PlayerSpecError
from app.errors import KNOWN, explained
from games.contract import IllegalActionError, ModuleFault
from games.engine import PlayerFault
from tools.sandbox import OperationError, SandboxUnavailableError
from tools.sources import GameNotFoundError


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
