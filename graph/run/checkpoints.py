"""Checkpoints of a run, in SQLite in its folder or in Postgres; and going on from the newest."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.types import Command
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from graph.run.events import Begins, Event, read_event
from graph.run.folder import RunFolder, RunFolderError

if TYPE_CHECKING:
    import sqlite3

    from _typeshed import DataclassInstance
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

Node = TypeVar("Node", bound=str)
State = TypeVar("State", bound="DataclassInstance")

_LARGEST = 2**30  # bytes


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


def as_plain(value: object) -> Any:  # noqa: ANN401 - JSON and messages
    """A value as any checkpointer keeps it: messages, and JSON in place of our classes."""
    from langchain_core.messages import BaseMessage

    if isinstance(value, BaseModel) and not isinstance(value, BaseMessage):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [as_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: as_plain(item) for key, item in value.items()}
    return to_jsonable_python(value) if is_dataclass(value) else value


def moved(node: Node, before: State, after: State) -> Command[Node]:
    """Go on at a node, with what has changed as any checkpointer keeps it."""
    both = (
        (one.name, getattr(before, one.name), getattr(after, one.name)) for one in fields(after)
    )
    return Command(goto=node, update={n: as_plain(new) for n, old, new in both if new != old})


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

    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as fresh:
        saver = SqliteSaver(fresh)
        saver.setup()
        ours = _schema(fresh)
    if path.exists() and path.stat().st_size > _LARGEST:
        raise BrokenCheckpointsError(path, f"they have more than {_LARGEST >> 30} GiB")
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        _require_sound(connection, path, ours)
        yield SqliteSaver(connection, serde=serde)


def discard_checkpoints(path: Path, database: str | None, thread: str) -> None:
    """Forget where a run stands: its next resumption makes it from its beginning."""
    if database is not None:
        with open_checkpoints(path, database) as saver:
            saver.delete_thread(thread)
    for end in ("-wal", "-shm", ""):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _schema(connection: "sqlite3.Connection") -> set[tuple[str, ...]]:
    """All that a file holds, by its kind, name and definition."""
    rows = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    return {(kind, name, table, " ".join(sql.split())) for kind, name, table, sql in rows}


def _require_sound(
    connection: "sqlite3.Connection", path: Path, ours: set[tuple[str, ...]]
) -> None:
    """Refuse a file that is damaged, or holds anything but tables as `ours`.

    A view or a trigger of somebody else's would be run by whoever reads the tables, for ever.
    """
    import sqlite3

    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        for kind, name, *_ in sorted(_schema(connection) - ours):
            raise BrokenCheckpointsError(path, f"the {kind} {name[:80]!r} in them is not of ours")
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError:
        raise  # the disk's or the folder's fault, and not the file's
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise BrokenCheckpointsError(path, str(error)) from error
    if found != "ok":
        raise BrokenCheckpointsError(path, str(found))


def has_checkpoint(graph: Any, config: "RunnableConfig", folder: RunFolder) -> bool:  # noqa: ANN401 - LangGraph's
    """True where the run has a checkpoint.

    Raises:
        BrokenCheckpointsError: If it cannot be decoded.
    """
    try:
        return bool(graph.get_state(config).values)
    except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        raise BrokenCheckpointsError(folder.checkpoints, str(error)) from error


def graph_events(
    graph: Any,  # noqa: ANN401 - LangGraph's compiled type is generic in four places
    config: "RunnableConfig",
    context: object,
    step: Any,  # noqa: ANN401 - an input, a command, or None
) -> Generator[Event, None, None]:
    """Run the machine from its checkpoint, or with a step, until it ends or waits.

    Args:
        graph: The compiled machine.
        config: Of the thread.
        context: What its nodes are given.
        step: Its first input, or a command; None to go on where it stands.

    Yields:
        Which node begins, and what the nodes tell.
    """
    if step is None and graph.get_state(config).interrupts:
        return
    # Not `.next`: it is empty where a kill fell between a node's writes and its checkpoint.
    # Nor `.tasks` alone: it is empty where a kill fell between a command and the end of its node,
    # whose writes the newest checkpoint holds.
    if step is None and not graph.get_state(config).tasks:
        newest = graph.checkpointer.get_tuple(config)
        if newest is None or not newest.pending_writes:
            return
    for part in graph.stream(
        step,
        config,
        context=context,
        stream_mode=["custom", "tasks"],
        durability="sync",
        version="v2",
    ):
        if part["type"] == "custom":
            yield read_event(part["data"])
        elif "triggers" in part["data"]:  # of a node that begins
            yield Begins(node=part["data"]["name"])
