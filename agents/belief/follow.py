"""Log following: the plies of a game that reproduce what one seat saw."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple, ParamSpec, TypeAlias, TypeVar

import numpy as np

from games.engine import sample_index
from games.information import Did, LogEntry, Seen
from games.modules import Rules
from games.streams import uniforms
from games.values import CHANCE, TERMINAL, Action, Json, Observation, State, canonical_key

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class BeliefCallsError(Exception):
    """A sampler has used all the module calls that it was allowed for one decision."""


@dataclass
class CallCount:
    """Counts module calls, and states tried against a log.

    Attributes:
        limit: Calls allowed in all; raised for every decision by what the decision may use.
        calls: Calls made so far, and those whose answers were known.
        skipped: The latter.
        tried: States that were tried against the log's next entry, of the newest decision's.
        fitted: Those of them that reproduced it.
    """

    limit: float = float("inf")
    calls: int = 0
    skipped: int = 0
    tried: int = 0
    fitted: int = 0

    def allow(self, more: float) -> None:
        """Let `more` calls be made from now on."""
        self.limit = self.calls + more

    def skip(self, calls: int) -> None:
        """Count calls whose answers are known, as if they were made.

        Raises:
            BeliefCallsError: If fewer are left; those are counted.
        """
        left = int(min(calls, self.limit - self.calls))
        self.calls += left
        self.skipped += left
        if left < calls:
            raise BeliefCallsError(f"{self.calls} module calls are spent")

    def tally(self, fits: int) -> None:
        """Count a state that was tried, with the plies that reproduced the log's next entry."""
        self.tried += 1
        self.fitted += fits > 0

    def counted(self, function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        """The same function, which raises `BeliefCallsError` once the limit is reached."""

        def call(*args: Given.args, **named: Given.kwargs) -> Returned:
            if self.calls >= self.limit:
                raise BeliefCallsError(f"{self.calls} module calls are spent")
            self.calls += 1
            return function(*args, **named)

        return call


def counted_rules(rules: Rules, count: CallCount) -> Rules:
    """The rules with every call counted."""
    chances = rules.chance_probabilities
    return replace(
        rules,
        current_player=count.counted(rules.current_player),
        legal_actions=count.counted(rules.legal_actions),
        apply_action=count.counted(rules.apply_action),
        observations=count.counted(rules.observations),
        events=count.counted(rules.events),
        chance_probabilities=None if chances is None else count.counted(chances),
    )


Entries: TypeAlias = Sequence[LogEntry]
OpponentModel: TypeAlias = Callable[[State, Sequence[Action]], Sequence[float]]
"""Probabilities of a seat's legal actions in a state, as another seat believes it plays."""


def uniform_opponent(state: State, legal: Sequence[Action]) -> list[float]:
    """Every legal action is equally likely: the model used where none is stated."""
    del state
    return [1.0 / len(legal)] * len(legal)


def random_action(rules: Rules, state: State, player: int, draw: Callable[[], float]) -> Action:
    """One of a seat's legal actions, each as likely; or an outcome of chance by its probability."""
    legal = rules.legal_actions(state)
    if rules.chance_probabilities is not None and player == CHANCE:
        return legal[sample_index(rules.chance_probabilities(state), draw())]
    return legal[int(draw() * len(legal))]


class LogPlace(NamedTuple):
    """A full state and how much of the log it has reproduced.

    Attributes:
        state: A state the seat's log allows.
        read: Entries of the log that were reproduced.
        seen: The seat's newest observation.
    """

    state: State
    read: int
    seen: Observation


class Branch(NamedTuple):
    """One ply that the log allows, and how likely it was before the log was read.

    Attributes:
        action: The action or outcome.
        weight: Its probability at a chance node, or by the opponent model where another seat
            chose; 1 for the seat's own.
        place: Where it leads.
    """

    action: Action
    weight: float
    place: LogPlace


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

    def start(self, initial: State) -> LogPlace | None:
        """The place before any ply; None if the log does not begin like this state."""
        seen = self.rules.observations(initial)[self.seat]
        if not self.entries or self.entries[0] != Seen(seen):
            return None
        return LogPlace(initial, 1, seen)

    def is_present(self, place: LogPlace) -> bool:
        """True if this is now: the whole log is read and the seat is to move."""
        return (
            place.read == len(self.entries) and self.rules.current_player(place.state) == self.seat
        )

    def branches(self, place: LogPlace) -> list[Branch]:
        """Every ply from here that reproduces what the seat logged next."""
        return self.looked(place)[0]

    def looked(self, place: LogPlace) -> tuple[list[Branch], list[Json]]:
        """The same, and how every ply from here looks to the seat; nothing of the seat's own.

        Plies that look different are different entries of its log. Two that look the same may still
        be different, where neither is the one that was logged.
        """
        player = self.rules.current_player(place.state)
        if player == TERMINAL:
            return [], []
        legal = self.rules.legal_actions(place.state)
        if player == self.seat:
            return self._own(place, legal), []
        found: list[Branch] = []
        looks: list[Json] = []
        for action, weight in zip(legal, self.weights(place.state, player, legal), strict=True):
            look, after = self._seen(place, action, place.read)
            looks.append(look)
            if after is not None:
                found.append(Branch(action, weight, after))
        return found, looks

    def weights(self, state: State, player: int, legal: Sequence[Action]) -> Sequence[float]:
        """The likelihood of each action of chance or of another seat, before the log is read."""
        if player != CHANCE:
            return self.opponents(state, legal)
        chances = self.rules.chance_probabilities
        return uniform_opponent(state, legal) if chances is None else chances(state)

    def after(self, place: LogPlace, action: Action) -> LogPlace | None:
        """Where an action of chance or of another seat leads; None if the log rules it out."""
        return self._seen(place, action, place.read)[1]

    def _own(self, place: LogPlace, legal: Sequence[Action]) -> list[Branch]:
        if place.read == len(self.entries):
            return []
        entry = self.entries[place.read]
        if not isinstance(entry, Did) or entry.action not in legal:
            return []
        _, after = self._seen(place, entry.action, place.read + 1)
        return [] if after is None else [Branch(entry.action, 1.0, after)]

    def seen_at(self, read: int) -> Seen | None:
        """The observation at a place of the log; None at the seat's own action and at the end."""
        entry = self.entries[read] if read < len(self.entries) else None
        return entry if isinstance(entry, Seen) else None

    def _seen(self, place: LogPlace, action: Action, read: int) -> tuple[Json, LogPlace | None]:
        """The look of a ply, and the place to which it leads."""
        rules, seat = self.rules, self.seat
        entry = self.seen_at(read)
        told = tuple(rules.events(place.state, action)[seat])
        hears = entry is not None and entry.events == told
        # Events mostly name the action: what they rule out is never applied.
        if told and not hears:
            return [[*told]], None
        after = rules.apply_action(place.state, action)
        seen = rules.observations(after)[seat]
        look: Json = [[*told], seen]
        if not told and seen == place.seen:
            return look, LogPlace(after, read, seen)
        logged = hears and entry is not None and entry.observation == seen
        return look, LogPlace(after, read + 1, seen) if logged else None


SURE = 3  # places at which one ply alone must have fitted before the others are left out
CHECKED = 1 / 16  # share of the later places at which all plies are tried all the same


@dataclass
class ForcedPly:
    """The one action that fitted a log entry so far, and at how many places."""

    action: Action
    places: int = 0


_UNSEEN = ForcedPly("")


class Guide:
    """Finds the plies that reproduce a log, and where one ply alone can, tries that one first.

    An opponent's shot at one of a hundred cells is named by what the seat perceives of it; trying
    the other ninety-nine in every particle would cost a hundred times as much. So once `SURE`
    places have shown the same single action to fit an entry, and all actions there to look
    different to the seat, other places try it alone, but for a share `CHECKED` of them. If a second
    action is ever found there, or two that look the same, all are tried again everywhere.

    The presumption may be wrong: what else would fit at places that were left out is then missing,
    and their weights are too small. Where actions look different by chance alone, as two of them do
    more often than ten, only the checked places tell.

    Attributes:
        cost: Calls of the rules made in following the log.
        follower: The log, as far as it is followed now.
        forced: The one ply that fits, by entries read and seat to move; None where several do.
        generator: The only source of randomness.
        draw: Gives its next uniform number in [0, 1).
    """

    def __init__(
        self,
        rules: Rules,
        seat: int,
        entries: Entries,
        generator: np.random.Generator,
        opponents: OpponentModel = uniform_opponent,
    ) -> None:
        """Follow a seat's log, with the other seats taken to play as `opponents` says."""
        self.cost = CallCount()
        self.follower = Follower(counted_rules(rules, self.cost), seat, entries, opponents)
        self.forced: dict[tuple[int, int], ForcedPly | None] = {}
        self.read_to(entries, generator)

    def read_to(self, entries: Entries, generator: np.random.Generator) -> None:
        """Follow the log as far as `entries`, which begin with those followed before."""
        self.follower = replace(self.follower, entries=entries)
        self.generator = generator
        self.draw = uniforms(generator).__next__

    def until(self, read: int) -> "Guide":
        """A guide through the first `read` entries, which shares all that this one learns."""
        shorter = copy(self)
        shorter.follower = replace(self.follower, entries=self.follower.entries[:read])
        return shorter

    def is_forced(self, place: LogPlace, player: int) -> bool:
        """True if only one ply is taken to go on from here."""
        known = self.forced.get((place.read, player))
        own = player in (self.follower.seat, TERMINAL)
        return own or (known is not None and known.places >= SURE)

    def is_known_open(self, place: LogPlace, player: int) -> bool:
        """True if more than one ply was seen to go on from the log's place."""
        return self.forced.get((place.read, player), _UNSEEN) is None

    def is_open(self, place: LogPlace, player: int, legal: Sequence[Action]) -> bool:
        """True if the log may leave open which ply goes on from here."""
        return len(legal) > 1 and not self.is_forced(place, player)

    def branches(self, place: LogPlace, player: int, legal: Sequence[Action]) -> list[Branch]:
        """Every ply that reproduces what the seat logged next; see the class for the exception."""
        follower = self.follower
        if player == follower.seat:
            return follower.branches(place)
        known = self.forced.get((place.read, player))
        if known is None or known.places < SURE or self.draw() < CHECKED:
            return self._tried(place, player)
        after = follower.after(place, known.action) if known.action in legal else None
        if after is None:
            return []
        weights = follower.weights(place.state, player, legal)
        return [Branch(known.action, weights[list(legal).index(known.action)], after)]

    def _tried(self, place: LogPlace, player: int) -> list[Branch]:
        """Every ply that reproduces what the seat logged next; the guide learns from it."""
        found, looks = self.follower.looked(place)
        entry = place.read, player
        known = self.forced.setdefault(entry, ForcedPly(found[0].action)) if found else None
        if known is None:
            return found
        is_same = len(found) == 1 and found[0].action == known.action
        if is_same and len({canonical_key(look) for look in looks}) == len(looks):
            known.places += 1
        else:
            self.forced[entry] = None
        return found
