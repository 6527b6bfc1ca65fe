"""What every command shares: JSON or text out, and errors that a person can act on."""

import json
import os
import sys
from importlib.util import find_spec
from typing import NoReturn

import typer

from games.text import plain_text


def print_json(value: object) -> None:
    """One JSON object on stdout."""
    typer.echo(json.dumps(value, indent=2, sort_keys=True))


def say(text: str = "") -> None:
    """A line on stdout; it may quote a game's own words, which must not steer a terminal."""
    typer.echo(plain_text(text))


def note(text: str) -> None:
    """A line on stderr: progress and remarks never mix with results."""
    typer.echo(plain_text(text), err=True)


def ask(question: str) -> str | None:
    """What a person types, without the blanks around it; None where the input has ended."""
    # Not input(question): a Ctrl-C between its showing the question and its reading is held back.
    typer.echo(question, nl=False)
    try:
        return input().strip()
    except EOFError:
        say()
        return None


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise typer.Exit(code)


def a_person_is_here() -> bool:
    """Whether a terminal can answer questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def database() -> str | None:
    """The Postgres address for checkpoints, `RULEWRIGHT_DATABASE`, or None for SQLite."""
    address = os.environ.get("RULEWRIGHT_DATABASE") or None
    if address is not None and find_spec("langgraph.checkpoint.postgres") is None:
        raise typer.BadParameter(
            "RULEWRIGHT_DATABASE is set, but the parts for Postgres are not installed; install "
            "rulewright[postgres], or unset it to keep checkpoints in the run folder"
        )
    return address
