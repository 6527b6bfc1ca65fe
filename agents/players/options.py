"""Settings that several players which search share."""

from typing import get_args

from agents.belief.beliefs import BeliefName, Protocol
from agents.players.parameters import Parameter
from agents.search.genomes import Opponent
from agents.search.settings import Amaf, BudgetKind, Ensemble, Leaf, Policy

_NO_YES = ("no", "yes")
_RANDOM_LEAF = ("rollout", "truncated")
MANY = 100_000  # of what a worker's memory holds all at once
DAY = 86_400  # seconds
DEADLINE = Parameter(
    "deadline", 60.0, "Seconds to decide before the seat forfeits.", least=0.1, most=DAY
)


def budget(simulations: Parameter) -> tuple[Parameter, ...]:
    """What ends a decision; `simulations` says what is counted where it is no calls, no time."""
    return (
        Parameter(
            "budget",
            "simulations",
            "What ends a decision: simulations, calls of apply_action, or time.",
            choices=get_args(BudgetKind),
        ),
        simulations,
        Parameter(
            "calls",
            4000,
            "Calls of apply_action a decision, never exceeded.",
            least=1,
            when=("budget", ("calls",)),
        ),
        Parameter(
            "seconds",
            1.0,
            "Seconds after which a decision begins no simulation.",
            least=0.001,
            most=DAY,
            when=("budget", ("time",)),
        ),
    )


SIMULATIONS = budget(
    Parameter(
        "simulations",
        1000,
        "Simulations a decision.",
        least=1,
        when=("budget", ("simulations",)),
    )
)
PASSES = budget(
    Parameter(
        "passes",
        1,
        "Times every action is valued, each in a hidden state of its own.",
        least=1,
        when=("budget", ("simulations",)),
    )
)


def leaf(default: str, rollouts: int) -> tuple[Parameter, ...]:
    """What a new leaf is worth, with the defaults of the kind and of the number of rollouts."""
    return (
        Parameter(
            "leaf",
            default,
            "What a new leaf is worth: rollouts to the end, rollouts of some plies and then the "
            "game's value function if it has one, that function at once, play by the game's "
            "heuristics for some plies; auto takes the value function where there is one, else "
            "rollouts to the end.",
            choices=get_args(Leaf),
        ),
        Parameter(
            "rollouts",
            rollouts,
            "Rollouts averaged at a new leaf.",
            least=1,
            when=("leaf", (*_RANDOM_LEAF, "heuristic", "auto")),
        ),
        Parameter(
            "rollout_limit",
            1000,
            "Plies after which a rollout is cut.",
            least=1,
            when=("leaf", ("rollout", "auto")),
        ),
        Parameter(
            "depth",
            10,
            "Plies of a rollout that is truncated, or played by heuristics.",
            least=1,
            when=("leaf", ("truncated", "heuristic")),
        ),
        Parameter(
            "ensemble",
            "rank",
            "How several heuristics agree: by mean rank or mean score.",
            choices=get_args(Ensemble),
            when=("leaf", ("heuristic",)),
        ),
    )


POLICY = (
    Parameter(
        "policy",
        "uniform",
        "Rollouts draw uniform actions, or follow MAST: epsilon-greedy (mast) or by Gibbs' "
        "distribution (gibbs).",
        choices=get_args(Policy),
        when=("leaf", _RANDOM_LEAF),
    ),
    Parameter(
        "epsilon", 0.4, "Share of uniform draws in mast.", most=1, when=("policy", ("mast",))
    ),
    Parameter(
        "temperature",
        1.0,
        "Temperature of gibbs, for means in [0, 1].",
        least=0.001,
        when=("policy", ("gibbs",)),
    ),
)
WIDENING = (
    Parameter(
        "widening",
        0.0,
        "C of progressive widening: a node visited n times considers C n^power actions; 0 "
        "considers all.",
    ),
    Parameter("power", 0.5, "Power of progressive widening.", most=1, when=("widening", ())),
)
_AMAF = (
    Parameter(
        "rave",
        "none",
        "All-moves-as-first statistics: none, of the node (rave), or of an ancestor (grave).",
        choices=get_args(Amaf),
    ),
    Parameter(
        "bias",
        0.001,
        "How soon all-moves-as-first statistics lose to a node's own.",
        when=("rave", ("rave", "grave")),
    ),
    Parameter(
        "reference",
        50,
        "Descents from which an ancestor's statistics serve.",
        least=1,
        when=("rave", ("grave",)),
    ),
)
_WIN = Parameter(
    "win",
    1.0,
    "Largest return that any seat can get; an action that pays it is a proven win.",
    when=("solver", ("yes",)),
)


def graph(solver: str) -> tuple[Parameter, ...]:
    """What a tree of known states may do; `solver` is that setting's default."""
    return (
        *_AMAF,
        Parameter("transpositions", "no", "Whether equal states share a node.", choices=_NO_YES),
        Parameter(
            "solver",
            solver,
            "Whether wins and losses that are proven are backed up: auto where the tree can and "
            "by what simulations show a win to pay, and short matches are settled; yes by win.",
            choices=("auto", *_NO_YES),
        ),
        _WIN,
    )


REUSE = Parameter(
    "reuse", "no", "Whether a decision begins from the tree of the last one.", choices=_NO_YES
)
_SAMPLERS = (
    "Where hidden states come from: the game's own sampler, exact enumeration, or replaying "
    "the game, which auto tries in this order; or the sampler that is named."
)


def exploration(default: float) -> Parameter:
    """The weight of exploration."""
    return Parameter(
        "exploration", default, "Weight of the exploration term, for returns in [0, 1]."
    )


def belief(default: str) -> tuple[Parameter, ...]:
    """Where hidden states come from; `default` may also be one that only this player knows."""
    names = get_args(BeliefName)
    choices = names if default in names else (default, *names)
    return (
        Parameter("belief", default, _SAMPLERS, choices=choices),
        Parameter(
            "determinizations",
            0,
            "Hidden states drawn for a decision and used in turn; 0 draws a new one whenever one "
            "is needed.",
            most=MANY,
            when=("belief", names),
        ),
        Parameter(
            "protocol",
            "ours",
            "What is played where no sampler explains what was seen: a random legal action, or one "
            "that is legal in the newest state of the game's own sampler (paper).",
            choices=get_args(Protocol),
            when=("belief", names),
        ),
    )


TREE = (*SIMULATIONS, *leaf("rollout", 1), *POLICY, *WIDENING)
PLANS = (
    *SIMULATIONS,
    *leaf("rollout", 1),
    Parameter(
        "horizon",
        10,
        "Own plies that are planned; a plan is cut where a rollout to the end would be.",
        least=1,
        most=MANY,
    ),
    Parameter("discount", 1.0, "Worth of a payment an own ply later.", least=0.001, most=1),
    Parameter(
        "opponent",
        "uniform",
        "How the other seats are taken to play: uniform, greedy for what pays at once, or by the "
        "game's heuristics.",
        choices=get_args(Opponent),
    ),
    Parameter("mutation", 0.3, "Probability that a gene changes.", least=0.001, most=1),
    Parameter("trials", 1, "Hidden states a plan is valued in.", least=1),
)
