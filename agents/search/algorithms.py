"""Registry of the searches: a row an algorithm, whose own file holds its settings and `decide`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from agents.search import alphabeta, evolution, flat, ismcts, uct
from agents.search.settings import PlayerSettings, SearchResult, SearchView

Hidden: TypeAlias = Literal["refused", "on_request", "sampled", "always_sampled"]
SettingsOf = TypeVar("SettingsOf", bound=PlayerSettings)


@dataclass(frozen=True)
class Algorithm(Generic[SettingsOf]):
    """One search.

    Attributes:
        meaning: What it does.
        settings: Its settings.
        decide: Decides for the seat of a view.
        hidden: What it does where its seat's log may leave several states: it is "refused" such
            games, has them sampled "on_request", or whenever that is so ("sampled"); or it treats
            every game so ("always_sampled").
        seats: The only number of seats that it plays; 0 for any.
    """

    meaning: str
    settings: type[SettingsOf]
    decide: Callable[[SearchView, SettingsOf, np.random.Generator], SearchResult]
    hidden: Hidden = "sampled"
    seats: int = 0


SEARCHES: dict[str, Algorithm[Any]] = {
    "uct": Algorithm(
        "Tree search for games in which what a player sees determines the state.",
        uct.UctSettings,
        uct.decide,
        "on_request",
    ),
    "ismcts": Algorithm(
        "Tree search over the player's information sets, for games with hidden information.",
        ismcts.IsmctsSettings,
        ismcts.decide,
        "always_sampled",
    ),
    "moismcts": Algorithm(
        "Tree search over every player's own information sets, all told apart from the start: for "
        "games with few hidden states, such as small poker games.",
        ismcts.MoismctsSettings,
        ismcts.decide,
        "always_sampled",
    ),
    "pimc": Algorithm(
        "Tree search in several hidden states, each as if it were known; plays the best mean.",
        uct.PimcSettings,
        uct.decide_pimc,
    ),
    "flatmc": Algorithm(
        "Flat Monte Carlo: a bandit over the actions, each worth what random play paid after it.",
        flat.FlatmcSettings,
        flat.decide_flatmc,
    ),
    "osla": Algorithm(
        "One-step look-ahead: plays the action after which the state is worth most.",
        flat.OslaSettings,
        flat.decide_osla,
    ),
    "halving": Algorithm(
        "Sequential halving: values all actions, then again and again the better half of them.",
        flat.HalvingSettings,
        flat.decide_halving,
    ),
    "rhea": Algorithm(
        "Rolling horizon evolution: breeds plans of the player's own plies.",
        evolution.RheaSettings,
        evolution.decide,
    ),
    "rmhc": Algorithm(
        "Random mutation hill climbing: improves one plan of the player's own plies.",
        evolution.RmhcSettings,
        evolution.decide,
    ),
    "alphabeta": Algorithm(
        "Minimax for small two-player zero-sum games without chance or hidden information; "
        "refuses others.",
        alphabeta.AlphaBetaSettings,
        alphabeta.decide,
        "refused",
        seats=2,
    ),
}
"""Every search that a worker can be asked for, by name."""


def search_named(name: str) -> Algorithm[Any]:
    """A search by its name.

    Raises:
        ValueError: If there is no such search.
    """
    if name not in SEARCHES:
        raise ValueError(f"no algorithm {name!r}; known: {', '.join(SEARCHES)}")
    return SEARCHES[name]
