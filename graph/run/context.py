"""Resources of a run: opened once, never checkpointed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING

from agents.protocols import RoleSet
from graph.run.settings import RunSettings

if TYPE_CHECKING:
    from agents.model.budget import Budget
    from games.checks.run import CheckSettings
    from tools.checking import CheckRun
    from tools.retrieval import Retrieval
    from tools.sandbox import Sandbox


_PACKAGES = ("rulewright", "langgraph", "langchain-openai", "chromadb", "numpy", "pydantic")


@dataclass
class RunContext:
    """Run-scoped resources, passed as `context=` when the graph is invoked.

    Attributes:
        roles: The four roles.
        retrieval: The store, as the roles see it.
        sandbox: Where generated code runs.
        runs: Where new run folders go.
        settings: Effective settings of the run.
        store_snapshot: Content id of what retrieval can see.
        embedding: Identity of the embedding.
        budget: What a model may still spend; None without a model.
        interactive: Whether a person is there to answer an interrupt.
        folder: The one folder that the run may write to; None for a new one under `runs`.
        keeps_own_games: Whether an accepted game joins the store's own games.
        versions: Versions of what took part, by name.
        clock: Seconds, monotonic.
        passed: Checks that passed, by what was checked and how; grows.
    """

    roles: RoleSet
    retrieval: "Retrieval"
    sandbox: "Sandbox"
    runs: Path
    settings: RunSettings
    store_snapshot: str
    embedding: str
    clock: Callable[[], float]
    budget: "Budget | None" = None
    interactive: bool = False
    folder: Path | None = None
    keeps_own_games: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)
    passed: "dict[tuple[object, ...], CheckRun]" = field(default_factory=dict)

    def checked(
        self, source: str, settings: "CheckSettings", num_players: int, records: int
    ) -> "CheckRun":
        """See `check_source`; the same seed finds the same, so what passed is not checked twice."""
        from games.checks.findings import verdict
        from tools.checking import check_source

        key = (id(self.sandbox), source, settings, num_players, records)
        if key in self.passed:
            return self.passed[key]
        run = check_source(
            self.sandbox,
            source,
            settings=settings,
            num_players=num_players,
            parameters={},
            records=records,
        )
        if verdict(run.findings) == "passed":  # a fault may be one of time
            self.passed[key] = run
        return run


def versions() -> dict[str, str]:
    """Python's version and the packages', by name."""
    return {"python": python_version(), **{name: version(name) for name in _PACKAGES}}
