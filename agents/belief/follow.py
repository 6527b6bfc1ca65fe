"""Which plies reproduce a seat's log: the step that enumeration and replay share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from agents.search.rules import Rules
from games.contract import CHANCE, TERMINAL, Action, Json, Observation, State

Entries = Sequence[Mapping[str, Json]]
OpponentModel: TypeAlias = Callable[[State, Sequence[Action]], Sequence[float]]
"""Probabilities of a seat's legal actions in a state, as another seat believes it plays."""


def uniform_opponent(state: State, legal: Sequence[Action]) -> list[float]:
    """Every legal action is equally likely: the model used where none is stated."""
    del state
    return [1.0 / len(legal)] * len(legal)


class Place(NamedTuple):
    """A full state and how much of the log it has reproduced.

    Attributes:
        state: A state the seat's log allows.
        read: Entries of the log that were reproduced.
        seen: The seat's newest observation.
    """

    state: State
    read: int
    seen: Observation


class Step(NamedTuple):
    """One ply that the log allows, and how likely it was before the log was read.

    Attributes:
        action: The action or outcome.
        weight: Its probability at a chance node, or by the opponent model where another seat
            chose; 1 for the seat's own.
        place: Where it leads.
    """

    action: Action
    weight: float
    place: Place


@dataclass(frozen=True)
class Follower:
    """Follows one seat's log through the game.

    Attributes:
        rules: The module's functions.
        seat: The seat whose log it is.
        entries: The log's entries, oldest first, by the rule of `games.information.SeatLog`.
        opponents: How the other seats are taken to play.
    """

    rules: Rules
    seat: int
    entries: Entries
    opponents: OpponentModel = uniform_opponent

    def start(self, initial: State) -> Place | None:
        """The place before any ply; None if the log does not begin like this state."""
        seen = self.rules.observations(initial)[self.seat]
        if not self.entries or self.entries[0] != {"observation": seen, "events": []}:
            return None
        return Place(initial, 1, seen)

    def is_present(self, place: Place) -> bool:
        """Whether this is now: the whole log is read and the seat is to move."""
        return (
            place.read == len(self.entries) and self.rules.current_player(place.state) == self.seat
        )

    def steps(self, place: Place) -> list[Step]:
        """Every ply from here that reproduces what the seat logged next."""
        player = self.rules.current_player(place.state)
        if player == TERMINAL:
            return []
        legal = self.rules.legal_actions(place.state)
        if player == self.seat:
            return self._own(place, legal)
        found = []
        for action, weight in zip(legal, self.weights(place.state, player, legal), strict=True):
            after = self.after(place, action)
            if after is not None:
                found.append(Step(action, weight, after))
        return found

    def weights(self, state: State, player: int, legal: Sequence[Action]) -> Sequence[float]:
        """How likely each action of chance or of another seat is, before the log is read."""
        if player != CHANCE:
            return self.opponents(state, legal)
        chances = self.rules.chance_probabilities
        return uniform_opponent(state, legal) if chances is None else chances(state)

    def after(self, place: Place, action: Action) -> Place | None:
        """Where an action of chance or of another seat leads; None if the log rules it out."""
        return self._seen(place, action, place.read)

    def _own(self, place: Place, legal: Sequence[Action]) -> list[Step]:
        if place.read == len(self.entries):
            return []
        action = self.entries[place.read].get("action")
        if not isinstance(action, str) or action not in legal:
            return []
        after = self._seen(place, action, place.read + 1)
        return [] if after is None else [Step(action, 1.0, after)]

    def _seen(self, place: Place, action: Action, read: int) -> Place | None:
        rules, seat = self.rules, self.seat
        entry = self.entries[read] if read < len(self.entries) else {}
        events = rules.events(place.state, action)[seat]
        # Events mostly name the action: what they rule out is never applied.
        if events and entry.get("events") != events:
            return None
        after = rules.apply_action(place.state, action)
        seen = rules.observations(after)[seat]
        if not events and seen == place.seen:
            return Place(after, read, seen)
        logged = entry.get("events") == events and entry.get("observation") == seen
        return Place(after, read + 1, seen) if logged else None


def decisions(entries: Sequence[Mapping[str, Json]], after: int) -> list[int]:
    """How much of the log had been written at each decision of its seat.

    Args:
        entries: The log at a decision.
        after: Decisions up to this length are left out.

    >>> decisions([{"events": []}, {"action": "a"}, {"events": []}], after=0)
    [1, 3]
    """
    made = [index for index, entry in enumerate(entries) if "action" in entry]
    return [end for end in (*made, len(entries)) if end > after]
