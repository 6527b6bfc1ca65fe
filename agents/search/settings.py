"""Settings that several searches share, what a search is given, and its result.

A player's settings are one frozen model in the algorithm's own file: bounds, default and meaning of
each stand there once. Specs, `rulewright players` and refusals are read from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from games.modules import Heuristic, Rules
from games.values import Action, Json, State

Clock: TypeAlias = Callable[[], float]
NoYes: TypeAlias = Literal["no", "yes"]
Ensemble: TypeAlias = Literal["rank", "score"]

LARGEST = 1e9  # beyond any use, and below where clocks and loops overflow
MANY = 100_000  # of what a worker's memory holds all at once
DAY = 86_400  # seconds
Count: TypeAlias = Annotated[int, Field(ge=1, le=LARGEST)]
Amount: TypeAlias = Annotated[float, Field(ge=0, le=LARGEST)]
_RANDOM = ("rollout", "truncated")  # leaves worth what random play pays


@dataclass(frozen=True)
class When:
    """Metadata of a setting that has an effect only beside some values of another.

    Attributes:
        setting: The other setting.
        values: Its values; where there are none, any number above 0.
    """

    setting: str
    values: tuple[str, ...] = ()


class PlayerSettings(BaseModel):
    """Settings of a player; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def value_needed(self) -> tuple[str, str] | None:
        """The setting that needs the module's `value_function`, and what asks for none."""
        return None


CallLimit: TypeAlias = Annotated[
    Count,
    Field(description="Calls of apply_action a decision, never exceeded."),
    When("budget", ("calls",)),
]
SecondLimit: TypeAlias = Annotated[
    float,
    Field(
        ge=0.001,
        le=DAY,
        description="Processor seconds after which a decision begins no simulation.",
    ),
    When("budget", ("time",)),
]


class EndSettings(PlayerSettings):
    """Settings that end a decision."""

    budget: Literal["simulations", "calls", "time"] = Field(
        default="simulations",
        description="What ends a decision: simulations, calls of apply_action, or time.",
    )


