"""What a run may use: resources that are opened once and never checkpointed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agents.protocols import RoleSet
from graph.settings import RunSettings

if TYPE_CHECKING:
    from agents.budgets import Budget
    from tools.retrieval import Retrieval
    from tools.sandbox import Sandbox


@dataclass(frozen=True)
class RunOptions:
    """What a caller may choose who hands no resources, such as LangGraph Studio.

    Attributes:
        seed: Seeds every random stream of the run.
        quick: Fewer matches and smaller searches.
        approve: Ask for approval of the rulebook; needs a checkpointer to wait in.
        own_games: Let retrieval also see games of earlier runs.
    """

    seed: int = 0
    quick: bool = False
    approve: bool = False
    own_games: bool = False


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
        keeps_own_games: Whether an accepted game joins the store's own games.
        versions: Versions of what took part, by name.
        clock: Seconds, monotonic.
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
    keeps_own_games: bool = True
    versions: Mapping[str, str] = field(default_factory=dict)
