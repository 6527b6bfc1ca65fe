"""A module's functions held against the contract: slow, to find out whose a failing was.

Search calls the raw functions (`agents.search.rules`). A module whose values break the contract
makes the search itself choke on them; the same decision made once more with these functions ends at
the first such value, named as the module's.
"""

from collections.abc import Mapping

from agents.search.rules import Rules, bind
from games.contract import TERMINAL, Action, Game, LocalModule, ModuleFault, State


class _Loaded(LocalModule):
    """A module that is loaded already."""

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self.source = ""
        self.namespace = dict(namespace)


def contracted(namespace: Mapping[str, object], num_players: int) -> Rules:
    """The functions of a loaded module; each raises `ModuleFault` where it breaks the contract."""
    raw, game = bind(namespace, num_players), Game(_Loaded(namespace))

    def player(state: State) -> int:
        to_move = game.current_player(state)
        if to_move >= num_players:
            raise ModuleFault(
                "bad_value",
                "get_current_player",
                f"returned {to_move}; required: a seat below {num_players}, of so many players",
            )
        return to_move

    def legal(state: State) -> list[Action]:
        actions = game.legal_actions(state)
        if not actions and game.current_player(state) != TERMINAL:
            raise ModuleFault(
                "bad_value", "get_legal_actions", "returned no action before the game has ended"
            )
        return actions

    def value(state: State, seat: int) -> float:
        worth = game.module.call("value_function", state, seat)
        if isinstance(worth, bool) or not isinstance(worth, int | float):
            raise ModuleFault("bad_value", "value_function", f"returned {worth!r:.80}, no number")
        return worth

    def chances(state: State) -> list[float]:
        return game.chance_probabilities(state, legal(state))

    return Rules(
        num_players=num_players,
        current_player=player,
        legal_actions=legal,
        apply_action=game.apply_action,
        rewards=lambda state: game.rewards(state, num_players),
        observations=lambda state: game.observations(state, num_players),
        events=raw.events
        if "get_events" not in namespace
        else lambda state, action: game.events(state, action, num_players),
        chance_probabilities=None if raw.chance_probabilities is None else chances,
        value=None if raw.value is None else value,
    )
