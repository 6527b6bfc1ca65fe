"""Runs from start to end: start, stream, interrupt, resume."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from langgraph.types import Command, Interrupt

from graph.new.answers import answered, waits_for_words
from graph.new.build import compile_with, recursion_limit
from graph.new.requests import Request, read_request, write_request
from graph.new.results import RunResult
from graph.new.state import RunState
from graph.run.checkpoints import BrokenCheckpointsError, open_checkpoints
from graph.run.context import RunContext
from graph.run.folder import RunFolder
from graph.run.sandboxes import grades_of
from graph.run.traces import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Event: TypeAlias = dict[str, Any]
Tell: TypeAlias = Callable[[Event], None]
Answer: TypeAlias = Callable[[dict[str, Any]], str | None]


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
        folder: A fresh run folder; where it holds a request (see `write_request`), that one counts.
        context: The run's resources.
        tell: Hears what the nodes report as they work.
        answer: Gives the answer to a question; None leaves the run waiting.
        database: Postgres address for the checkpoints, or None for SQLite in the folder.
    """
    if not folder.asked:
        write_request(Request(prompt=prompt, settings=context.settings), folder)
    return resume_run(folder, context, tell=tell, answer=answer, database=database)


def resume_run(
    folder: RunFolder,
    context: RunContext,
    *,
    tell: Tell = lambda _: None,
    answer: Answer = lambda _: None,
    database: str | None = None,
) -> RunResult:
    """Go on where the run's last checkpoint stands; the same result as without the break.

    A run without checkpoints is made from its request, with the answers that stand there. A run
    that ended is returned as it is, unless the request holds more that was said of its game; one
    that ended in a question takes an answer to it.

    Raises:
        RunFolderError: If the folder holds no request.
        BrokenCheckpointsError: If its checkpoints cannot be read.
    """
    started = time.monotonic()
    request = read_request(folder)
    context = replace(context, folder=folder.path)
    with _machine(folder, context, database) as (graph, config):
        step: Any = None if _known(graph, config, folder) else _first(request)
        while True:
            pending = _stream(graph, config, context, step, tell)
            found = graph.get_state(config).values
            state = RunState.model_validate(found)
            here = folder.revision(state.revision)
            state = state.model_copy(update={"folder": str(here.path)})
            question = dict(pending[0].value) if pending else {"ask": state.reason}
            given = next(iter(request.answers[answered(state) :]), None)
            waits = bool(pending) or waits_for_words(state)
            if given is None and waits and (given := answer(question)) is not None:
                # Kept before it is used: no kill, and no loss of the checkpoints, drops it.
                request = request.model_copy(update={"answers": (*request.answers, given)})
                write_request(request, folder)
            if given is None:
                break
            step = Command(resume=given) if pending else {"messages": [("user", given)]}
    seconds = time.monotonic() - started
    grade = grades_of(folder, context.sandbox.grade)[0]
    return RunResult(folder, state, question if pending else None, seconds, grade)


def _first(request: Request) -> Event:
    return {
        "messages": [("user", request.prompt)],
        "choices": request.choices.model_dump(mode="json"),
    }


def _known(graph: Any, config: "RunnableConfig", folder: RunFolder) -> bool:  # noqa: ANN401
    """Whether the run has a checkpoint.

    Raises:
        BrokenCheckpointsError: If it cannot be decoded.
    """
    try:
        return bool(graph.get_state(config).values)
    except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        raise BrokenCheckpointsError(folder.checkpoints, str(error)) from error


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
            "configurable": {"thread_id": folder.thread},
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
    pending = _pending(graph, config)
    if step is None and pending:
        return pending
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
    return _pending(graph, config)


def _pending(graph: Any, config: "RunnableConfig") -> tuple[Interrupt, ...]:  # noqa: ANN401
    found: tuple[Interrupt, ...] = graph.get_state(config).interrupts
    return found
