"""The exact posterior over full states, by enumeration, where there are few enough."""

from agents.belief.follow import Follower, Place
from games.contract import State, canonical_key

Weighted = list[tuple[State, float]]


class TooManyStatesError(Exception):
    """More states fit the log than the enumeration may hold."""


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
    for _ in range(max_plies):
        if not frontier:
            break
        frontier = _merged(follower, frontier, limit, present)
    total = sum(weight for _, weight in present.values())
    return [(state, weight / total) for state, weight in present.values()]


def _merged(
    follower: Follower,
    frontier: list[tuple[Place, float]],
    limit: int,
    present: dict[str, tuple[State, float]],
) -> list[tuple[Place, float]]:
    """One ply further; states that are at the decision go to `present`."""
    merged: dict[tuple[int, str], tuple[Place, float]] = {}
    for place, weight in frontier:
        if follower.is_present(place):
            key = canonical_key(place.state)
            present[key] = (place.state, weight + present.get(key, (None, 0.0))[1])
            continue
        for step in follower.steps(place):
            where = (step.place.read, canonical_key(step.place.state))
            before = merged.get(where, (None, 0.0))[1]
            merged[where] = (step.place, before + weight * step.weight)
        if len(merged) + len(present) > limit:
            raise TooManyStatesError(f"more than {limit} states fit what seat {follower.seat} saw")
    return list(merged.values())
