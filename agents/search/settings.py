"""What a search is asked to do, and what it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Literal, TypeAlias, get_args

from games.contract import Action, Json

Leaf: TypeAlias = Literal["rollout", "truncated", "value", "heuristic", "auto"]
BudgetKind: TypeAlias = Literal["simulations", "calls", "time"]
Policy: TypeAlias = Literal["uniform", "mast", "gibbs"]
Amaf: TypeAlias = Literal["none", "rave", "grave"]
Ensemble: TypeAlias = Literal["rank", "score"]
Opponents: TypeAlias = Literal["own", "observer"]
Solver: TypeAlias = Literal["auto"] | bool

_WORDS = {
    "leaf": get_args(Leaf),
    "budget": get_args(BudgetKind),
    "policy": get_args(Policy),
    "rave": get_args(Amaf),
    "ensemble": get_args(Ensemble),
    "opponents": get_args(Opponents),
}
_INFINITY = float("inf")
_RANDOM = ("rollout", "truncated")  # leaves worth what random play pays
# What a number must be, by the sentence that says so.
_NUMBERS: dict[str, tuple[tuple[str, ...], Callable[[float], bool]]] = {
    "at least 1": (
        ("simulations", "rollouts", "rollout_limit", "calls", "depth", "reference"),
        lambda number: number >= 1,
    ),
    "a finite number >= 0": (
        ("exploration", "bias", "widening"),
        lambda number: 0 <= number < _INFINITY,
    ),
    "a finite number > 0": (("seconds", "temperature"), lambda number: 0 < number < _INFINITY),
    "a finite number": (("win",), isfinite),
    "within [0, 1]": (("epsilon", "power"), lambda number: 0 <= number <= 1),
}


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the searches that sample; each algorithm says which of them it follows.

    Attributes:
        simulations: Descents from the root, at least 1, where the budget is "simulations".
        exploration: Weight of the exploration term, unitless, at least 0; returns are in [0, 1]
            when it is added.
        rollouts: Rollouts averaged at a new leaf, at least 1.
        rollout_limit: Plies after which a rollout to the end, or the playing of a plan, is cut;
            what it paid so far counts.
        leaf: What a new leaf is worth: "rollout" to the end; "truncated", a rollout of `depth`
            plies and then the module's `value_function`, if it has one; "value" for that function
            at once; "heuristic", `depth` plies by the game's heuristics, then as "truncated";
            "auto", "value" where the module has that function, else "rollout".
        value_range: Lowest and highest return a seat can still get, where that is known;
            None takes the range of the returns seen so far, a seat at a time.
        budget: What ends the search: so many simulations, calls of `apply_action`, or seconds.
        calls: Calls of `apply_action`, never exceeded, where the budget is "calls".
        seconds: Seconds after which no simulation is begun, where the budget is "time".
        depth: Plies of a rollout where `leaf` is "truncated" or "heuristic".
        ensemble: How several heuristics agree: by the mean "rank" or the mean "score".
        policy: Rollouts draw "uniform" actions, or follow MAST: "mast" is epsilon-greedy in its
            means, "gibbs" draws by their Boltzmann distribution.
        epsilon: Share of uniform draws in "mast", in [0, 1].
        temperature: Of "gibbs", for means in [0, 1]; above 0.
        rave: All moves as first: "none", of the node itself, or of the nearest ancestor with
            at least `reference` visits.
        bias: How soon all-moves-as-first statistics lose to a node's own: `b^2` times 4.
        reference: Visits from which an ancestor's statistics serve "grave".
        widening: `C` of progressive widening: a node visited `n` times considers
            `ceil(C * n^power)` actions; 0 considers all.
        power: See `widening`; in [0, 1].
        transpositions: Whether equal states share one node.
        solver: Whether proven values are backed up beside means; "auto" does so unless all moves
            count as first or equal states share a node, and finds out itself what a win pays.
        opponents: By what the tree of one observer has others choose: what they see themselves,
            where that repeats ("own"), or what the "observer" sees alone.
        win: Largest return any seat can get, which proves a win, where `solver` is True.
    """

    simulations: int = 1000
    exploration: float = 1.0
    rollouts: int = 1
    rollout_limit: int = 1000
    leaf: Leaf = "rollout"
    value_range: tuple[float, float] | None = None
    budget: BudgetKind = "simulations"
    calls: int = 4000
    seconds: float = 1.0
    depth: int = 10
    ensemble: Ensemble = "rank"
    policy: Policy = "uniform"
    epsilon: float = 0.4
    temperature: float = 1.0
    rave: Amaf = "none"
    bias: float = 0.001
    reference: int = 50
    widening: float = 0.0
    power: float = 0.5
    transpositions: bool = False
    solver: Solver = False
    opponents: Opponents = "own"
    win: float = 1.0

    def __post_init__(self) -> None:
        """Refuse settings that no search can follow."""
        for required, (names, holds) in _NUMBERS.items():
            for name in names:
                if not holds(getattr(self, name)):
                    raise ValueError(f"{name} is {getattr(self, name)}; required: {required}")
        for name, known in _WORDS.items():
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise ValueError(f"{name} is {given!r}; required: {' or '.join(map(repr, known))}")
        if self.solver not in (False, True, "auto"):
            raise ValueError(f"solver is {self.solver!r}; required: False, True or 'auto'")
        if self.value_range is not None and self.value_range[0] >= self.value_range[1]:
            raise ValueError(f"value_range is {self.value_range}; required: low < high")
        self._refuse_combinations()

    def _refuse_combinations(self) -> None:
        """Refuse settings that do not go together."""
        if self.rave != "none" and (self.rollouts > 1 or self.leaf not in _RANDOM):
            raise ValueError(
                f"rave is {self.rave!r} with rollouts={self.rollouts}, leaf={self.leaf!r}; "
                "required: one random rollout at a leaf, whose moves it counts"
            )
        if (self.rave != "none") + self.transpositions + (self.solver is True) > 1:
            raise ValueError(
                f"rave is {self.rave!r}, transpositions {self.transpositions}, solver "
                f"{self.solver}; required: one of them at the most"
            )
        if self.rave != "none" and self.widening:
            raise ValueError(f"rave is {self.rave!r}; required: no widening")
        if self.transpositions and self.policy != "uniform":
            raise ValueError(
                f"transpositions with policy={self.policy!r}; required: policy='uniform', as a "
                "shared node has no one action that led to it"
            )


SETTINGS = frozenset(field.name for field in fields(SearchSettings))


@dataclass(frozen=True)
class SearchResult:
    """What a search found at its root.

    Attributes:
        actions: `[A]` root actions, in the module's order.
        visits: `[A]` simulations that tried each action.
        means: `[A]` mean return of the root's player, in the game's own units; None where untried.
        simulations: Simulations done.
        nodes: Nodes in the tree.
        cut_rollouts: Rollouts that were cut before the match's end, and plans before their own.
        calls: Calls of `apply_action` made.
        seconds: Seconds used, where the budget was time; None elsewhere.
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
        """What the search used, as a decision reports it."""
        used: dict[str, Json] = {
            "simulations_done": self.simulations,
            "calls": self.calls,
            "nodes": self.nodes,
            "cut_rollouts": self.cut_rollouts,
        }
        if self.seconds is not None:
            used["seconds"] = self.seconds
        return {**used, **self.figures}
