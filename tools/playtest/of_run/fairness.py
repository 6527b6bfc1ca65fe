"""Fairness: do the wins fall evenly to the seats? Looked at when the plan says, and no sooner.

An equivalence test by intervals. "Fair" is a claim about every side at once, which holds where
each side's own interval lies within the margin (Berger 1982: no correction is needed). "Not fair"
is a claim about some side, so all their intervals are held together (Bonferroni).

A series is looked at after numbers of matches that are fixed beforehand. The 5 % of all errors are
split: the last look that was planned has 4.5 %, looks before it have a quarter of one together, and
looks of a person who plays on another quarter: an eighth, a sixteenth, and so on.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Literal, TypeAlias

from games.text import number_of
from tools.playtest.intervals import Estimate, NoSamplesError, exact_proportion
from tools.playtest.schedule import Sides
from tools.reporting.content import UNSURE, Fairness, Figure

MARGIN = 0.09
"""Distance from an even share of two sides that is fair."""
FIRST_LOOK = 600  # matches; a longer series may end there
_LAST, _BEFORE, _AFTER = 0.045, 0.0025, 0.0025
_POWER = 0.9  # with which the matches that are needed would decide
_PAIR = 2
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

Counted: TypeAlias = tuple[Sequence[float], int]
"""The wins of each side, shared ones in part, and the matches that they are of."""
Answer: TypeAlias = Literal["yes", "nearly", "no", "could not tell"]


def margin_of(sides: int) -> float:
    """The margin for a number of sides: as many standard deviations of a win as for two.

    With S sides the share of a win has the deviation `sqrt(S - 1) / S`, a half for two.

    >>> [round(margin_of(sides), 3) for sides in (2, 3, 4, 8)]
    [0.09, 0.085, 0.078, 0.06]
    """
    return 2 * MARGIN * math.sqrt(sides - 1) / sides


def looks_of(planned: int) -> tuple[int, ...]:
    """The looks at a series of so many matches.

    >>> looks_of(600), looks_of(3300)
    ((600,), (600, 3300))
    """
    return (FIRST_LOOK, planned) if planned > 2 * FIRST_LOOK else (planned,)


def alpha_of(look: int, planned: int) -> float:
    """The share of errors that a look may make, of `planned` looks; later ones share what is left.

    >>> [alpha_of(look, 2) for look in range(4)]
    [0.0025, 0.045, 0.00125, 0.000625]
    """
    if look >= planned:
        return _AFTER * 0.5 ** (look - planned + 1)
    return _LAST if look == planned - 1 else _BEFORE / (planned - 1)


def looked_at(
    player: str,
    sides: Sides,
    planned: int,
    count: Callable[[int], Counted],
    more: Sequence[int] = (),
) -> Fairness:
    """Look at a series as planned, until a look decides; or as far as a person plays on.

    The intervals of all looks hold together, so each look may be answered from.

    Args:
        player: Who has every seat.
        sides: Who are partners; two at least.
        planned: Matches of the series.
        count: Plays up to so many matches, and counts the finished ones.
        more: Matches up to which a person played on, in order; each is one more look.

    Raises:
        NoSamplesError: If fewer than two matches finished.
    """
    at_first = looks_of(planned)
    looks = [*at_first, *(matches for matches in more if matches > planned)]
    for look, matches in enumerate(looks):
        alpha = alpha_of(look, len(at_first))
        answer, worst, share = fair_answer(*count(matches), alpha)
        if answer != UNSURE and not more:
            looks = looks[: look + 1]
            break
    beyond = alpha_of(len(looks), len(at_first))
    return _fairness(player, sides, tuple(looks), (answer, worst, share), beyond)


def fair_once(player: str, sides: Sides, counted: Counted) -> Fairness:
    """The fairness of a series that is looked at once, at its end.

    Raises:
        NoSamplesError: If fewer than two matches finished.
    """
    won, played = counted
    return _fairness(
        player, sides, (played,), fair_answer(won, played, alpha_of(0, 1)), alpha_of(1, 1)
    )


def _fairness(
    player: str,
    sides: Sides,
    looks: tuple[int, ...],
    found: tuple[Answer, int, Estimate],
    beyond: float,
) -> Fairness:
    answer, worst, share = found
    return Fairness(
        player=player,
        players=sum(map(len, sides)),
        answer=answer,
        share=Figure(
            name=said_side(sides[worst]), meaning="share of the wins", **share.model_dump()
        ),
        even=1 / len(sides),
        margin=margin_of(len(sides)),
        looks=looks,
        needed=needed(share, len(sides), beyond) if answer == UNSURE else 0,
    )


def fair_answer(won: Sequence[float], played: int, alpha: float) -> tuple[Answer, int, Estimate]:
    """The answer of a look, the side that is furthest from an even share, and its share.

    Args:
        won: By side.
        played: Matches.
        alpha: Probability of an error that the look may have.

    Raises:
        NoSamplesError: If fewer than two matches were played.

    >>> fair_answer([312, 288], 600, 0.04)[0], fair_answer([360, 240], 600, 0.04)[0]
    ('yes', 'no')
    >>> fair_answer([334, 266], 600, 0.04)[0], fair_answer([1780, 1520], 3300, 0.04)[0]
    ('no', 'nearly')
    """
    if played < _PAIR:
        raise NoSamplesError(f"{number_of(played, 'match')} finished; required: two")
    sides = len(won)
    even, margin = 1 / sides, margin_of(sides)
    own = [exact_proportion(min(one, played), played, "matches", 1 - alpha) for one in won]
    joint = own
    if sides > _PAIR:
        shared = 1 - alpha / sides
        joint = [exact_proportion(min(one, played), played, "matches", shared) for one in won]
    worst = max(range(sides), key=lambda side: abs(own[side].value - even))
    near = all(max(even - one.low, one.high - even) <= margin for one in own)
    off = any(not one.low <= even <= one.high for one in joint)
    if near:
        return "nearly" if off else "yes", worst, own[worst]
    return "no" if off else UNSURE, worst, joint[worst]


def needed(share: Estimate, sides: int, alpha: float) -> int:
    """Matches that would decide with a power of 90 %, if the furthest share stays as it is.

    With p that share, d its distance from an even one and m the margin: the least of
    `((z(alpha) + z(power)) s / (m - d))²`, which shows it fair, and
    `((z(alpha / sides) + z(power)) s / d)²`, which shows it uneven; `s² = p (1 - p)`.

    >>> needed(exact_proportion(330, 600, "matches"), 2, 0.0025)  # (4.305 * 0.4975 / 0.05)²
    1900
    """
    even, margin = 1 / sides, margin_of(sides)
    apart = abs(share.value - even)
    spread = math.sqrt(max(share.value * (1 - share.value), 1 / share.n))
    level = alpha if sides == _PAIR else alpha / sides
    counts = [
        ((NormalDist().inv_cdf(1 - error / 2) + NormalDist().inv_cdf(_POWER)) * spread / gap) ** 2
        for error, gap in ((alpha, margin - apart), (level, apart))
        if gap > 0
    ]
    found = max(min(counts), 2.0 * share.n if share.n < FIRST_LOOK else share.n + 1.0)
    digit = 10.0 ** max(0, math.floor(math.log10(found)) - 1)
    return round(math.ceil(found / digit) * digit)


def said_side(side: Sequence[int]) -> str:
    """A side and that it wins, in words.

    >>> said_side([0]), said_side([0, 2])
    ('first seat wins', 'players 1 and 3 win')
    """
    if len(side) == 1:
        return f"{_ORDINALS[side[0]]} seat wins"
    return f"players {' and '.join(str(seat + 1) for seat in side)} win"
