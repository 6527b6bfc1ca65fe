"""One lexicon a family; `lexicons()` lists those whose family the library has."""

from functools import cache
from importlib import import_module

from agents.composer.lexicon import Lexicon
from games.library import families


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """The lexicons, in the order of the library's families."""
    return tuple(_lexicon(family) for family in families() if family in NAMES)


NAMES = (
    "battleship",
    "capture",
    "capture_the_flag",
    "go_fish",
    "goofspiel",
    "placement",
    "poker",
    "push_your_luck",
    "rummy",
    "shedding",
    "tic_tac_toe",
    "trick_taking",
)


def _lexicon(family: str) -> Lexicon:
    found = import_module(f"agents.composer.families.{family}").LEXICON
    if not isinstance(found, Lexicon):
        raise TypeError(f"agents.composer.families.{family}.LEXICON is not a Lexicon")
    return found
