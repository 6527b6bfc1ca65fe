"""What a search is asked to do, and what it found."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from games.contract import Action, Json

Leaf: TypeAlias = Literal["rollout", "value"]


@dataclass(frozen=True)
class SearchSettings:
    """Settings that UCT and ISMCTS share.

    Attributes:
        simulations: Descents from the root, at least 1.
        exploration: Weight of the exploration term, unitless, at least 0; returns are in [0, 1]
            when it is added.
        rollouts: Random rollouts averaged at a new leaf, at least 1.
        rollout_limit: Plies after which a rollout is cut; what it paid so far counts.
        leaf: "rollout", or "value" for the module's own `value_function`.
        value_range: Lowest and highest return a seat can still get, where that is known;
            None takes the range of the returns seen so far, a seat at a time.
    """

    simulations: int = 1000
    exploration: float = 1.0
    rollouts: int = 1
    rollout_limit: int = 1000
    leaf: Leaf = "rollout"
    value_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse settings that no search can follow."""
        for name in ("simulations", "rollouts", "rollout_limit"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; required: at least 1")
        if not 0 <= self.exploration < float("inf"):
            raise ValueError(f"exploration is {self.exploration}; required: a finite number >= 0")
        if self.leaf not in ("rollout", "value"):
            raise ValueError(f"leaf is {self.leaf!r}; required: 'rollout' or 'value'")
        if self.value_range is not None and self.value_range[0] >= self.value_range[1]:
            raise ValueError(f"value_range is {self.value_range}; required: low < high")


@dataclass(frozen=True)
class SearchResult:
    """What a search found at its root.

    Attributes:
        actions: `[A]` root actions, in the module's order.
        visits: `[A]` simulations that tried each action.
        means: `[A]` mean return of the root's player, in the game's own units; None where untried.
        simulations: Simulations done.
        nodes: Nodes in the tree.
        cut_rollouts: Rollouts that reached `rollout_limit` before the match's end.
    """

    actions: tuple[Action, ...]
    visits: tuple[int, ...]
    means: tuple[float | None, ...]
    simulations: int
    nodes: int
    cut_rollouts: int

    @property
    def best(self) -> Action:
        """The most visited action; of equals the one with the larger mean, then the first."""
        lowest = float("-inf")
        ranks = [
            (visits, lowest if mean is None else mean)
            for visits, mean in zip(self.visits, self.means, strict=True)
        ]
        return self.actions[ranks.index(max(ranks))]

    def effort(self) -> dict[str, Json]:
        """What the search used, as a decision reports it."""
        return {
            "simulations_done": self.simulations,
            "nodes": self.nodes,
            "cut_rollouts": self.cut_rollouts,
        }
