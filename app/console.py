"""What every command shares: JSON or text out, and errors that a person can act on."""

import json
import os
import sys
from typing import NoReturn

import typer


def print_json(value: object) -> None:
    """One JSON object on stdout."""
    typer.echo(json.dumps(value, indent=2, sort_keys=True))


def say(text: str = "") -> None:
    """A line on stdout."""
    typer.echo(text)


def note(text: str) -> None:
    """A line on stderr: progress and remarks never mix with results."""
    typer.echo(text, err=True)


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise typer.Exit(code)


def a_person_is_here() -> bool:
    """Whether a terminal can answer questions."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def database() -> str | None:
    """The Postgres address for checkpoints, `RULEWRIGHT_DATABASE`, or None for SQLite."""
    return os.environ.get("RULEWRIGHT_DATABASE") or None


def explained(error: Exception) -> str | None:
    """The message of an error that a person can act on; None for a bug of ours."""
    from agents.models import ModelError
    from agents.players import PlayerSpecError
    from agents.protocols import RoleError
    from evals.registry import EvalError
    from games.contract import ModuleFault
    from games.library import UnknownGameError, UnknownParameterError
    from graph.folder import RunFolderError
    from tools.sandbox import SandboxUnavailableError
    from tools.sources import GameNotFoundError
    from vectorstore.errors import StoreError

    known = (
        EvalError,
        GameNotFoundError,
        ModelError,
        ModuleFault,
        PlayerSpecError,
        RoleError,
        RunFolderError,
        SandboxUnavailableError,
        StoreError,
        UnknownGameError,
        UnknownParameterError,
    )
    return str(error) if isinstance(error, known) else None
