"""Environments by name (`library:whist`, `openspiel:leduc_poker`, a module file), and their twins.

A twin is an environment under other names, to tell a model that read from one that remembered. It
renames whatever is written in letters: keys, values and actions. Each vowel stands for another
vowel and each consonant for another consonant, so that names can still be spoken, and no two become
one. Numbers stay, as do the orders that rules speak of. Legal actions come in an order of their
own.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

import numpy as np
from numpy.random import Generator

from games import library
from games.environments import (
    Environment,
    EnvironmentNotFoundError,
    SearchableEnvironment,
    of_library,
    of_own,
    own_games,
)
from games.environments.classes import is_class_name, of_class
from games.environments.openspiel.adapter import ENCODINGS, of_openspiel
from games.streams import stream
from games.table import Position
from games.values import Action, Json

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
_PREFACE = (
    "# A game\n\nThe names between backticks are literal: states, observations and actions are "
    "written with them.\n"
)


_KINDS = ("openspiel", "own", "library", "twin")
_LONGEST_TWIN = 500  # a twin may have a twin; each is a call within a call


@dataclass(frozen=True)
class TwinPosition(Position):
    """A position under other names.

    Attributes:
        origin: The same position of the environment that was renamed.
    """

    origin: Position = field(repr=False, compare=False)


@dataclass(frozen=True)
class TwinEnvironment:
    """An environment that plays like another one; see `Environment`."""

    origin: Environment
    seed: int

    @property
    def name(self) -> str:
        """See `Environment.name`."""
        return f"twin:{self.seed}:{self.origin.name}"

    @property
    def num_players(self) -> int:
        """See `Environment.num_players`."""
        return self.origin.num_players

    @property
    def parameters(self) -> Mapping[str, Json]:
        """See `Environment.parameters`; under their own names."""
        return self.origin.parameters

    @property
    def versions(self) -> Mapping[str, str]:
        """See `Environment.versions`."""
        return self.origin.versions

    @cached_property
    def rules(self) -> str:
        """The rules, without their title, and with other names between backticks."""
        body = re.sub(r"\A# .*\n", "", self.origin.rules)
        return _PREFACE + re.sub(r"`[^`]*`", lambda found: self.renamed(found[0]), body)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        return self._twin(self.origin.open(num_players, parameters))

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        if not isinstance(position, TwinPosition):
            raise TypeError("required: a position that this environment gave")
        return self._twin(self.origin.advance(position.origin, self.restored(action)))

    def best(self, position: Position, simulations: int, seed: int) -> Action | None:
        """See `SearchableEnvironment.best`."""
        if not isinstance(position, TwinPosition) or not isinstance(
            self.origin, SearchableEnvironment
        ):
            return None
        found = self.origin.best(position.origin, simulations, seed)
        return None if found is None else self.renamed(found)

    def renamed(self, text: str) -> str:
        """The twin's name for a name."""
        return text.translate(self._letters)

    def restored(self, text: str) -> str:
        """The name that a twin's name stands for."""
        return text.translate({new: old for old, new in self._letters.items()})

    @cached_property
    def _letters(self) -> dict[int, int]:
        generator = stream(self.seed, "twin")
        table: dict[int, int] = {}
        for letters in (_VOWELS, _CONSONANTS):
            new = _moved(letters, generator)
            table |= str.maketrans(letters + letters.upper(), new + new.upper())
        return table

    def _value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.renamed(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return self._object(value) if isinstance(value, dict) else value

    def _object(self, value: dict[str, Json]) -> dict[str, Json]:
        return {self.renamed(name): self._value(item) for name, item in value.items()}

    def _twin(self, origin: Position) -> TwinPosition:
        order = sorted(range(len(origin.legal)), key=lambda index: self._rank(origin.legal[index]))
        return TwinPosition(
            state=self._object(origin.state),
            player=origin.player,
            legal=tuple(self.renamed(origin.legal[index]) for index in order),
            probabilities=tuple(origin.probabilities[index] for index in order)
            if origin.probabilities
            else (),
            rewards=origin.rewards,
            observations=tuple(self._object(seen) for seen in origin.observations),
            events=tuple(tuple(map(self.renamed, seat)) for seat in origin.events),
            origin=origin,
        )

    def _rank(self, action: Action) -> bytes:
        return hashlib.blake2b(f"{self.seed} {action}".encode(), digest_size=8).digest()


def _moved(letters: str, generator: Generator) -> str:
    """The letters in an order in which none stays in its place."""
    while True:
        order = generator.permutation(len(letters))
        if not any(order == np.arange(len(letters))):
            return "".join(letters[index] for index in order)


def environment_named(
    text: str,
    parameters: Mapping[str, Json] | None = None,
    players: int = 0,
    *,
    of_file: Callable[[str, Mapping[str, Json], int], Environment] | None = None,
) -> Environment:
    """The environment that somebody names.

    Args:
        text: A name, as `Environment.name` gives it; of a library game the part after the colon
            does too.
        parameters: Replace defaults; unknown ones are refused.
        players: Seats; 0 for the usual number.
        of_file: Opens what is named as a module file; it is given the path, the parameters and the
            seats. A module's code runs in a sandbox, which this room does not have.

    Raises:
        EnvironmentNotFoundError: Listing what is known.
    """
    given = parameters or {}
    kind, _, rest = text.partition(":")
    if kind == "twin":
        seed, _, name = rest.partition(":")
        if not seed.isdecimal() or len(text) > _LONGEST_TWIN:
            said = f"SEED a number, in at most {_LONGEST_TWIN} characters"
            raise EnvironmentNotFoundError(f"{text[:80]!r}: required is twin:SEED:NAME, {said}")
        return TwinEnvironment(environment_named(name, given, players, of_file=of_file), int(seed))
    if kind == "openspiel" and (plain := rest.partition("(")[0]):
        rules = _rules(plain) if plain in ENCODINGS else ""
        return _as_it_is(of_openspiel(rest, rules), given, players)
    if kind == "own" and rest in own_games():
        return _as_it_is(of_own(rest, _rules(rest)), given, players)
    if kind == "library" or text in library.names():
        return of_library(rest or text, given, players)
    if is_class_name(text) and kind not in _KINDS:
        return _as_it_is(of_class(text), given, players)
    if of_file is not None and kind not in _KINDS:
        return of_file(text, given, players)
    raise EnvironmentNotFoundError(f"no environment {text!r}; known are {known()}")


def is_environment(text: str) -> bool:
    """True for a name that none but `environment_named` takes."""
    return text.partition(":")[0] in _KINDS or is_class_name(text)


def _as_it_is(
    environment: Environment, parameters: Mapping[str, Json], players: int
) -> Environment:
    """The environment, if nothing else is asked of it than what it is."""
    if parameters or players not in (0, environment.num_players):
        raise EnvironmentNotFoundError(
            f"{environment.name} is played by {environment.num_players} with its own parameters: "
            "leave out --set and --players"
        )
    return environment


def known() -> str:
    """Every name there is, for a message."""
    return "; ".join(
        (
            f"openspiel:NAME ({', '.join(sorted(ENCODINGS))}, and all others of OpenSpiel's)",
            f"own:NAME ({', '.join(own_games())})",
            f"library:NAME ({', '.join(library.names())})",
            "twin:SEED:NAME for any of these under other names",
            "a module file, or a folder with game.py",
            "package.module:Class for a class of your own (docs/environments.md)",
        )
    )


def _rules(name: str) -> str:
    return (files("games.environments") / "rules" / f"{name}.md").read_text(encoding="utf-8")
