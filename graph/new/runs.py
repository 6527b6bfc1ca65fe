"""Runs from start to end: start, stream, interrupt, resume."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from langchain_core.messages import AIMessage
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.new.claims import after, without_struck
from graph.new.context import RunContext, RunSettings
from graph.new.nodes.approve import approve
from graph.new.nodes.arbitrate import arbitrate
from graph.new.nodes.check import check
from graph.new.nodes.code import code
from graph.new.nodes.compare import compare
from graph.new.nodes.design import design
from graph.new.nodes.evaluate import evaluate
from graph.new.nodes.intake import intake
from graph.new.nodes.recode import recode
from graph.new.nodes.refine import refine
from graph.new.nodes.report import report
from graph.new.nodes.revise import revise
from graph.new.nodes.strategize import strategize
from graph.new.opening import folder_given, runs_of
from graph.new.requests import (
    Remedy,
    Request,
    answered,
    leave_question,
    read_request,
    waits_for_words,
    write_request,
)
from graph.new.results import RunResult, stage_message
from graph.new.state import ChatInput, ChatOutput, RunState
from graph.run.candidates import best
from graph.run.checkpoints import (
    Event,
    Tell,
    as_plain,
    has_checkpoint,
    open_checkpoints,
    plain_result,
    stream_graph,
)
from graph.run.folder import RunFolder, RunFolderError
from graph.run.sandboxes import grades_of
from graph.run.traces import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import Interrupt

Answer: TypeAlias = Callable[[dict[str, Any]], str | None]


def start_run(
    prompt: str, folder: RunFolder, context: RunContext, tell: Tell = lambda _: None
) -> RunResult:
    """Run the machine on a prompt until it ends or waits for a person.

    Args:
        prompt: The person's words.
        folder: A fresh run folder; where it holds a request (see `write_request`), that one counts.
        context: The run's resources.
        tell: Hears what the nodes report as they work.
    """
    if not folder.asked:
        write_request(Request(prompt=prompt, settings=context.settings), folder)
    return resume_run(folder, context, tell=tell)


def resume_run(
    folder: RunFolder,
    context: RunContext,
    *,
    tell: Tell = lambda _: None,
    answer: Answer = lambda _: None,
    database: str | None = None,
    remedy: Remedy | None = None,
) -> RunResult:
    """Go on where the run's last checkpoint stands; the same result as without the break.

    A run without checkpoints is made from its request, with the answers that stand there. A run
    that ended is returned as it is, unless the request holds more that was said of its game; one
    that ended in a question takes an answer to it, one that gave up a game takes a remedy.

    Raises:
        RunFolderError: If the folder holds no request, or the run cannot take the remedy.
        BrokenCheckpointsError: If its checkpoints cannot be read.
    """
    started = time.monotonic()
    request = read_request(folder)
    context = replace(context, folder=folder.path)
    with _machine(folder, context, database) as (graph, config):
        step: Any = None if has_checkpoint(graph, config, folder) else _first(request)
        while True:
            pending = _paused(graph, config, context, step, tell, request)
            state = RunState.model_validate(graph.get_state(config).values)
            here = folder.revision(state.revision)
            state = state.model_copy(update={"folder": str(here.path)})
            if remedy is not None and state.remedied == len(request.remedies):
                require_remedy(state, remedy, folder)
                request, remedy = request.remedied(remedy), None
                write_request(request, folder)  # before it is used: no kill drops it
            if state.end == "gave_up" and state.remedied < len(request.remedies):
                step = remedied(state, request.remedies[state.remedied], folder)
                continue
            question = dict(pending[0].value) if pending else {"ask": state.reason}
            given = next(iter(request.answers[answered(state) :]), None)
            waits = bool(pending) or waits_for_words(state)
            if given is None and waits and (given := answer(question)) is not None:
                # Kept before it is used: no kill, and no loss of the checkpoints, drops it.
                request = request.model_copy(update={"answers": (*request.answers, given)})
                write_request(request, folder)
            if given is None and step is None and state.stopped is not None:
                again: dict[str, Any] = {"stopped": None, "reason": ""}
                step = Command(goto=state.stopped, update=again)
                continue
            if given is None:
                break
            step = Command(resume=given) if pending else {"messages": [("user", given)]}
    asks = bool(pending) or state.end in ("question", "no_fit")
    leave_question(str(question["ask"]) if asks else "", request, folder)
    seconds = time.monotonic() - started
    grade = grades_of(folder, context.sandbox.grade)[0]
    return RunResult(folder, state, question if pending else None, seconds, grade)


def _paused(
    graph: Any,  # noqa: ANN401 - as `stream_graph` takes it
    config: "RunnableConfig",
    context: RunContext,
    step: Any,  # noqa: ANN401
    tell: Tell,
    request: Request,
) -> "tuple[Interrupt, ...]":
    """The machine's question then; nothing where something more was said of its game.

    A message for which no usable reply is had must not keep the next one, such as an undo, from
    being heard: it would be asked again and again.
    """
    from agents.model.budget import BudgetExhaustedError
    from agents.model.errors import MalformedReplyError

    try:
        return stream_graph(graph, config, context, step, tell)
    except (MalformedReplyError, BudgetExhaustedError):
        stands = graph.get_state(config)
        state = RunState.model_validate(stands.values)
        if state.made is None or answered(state) >= len(request.answers):
            raise
        node = next(iter(stands.next), state.stopped)  # none is next where a command led there
        tell({"node": node, "outcome": "no usable reply; the next message goes first"})
        if node != revise.__name__:  # what was to be made is tried again where nothing more is said
            graph.update_state(config, {"stopped": node}, as_node=node)
        return ()


def require_remedy(state: RunState, remedy: Remedy, folder: RunFolder) -> None:
    """Refuse a remedy that the run cannot take.

    Raises:
        RunFolderError: Saying why, and what it could take.
    """
    if state.end != "gave_up" or not state.candidates:
        raise RunFolderError(
            f"the run in {folder.path} did not give up a game that does not pass (its end: "
            f"{state.end}); --rounds, --drop-test and --accept are for such a run"
        )
    held = [claim.id for claim in state.claims if claim.counts]
    if remedy.drop and remedy.drop not in held:
        known = ", ".join(held) or "none"
        raise RunFolderError(
            f"no candidate is held against a claim {remedy.drop!r}; those in force: {known} "
            f"(checks.json in {folder.path} has their words)"
        )


def remedied(state: RunState, remedy: Remedy, folder: RunFolder) -> "Command[Any]":
    """The step that takes a remedy in: where the run goes on, and from what.

    Raises:
        RunFolderError: For `require_remedy`'s reasons.
    """
    require_remedy(state, remedy, folder)
    update: dict[str, Any] = {"remedied": state.remedied + 1, "end": None, "reason": ""}
    if remedy.accept:
        chosen = best(state.candidates)
        return Command(goto="strategize", update={**update, "accepted": chosen.number})
    if not remedy.drop:
        return Command(goto="refine", update=update)
    claims = tuple(after(c, "dropped") if c.id == remedy.drop else c for c in state.claims)
    pool = without_struck(state.candidates, claims)
    again = best(pool)
    if again != pool[-1]:
        pool.append(again.model_copy(update={"number": len(pool), "parent": again.number}))
    update |= {"claims": as_plain(claims), "candidates": as_plain(pool)}
    return Command(goto="check", update=update)


def _first(request: Request) -> Event:
    return {
        "messages": [("user", request.prompt)],
        "choices": request.choices.model_dump(mode="json"),
    }


@contextmanager
def _machine(
    folder: RunFolder, context: RunContext, database: str | None
) -> "Iterator[tuple[Any, RunnableConfig]]":
    settings = context.settings
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": recursion_limit(settings.max_rounds, settings.candidates),
            "run_name": "rulewright",
            "tags": ["rulewright", context.roles.identity],
            "metadata": {"seed": settings.seed, "quick": settings.quick, "run": folder.path.name},
        }
        yield build(in_chat=False).compile(checkpointer=saver, name="rulewright"), config


_STEPS_ONE_WAY = 16
_STEPS_A_ROUND = 5


def build(
    *, in_chat: bool = True, code: Callable[..., Any] = code
) -> StateGraph[RunState, RunContext, ChatInput, ChatOutput]:
    """The machine, not yet compiled.

    intake -> design -> [approve] -> code -> check <-> refine -> strategize -> evaluate -> report;
    what the coder contests, and claims that nothing else settles, go to arbitrate.

    A message on a game that is there: intake -> revise -> [approve] -> recode -> check ...

    Args:
        in_chat: Whether a model's failure becomes a message of the chat; else it is raised.
        code: What follows the design.
    """
    # Callers in this process hand a RunContext over; a server's client may send RunSettings.
    schema: Any = RunSettings
    builder = StateGraph(
        RunState, context_schema=schema, input_schema=ChatInput, output_schema=ChatOutput
    )
    told: Any = _told if in_chat else None
    roles = (intake, design, revise, recode, check, compare, refine, arbitrate, strategize)
    for name, role in {**{node.__name__: node for node in roles}, "code": code}.items():
        builder.add_node(name, _kept(name, role), error_handler=told)
    for other in (approve, evaluate, report):
        builder.add_node(other.__name__, _kept(other.__name__, other))
    builder.add_edge(START, "intake")
    return builder


def _kept(name: str, node: Callable[..., Any]) -> Any:  # noqa: ANN401 - LangGraph's type of a node
    """The node in the run's folder, wherever that lies now; what it returns, as it is kept.

    A line on what it did joins the chat.
    """

    @wraps(node)
    def run(state: RunState, runtime: Runtime[RunContext]) -> Any:  # noqa: ANN401
        given = folder_given(runtime)
        if given is not None:
            folder = RunFolder(given).revision(state.revision)
            state = state.model_copy(update={"folder": str(folder.path)})
        elif state.folder:
            # A server's client may send an update of the state, and so a folder.
            runs = runs_of(runtime).resolve()
            if runs not in Path(state.folder).resolve().parents:
                raise RunFolderError(f"the folder {state.folder} is not in {runs}; begin a new run")
        result = node(state, runtime)
        found = result if isinstance(result, dict) else dict(result.update or {})
        if said := stage_message(name, found):
            messages = [*found.get("messages", []), AIMessage(said, name=name)]
            return plain_result(result, {"messages": messages})
        return plain_result(result)

    return run


def _told(state: RunState, error: NodeError) -> Command[Any]:
    """A model's failure as a message; the next one may go on at the same node."""
    from agents.model.errors import ModelError

    if not isinstance(error.error, ModelError):
        raise error.error
    said = f"The model failed, and the run has stopped: {error.error}"
    again = "What was finished is kept. Say “go on” to try again from there."
    update = {"stopped": error.node, "end": None, "reason": str(error.error)}
    return Command(goto=END, update={**update, "messages": [AIMessage(f"{said}\n{again}")]})


def recursion_limit(max_rounds: int, candidates: int = 1) -> int:
    """Supersteps a run may take: one way through, some for every refinement, one for every draft.

    >>> recursion_limit(0), recursion_limit(6), recursion_limit(6, 3)
    (16, 46, 48)
    """
    return _STEPS_ONE_WAY + _STEPS_A_ROUND * max_rounds + candidates - 1
