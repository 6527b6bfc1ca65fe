"""Wiring of the machine: its nodes, and what every node of it does."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal, get_args

from langgraph.errors import NodeError
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from graph.new.context import Inventor, RunContext, RunSettings
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
from graph.new.opening import context_of, folder_given, runs_of, step_of
from graph.new.reporting import write_design
from graph.new.requests import first_node, tries_again
from graph.new.state import ChatInput, ChatOutput, Retried, RunState, folder_of, go_on
from graph.new.trial import write_checks
from graph.run.candidates import best
from graph.run.folder import RunFolder, RunFolderError

_STEPS_ONE_WAY = 16
_READING = ("intake", "approve")  # nodes that write into no folder that is there

_STEPS_A_ROUND = 5


def build(
    *,
    in_chat: bool = True,
    code: Callable[..., Any] = code,
    inventor: "Inventor | None" = None,
) -> StateGraph[RunState, RunContext, ChatInput, ChatOutput]:
    """The machine, not yet compiled.

    intake -> design -> [approve] -> code -> check <-> refine -> strategize -> evaluate -> report;
    what the coder contests, and claims that nothing else settles, go to arbitrate.

    A message on a game that is there: intake -> revise -> [approve] -> recode -> check ...

    Args:
        in_chat: Whether a model's failure becomes a message of the chat; else it is raised.
        code: What follows the design.
        inventor: Answers wishes of a server's clients, who hand no context over; None for nobody.
    """
    # Callers in this process hand a RunContext over; a server's client may send RunSettings.
    schema: Any = RunSettings
    builder = StateGraph(
        RunState, context_schema=schema, input_schema=ChatInput, output_schema=ChatOutput
    )
    told: Any = _told if in_chat else None
    roles = (intake, design, recode, check, compare, refine, arbitrate, strategize)
    own = {"code": code, "revise": _inventive(inventor)}
    for name, role in {**{node.__name__: node for node in roles}, **own}.items():
        builder.add_node(name, _kept(name, role), error_handler=told)
    for other in (approve, evaluate, report):
        builder.add_node(other.__name__, _kept(other.__name__, other))
    builder.add_conditional_edges(START, first_node, list(get_args(Retried)))
    return builder


def _inventive(inventor: "Inventor | None") -> Callable[..., Command[Any]]:
    """The node `revise`, with whoever answers wishes."""

    @wraps(revise)
    def node(state: RunState, runtime: Runtime[RunContext]) -> Command[Any]:
        return revise(state, runtime, inventor)

    return node


def _kept(name: str, node: Callable[..., Command[Any]]) -> Any:  # noqa: ANN401 - LangGraph's type
    """The node in the run's folder, wherever that lies now; one that is tried again goes on.

    A thread may be forked: at a checkpoint that is not the newest somebody says or answers
    something else. What the other branch writes stays, so a step goes on in the folder only where
    the newest step there is the one before it, or itself; else in a folder of its own.
    """

    @wraps(node)
    def run(state: RunState, runtime: Runtime[RunContext]) -> Command[Any]:
        given = folder_given(runtime)
        if given is not None:
            if not (RunFolder(given).state / "thread").is_file():
                raise RunFolderError(
                    f"the run's folder {given} is not there any more; where it was moved, go on "
                    "with it there: rulewright resume FOLDER"
                )
            return tried(state.in_folder(RunFolder(given).revision(state.revision).path), runtime)
        if not state.folder:
            return tried(state, runtime)
        # A server's client may send an update of the state, and so a folder.
        runs = runs_of(runtime).resolve()
        if runs not in Path(state.folder).resolve().parents:
            raise RunFolderError(f"the folder {state.folder} is not in {runs}; begin a new run")
        if not folder_of(state).root.is_of(state.key):
            raise RunFolderError(f"{state.folder} is of another run; begin a new one")
        if name in _READING or (name == revise.__name__ and not state.asks):
            return tried(state, runtime)
        with _branch(state, runtime) as branch:
            command = tried(branch, runtime)
        kept = {"folder": branch.folder, "revision": branch.revision}
        return replace(command, update={**kept, **(command.update or {}), "step": branch.step})

    def tried(state: RunState, runtime: Runtime[RunContext]) -> Command[Any]:
        if not (tries_again(state) and state.stopped == name):
            return node(state, runtime)
        command = node(state.trying_again(), runtime)
        return replace(command, update={"stopped": None, "reason": "", **(command.update or {})})

    return run


@contextmanager
def _branch(state: RunState, runtime: Runtime[RunContext]) -> Iterator[RunState]:
    """The state in the folder of its branch, which a fork finds as it stood at its checkpoint.

    Forks may begin at once, and a step that was cancelled works on until its end: the next step in
    its folder waits for it.
    """
    folder, at = folder_of(state), step_of(runtime)
    with _no_other(folder.root.path):
        old, (began, newest) = folder, folder.steps
        if newest not in ("", state.step, at):
            folder = folder.branch(at)
            state = replace(state.in_folder(folder.path), revision=int(folder.path.name))
            began = at
        folder.step(began, at)
    with _no_other(folder.state):
        if folder is not old:
            _restore(state, old, context_of(runtime, state.folder, state.seed))
        yield replace(state, step=at)


@contextmanager
def _no_other(path: Path) -> Iterator[None]:
    """Wait until no other thread or process is inside the block for this folder.

    Raises:
        RunFolderError: If the folder is not there any more.
    """
    try:
        hold = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be used: {error.strerror}") from error
    try:
        fcntl.flock(hold, fcntl.LOCK_EX)
        yield
    finally:
        os.close(hold)


def _restore(state: RunState, old: RunFolder, context: RunContext) -> None:
    """Write what the steps before have written, from the state."""
    folder = folder_of(state)
    if state.design is not None and state.brief is not None:
        write_design(folder, state.design, state.brief)
    if state.candidates:
        shown = (
            best(state.candidates) if state.accepted is None else state.candidate(state.accepted)
        )
        folder.write_text("game.py", shown.source)
        if shown.findings is not None:
            write_checks(state, context, shown, state.claims)
    for heuristic in state.heuristics:
        folder.write_text(f"players/{heuristic.name}.py", heuristic.source)
    if state.evaluation is not None:  # nothing but the report is written after it
        old.carry(folder, ("players/", "records/", "rulebook.md"))


def _told(
    state: RunState, error: NodeError, runtime: Runtime[RunContext]
) -> Command[Literal["__end__"]]:
    """A model's failure as a message; the next one may go on at the same node."""
    from agents.model.errors import ModelError

    if not isinstance(error.error, ModelError):
        raise error.error
    said = f"The model failed, and the run has stopped: {error.error}"
    again = "What was finished is kept. Say “go on” to try again from there."
    node = next(name for name in get_args(Retried) if name == error.node)
    stopped, at = state.stopping(node, str(error.error)), step_of(runtime)
    if state.folder and folder_of(state).steps[1] == at:  # its newest step is the one that failed
        stopped = replace(stopped, step=at)
    return go_on("__end__", state, stopped.saying(f"{said}\n{again}"))


def recursion_limit(max_rounds: int, candidates: int = 1) -> int:
    """Supersteps a run may take: one way through, some for every refinement, one for every draft.

    >>> recursion_limit(0), recursion_limit(6), recursion_limit(6, 3)
    (16, 46, 48)
    """
    return _STEPS_ONE_WAY + _STEPS_A_ROUND * max_rounds + candidates - 1
