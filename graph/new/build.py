"""The wiring: one flat list of nodes; their return types draw the edges."""

from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from graph.new.nodes.approve import approve
from graph.new.nodes.check import check
from graph.new.nodes.code import code
from graph.new.nodes.design import design
from graph.new.nodes.evaluate import evaluate
from graph.new.nodes.intake import intake
from graph.new.nodes.refine import refine
from graph.new.nodes.report import report
from graph.new.nodes.strategize import strategize
from graph.new.state import RunState
from graph.run.context import RunContext
from graph.run.settings import RunSettings

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

_STEPS_ONE_WAY = 16
_STEPS_A_ROUND = 3


def build() -> StateGraph[RunState, RunContext]:
    """The machine, not yet compiled.

    intake -> design -> [approve] -> code -> check <-> refine -> strategize -> evaluate -> report
    """
    # Callers in this process hand a RunContext over; a server's client may send RunSettings.
    schema: Any = RunSettings
    builder = StateGraph(RunState, context_schema=schema)
    asks_a_role = RetryPolicy(max_attempts=3, initial_interval=1.0, retry_on=worth_retrying)
    builder.add_node(intake, retry_policy=asks_a_role)
    builder.add_node(design, retry_policy=asks_a_role)
    builder.add_node(approve)
    builder.add_node(code, retry_policy=asks_a_role)
    builder.add_node(check, retry_policy=asks_a_role)
    builder.add_node(refine, retry_policy=asks_a_role)
    builder.add_node(strategize, retry_policy=asks_a_role)
    builder.add_node(evaluate)
    builder.add_node(report)
    builder.add_edge(START, "intake")
    return builder


def compile_with(
    saver: "BaseCheckpointSaver[str]",
) -> "CompiledStateGraph[RunState, RunContext, RunState, RunState]":
    """The machine with checkpoints, for the command line."""
    return build().compile(checkpointer=saver, name="rulewright")


def recursion_limit(max_rounds: int) -> int:
    """Supersteps a run may take: one way through, and some for every refinement.

    >>> recursion_limit(0), recursion_limit(6)
    (16, 34)
    """
    return _STEPS_ONE_WAY + _STEPS_A_ROUND * max_rounds


def worth_retrying(error: Exception) -> bool:
    """Malformed replies and endpoint trouble are; a person's mistake or our own bug is not.

    The models' client has used up its own bounded retries by then; a node's retry starts the
    role's work afresh, still within the run's budget.
    """
    from agents.model.errors import EndpointError, MalformedReplyError

    return isinstance(error, EndpointError | MalformedReplyError)
