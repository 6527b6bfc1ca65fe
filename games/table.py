"""Where a match is played: positions, and tables over a module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from games.contract import (
    CHANCE,
    TERMINAL,
    Action,
    Game,
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
        ...

    def advance(self, position: Position, action: Action) -> Position:
        """The position after `action`, which is one of `position.legal`."""
        ...


@dataclass(frozen=True)
class GameTable:
    """A table over any `Game`."""

    game: Game

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> Position:
        """See `Table.open`."""
        state = self.game.initial_state(num_players, parameters)
        return self._position(state, num_players, [[] for _ in range(num_players)])

    def advance(self, position: Position, action: Action) -> Position:
        """See `Table.advance`."""
        count = len(position.rewards)
        events = self.game.events(position.state, action, count)
        try:
            state = self.game.apply_action(position.state, action)
        except IllegalActionError as refusal:
            raise ModuleFault(
                "raised", "apply_action", f"refused {action!r}, which is legal here: {refusal}"
            ) from refusal
        return self._position(state, count, events)

    def _position(self, state: State, count: int, events: list[list[str]]) -> Position:
        player = self.game.current_player(state)
        legal = self.game.legal_actions(state)
        _require_turn(player, legal, count)
        chances = self.game.chance_probabilities(state, legal) if player == CHANCE else []
        return Position(
            state=state,
            player=player,
            legal=tuple(legal),
            probabilities=tuple(chances),
            rewards=tuple(self.game.rewards(state, count)),
            observations=tuple(self.game.observations(state, count)),
            events=tuple(tuple(seat) for seat in events),
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
