"""Enumeration and replay of the plays that reproduce a log: the exact posterior, or a sample."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import numpy as np

from agents.belief.follow import (
    BeliefCallsError,
    Branch,
    CallCount,
    Follower,
    LogPlace,
    counted_rules,
    random_action,
)
from games.information import SeatLog, tell_seats
from games.modules import Rules, canonical
from games.streams import uniforms
from games.values import CHANCE, TERMINAL, Action, State

Weighted = list[tuple[State, float]]

_TINY = 2.0**-500


class TooManyStatesError(Exception):
    """More states fit the log than the enumeration may hold.

    Attributes:
        lasts: Whether the log's end had no part in it, so that it will be so, after as many module
            calls, however the log goes on.
    """

    lasts = False


def posterior(follower: Follower, initial: State, *, limit: int, max_plies: int = 2000) -> Weighted:
    """All full states that a seat's log allows at its decision, with their probabilities.

    `P(state | log)` under chance by its probabilities and other seats choosing uniformly among
    their legal actions; ways that lead to one state are added up.

    Args:
        follower: The seat's log and the game.
        initial: The state before any ply.
        limit: States held at once, at least 1.
        max_plies: Plies after which the log counts as not reproducible.

    Returns:
        Distinct states with probabilities that sum to 1; empty if no play reproduces the log.

    Raises:
        TooManyStatesError: If more than `limit` states fit at some ply.
    """
    start = follower.start(initial)
    frontier = [] if start is None else [(start, 1.0)]
    present: dict[str, tuple[State, float]] = {}
    lasts = True
    for _ in range(max_plies):
        if not frontier:
            break
        lasts = lasts and all(place.read < len(follower.entries) for place, _ in frontier)
        try:
            frontier = _merged(follower, frontier, limit, present)
        except TooManyStatesError as error:
            error.lasts = lasts
            raise
        frontier = _scaled(frontier, present)
    total = sum(weight for _, weight in present.values())
    return [(state, weight / total) for state, weight in present.values()]


def _merged(
    follower: Follower,
    frontier: list[tuple[LogPlace, float]],
    limit: int,
    present: dict[str, tuple[State, float]],
) -> list[tuple[LogPlace, float]]:
    """One ply further; states that are at the decision go to `present`."""
    merged: dict[tuple[int, str], tuple[LogPlace, float]] = {}
    for place, weight in frontier:
        if follower.is_present(place):
            key = follower.rules.key(place.state)
            present[key] = (place.state, weight + present.get(key, (None, 0.0))[1])
            continue
        for branch in follower.branches(place):
            where = (branch.place.read, follower.rules.key(branch.place.state))
            before = merged.get(where, (None, 0.0))[1]
            merged[where] = (branch.place, before + weight * branch.weight)
        if len(merged) + len(present) > limit:
            raise TooManyStatesError(f"more than {limit} states fit what seat {follower.seat} saw")
    return list(merged.values())


def _scaled(
    frontier: list[tuple[LogPlace, float]], present: dict[str, tuple[State, float]]
) -> list[tuple[LogPlace, float]]:
    """The frontier of a long log, all weights times a power of two: no share changes by a bit."""
    weights = [weight for _, weight in (*frontier, *present.values())]
    if not weights or max(weights) > _TINY:
        return frontier
    present.update({key: (state, weight / _TINY) for key, (state, weight) in present.items()})
    return [(place, weight / _TINY) for place, weight in frontier]


_Where: TypeAlias = tuple[int, int, bytes]


def _bytes(where: _Where, branches: Sequence[Branch]) -> int:
    return len(where[2]) * (1 + len(branches))


@dataclass
class KeptPlaces:
    """Branches of the places that walks through one seat's log met last.

    Attributes:
        follower: The log, as far as it is known; None before the first.
        initial: The state before any ply.
        branches: By entries read, the log's end where all were read, and state; with the module
            calls that they took.
        size: Bytes of all their states.
        most: Bytes that are kept; in memory they are ten times that.
    """

    follower: Follower | None = None
    initial: State = field(default_factory=dict)
    branches: OrderedDict[_Where, tuple[list[Branch], int]] = field(default_factory=OrderedDict)
    size: int = 0
    most: int = 10_000_000

    def about(self, follower: Follower, initial: State) -> Self:
        """These places, emptied first if they are not of the log that this one goes on from."""
        known = self.follower
        if (
            known is None
            or (known.seat, self.initial) != (follower.seat, initial)
            or follower.entries[: len(known.entries)] != known.entries
        ):
            self.branches.clear()
            self.size = 0
        self.initial = initial
        self.follower = replace(follower, entries=[*follower.entries])
        return self

    def find(self, where: _Where) -> tuple[list[Branch], int] | None:
        """The branches of a place and the calls that they took, if they are known."""
        known = self.branches.get(where)
        if known is not None:
            self.branches.move_to_end(where)
        return known

    def keep(self, where: _Where, found: list[Branch], calls: int) -> None:
        """Keep the branches of a place; those met longest ago make room for them."""
        self.branches[where] = found, calls
        self.size += _bytes(where, found)
        while self.size > self.most:
            oldest, (branches, _) = self.branches.popitem(last=False)
            self.size -= _bytes(oldest, branches)


class ReplaySampler:
    """Plays the game again so that a seat sees what it saw.

    Chance and the other seats choose at random among the plies that reproduce the seat's next log
    entry. Where none does, the walk goes back to a random earlier choice and on from there, within
    a budget. It needs nothing of the module but its rules, and knows nothing of how likely a hidden
    choice makes what was seen *later*: its support is right, its distribution only near the
    posterior.

    Walks meet the same places again and again, so the branches of the newest ones are kept. What
    is kept costs as many calls as it did: the samples are those of walks that ask every time.

    Attributes:
        cost: Module calls made, and how many may be, over all samples.
        kept: Places that were met, also at earlier decisions.
    """

    def __init__(
        self,
        follower: Follower,
        initial: State,
        draw: Callable[[], float],
        budget: int,
        kept: KeptPlaces | None = None,
    ) -> None:
        """Prepare the sampler.

        Args:
            follower: The seat's log and the game.
            initial: The state before any ply.
            draw: Gives the next uniform number in [0, 1).
            budget: Module calls before giving up, over all samples.
            kept: Of the seat's decision before, if any.
        """
        self.cost = CallCount(limit=budget)
        self.follower = replace(follower, rules=counted_rules(follower.rules, self.cost))
        self.initial = initial
        self.draw = draw
        self.kept = (kept or KeptPlaces()).about(follower, initial)

    def sample(self) -> State | None:
        """A state at the seat's decision; None where the budget ran out or nothing fits."""
        try:
            return self._replayed()
        except BeliefCallsError:
            return None

    def _replayed(self) -> State | None:
        start = self.follower.start(self.initial)
        if start is None:
            return None
        choices: list[list[Branch]] = []
        place: LogPlace = start
        while True:
            if self.follower.is_present(place):
                return place.state
            branches = self._branches(place)
            if not branches:
                if not choices:
                    return None
                del choices[int(self.draw() * len(choices)) + 1 :]
                branches = choices.pop()
            if len(branches) > 1:
                choices.append(branches)
            place = self._pick(branches).place

    def _branches(self, place: LogPlace) -> list[Branch]:
        """The branches of a place, as `Follower.branches` gives them and at the same cost."""
        end = len(self.follower.entries)  # what comes next is open where all of the log is read
        where = (place.read, end if place.read >= end else -1, canonical(place.state))
        known, before = self.kept.find(where), self.cost.calls
        if known is None:
            found = self.follower.branches(place)
            self.kept.keep(where, found, self.cost.calls - before)
            return found
        self.cost.skip(known[1])
        return known[0]

    def _pick(self, branches: list[Branch]) -> Branch:
        reached, target = 0.0, self.draw() * sum(branch.weight for branch in branches)
        for branch in branches:
            reached += branch.weight
            if target < reached:
                return branch
        return branches[-1]


