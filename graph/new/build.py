"""Wiring of the machine: its nodes, and what every node of it does."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, get_args

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

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
from graph.new.requests import first_node, tries_again
from graph.new.state import ChatInput, ChatOutput, Retried, RunState, go_on
from graph.run.folder import RunFolder, RunFolderError

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
    roles = (intake, design, revise, recode, check, compare, refine, arbitrate, strategize)
    for name, role in {**{node.__name__: node for node in roles}, "code": code}.items():
        # Not LangGraph's error handlers: each of them is drawn as a node of its own.
        builder.add_node(name, _telling(name, _kept(name, role)) if in_chat else _kept(name, role))
    for other in (approve, evaluate, report):
        builder.add_node(other.__name__, _kept(other.__name__, other))
    builder.add_conditional_edges(START, first_node, list(get_args(Retried)))
    return builder


def _kept(name: str, node: Callable[..., Command[Any]]) -> Any:  # noqa: ANN401 - LangGraph's type
    """The node in the run's folder, wherever that lies now; one that is tried again goes on."""

    @wraps(node)
    def run(state: RunState, runtime: Runtime[RunContext]) -> Command[Any]:
        given = folder_given(runtime)
        if given is not None:
            state = state.in_folder(RunFolder(given).revision(state.revision).path)
        elif state.folder:
            # A server's client may send an update of the state, and so a folder.
            runs = runs_of(runtime).resolve()
            if runs not in Path(state.folder).resolve().parents:
                raise RunFolderError(f"the folder {state.folder} is not in {runs}; begin a new run")
        if not (tries_again(state) and state.stopped == name):
            return node(state, runtime)
        command = node(state.trying_again(), runtime)
        return replace(command, update={"stopped": None, "reason": "", **(command.update or {})})

    return run


def _telling(name: str, node: Callable[..., Command[Any]]) -> Callable[..., Command[Any]]:
    """The node, with a model's failure as a message; the next one may go on at the same node."""

    @wraps(node)
    def run(state: RunState, runtime: Runtime[RunContext]) -> Command[Any]:
        from agents.model.errors import ModelError

        try:
            return node(state, runtime)
        except ModelError as error:
            said = f"The model failed, and the run has stopped: {error}"
            again = "What was finished is kept. Say “go on” to try again from there."
            retried = next(known for known in get_args(Retried) if known == name)
            stopped = state.stopping(retried, str(error))
            return go_on("__end__", state, stopped.saying(f"{said}\n{again}"))

    return run


def recursion_limit(max_rounds: int, candidates: int = 1) -> int:
    """Supersteps a run may take: one way through, some for every refinement, one for every draft.

    >>> recursion_limit(0), recursion_limit(6), recursion_limit(6, 3)
    (16, 46, 48)
    """
    return _STEPS_ONE_WAY + _STEPS_A_ROUND * max_rounds + candidates - 1
