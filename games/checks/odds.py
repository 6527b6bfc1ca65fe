"""Odds of what chance tells one seat, of two positions that differ only in what is hidden from it.

An outcome that moves a component in which the two differ, such as a card that is drawn, may well be
possible in one alone. What all other outcomes together tell the seat must be as likely in both.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from games.checks.pairs import all_told
from games.checks.zones import exchanged_components, moved_components
from games.contract import CHANCE, Action, Json, canonical_key
from games.table import Position, Table
from games.values import show

_SAME = 1e-12
_TRIES = 6  # outcomes whose odds differ that are tried before all are
_SHOWN = 3


def unlike_outcomes(one: Position, other: Position) -> list[list[Action]]:
    """By position, the outcomes that are not as likely in the other; none where chance rests."""
    odds = [_odds(position) for position in (one, other)]
    if not one.player == other.player == CHANCE:
        return [[], []]
    return [
        [action for action, p in mine.items() if abs(p - others.get(action, 0.0)) > _SAME]
        for mine, others in (odds, odds[::-1])
    ]


def unlike_odds(
    places: Sequence[tuple[Table, Position]],
    zones: Mapping[str, Json],
    seat: int,
    generator: np.random.Generator,
) -> str:
    """How what a seat is told of chance depends on what is hidden from it; "" where it does not.

    Args:
        places: Two positions that differ only in what is hidden from the seat, each with a table.
        zones: The module's `ZONES`.
        seat: Who is told.
        generator: Chooses what is tried first.
    """
    positions = [position for _, position in places]
    hidden = exchanged_components(positions[0].state, positions[1].state, zones)

    def heard(side: int, action: Action) -> str | None:
        table, here = places[side]
        after = table.advance(here, action)
        moved = moved_components(here.state, after.state, zones)
        return None if hidden & moved else canonical_key({**all_told(after, seat)})

    tried = [
        heard(side, actions[int(index)])
        for side, actions in enumerate(unlike_outcomes(positions[0], positions[1]))
        for index in generator.permutation(len(actions))[: _TRIES // 2]
    ]
    if set(tried) == {None}:
        return ""
    tried += [heard(side, position.legal[0]) for side, position in enumerate(positions)]
    if len({*tried} - {None}) == 1:
        return ""
    sums: list[dict[str, float]] = [{}, {}]
    for side, position in enumerate(positions):
        for action, chance in _odds(position).items():
            if (key := heard(side, action)) is not None:
                sums[side][key] = sums[side].get(key, 0.0) + chance
    return "" if _in_proportion(*sums) else _shown(positions)


def _odds(position: Position) -> dict[Action, float]:
    return dict(zip(position.legal, position.probabilities, strict=False))


def _in_proportion(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether two tables of chances are the same up to a factor; an empty one is, to any.

    >>> _in_proportion({"a": 0.2, "b": 0.2}, {"a": 0.5, "b": 0.5}), _in_proportion({"a": 1.0}, {})
    (True, True)
    >>> _in_proportion({"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1})
    False
    """
    if not one or not other:
        return True
    if one.keys() != other.keys():
        return False
    totals = sum(one.values()), sum(other.values())
    return all(abs(one[key] / totals[0] - other[key] / totals[1]) <= _SAME for key in one)


def _shown(positions: Sequence[Position]) -> str:
    """The outcomes of two positions that differ, with their chances.

    >>> coin = [Position({}, CHANCE, (a,), (1.0,), (), (), ()) for a in ("heads", "tails")]
    >>> _shown(coin)
    "{'heads': 1.0} or {'tails': 1.0}"
    """
    told = []
    for position, unlike in zip(positions, unlike_outcomes(*positions), strict=True):
        odds = _odds(position)
        likely = sorted(unlike, key=lambda action: -odds[action])[:_SHOWN]
        told.append(show({action: odds[action] for action in likely}))
    return " or ".join(told)
