"""Wiring of the machine: its nodes, and what every node of it does."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
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
from graph.new.results import stage_message
from graph.new.state import ChatInput, ChatOutput, RunState
from graph.run.checkpoints import (
    plain_result,
)
from graph.run.folder import RunFolder, RunFolderError

if TYPE_CHECKING:
    pass


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
    def run(state: RunState, runtime: Runtime[RunContext]) -> Any:  # noqa: ANN401 - a node's own update
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
