"""Checkpoints of a run: SQLite in the run folder, or Postgres by setting."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

# The only classes that a checkpoint may bring back to life.
_CHECKPOINTED = (
    ("agents.protocols", "Brief"),
    ("agents.protocols", "Clause"),
    ("agents.protocols", "Design"),
    ("agents.protocols", "Heuristic"),
    ("agents.protocols", "Mechanic"),
    ("agents.protocols", "MechanicEdge"),
    ("agents.protocols", "Rule"),
    ("games.checks.findings", "Finding"),
    ("games.checks.run", "CheckSettings"),
    ("graph.settings", "RunSettings"),
    ("graph.state", "Candidate"),
)


@contextmanager
def open_checkpoints(path: Path, database: str | None) -> "Iterator[BaseCheckpointSaver[str]]":
    """A checkpoint saver for one process.

    Args:
        path: SQLite file, made when missing.
        database: A Postgres address that replaces the file, or None.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    serde = JsonPlusSerializer(allowed_msgpack_modules=_CHECKPOINTED)
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
        yield SqliteSaver(connection, serde=serde)
