"""Environments: games that a match can be played in, recorded and learned from.

They are tables with a name, rules in words, and states that are shown as JSON. Any game that is one
source file is one, in this process or in a worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Protocol, runtime_checkable

from games import library
from games.contract import Game
from games.library import UnknownGameError, UnknownParameterError, defaults
from games.modules import LocalModule
from games.table import GameTable, Position, Table
from games.values import Action, Json


class EnvironmentNotFoundError(LookupError):
    """No environment of that name, or none that can be used here; the message lists what is."""


class Environment(Table, Protocol):
    """A game that is its own referee: the rules as a program, and as a text.

    `open` and `advance` are those of `Table`. Every position holds its whole state as JSON, so
    that the same state with the same action leads to the same next state; what a seat observes is
    a function of the state too. A position may be of a subclass that carries more than its state:
    only a position that `open` or `advance` returned may be given to `advance`.
    """

    @property
    def name(self) -> str:
        """Canonical name; `environment_named` takes it."""

    @property
    def num_players(self) -> int:
        """Seats; what `open` must be given."""

    @property
    def parameters(self) -> Mapping[str, Json]:
        """Effective parameters; what `open` must be given."""

    @property
    def rules(self) -> str:
        """The rulebook, as Markdown in our own words."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Program -> version of what plays it."""


@runtime_checkable
class SearchableEnvironment(Protocol):
    """An environment that can search its own true state, faster than anybody through `advance`."""

    def best(self, position: Position, simulations: int, seed: int) -> Action | None:
        """An action found by search, for making data: it knows what is hidden from the seat.

        None where there is no such search for this position.
        """


@dataclass(frozen=True)
class ModuleEnvironment:
    """An environment over the table of a module; see `Environment` for its fields."""

    name: str
    num_players: int
    parameters: Mapping[str, Json]
    rules: str
    table: Table
    versions: Mapping[str, str] = field(default_factory=dict)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        return self.table.open(num_players, parameters)

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        return self.table.advance(position, action)


@dataclass(frozen=True)
class SourceTable:
    """A module that is text so far: a worker plays it, this process never does."""

    source: str

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """Refuse: see `tools.sandbox.module.environment_in`."""
        raise TypeError("a module's file is played in a worker alone")

    def advance(self, position: Position, action: Action) -> Position:
        """Refuse in the same way."""
        raise TypeError("a module's file is played in a worker alone")


def own_games() -> tuple[str, ...]:
    """Names of the reference games that lie in this room, sorted."""
    folder = files("games.environments") / "modules"
    return tuple(sorted(item.name[:-3] for item in folder.iterdir() if item.name.endswith(".py")))


def of_own(name: str, rules: str) -> ModuleEnvironment:
    """The environment of a reference game; it takes no parameters.

    Args:
        name: One of `own_games`.
        rules: Its rulebook.
    """
    path = files("games.environments") / "modules" / f"{name}.py"
    game = Game(LocalModule(path.read_text(encoding="utf-8"), name))
    seats = game.info["max_players"]
    assert isinstance(seats, int)  # our own source
    return ModuleEnvironment(f"own:{name}", seats, {}, rules, GameTable(game))


def of_library(name: str, parameters: Mapping[str, Json], players: int) -> ModuleEnvironment:
    """The environment of a library game.

    Args:
        name: A family or a preset.
        parameters: Replace defaults.
        players: Seats; 0 for the usual number.

    Raises:
        EnvironmentNotFoundError: Listing the library, or the parameters, where nothing fits.
    """
    try:
        chosen = library.preset(name)
        seats = players or chosen.players
        rules = library.rulebook(name, parameters, seats)
    except (UnknownGameError, UnknownParameterError) as error:
        raise EnvironmentNotFoundError(str(error)) from error
    game = Game(LocalModule(library.source(name), name))
    effective = {**defaults(game.info), **chosen.parameters, **parameters}
    return ModuleEnvironment(f"library:{name}", seats, effective, rules, GameTable(game))
