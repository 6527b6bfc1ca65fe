"""Environments: tables with a name, rules in words, and states that are shown as JSON."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from games.table import Position, Table
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
