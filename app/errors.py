"""Errors that a person can act on, told from bugs of ours."""

import errno
import sqlite3
import sys

# What the machine refuses, whatever we do: no room, no permission, nothing left to open.
_REFUSALS = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EMFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EPERM,
        errno.EROFS,
    }
)


def explained(error: Exception) -> str | None:
    """The message of an error that a person can act on; None for a bug of ours."""
    if isinstance(error, _known()):
        return str(error)
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        where = f" {error.filename}" if error.filename else ""
        return f"cannot use{where or ' the disk'}: {error.strerror}; make room or mend permissions"
    if isinstance(error, sqlite3.Error):
        return (
            f"the checkpoints or the store cannot be used: {error}; see that the disk has room and "
            "that the folder may be written"
        )
    postgres = sys.modules.get("psycopg")
    if postgres is not None and isinstance(error, postgres.Error):
        return f"the database of RULEWRIGHT_DATABASE cannot be used: {error}"
    return None


def _known() -> tuple[type[Exception], ...]:
    from agents.models import ModelError
    from agents.players import PlayerSpecError
    from agents.protocols import RoleError
    from evals.registry import EvalError
    from games.contract import ModuleFault
    from games.library import UnknownGameError, UnknownParameterError
    from graph.folder import RunFolderError
    from tools.playtest import JournalError, TournamentError, TournamentStoppedError
    from tools.sandbox import SandboxUnavailableError
    from tools.sources import GameNotFoundError
    from vectorstore.errors import StoreError

    return (
        EvalError,
        GameNotFoundError,
        JournalError,
        ModelError,
        ModuleFault,
        PlayerSpecError,
        RoleError,
        RunFolderError,
        SandboxUnavailableError,
        StoreError,
        TournamentError,
        TournamentStoppedError,
        UnknownGameError,
        UnknownParameterError,
    )
