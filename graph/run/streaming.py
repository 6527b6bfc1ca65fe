"""Streaming of a machine: from its newest checkpoint to its end, or to a question."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from langgraph.types import Interrupt

from graph.run.checkpoints import BrokenCheckpointsError
from graph.run.folder import RunFolder

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Event: TypeAlias = dict[str, Any]
Tell: TypeAlias = Callable[[Event], None]


def known(graph: Any, config: "RunnableConfig", folder: RunFolder) -> bool:  # noqa: ANN401
    """Whether the run has a checkpoint.

    Raises:
        BrokenCheckpointsError: If it cannot be decoded.
    """
    try:
        return bool(graph.get_state(config).values)
    except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        raise BrokenCheckpointsError(folder.checkpoints, str(error)) from error


def stream_graph(
    graph: Any,  # noqa: ANN401 - LangGraph's compiled type is generic in four places
    config: "RunnableConfig",
    context: object,
    step: Any,  # noqa: ANN401
    tell: Tell,
) -> tuple[Interrupt, ...]:
    """Run the machine from its checkpoint, or with a step; what it waits for then.

    Args:
        graph: The compiled machine.
        config: Of the thread.
        context: What its nodes are given.
        step: Its first input, or a command; None to go on where it stands.
        tell: Hears what the nodes report.
    """
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
