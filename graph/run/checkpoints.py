"""Checkpoints of a run: SQLite in the run folder, or Postgres by setting."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from graph.run.folder import RunFolderError

if TYPE_CHECKING:
    import sqlite3

    from langgraph.checkpoint.base import BaseCheckpointSaver


class BrokenCheckpointsError(RunFolderError):
    """Checkpoints cannot be read; the run can be made again from all else that is kept."""

    def __init__(self, path: Path, why: str) -> None:
        """`path` is their file, in the state folder of the run."""
        run = path.parent.parent
        super().__init__(
            f"the checkpoints {path} are broken ({why}). The run can be made again without them, "
            "from what was asked, its finished matches and its paid answers, to the same result: "
            f"rulewright resume {run} --discard-checkpoints"
        )


def as_plain(value: object) -> Any:  # noqa: ANN401 - JSON, messages, and LangGraph's Overwrite
    """A value as any checkpointer keeps it: messages, and JSON in place of our classes."""
    from langchain_core.messages import BaseMessage
    from langgraph.types import Overwrite

    if isinstance(value, Overwrite):
        return Overwrite(as_plain(value.value))
    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    return value


@contextmanager
def open_checkpoints(path: Path, database: str | None) -> "Iterator[BaseCheckpointSaver[str]]":
    """A checkpoint saver for one process.

    Args:
        path: SQLite file, made when missing.
        database: A Postgres address that replaces the file, or None.

    Raises:
        BrokenCheckpointsError: If the file is no sound SQLite file.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    # Only messages and JSON: a checkpoint brings no class of ours to life (see `as_plain`).
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    if database is not None:
        from langgraph.checkpoint.postgres import PostgresSaver

        with PostgresSaver.from_conn_string(database) as postgres:
            postgres.serde = serde
            postgres.setup()
            yield postgres
        return
    import sqlite3
    from contextlib import closing

    from langgraph.checkpoint.sqlite import SqliteSaver

    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        _require_sound(connection, path)
        yield SqliteSaver(connection, serde=serde)


def discard_checkpoints(path: Path, database: str | None, thread: str) -> None:
    """Forget where a run stands: its next resumption makes it from its beginning."""
    if database is not None:
        with open_checkpoints(path, database) as saver:
            saver.delete_thread(thread)
    for end in ("-wal", "-shm", ""):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _require_sound(connection: "sqlite3.Connection", path: Path) -> None:
    import sqlite3

    try:
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        raise  # the disk's or the folder's fault, and not the file's
    except sqlite3.DatabaseError as error:
        raise BrokenCheckpointsError(path, str(error)) from error
    if found != "ok":
        raise BrokenCheckpointsError(path, str(found))