class BudgetSettings(EndSettings):
    """The end of a decision."""

    simulations: Annotated[Count, When("budget", ("simulations",))] = Field(
        default=1000, description="Simulations a decision."
    )
    calls: CallLimit = 4000
    seconds: SecondLimit = 1.0

    def shares(self, worlds: int) -> list[Self]:
        """The settings of every world that gets some of the budget, which add up to it.

        A world that a budget of whole numbers leaves nothing for is not even listed: `worlds` may
        be any size.

        >>> [s.simulations for s in BudgetSettings(simulations=8).shares(3)]
        [3, 3, 2]
        >>> len(BudgetSettings(simulations=2).shares(3))
        2
        """
        if self.budget == "time":
            return [self.model_copy(update={"seconds": self.seconds / worlds})] * worlds
        whole = self.calls if self.budget == "calls" else self.simulations
        parts = [whole // worlds + (index < whole % worlds) for index in range(min(worlds, whole))]
        return [self.model_copy(update={self.budget: part}) for part in parts]


RolloutCount: TypeAlias = Annotated[
    Count,
    Field(description="Rollouts averaged at a new leaf."),
    When("leaf", (*_RANDOM, "heuristic", "auto")),
]
LeafChoice: TypeAlias = Annotated[
    Literal["rollout", "truncated", "value", "heuristic", "auto"],
    Field(
        description="What a new leaf is worth: rollouts to the end, rollouts of some plies and "
        "then the game's value function if it has one, that function at once, play by the game's "
        "heuristics for some plies; auto takes the value function where there is one, else "
        "rollouts to the end."
    ),
]


class LeafSettings(PlayerSettings):
    """The worth of a new leaf."""

    leaf: LeafChoice = "rollout"
    rollouts: RolloutCount = 1
    rollout_limit: Annotated[Count, When("leaf", ("rollout", "auto"))] = Field(
        default=1000, description="Plies after which a rollout is cut."
    )
    depth: Annotated[Count, When("leaf", ("truncated", "heuristic"))] = Field(
        default=10, description="Plies of a rollout that is truncated, or played by heuristics."
    )
    ensemble: Annotated[Ensemble, When("leaf", ("heuristic",))] = Field(
        default="rank", description="How several heuristics agree: by mean rank or mean score."
    )

    def value_needed(self) -> tuple[str, str] | None:
        """See `PlayerSettings.value_needed`."""
        return ("leaf=value", "leaf=rollout or leaf=auto") if self.leaf == "value" else None


class RolloutSettings(LeafSettings):
    """The policy of random rollouts."""

    policy: Annotated[Literal["uniform", "mast", "gibbs"], When("leaf", _RANDOM)] = Field(
        default="uniform",
        description="Rollouts draw uniform actions, or follow MAST: epsilon-greedy (mast) or "
        "by Gibbs' distribution (gibbs).",
    )
    epsilon: Annotated[float, When("policy", ("mast",))] = Field(
        default=0.4, ge=0, le=1, description="Share of uniform draws in mast."
    )
    temperature: Annotated[float, When("policy", ("gibbs",))] = Field(
        default=1.0, ge=0.001, le=LARGEST, description="Temperature of gibbs, for means in [0, 1]."
    )


ExplorationWeight: TypeAlias = Annotated[
    Amount, Field(description="Weight of the exploration term, for returns in [0, 1].")
]


class BoundSettings(PlayerSettings):
    """The weight of upper confidence bounds."""

    exploration: ExplorationWeight = 1.0


class TreeSettings(RolloutSettings, BudgetSettings, BoundSettings):
    """Settings of every tree search."""

    widening: Amount = Field(
        default=0.0,
        description="C of progressive widening: a node visited n times considers C n^power "
        "actions; 0 considers all.",
    )
    power: Annotated[float, When("widening")] = Field(
        default=0.5, ge=0, le=1, description="Power of progressive widening."
    )


SolverChoice: TypeAlias = Annotated[
    Literal["auto", "no", "yes"],
    Field(
        description="Whether wins and losses that are proven are backed up: auto where the tree "
        "can and by what simulations show a win to pay, and short matches are settled; yes by win."
    ),
]


class GraphSettings(TreeSettings):
    """Settings of a tree of known states.

    `bias` is `4 b^2` of the minimum-MSE schedule of all moves as first (see `agents.search.uct`).
    """

    rave: Literal["none", "rave", "grave"] = Field(
        default="none",
        description="All-moves-as-first statistics: none, of the node (rave), or of an "
        "ancestor (grave).",
    )
    bias: Annotated[Amount, When("rave", ("rave", "grave"))] = Field(
        default=0.001, description="How soon all-moves-as-first statistics lose to a node's own."
    )
    reference: Annotated[Count, When("rave", ("grave",))] = Field(
        default=50, description="Descents from which an ancestor's statistics serve."
    )
    transpositions: NoYes = Field(default="no", description="Whether equal states share a node.")
    solver: SolverChoice = "no"
    win: Annotated[Amount, When("solver", ("yes",))] = Field(
        default=1.0,
        description="Largest return that any seat can get; an action that pays it is a proven win.",
    )

    @model_validator(mode="after")
    def _hold_together(self) -> Self:
        """Refuse settings that do not go together."""
        if self.rave != "none" and (self.rollouts > 1 or self.leaf not in _RANDOM):
            raise ValueError(
                f"rave is {self.rave!r} with rollouts={self.rollouts}, leaf={self.leaf!r}; "
                "required: one random rollout at a leaf, whose moves it counts"
            )
        shared = self.transpositions == "yes"
        solver: object = {"yes": True, "no": False}.get(self.solver, self.solver)
        if (self.rave != "none") + shared + (solver is True) > 1:
            raise ValueError(
                f"rave is {self.rave!r}, transpositions {shared}, solver {solver}; "
                "required: one of them at the most"
            )
        if self.rave != "none" and self.widening:
            raise ValueError(f"rave is {self.rave!r}; required: no widening")
        if shared and self.policy != "uniform":
            raise ValueError(
                f"transpositions with policy={self.policy!r}; required: policy='uniform', as a "
                "shared node has no one action that led to it"
            )
        return self


@dataclass(frozen=True)
class SearchView:
    """All that a search is given of a decision.

    Attributes:
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Gives a full state that the seat cannot tell from the true one. Searches of a
            known state take the first one alone.
        heuristics: The game's heuristics.
        clock: Seconds, from any zero; needed where the budget is time.
        worlds: Determinizations that a search of a known state decides in, 0 as 1.
    """

    rules: Rules
    seat: int
    determinize: Callable[[], State]
    heuristics: tuple[Heuristic, ...] = ()
    clock: Clock | None = None
    worlds: int = 1


@dataclass(frozen=True)
class SearchResult:
    """The result of a search at its root.

    Attributes:
        actions: `[A]` root actions, in the module's order.
        visits: `[A]` simulations that tried each action.
        means: `[A]` mean return of the root's player, in the game's own units; None where untried.
        simulations: Simulations done.
        nodes: Nodes in the tree.
        cut_rollouts: Rollouts that were cut before the match's end, and plans before their own.
        calls: Calls of `apply_action` made.
        seconds: Seconds used by the clock of the search, where the budget was time; else None.
        chosen: The action to play, where it is not the most visited one.
        figures: More numbers that an algorithm reports of its decision.
    """

    actions: tuple[Action, ...]
    visits: tuple[int, ...]
    means: tuple[float | None, ...]
    simulations: int
    nodes: int
    cut_rollouts: int
    calls: int = 0
    seconds: float | None = None
    chosen: Action | None = None
    figures: Mapping[str, int | float | str] = field(default_factory=dict)

    @property
    def best(self) -> Action:
        """The most visited action; of equals the one with the larger mean, then the first."""
        if self.chosen is not None:
            return self.chosen
        lowest = float("-inf")
        ranks = [
            (visits, lowest if mean is None else mean)
            for visits, mean in zip(self.visits, self.means, strict=True)
        ]
        return self.actions[ranks.index(max(ranks))]

    def effort(self) -> dict[str, Json]:
        """The effort of the search, as a decision reports it."""
        used: dict[str, Json] = {
            "simulations_done": self.simulations,
            "calls": self.calls,
            "nodes": self.nodes,
            "cut_rollouts": self.cut_rollouts,
        }
        if self.seconds is not None:
            used["seconds"] = self.seconds
        return {**used, **self.figures}
