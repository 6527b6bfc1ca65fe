"""The thesis' heuristics in TAG: how good a position is for the player that fired.

    score   = 1 if it won, 0 if it lost, else hits / 17
    cluster = min(pairs of adjacent hits, 5) / 5
    value   = score                                    ("score", with the random determinization)
    value   = score + 0.5 cluster                      ("cluster", with the other two)

The heat map's own term, the mean heat of the cells hit, is 0 in every position that OSLA and RMHC
evaluate, because full copies lose the map. Only the tree search adds it.
"""

from typing import Literal

from evals.battleship.sea import HEALTH, neighbours_in

Heuristic = Literal["score", "cluster"]

_PAIRS = 5
_WEIGHT = 0.5


def bonus(hits: int, heuristic: Heuristic) -> float:
    """What the heuristic adds to the score.

    >>> bonus(0b111, "cluster"), bonus(0b111, "score")
    (0.2, 0.0)
    """
    if heuristic == "score":
        return 0.0
    return _WEIGHT * min(neighbours_in(hits), _PAIRS) / _PAIRS


def full(hits: int, heuristic: Heuristic) -> bool:
    """Whether no further hit can add to the bonus."""
    return heuristic == "score" or neighbours_in(hits) >= _PAIRS


def going_on(hits: int, found: int, heuristic: Heuristic) -> float:
    """The value of a position in which nobody has won.

    Args:
        hits: Cells hit.
        found: How many cells were hit, as the health of the other fleet counts them.
        heuristic: Which.
    """
    return found / HEALTH + bonus(hits, heuristic)
