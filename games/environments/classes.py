"""Games of other tools, or of anybody, by a class of four methods: `package.module:Class`.

`GameClass` is what such a class has. It runs in a sandboxed worker; only its import, and its plain
attributes, are had with the rights of whoever names it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from typing import Any, Protocol

from games.contract import read_actions, read_observations, read_rewards
from games.environments import EnvironmentNotFoundError
from games.table import Position
from games.text import one_line
from games.values import (
    CHANCE,
    MAX_PLAYERS,
    TERMINAL,
    Action,
    Json,
    ModuleFault,
    require_json,
    show,
)

_NAMED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_MOST_DEALS = 10_000
_METHODS = ("reset", "legal", "step", "show")
_DEAL = "deal "


class GameClass(Protocol):
    """A game for `--environment package.module:Class`.

    One instance plays one match after another. After `reset(deal)` the same actions must always
    lead to the same: all that is drawn comes from the number of the deal.

    Attributes:
        players: Seats, 1 to 8.
        deals: Deals there are; 1, the default, for a game without chance.
        rules: The rulebook; by default what the class says of itself.
    """

    players: int

    def reset(self, deal: int) -> None:
        """Begin a match: deal number 0 up to `deals` - 1."""

    def legal(self) -> tuple[int | None, Sequence[Action]]:
        """The seat to move and its legal actions, texts of one line; (None, []) at the end."""

    def step(self, action: Action) -> Sequence[float]:
        """Take a legal action; what it pays each seat at once."""

    def show(self, seat: int) -> dict[str, Json]:
        """All that a seat sees now, and nothing else, as JSON."""


def is_class_name(text: str) -> bool:
    """True for `package.module:Class`."""
    return _NAMED.fullmatch(text) is not None


def of_class(name: str) -> "ClassEnvironment":
    """The environment of a class.

    Raises:
        EnvironmentNotFoundError: If it cannot be imported, is no class, or lacks what it needs.
    """
    place, _, named = name.partition(":")
    try:
        module = import_module(place)
    except (Exception, SystemExit) as error:
        raise EnvironmentNotFoundError(
            f"no environment {name!r}: {place} cannot be imported ({type(error).__name__}: "
            f"{one_line(str(error))[:200]}); install it, or put its folder on PYTHONPATH"
        ) from error
    made = getattr(module, named, None)
    if not isinstance(made, type):
        told = "has no such name" if made is None else f"has {show(made)} there, and no class"
        raise EnvironmentNotFoundError(f"no environment {name!r}: {place} {told}")
    if missing := [one for one in _METHODS if not callable(getattr(made, one, None))]:
        raise EnvironmentNotFoundError(
            f"{name} lacks {' and '.join(missing)}; required are the methods {', '.join(_METHODS)} "
            "(docs/environments.md)"
        )
    players, deals = (_whole(name, made, *bound) for bound in _BOUNDS)
    rules = cleandoc(str(getattr(made, "rules", None) or made.__doc__ or ""))
    return ClassEnvironment(name, players, rules, deals, made)


_BOUNDS = (("players", MAX_PLAYERS, None), ("deals", _MOST_DEALS, 1))


def _whole(name: str, made: type, attribute: str, most: int, default: int | None) -> int:
    value = getattr(made, attribute, default)
    if type(value) is not int or not 1 <= value <= most:
        raise EnvironmentNotFoundError(
            f"{name} has {attribute} = {show(value)}; required: a whole number from 1 to {most}"
        )
    return value


@dataclass
class _Live:
    """The instance that plays, and all that was done in its match; None before the first."""

    game: GameClass | None = None
    history: tuple[Action, ...] | None = None


@dataclass(frozen=True)
class _ClassPosition(Position):
    """A position, with all that led to it."""

    history: tuple[Action, ...] = field(repr=False, compare=False)


@dataclass(frozen=True)
class ClassEnvironment:
    """A class of four methods as an environment; see `Environment`."""

    name: str
    num_players: int
    rules: str
    deals: int
    made: Callable[[], GameClass] = field(repr=False)
    parameters: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    _live: _Live = field(default_factory=_Live, repr=False)

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        if num_players != self.num_players or parameters:
            raise EnvironmentNotFoundError(f"{self.name} is played by {self.num_players} as it is")
        if self.deals == 1:
            return self._at(())
        outcomes = tuple(f"{_DEAL}{number}" for number in range(self.deals))
        nothing: tuple[dict[str, Json], ...] = ({},) * num_players
        state: dict[str, Json] = {"deal": None, "done": [], "seen": [*nothing]}
        return _ClassPosition(
            *(state, CHANCE, outcomes, (1.0 / self.deals,) * self.deals),
            *((0.0,) * num_players, nothing, ((),) * num_players, ()),
        )

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        if not isinstance(position, _ClassPosition):
            raise TypeError("required: a position that this environment gave")
        return self._at((*position.history, action))

    def _at(self, history: tuple[Action, ...]) -> Position:
        """The position after all that was done; it is played again where another one was last."""
        live, done = self._live, history[self.deals > 1 :]
        deal = int(history[0].removeprefix(_DEAL)) if self.deals > 1 else 0
        rewards = [0.0] * self.num_players
        game = live.game = live.game or self.made()
        goes_on = bool(done) and live.history == history[:-1]
        live.history = None  # unless all goes well
        if not goes_on:
            game.reset(deal)
        for action in done[-1:] if goes_on else done:
            paid = game.step(action)
            with _called("step"):
                rewards = read_rewards(_plain(_floats(paid)), self.num_players)
        seat, legal = self._turn(game)
        seats = range(self.num_players)
        told = [game.show(number) for number in seats]
        with _called("show"):
            seen = read_observations(_plain(told), self.num_players)
        live.history = history
        state: dict[str, Json] = {
            "deal": deal if self.deals > 1 else None,
            "done": [*done],
            "seen": [*seen],
        }
        return _ClassPosition(
            *(state, seat, tuple(legal), (), tuple(rewards)),
            *(tuple(seen), ((),) * self.num_players, history),
        )

    def _turn(self, game: GameClass) -> tuple[int, list[Action]]:
        told: Any = game.legal()
        if not isinstance(told, tuple | list) or len(told) != 2:  # noqa: PLR2004 - a pair
            raise ModuleFault("bad_value", "legal", f"gave {show(told)}; required: (seat, actions)")
        seat, given = told
        with _called("legal"):
            legal = read_actions(_plain([*given] if isinstance(given, tuple) else given))
        if seat is None and not legal:
            return TERMINAL, []
        if type(seat) is not int or not 0 <= seat < self.num_players or not legal:
            required = f"a seat from 0 to {self.num_players - 1} with an action, or (None, [])"
            raise ModuleFault("bad_value", "legal", f"gave {show(told)}; required: {required}")
        return seat, legal


def _floats(paid: Any) -> Any:  # noqa: ANN401 - anybody's
    """Numbers of whatever library as Python's, where they are some."""
    try:
        return [float(number) for number in paid]
    except (TypeError, ValueError):
        return paid


def _plain(value: Any) -> Any:  # noqa: ANN401 - anybody's
    """The value, if it is JSON.

    Raises:
        ModuleFault: If it is not.
    """
    require_json(value, "")
    return value


@contextmanager
def _called(method: str) -> Iterator[None]:
    """Lay what is wrong with a value to the method that gave it."""
    try:
        yield
    except ModuleFault as fault:
        raise ModuleFault(fault.kind, method, fault.message) from fault
