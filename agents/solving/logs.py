"""Logs of all seats as histories grow, and finding one again."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from agents.search.rules import Rules
from games.contract import Action, Json, Observation, State, canonical_key
from games.information import SeatLog


class LogIndex:
    """Numbers logs: equal numbers if and only if `information_key` is equal.

    A log's number is found entry by entry; the empty log of a seat has the seat's own number.
    Entries are held as 128-bit digests, for observations are long.
    """

    def __init__(self, num_players: int) -> None:
        """Hold the empty logs."""
        self.count = num_players
        self.next: dict[tuple[int, bytes], int] = {}

    def acted(self, node: int, action: Action) -> int:
        """The log after the seat's own action."""
        return self._extended(node, {"action": action})

    def saw(
        self, node: int, seen: Observation | None, observation: Observation, events: Sequence[str]
    ) -> int:
        """The log after a ply, by the rule of `SeatLog.see`; `seen` is the newest observation."""
        if not events and observation == seen:
            return node
        return self._extended(node, {"observation": observation, "events": [*events]})

    def find(self, log: SeatLog) -> int | None:
        """The number of a log; None if it was never numbered."""
        node: int | None = log.seat if log.seat >= 0 else None
        for entry in log.entries:
            if node is None:
                return None
            node = self.next.get((node, _digest(entry)))
        return node

    def _extended(self, node: int, entry: Mapping[str, Json]) -> int:
        number = self.next.setdefault((node, _digest(entry)), self.count)
        self.count += number == self.count
        return number


def _digest(entry: Mapping[str, Json]) -> bytes:
    return blake2b(canonical_key({**entry}).encode(), digest_size=16).digest()


def log_after(rules: Rules, initial: State, plies: Sequence[Action], seat: int) -> SeatLog:
    """The log of one seat after `plies` were played from the initial state."""
    log = SeatLog(seat)
    log.see(rules.observations(initial)[seat], [])
    state = initial
    for action in plies:
        if rules.current_player(state) == seat:
            log.act(action)
        events = rules.events(state, action)[seat]
        state = rules.apply_action(state, action)
        log.see(rules.observations(state)[seat], events)
    return log
