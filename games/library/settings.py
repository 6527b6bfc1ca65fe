"""Settings of a library family as its game declares them and as people write them: NAME=VALUE."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from pydantic import BaseModel, JsonValue

from games.library import handicapped_source, own_and_handicaps, read_game, source
from games.library.handicaps import handicaps_of
from games.modules import LocalModule
from games.text import did_you_mean
from games.values import Json, ModuleFault

PLAYERS = "num_players"

_PAIR = r"(\w+)\s*=\s*((?:[^\s,;=.]|\.\S)+(?:,(?!\w+\s*=)[^\s,;=.]+)*)"
_BESIDE = "()[]\"'“”!?"


class GameParameter(BaseModel, frozen=True):
    """A game's declaration of one parameter."""

    default: JsonValue
    meaning: str = ""
    choices: list[JsonValue] | None = None
    range: tuple[int, int] | None = None

    def objection(self, name: str, value: Json) -> str:
        """Why the parameter of this name cannot be this value; empty where it can."""
        if self.choices is not None:
            if any(value == item and type(value) is type(item) for item in self.choices):
                return ""
            known = [value_text(item) for item in self.choices]
            said = f"{name} can be {', '.join(known)}; not {value_text(value)}"
            return said + did_you_mean(value, known)
        if self.range is not None:
            least, most = self.range
            if type(value) is not int or not least <= value <= most:
                return f"{name} can be {least} to {most}; not {value_text(value)}"
        return ""

    def others(self, value: Json) -> list[Json]:
        """Other values that the parameter can have: its default, choices, neighbours, bounds."""
        found: list[Json] = [self.default, *(self.choices or ())]
        if self.choices is None and self.range is not None and type(value) is int:
            least, most = self.range
            found += [n for n in (value + 1, value - 1, least, most) if least <= n <= most]
        return [other for at, other in enumerate(found) if other not in (value, *found[:at])]


def value_text(value: Json) -> str:
    """A value of a setting as a person writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class GameCard(BaseModel, frozen=True):
    """The part of a family's `GAME` that says its seats and settings."""

    min_players: int
    max_players: int
    parameters: dict[str, GameParameter] = {}
    handicaps: dict[str, GameParameter] = {}

    @property
    def every(self) -> dict[str, GameParameter]:
        """Its own parameters, and the handicaps that it takes: these are 0 where none is given."""
        return {**self.parameters, **self.handicaps}

    def defaults(self) -> dict[str, Json]:
        """The effective parameters of a game that is started without any."""
        return {name: field.default for name, field in self.parameters.items()}


@cache
def game_of(family: str) -> GameCard:
    """The family's `GAME`, read once, with the handicaps that it takes."""
    game = read_game(source(family))
    more = {name: one.field(game) for name, one in handicaps_of(game).items()}
    return GameCard.model_validate({**game, "handicaps": more})


@cache
def reference(family: str, handicaps: tuple[str, ...] = ()) -> LocalModule:
    """The family's verified module, loaded once: library code, never a candidate's.

    Args:
        family: The library family.
        handicaps: Those that it takes as settings too.
    """
    return LocalModule(handicapped_source(family, handicaps, ""), family)


def impossible(family: str, players: int, parameters: Mapping[str, Json]) -> str:
    """Why the verified module refuses these settings together; empty where it does not."""
    try:
        own, more = own_and_handicaps(parameters)
        reference(family, (*more,)).call("initial_state", players, **own, **more)
    except ModuleFault as fault:
        if not isinstance(fault.__cause__, ValueError):
            raise
        return str(fault.__cause__)
    return ""


def settings_chosen(answer: str) -> dict[str, Json]:
    """The settings of an answer that is nothing but NAME=VALUE pairs; empty for any other.

    >>> settings_chosen("ranks=13, suits=4 and board=0,3,1,1"), settings_chosen("make it rows=5")
    ({'ranks': 13, 'suits': 4, 'board': '0,3,1,1'}, {})
    >>> settings_chosen("players=3")
    {'num_players': 3}
    """
    if not re.fullmatch(rf"{_PAIR}(?:(?:\s|,|;|\band\b)+{_PAIR})*[\s.]*", answer.strip()):
        return {}
    return {name: value for name, value, _ in pairs_in(answer)}


def pairs_in(words: str) -> Iterator[tuple[str, Json, tuple[int, int]]]:
    """The NAME=VALUE pairs among other words: name, value, and where each begins and ends."""
    for match in re.finditer(_PAIR, words):
        name, text = match[1].lower(), match[2].strip(_BESIDE)
        value: Json = text
        with suppress(json.JSONDecodeError):
            value = json.loads(text)
        yield PLAYERS if name in ("players", "seats") else name, value, match.span()
