"""Errors that a person can act on, told from bugs of ours."""

import errno
import sqlite3
import sys
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit

_FILES_NEEDED = 64

# What the machine refuses, whatever we do: no room, no permission, nothing left to open.
_REFUSALS = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.ELOOP,
        errno.EMFILE,
        errno.ENAMETOOLONG,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EPERM,
        errno.EROFS,
    }
)

# By their names: whoever raises one has loaded its module, and nobody else has to.
KNOWN = frozenset(
    {
        "agents.learning.settings.LearningError",
        "agents.model.errors.ModelError",
        "agents.players.specs.PlayerSpecError",
        "agents.protocols.RoleError",
        "agents.recording.RecorderError",
        "evals.results.EvalError",
        "games.environments.environment.EnvironmentNotFoundError",
        "games.library.UnknownGameError",
        "games.library.specialise.UnknownParameterError",
        "games.trajectories.TrajectoryError",
        "games.values.ModuleFault",
        "graph.run.folder.RunFolderError",
        "tools.playtest.journal.JournalError",
        "tools.playtest.runner.ExecutorUnavailableError",
        "tools.playtest.runner.RunStoppedError",
        "tools.playtest.schedule.TournamentError",
        "tools.replaying.VoidResultError",
        "tools.sandbox.backends.SandboxUnavailableError",
        "tools.sources.GameNotFoundError",
        "vectorstore.settings.StoreError",
    }
)


def explained(error: Exception) -> str | None:
    """The message of an error that a person can act on; None for a bug of ours."""
    if callable(wrong := getattr(error, "format_message", None)):  # an argument of the command
        return str(wrong())
    if any(f"{kind.__module__}.{kind.__qualname__}" in KNOWN for kind in type(error).__mro__):
        return f"{error}{_too_few_files(error)}"
    if isinstance(error, FileNotFoundError) and not _is_here():
        return "the working folder was removed; change to another one"
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


def is_hang_up(error: Exception) -> bool:
    """Whether a stream, and not a file, failed because its terminal has gone."""
    return isinstance(error, OSError) and error.errno == errno.EIO and error.filename is None


def _is_here() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _too_few_files(error: Exception) -> str:
    """What a sandbox that does not start may lack."""
    from tools.sandbox import SandboxUnavailableError

    allowed, _ = getrlimit(RLIMIT_NOFILE)
    if not isinstance(error, SandboxUnavailableError) or allowed >= _FILES_NEEDED:
        return ""
    return f". Only {allowed} open files are allowed here: raise the limit ('ulimit -n 256')"
