"""The machine of `vary`: its wiring, and its runs from start to end."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph.graph import START, StateGraph

from graph.run.checkpoints import open_checkpoints
from graph.run.events import Tell
from graph.run.folder import RunFolder
from graph.run.handle import QuietRun
from graph.run.sandboxes import open_sandbox
from graph.run.traces import tracing
from graph.vary.nodes.base import base
from graph.vary.nodes.check import check
from graph.vary.nodes.report import report
from graph.vary.nodes.select import select
from graph.vary.nodes.trial import trial
from graph.vary.nodes.twist import twist
from graph.vary.report import TOLD, VaryReport, read_varied
from graph.vary.settings import read_variation
from graph.vary.state import VaryContext, VaryState

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from tools.sandbox import Sandbox

NODES = (base, twist, trial, select, check, report)
STEPS = 400  # each round of choice and check settles a candidate at least


@dataclass(frozen=True)
class VaryResult:
    """A run at its end.

    Attributes:
        folder: Its folder.
        report: The object of `vary.json`.
    """

    folder: RunFolder
    report: VaryReport


def build_varying() -> StateGraph[VaryState, VaryContext, Any, Any]:
    """The machine, not yet compiled: base -> twist -> trial -> select <-> check, then report."""
    builder: StateGraph[VaryState, VaryContext, Any, Any] = StateGraph(
        VaryState, context_schema=VaryContext
    )
    for node in NODES:
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "base")
    return builder


def make_varying(folder: RunFolder, sandbox: "Sandbox | None" = None) -> VaryContext:
    """All that the run in a folder needs; its sandbox is the caller's to close."""
    from agents.players.registry import PlayerRoster

    if sandbox is None:
        sandbox = open_sandbox()
        sandbox.start()
    return VaryContext(sandbox, PlayerRoster(), folder, read_variation(folder))


class VaryRun(QuietRun):
    """A run in this process; see `QuietRun`."""

    context: VaryContext

    def result(self) -> VaryResult:
        """The run at its end.

        Raises:
            RunFolderError: If it has not ended.
        """
        return VaryResult(self.folder, read_varied(self.folder))


def has_varied(folder: RunFolder) -> bool:
    """True for a run that has ended."""
    return (folder.path / TOLD).exists()  # the last thing that a run writes


@contextmanager
def open_varying(
    folder: RunFolder, context: VaryContext, *, database: str | None = None
) -> Iterator[VaryRun]:
    """A run that begins, or goes on where its last checkpoint stands; to the same result.

    Args:
        folder: The run's folder.
        context: Its resources.
        database: A Postgres address for its checkpoints; None for a file in its folder.
    """
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": STEPS,
            "run_name": "rulewright vary",
            "metadata": {"seed": context.settings.seed, "run": folder.path.name},
        }
        yield VaryRun(folder, context, _compiled(saver), config)


def _compiled(saver: "BaseCheckpointSaver[str]") -> Any:  # noqa: ANN401 - LangGraph's
    return build_varying().compile(checkpointer=saver, name="rulewright vary")


def run_varying(
    folder: RunFolder,
    context: VaryContext,
    *,
    tell: Tell = lambda _: None,
    database: str | None = None,
) -> VaryResult:
    """Run to the end; see `open_varying`."""
    with open_varying(folder, context, database=database) as run:
        with closing(run.events()) as events:
            for event in events:
                tell(event)
        return run.result()
