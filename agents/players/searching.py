"""The players that search, with their settings."""

from typing import get_args

from agents.players.options import (
    DEADLINE,
    MANY,
    PASSES,
    PLANS,
    POLICY,
    REUSE,
    SIMULATIONS,
    TREE,
    belief,
    exploration,
    graph,
    leaf,
)
from agents.players.parameters import Parameter, PlayerInfo
from agents.search.settings import Opponents

SEARCHING = (
    PlayerInfo(
        "uct",
        "Tree search for games in which what a player sees determines the state.",
        (exploration(0.7), *TREE, *graph("auto"), REUSE, *belief("none"), DEADLINE),
    ),
    PlayerInfo(
        "ismcts",
        "Tree search over the player's information sets, for games with hidden information.",
        (
            exploration(0.5),
            *TREE,
            Parameter(
                "opponents",
                "own",
                "By what other seats choose in the tree: what they see themselves, where that "
                "repeats (own), or what the searching player sees alone (observer).",
                choices=get_args(Opponents),
            ),
            *belief("auto"),
            DEADLINE,
        ),
    ),
    PlayerInfo(
        "moismcts",
        "Tree search over every player's own information sets, all told apart from the start: for "
        "games with few hidden states, such as small poker games.",
        (exploration(0.7), *TREE, *belief("auto"), DEADLINE),
    ),
    PlayerInfo(
        "pimc",
        "Tree search in several hidden states, each as if it were known; plays the best mean.",
        (
            exploration(1.0),
            *TREE,
            *graph("no"),
            Parameter("worlds", 20, "Hidden states searched a decision.", least=1, most=MANY),
            *belief("auto"),
            DEADLINE,
        ),
    ),
    PlayerInfo(
        "flatmc",
        "Flat Monte Carlo: a bandit over the actions, each worth what random play paid after it.",
        (
            exploration(1.0),
            *SIMULATIONS,
            *leaf("rollout", 1),
            *POLICY,
            *belief("auto"),
            DEADLINE,
        ),
    ),
    PlayerInfo(
        "osla",
        "One-step look-ahead: plays the action after which the state is worth most.",
        (*PASSES, *leaf("auto", 4), *belief("auto"), DEADLINE),
    ),
    PlayerInfo(
        "halving",
        "Sequential halving: values all actions, then again and again the better half of them.",
        (
            *SIMULATIONS,
            *leaf("rollout", 1),
            *belief("auto"),
            DEADLINE,
        ),
    ),
    PlayerInfo(
        "rhea",
        "Rolling horizon evolution: breeds plans of the player's own plies.",
        (
            *PLANS,
            Parameter("population", 10, "Plans kept.", least=2),
            Parameter("elite", 1, "Best plans taken over unchanged."),
            Parameter("tournament", 2, "Plans drawn for each parent.", least=1, most=MANY),
            *belief("auto"),
            DEADLINE,
        ),
    ),
    PlayerInfo(
        "rmhc",
        "Random mutation hill climbing: improves one plan of the player's own plies.",
        (*PLANS, *belief("auto"), DEADLINE),
    ),
    PlayerInfo(
        "alphabeta",
        "Minimax for small two-player zero-sum games without chance or hidden information; "
        "refuses others.",
        (
            Parameter(
                "depth",
                0,
                "Plies looked ahead, at which the game's value function decides; 0 looks to the "
                "end.",
            ),
            Parameter(
                "calls",
                1_000_000,
                "Calls of apply_action after which the game is refused as too large.",
                least=1,
            ),
            DEADLINE,
        ),
    ),
)
