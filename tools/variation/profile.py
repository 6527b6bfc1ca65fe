"""Profile of play: the figures by which two games are told apart, whatever their rules say."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, stdev
from typing import NamedTuple, TypeAlias

from tools.playtest.jobs import MatchEntry
from tools.playtest.ratings import win_share
from tools.playtest.schedule import Sides, sides_paid_alike

PlayProfile: TypeAlias = Mapping[str, float]
"""Figures of play by name; one that could not be measured is not there."""

LEAST = 0.02
"""The least unit of a figure: a difference of two in a hundred, of shares and of logarithms."""
MOST = 10.0
"""Units that one figure counts at most: a game that is only much longer is not new in all else."""
_TIED, _NEARLY, _NO_CHOICE = 0.5, 0.9, 0.95
_TURNS = 2


class PlayedOut(NamedTuple):
    """A match that came to its end.

    Attributes:
        returns: By seat.
        decisions: Of all seats.
        options: Legal actions, over all decisions.
        forced: Decisions with one legal action.
    """

    returns: tuple[float, ...]
    decisions: int
    options: int
    forced: int


def played_out(entries: Sequence[MatchEntry]) -> list[PlayedOut]:
    """The matches that finished."""
    return [
        PlayedOut(e.returns, sum(one.decisions for one in e.used), e.options, e.forced)
        for e in entries
        if e.returns is not None
    ]


def profile_of(matches: Sequence[PlayedOut], sides: Sides) -> dict[str, float]:
    """The profile of matches with one player at every seat.

    length: mean logarithm of the decisions of a match. options: of its legal actions a decision.
    forced: share of the decisions with one legal action. Of two sides or more: ties, the share of
    matches that pay all alike; first, the mean share of the win of the first seat's side; spread,
    the mean of `(best - least) / (|best| + |least|)` of what a match pays. Of one side: score, the
    mean return.

    Raises:
        ValueError: If there is no match.
    """
    if not matches:
        raise ValueError("no match came to its end")
    decided = [one for one in matches if one.decisions]
    found = {"length": fmean(math.log(1 + one.decisions) for one in matches)}
    if decided:
        found["options"] = fmean(math.log(one.options / one.decisions) for one in decided)
        found["forced"] = sum(m.forced for m in decided) / sum(m.decisions for m in decided)
    if len(sides) == 1:
        return {**found, "score": fmean(fmean(one.returns) for one in matches)}
    paid = [[one.returns[side[0]] for side in sides] for one in matches]
    return {
        **found,
        "ties": fmean(float(len({*one}) == 1) for one in paid),
        "first": fmean(win_share(one, 0) for one in paid),
        "spread": fmean(_spread(one) for one in paid),
    }


def _spread(paid: Sequence[float]) -> float:
    best, least = max(paid), min(paid)
    return (best - least) / (abs(best) + abs(least)) if best != least else 0.0


def sides_shown(matches: Sequence[PlayedOut]) -> Sides:
    """The sides that these matches show; see `sides_paid_alike`."""
    return sides_paid_alike([one.returns for one in matches], len(matches[0].returns))


def mean_profile(profiles: Sequence[PlayProfile]) -> dict[str, float]:
    """The mean of each figure that all of them have."""
    return {name: fmean(one[name] for one in profiles) for name in _shared(profiles)}


def units_of(profiles: Sequence[PlayProfile]) -> dict[str, float]:
    """The unit of each figure: its standard deviation between seeds, or `LEAST` where that is more.

    Args:
        profiles: Of one game under several seeds; two at least.
    """
    return {name: max(LEAST, stdev(p[name] for p in profiles)) for name in _shared(profiles)}


def _shared(profiles: Sequence[PlayProfile]) -> list[str]:
    return [name for name in profiles[0] if all(name in one for one in profiles)]


def profile_distance(one: PlayProfile, other: PlayProfile, units: Mapping[str, float]) -> float:
    """The distance of two profiles: `sqrt(mean(min(|a - b| / unit, MOST)²))` over both's figures.

    Raises:
        ValueError: If they have no figure together.

    >>> round(profile_distance({"a": 1.0, "b": 2.0}, {"a": 4.0, "c": 9.0}, {"a": 1.5, "b": 1.0}), 6)
    2.0
    """
    both = [name for name in units if name in one and name in other]
    if not both:
        raise ValueError("the two profiles have no figure together")
    steps = [min(abs(one[name] - other[name]) / units[name], MOST) for name in both]
    return math.sqrt(fmean(step * step for step in steps))


def dull(profile: PlayProfile, seats: int) -> list[str]:
    """The reasons why a game in play is hardly one to keep; none for most.

    >>> dull({"length": math.log(1 + 3), "ties": 0.6, "good_ties": 0.1, "forced": 0.1}, 2)
    ['it is over before each has had two turns']
    """
    ties = min(profile.get("ties", 0.0), profile.get("good_ties", 0.0))
    first = profile.get("good_first", profile.get("first", 0.5))
    length = math.exp(profile.get("good_length", profile["length"])) - 1
    found = {
        "half of the matches are tied, however they are played": ties >= _TIED,
        "good players tie nine of ten matches": profile.get("good_ties", 0.0) >= _NEARLY,
        "one seat wins nine of ten matches": not 1 - _NEARLY < first < _NEARLY,
        "players have hardly anything to decide": profile.get("forced", 1.0) >= _NO_CHOICE,
        "it is over before each has had two turns": length < _TURNS * seats,
    }
    return [reason for reason, holds in found.items() if holds]


def chance_distance(profiles: Sequence[PlayProfile]) -> float:
    """A distance that one game is from itself under two fresh seeds in about 2 of 100 cases.

    The largest distance of two of its profiles, each pair in units of the other profiles: a pair
    that its own units were taken from seems nearer than a fresh one. With twelve profiles, 2 in 100
    fresh pairs lie beyond it; with ten, 2.5; whatever goes together among the figures.

    Args:
        profiles: Of the game under several seeds; four at least.
    """
    names = _shared(profiles)
    alike = [{name: one[name] for name in names} for one in profiles]
    pairs = combinations(range(len(alike)), 2)
    return max(
        profile_distance(
            *(alike[i], alike[j]), units_of([p for k, p in enumerate(alike) if k not in (i, j)])
        )
        for i, j in pairs
    )


def farthest(
    distances: Sequence[Sequence[float]],
    chosen: Sequence[int],
    free: Sequence[int],
    count: int,
    least: float = 0.0,
) -> list[int]:
    """Farthest-point selection (Gonzalez 1985): each next one is farthest from all before it.

    Args:
        distances: Square and symmetric.
        chosen: Indices that are in the set from the start; one at least.
        free: Indices that may join.
        count: How many of them, at most.
        least: None joins that is no further than this from one in the set.

    Returns:
        The indices that were added, in order; of equals the first.

    >>> farthest([[0, 1, 5], [1, 0, 4], [5, 4, 0]], [0], [1, 2], 1)
    [2]
    """
    added: list[int] = []
    nearest = {i: min(distances[i][j] for j in chosen) for i in free}
    while len(added) < count and max(nearest.values(), default=least) > least:
        best = max(nearest, key=lambda i: nearest[i])
        del nearest[best]
        nearest = {i: min(near, distances[i][best]) for i, near in nearest.items()}
        added.append(best)
    return added
