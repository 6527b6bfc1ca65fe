"""Tables, where matches are played, and the positions of a match."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from games.contract import (
    Game,
    read_actions,
    read_observations,
    read_player,
    read_probabilities,
    read_rewards,
)
from games.values import (
    CHANCE,
    TERMINAL,
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    State,
)


@dataclass(frozen=True)
class Position:
    """One state with everything the referee needs of it.

    Attributes:
        state: The full state; never shown to a player.
        player: Seat to move, or `CHANCE`, or `TERMINAL`.
        legal: Legal actions, or the outcomes at a chance node; empty at the end.
        probabilities: Aligned with `legal` at a chance node; empty elsewhere.
        rewards: What entering this state paid each seat.
        observations: One a seat.
        events: One list a seat: what the ply that led here looked like; empty lists at the start.
    """

    state: State
    player: int
    legal: tuple[Action, ...]
    probabilities: tuple[float, ...]
    rewards: tuple[float, ...]
    observations: tuple[Observation, ...]
    events: tuple[tuple[str, ...], ...]


class Table(Protocol):
    """Where a match is played: a module in this process or in a referee's worker."""

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """The first position."""

    def advance(self, position: Position, action: Action) -> Position:
        """The position after `action`, which is one of `position.legal`."""


@dataclass(frozen=True)
class GameTable:
    """A table over any `Game`."""

    game: Game

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        state = self.game.initial_state(num_players, parameters)
        return self._position(state, [[]] * num_players)

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        events = self.game.events(position.state, action, len(position.rewards))
        try:
            state = self.game.apply_action(position.state, action)
        except IllegalActionError as refusal:
            raise refused(action, refusal) from refusal
        return self._position(state, events)

    def _position(self, state: State, events: Sequence[Sequence[str]]) -> Position:
        call, names = self.game.module.call, self.game.module.names
        return position_of(lambda function: call(function, state), state, events, names)


def position_of(
    value_of: Callable[[str], Json],
    state: State,
    events: Sequence[Sequence[str]],
    names: Container[str],
) -> Position:
    """A position, read from the raw values that a module gave for its state.

    Args:
        value_of: The value of a function of the state alone; raises where there is none.
        state: The state.
        events: `[num_players]`: what the ply that led here looked like to each seat.
        names: Contract names that the module defines.

    Raises:
        ModuleFault: At the first value that breaks the contract.
    """
    seats = len(events)
    player = read_player(value_of("get_current_player"))
    legal = read_actions(value_of("get_legal_actions"))
    _require_turn(player, legal, seats)
    chances: list[float] = []
    if player == CHANCE and "get_chance_probabilities" in names:
        chances = read_probabilities(value_of("get_chance_probabilities"), len(legal))
    elif player == CHANCE:
        chances = [1.0 / len(legal)] * len(legal)
    return Position(
        state=state,
        player=player,
        legal=tuple(legal),
        probabilities=tuple(chances),
        rewards=tuple(read_rewards(value_of("get_rewards"), seats)),
        observations=tuple(read_observations(value_of("get_observations"), seats)),
        events=tuple(tuple(seat) for seat in events),
    )


def refused(action: Action, refusal: IllegalActionError) -> ModuleFault:
    """The fault of a module that refuses what it calls legal."""
    return ModuleFault(
        "raised", "apply_action", f"refused {action!r}, which is legal here: {refusal}"
    )


def _require_turn(player: int, legal: Sequence[Action], count: int) -> None:
    if player >= count:
        raise ModuleFault(
            "bad_value", "get_current_player", f"returned {player}; there are {count} players"
        )
    if player == TERMINAL and legal:
        raise ModuleFault("bad_value", "get_legal_actions", "must be empty at the end")
    if player != TERMINAL and not legal:
        raise ModuleFault(
            "bad_value", "get_legal_actions", "is empty although the match is not over"
        )
