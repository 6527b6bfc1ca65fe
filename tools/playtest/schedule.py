"""Schedule of matches: how many, line-ups, paired deals, rotations. Pure functions of indices."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from games.streams import stream
from tools.playtest.intervals import ScoreQuestion

LineUps: TypeAlias = Literal["auto", "all", "balanced"]
Sides: TypeAlias = tuple[tuple[int, ...], ...]  # seats by side; one each where nobody has partners

FEWEST_SEATS, MOST_SEATS = 2, 8
MOST_PRIOR_DRAWS = 1e6  # they outweigh any results long before
_ALL_UP_TO = 200  # line-ups; beyond, "auto" takes the balanced design
_ARRANGED_FROM = 3  # seats; two have one circular arrangement only
_FEWEST_PAID = 6  # matches: even where half of them are tied, all rivals' are in one case of 64


class TournamentError(ValueError):
    """A tournament cannot be played as asked; the message says what would do."""


class TournamentSettings(BaseModel, frozen=True, extra="forbid"):
    """The settings of a tournament, apart from its players and its game.

    Attributes:
        deals: Deals at the most; every line-up plays each in every rotation of its seats.
        seed: The tournament's seed.
        max_plies: Plies after which a match is left unfinished.
        line_ups: How line-ups are chosen; see `make_schedule`.
        question: Where it is asked, two entrants meet only until it is answered of their score
            (the first entrant's; a sample is a deal). Line-ups must hold two entrants.
        prior_draws: Draws every two who met are given in the ratings, a million at the most; with
            0, a player that never lost leaves them unmeasured.
        ply_s: Seconds one ply of the module may take; None for the sandbox's bound.
    """

    deals: int = Field(gt=0)
    seed: int = Field(ge=0)
    max_plies: int = Field(default=2000, gt=0)
    line_ups: LineUps = "auto"
    question: ScoreQuestion | None = None
    prior_draws: float = Field(default=0.0, ge=0, le=MOST_PRIOR_DRAWS, allow_inf_nan=False)
    ply_s: float | None = Field(default=None, gt=0)


@dataclass(frozen=True)
class MatchPlace:
    """The place of a match in a tournament.

    Attributes:
        deal: Index of the deal: matches of one deal share their chance streams.
        line_up: Index of the line-up.
        rotation: How many seats the line-up is turned by.
    """

    deal: int
    line_up: int
    rotation: int


@dataclass(frozen=True)
class Schedule:
    """Every line-up plays every deal in every rotation: a block of matches.

    Match `m` is rotation `m % rotations` of line-up `m // rotations % len(line_ups)` of deal
    `m // (rotations * len(line_ups))`, so it is made longer by adding deals at its end.

    Attributes:
        seats: Seats at the table.
        line_ups: Entrants' indices, ascending; with repeats where entrants are fewer than seats.
        design: How the line-ups were chosen, in words.
        rotations: Seatings each line-up plays a deal in: the number of sides, or 1 in self-play.
        drawn: Whether three or more sit in a drawn order, or in that of the line-up.
        sides: Seats of one side change places together, with those of the next side; a larger side
            has players of the smaller one several times.
    """

    seats: int
    line_ups: tuple[tuple[int, ...], ...]
    design: str
    rotations: int
    drawn: bool = True
    sides: Sides = ()

    @cached_property
    def matches_a_deal(self) -> int:
        """Matches that share one deal."""
        return self.rotations * len(self.line_ups)

    def place(self, match: int) -> MatchPlace:
        """The place of match `match`."""
        deal, rest = divmod(match, self.matches_a_deal)
        line_up, rotation = divmod(rest, self.rotations)
        return MatchPlace(deal, line_up, rotation)

    def block(self, deal: int, line_up: int) -> range:
        """The matches of one line-up in one deal."""
        first = deal * self.matches_a_deal + line_up * self.rotations
        return range(first, first + self.rotations)

    def seated(self, match: int, seed: int) -> tuple[int, ...]:
        """The entrants of a match by seat.

        With three seats or more it also matters who follows whom. Where the order is drawn, deals
        go in twos: the first of them seats a line-up in an order drawn for it, the second in the
        reverse order.
        """
        place = self.place(match)
        order = list(self.line_ups[place.line_up])
        if self.drawn and self.seats >= _ARRANGED_FROM:
            pair, reverse = divmod(place.deal, 2)
            drawn = stream(seed, "seating", match=pair).permutation(self.seats)
            order = [order[int(slot)] for slot in (drawn[::-1] if reverse else drawn)]
        return tuple(order[slot] for slot in self._turned[place.rotation])

    @cached_property
    def _turned(self) -> tuple[tuple[int, ...], ...]:
        """By rotation and seat, the place in the line-up from which the seat is taken."""
        sides = self.sides or each_alone(self.seats)
        turned = [
            {
                seat: from_[place % len(from_)]
                for side, seats in enumerate(sides)
                for from_ in (sides[(side - rotation) % len(sides)],)
                for place, seat in enumerate(seats)
            }
            for rotation in range(self.rotations)
        ]
        return tuple(tuple(slots[seat] for seat in range(self.seats)) for slots in turned)


def make_schedule(entrants: int, seats: int, line_ups: LineUps = "auto") -> Schedule:
    """The line-ups of a round robin.

    Args:
        entrants: How many players take part, at least 2.
        seats: Seats at the table, 2 to 8.
        line_ups: "all": every combination of the entrants. "balanced": a cyclic design, in which
            every entrant plays equally often and every two meet. "auto": all, up to 200
            combinations; balanced beyond. With two seats it is always all. With fewer entrants
            than seats, every entrant takes as many seats as every other, or one more, in every
            such way.

    Raises:
        TournamentError: If there is no such round robin.

    >>> make_schedule(3, 2).line_ups, make_schedule(2, 3).line_ups
    (((0, 1), (0, 2), (1, 2)), ((0, 0, 1), (0, 1, 1)))
    """
    if not FEWEST_SEATS <= seats <= MOST_SEATS:
        raise TournamentError(f"seats: {seats}; required: {FEWEST_SEATS} to {MOST_SEATS}")
    if entrants < 2:  # noqa: PLR2004 - two are the least
        raise TournamentError(f"a tournament needs at least two different entrants, not {entrants}")
    if entrants < seats:
        found, design = _filled(entrants, seats), "fewer entrants than seats, shared out evenly"
    elif _takes_all(entrants, seats, line_ups):
        found, design = tuple(combinations(range(entrants), seats)), "all combinations"
    else:
        found = _cyclic(entrants, seats)
        design = f"cyclic, {len(found)} of {comb(entrants, seats)} combinations"
    return Schedule(seats, found, design, rotations=seats)


def one_line_up(names: Sequence[str], sides: Sides = ()) -> Schedule:
    """The schedule of a series: one line-up in the order given, with its own place for each.

    Args:
        names: One a seat. Sides rotate within a deal unless all names are the same.
        sides: Who are partners; none for everybody alone.

    >>> schedule = one_line_up(["a", "a", "b", "b"], ((0, 1), (2, 3)))
    >>> [schedule.seated(match, 0) for match in range(schedule.rotations)]
    [(0, 1, 2, 3), (2, 3, 0, 1)]
    >>> schedule = one_line_up(["a", "b", "b"], ((0,), (1, 2)))
    >>> [schedule.seated(match, 0) for match in range(schedule.rotations)]
    [(0, 1, 2), (1, 0, 0)]
    """
    seats = len(names)
    rotations = 1 if len(set(names)) == 1 else len(sides) or seats
    design = f"one line-up; {said_sides(sides)}" if sides else "one line-up"
    return Schedule(seats, (tuple(range(seats)),), design, rotations, drawn=False, sides=sides)


def each_alone(seats: int) -> Sides:
    """A side a seat."""
    return tuple((seat,) for seat in range(seats))


def sides_paid_alike(returns: Sequence[Sequence[float]], seats: int) -> Sides:
    """The sides that play shows: seats that every match paid the same are partners.

    All seats are one side in cooperation. Rivals may be tied, so no partners are told from fewer
    than six matches, or where a side was always paid the same amount: then everybody is alone.
    Neither are they where sides are not equally large and some partners never won together, as
    rivals who lose to a third are paid alike too.

    Args:
        returns: `[M][S]`: of finished matches, by seat.
        seats: S.

    >>> tricks = [(3, 10, 3, 10), (7, 6, 7, 6), (5, 8, 5, 8)] * 2
    >>> sides_paid_alike(tricks, 4), sides_paid_alike(tricks[:5], 4)
    (((0, 2), (1, 3)), ((0,), (1,), (2,), (3,)))
    >>> sides_paid_alike([(1, 0, 0), (0, 1, 1)] * 3, 3)
    ((0,), (1, 2))
    """
    paid: dict[tuple[float, ...], list[int]] = {}
    for seat in range(seats):
        paid.setdefault(tuple(match[seat] for match in returns), []).append(seat)

    def won(side: Sequence[int]) -> bool:
        others = [seat for seat in range(seats) if seat not in side]
        return len(side) == 1 or any(
            match[side[0]] > max(match[seat] for seat in others) for match in returns
        )

    varied = len(returns) >= _FEWEST_PAID and all(len(set(amounts)) > 1 for amounts in paid)
    sides = tuple(map(tuple, paid.values()))
    if not varied or (len(set(map(len, sides))) > 1 and not all(map(won, sides))):
        return each_alone(seats)
    return sides


def said_sides(sides: Sides) -> str:
    """Partners in words, counted from 1.

    >>> said_sides(((0, 2), (1, 3)))
    'players 1 and 3 against players 2 and 4'
    """
    return " against ".join(
        f"player{'s' * (len(side) > 1)} {' and '.join(str(seat + 1) for seat in side)}"
        for side in sides
    )


def _takes_all(entrants: int, seats: int, line_ups: LineUps) -> bool:
    if seats == 2 or line_ups == "all":  # noqa: PLR2004 - a pair
        return True
    return line_ups == "auto" and comb(entrants, seats) <= _ALL_UP_TO


def _filled(entrants: int, seats: int) -> tuple[tuple[int, ...], ...]:
    each, more = divmod(seats, entrants)
    return tuple(
        tuple(sorted([*range(entrants)] * each + list(extra)))
        for extra in combinations(range(entrants), more)
    )


def _cyclic(entrants: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """Base blocks turned through all entrants, until every difference of two is covered.

    Turning a block through all of Z_n lets every entrant play as often as every other; entrants i
    and j meet as often as the difference j - i occurs in the blocks (Bose 1939).
    """
    covered = dict.fromkeys(range(1, entrants // 2 + 1), 0)
    found: list[tuple[int, ...]] = []
    while min(covered.values()) == 0:
        block = [0]
        while len(block) < seats:
            block.append(_next(block, entrants, covered))
        for one, other in combinations(block, 2):
            covered[_difference(one, other, entrants)] += 1
        found += [
            tuple(sorted((member + turn) % entrants for member in block))
            for turn in range(entrants)
        ]
    return tuple(dict.fromkeys(found)) if _repeats_evenly(found) else tuple(found)


def _next(block: list[int], entrants: int, covered: dict[int, int]) -> int:
    def cost(member: int) -> tuple[int, int]:
        differences = [_difference(member, other, entrants) for other in block]
        counts = [covered[d] + differences.count(d) for d in differences]
        return sum(counts) if len(block) > 1 else counts[0] * entrants, member

    return min((m for m in range(entrants) if m not in block), key=cost)


def _difference(one: int, other: int, entrants: int) -> int:
    apart = abs(one - other)
    return min(apart, entrants - apart)


def _repeats_evenly(found: list[tuple[int, ...]]) -> bool:
    """True where every line-up occurs equally often, so that each is needed only once."""
    return len({found.count(line_up) for line_up in found}) == 1
