"""Runs from start to end: start, stream, interrupt, resume."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from langgraph.types import Command, Interrupt
from pydantic import BaseModel, ConfigDict, ValidationError

from graph.build import compile_with, recursion_limit
from graph.checkpoints import open_checkpoints
from graph.context import RunContext
from graph.folder import RunFolder, RunFolderError
from graph.grades import grades_of
from graph.results import RunResult
from graph.settings import RunSettings
from graph.state import RunState
from graph.tracing import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Event: TypeAlias = dict[str, Any]
Tell: TypeAlias = Callable[[Event], None]
_REQUEST = ".state/request.json"
Answer: TypeAlias = Callable[[dict[str, Any]], str | None]


class Request(BaseModel):
    """What a run was asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str
    settings: RunSettings


def start_run(
    prompt: str,
    folder: RunFolder,
    context: RunContext,
    *,
    tell: Tell = lambda _: None,
    answer: Answer = lambda _: None,
    database: str | None = None,
) -> RunResult:
    """Run the machine on a prompt until it ends or waits for a person.

    Args:
        prompt: The person's words.
        folder: A fresh run folder.
        context: The run's resources.
        tell: Hears what the nodes report as they work.
        answer: Gives the answer to an interrupt; None leaves the run waiting.
        database: Postgres address for the checkpoints, or None for SQLite in the folder.
    """
    write_request(prompt, folder, context.settings)
    first = {"messages": [("user", prompt)], "folder": str(folder.path)}
    return _drive(folder, context, first, tell=tell, answer=answer, database=database)


def resume_run(
    folder: RunFolder,
    context: RunContext,
    *,
    tell: Tell = lambda _: None,
    answer: Answer = lambda _: None,
    database: str | None = None,
) -> RunResult:
    """Go on where the run's last checkpoint stands; the same result as without the break.

    A run that ended already is returned as it is.

    Raises:
        RunFolderError: If the folder holds no request.
    """
    return _drive(folder, context, None, tell=tell, answer=answer, database=database)


def read_request(folder: RunFolder) -> tuple[str, RunSettings]:
    """The prompt and settings a run was started with.

    Raises:
        RunFolderError: If they cannot be read.
    """
    fields = folder.read_json(_REQUEST)
    try:
        request = Request.model_validate(fields)
    except ValidationError as error:
        raise RunFolderError(
            f"{folder.path / _REQUEST} is no request ({error.error_count()} faults); start the "
            "run anew: rulewright new"
        ) from error
    return request.prompt, request.settings


def write_request(prompt: str, folder: RunFolder, settings: RunSettings) -> None:
    """Keep what a run was asked, so that it can be resumed from its very first moment."""
    request = Request(prompt=prompt, settings=settings)
    folder.write_json(_REQUEST, request.model_dump(mode="json"))


def _drive(
    folder: RunFolder,
    context: RunContext,
    first: dict[str, Any] | None,
    *,
    tell: Tell,
    answer: Answer,
    database: str | None,
) -> RunResult:
    started = time.monotonic()
    with _machine(folder, context, database) as (graph, config):
        step: Any = first
        if first is None and not graph.get_state(config).values:
            prompt, _ = read_request(folder)  # it was killed before its first checkpoint
            step = {"messages": [("user", prompt)], "folder": str(folder.path)}
        question: dict[str, Any] | None = None
        while True:
            pending = _stream(graph, config, context, step, tell)
            if not pending:
                break
            question = cast("dict[str, Any]", pending[0].value)
            given = answer(question)
            if given is None:
                break
            question, step = None, Command(resume=given)
        state = RunState.model_validate(graph.get_state(config).values)
    seconds = time.monotonic() - started
    return RunResult(folder, state, question, seconds, grades_of(folder, context.sandbox.grade)[0])


@contextmanager
def _machine(
    folder: RunFolder, context: RunContext, database: str | None
) -> "Iterator[tuple[Any, RunnableConfig]]":
    settings = context.settings
    with (
        open_checkpoints(folder.checkpoints, database) as saver,
        tracing(folder.trace),
    ):
        config: RunnableConfig = {
            "configurable": {"thread_id": str(folder.path)},
            "recursion_limit": recursion_limit(settings.max_rounds),
            "run_name": "rulewright",
            "tags": ["rulewright", context.roles.identity],
            "metadata": {"seed": settings.seed, "quick": settings.quick, "run": folder.path.name},
        }
        yield compile_with(saver), config


def _stream(
    graph: Any,  # noqa: ANN401 - LangGraph's compiled type is generic in four places
    config: "RunnableConfig",
    context: RunContext,
    step: Any,  # noqa: ANN401
    tell: Tell,
) -> tuple[Interrupt, ...]:
    pending = graph.get_state(config).interrupts
    if step is None and pending:
        return cast("tuple[Interrupt, ...]", pending)
    # Not `.next`: it is empty where a kill fell between a node's writes and its checkpoint.
    if step is None and not graph.get_state(config).tasks:
        return ()
    for part in graph.stream(
        step,
        config,
        context=context,
        stream_mode=["custom", "updates"],
        durability="sync",
        version="v2",
    ):
        if part["type"] == "custom":
            tell(part["data"])
        elif "__interrupt__" in part["data"]:
            pending = part["data"]["__interrupt__"]
    return cast("tuple[Interrupt, ...]", graph.get_state(config).interrupts)


def folder_named(path: Path) -> RunFolder:
    """A run folder at a known path."""
    return RunFolder(path.resolve())
