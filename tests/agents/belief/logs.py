"""Logs as the referee would have written them."""

from collections.abc import Sequence

from games.information import SeatLog
from games.modules import Rules
from games.values import State


def logs_of(rules: Rules, state: State, actions: Sequence[str]) -> list[SeatLog]:
    """Every seat's log after `actions` were played from the first state."""
    logs = [SeatLog(seat) for seat in range(rules.num_players)]
    for log, observation in zip(logs, rules.observations(state), strict=True):
        log.see(observation, [])
    for action in actions:
        player = rules.current_player(state)
        if player >= 0:
            logs[player].act(action)
        events = rules.events(state, action)
        state = rules.apply_action(state, action)
        for log, observation, seen in zip(logs, rules.observations(state), events, strict=True):
            log.see(observation, seen)
    return logs