CANDIDATES = 64  # states that may fit for a while, such as a choice revealed a ply later
CHECKED_PLIES = 200
CHECKED_DECISIONS = 6


class HiddenInformationError(Exception):
    """The log of the seat does not determine the full state."""


def known_state(follower: Follower, initial: State) -> State:
    """The one full state that a seat's log allows at its decision.

    The log is followed from the initial state; every ply of chance or another seat that would
    have looked the same to this seat is kept. Nothing but the log is read.

    Raises:
        HiddenInformationError: If several states fit, or none does.
    """
    try:
        states = posterior(follower, initial, limit=CANDIDATES)
    except TooManyStatesError as error:
        raise HiddenInformationError(str(error)) from error
    _require_one(len(states), follower.seat)
    return states[0][0]


def _require_one(fitting: int, seat: int) -> None:
    if fitting != 1:
        raise HiddenInformationError(
            f"{fitting} full states fit what seat {seat} saw; required: exactly one"
        )


@dataclass(frozen=True)
class _NotingFollower(Follower):
    """Notes the states that the log allows at each decision that it passes, by entries read."""

    noted: dict[int, set[str]] = field(default_factory=dict)

    def _own(self, place: LogPlace, legal: Sequence[Action]) -> list[Branch]:
        self.noted.setdefault(place.read, set()).add(self.rules.key(place.state))
        return super()._own(place, legal)


def require_perfect_information(
    rules: Rules, initial: State, generator: np.random.Generator, matches: int = 2
) -> None:
    """Hold a game against perfect information, by random play.

    In each match the state is recovered from the log of the seat to move at up to
    `CHECKED_DECISIONS` decisions, evenly spread over its plies. The log of a seat is followed once,
    to the last of them. Passing is evidence, no proof.

    Raises:
        HiddenInformationError: At the first decision where the log leaves several states.
    """
    draw = uniforms(generator).__next__
    for _ in range(matches):
        decisions = _random_decisions(rules, initial, draw)
        stride = max(1, len(decisions) // CHECKED_DECISIONS)
        followed: dict[int, _NotingFollower] = {}
        for log in decisions[::-stride]:
            if log.seat in followed:
                fitting = followed[log.seat].noted.get(len(log.entries), ())
                _require_one(len(fitting), log.seat)
            else:
                followed[log.seat] = _NotingFollower(rules, log.seat, log.entries)
                known_state(followed[log.seat], initial)


def _random_decisions(rules: Rules, initial: State, draw: Callable[[], float]) -> list[SeatLog]:
    """The log of the seat to move at every decision of one random match."""
    logs = [SeatLog(seat) for seat in range(rules.num_players)]
    tell_seats(logs, rules.observations(initial), [[] for _ in logs])
    state, decisions = initial, []
    for _ in range(CHECKED_PLIES):
        player = rules.current_player(state)
        if player == TERMINAL:
            break
        action = random_action(rules, state, player, draw)
        if player != CHANCE:
            decisions.append(SeatLog(player, list(logs[player].entries)))
            logs[player].act(action)
        events = rules.events(state, action)
        state = rules.apply_action(state, action)
        tell_seats(logs, rules.observations(state), events)
    return decisions
