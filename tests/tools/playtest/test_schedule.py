from collections import Counter
from itertools import combinations
from math import comb

import pytest

from tools.playtest.schedule import each_alone, make_schedule, one_line_up, sides_paid_alike


def meetings(line_ups: tuple[tuple[int, ...], ...]) -> Counter[tuple[int, int]]:
    return Counter(pair for who in line_ups for pair in combinations(who, 2))


@pytest.mark.parametrize("seats", range(2, 9))
@pytest.mark.parametrize("entrants", [2, 3, 5, 8])
def test_every_entrant_takes_every_seat_of_a_deal_equally_often(entrants: int, seats: int) -> None:
    schedule = make_schedule(entrants, seats)
    for deal in (0, 1, 7):
        taken: Counter[tuple[int, int]] = Counter()
        for line_up in range(len(schedule.line_ups)):
            for match in schedule.block(deal, line_up):
                assert schedule.place(match).deal == deal
                taken.update(enumerate(schedule.seated(match, 5)))
        by_entrant = {who: {taken[seat, who] for seat in range(seats)} for who in range(entrants)}
        assert all(len(counts) == 1 for counts in by_entrant.values())
        assert len({counts.pop() for counts in by_entrant.values()}) == 1


def test_a_round_robin_of_two_seats_is_every_pair_once() -> None:
    assert make_schedule(30, 2).line_ups == tuple(combinations(range(30), 2))


@pytest.mark.parametrize(("entrants", "seats"), [(9, 4), (12, 5), (13, 4), (20, 8), (30, 3)])
def test_a_balanced_design_is_smaller_and_lets_all_play_alike_and_all_meet(
    entrants: int, seats: int
) -> None:
    schedule = make_schedule(entrants, seats, "balanced")
    assert len(schedule.line_ups) < comb(entrants, seats)
    assert f"of {comb(entrants, seats)} combinations" in schedule.design
    played = Counter(who for line_up in schedule.line_ups for who in line_up)
    assert set(played.values()) == {played[0]}
    assert set(meetings(schedule.line_ups)) == set(combinations(range(entrants), 2))
    assert all(len(set(line_up)) == seats for line_up in schedule.line_ups)


def test_auto_is_balanced_only_where_the_combinations_are_many() -> None:
    assert make_schedule(10, 4).design.startswith("cyclic")  # 210 combinations
    assert make_schedule(9, 4).design == "all combinations"  # 126
    assert len(make_schedule(10, 4, "all").line_ups) == comb(10, 4)


def test_with_three_seats_everybody_follows_everybody_equally_often_in_two_deals() -> None:
    schedule = make_schedule(3, 3)
    follows: Counter[tuple[int, int]] = Counter()
    for deal in (4, 5):
        for match in schedule.block(deal, 0):
            seated = schedule.seated(match, 1)
            follows.update((seated[seat], seated[(seat + 1) % 3]) for seat in range(3))
    assert set(follows.values()) == {3}
    assert len(follows) == 6


def test_more_deals_leave_the_matches_before_as_they_were() -> None:
    schedule = make_schedule(4, 3)
    assert [schedule.place(m).deal for m in range(26)] == [0] * 12 + [1] * 12 + [2] * 2


@pytest.mark.parametrize(("entrants", "seats"), [(1, 2), (4, 1), (4, 9)])
def test_no_round_robin_without_two_entrants_and_two_to_eight_seats(
    entrants: int, seats: int
) -> None:
    with pytest.raises(ValueError, match="required|at least two"):
        make_schedule(entrants, seats)


@pytest.mark.parametrize("sides", [((0, 2), (1, 3)), ((0, 1), (2, 3)), ((0, 3), (1, 4), (2, 5))])
def test_partners_change_seats_together_until_each_side_had_every_place(
    sides: tuple[tuple[int, ...], ...],
) -> None:
    seats = sum(map(len, sides))
    names = ["a" if seat in sides[0] else "b" for seat in range(seats)]
    schedule = one_line_up(names, sides)
    assert schedule.rotations == len(sides)
    taken = [
        {seat for seat, who in enumerate(schedule.seated(match, 0)) if names[who] == "a"}
        for match in schedule.block(3, 0)
    ]
    assert sorted(map(sorted, taken)) == sorted(map(sorted, sides))


COOPERATION = [(3, 3), (5, 5), (3, 3), (0, 0), (1, 1), (5, 5)]


def test_all_seats_are_one_side_where_every_match_pays_them_alike() -> None:
    assert sides_paid_alike(COOPERATION, 2) == ((0, 1),)
    assert sides_paid_alike([(4,)], 1) == ((0,),)


@pytest.mark.parametrize(
    "returns",
    [
        COOPERATION[:5],  # too few: rivals may be tied so often
        [(0, 0)] * 50,  # draws of rivals, or a team that always fails: nobody can tell
        [*COOPERATION, (1, 0)],
        [],
    ],
)
def test_no_partners_are_told_where_rivals_may_pay_the_same(
    returns: list[tuple[float, ...]],
) -> None:
    assert sides_paid_alike(returns, 2) == each_alone(2)


def test_seats_that_never_won_are_no_partners() -> None:
    # One of three wins; the two who lost every time were always paid the same.
    assert sides_paid_alike([(1, 0, 0), (0, 1, 0), (0, 1, 0)] * 3, 3) == each_alone(3)
    assert sides_paid_alike([(1, 0, 0, 0), (0, 1, 0, 0)] * 5, 4) == each_alone(4)
