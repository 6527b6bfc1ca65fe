import pytest

from games.contract import CHANCE
from games.engine import Match, Ply
from games.records import MatchRecord
from tools.playtest import (
    Estimate,
    NoSamplesError,
    Unmeasured,
    branching,
    decision_count,
    draw_share,
    first_seat_advantage,
    forced_move_share,
    match_length,
    measure_all,
    win_share,
)


def ply(player: int, options: int) -> Ply:
    legal = tuple(str(option) for option in range(options))
    return Ply(player, None, legal, legal[0], (0.0, 0.0), ((), ()), {}, {})


def record(returns: tuple[float, ...] | None, *plies: Ply) -> MatchRecord:
    match = Match("finished" if returns else "unfinished", returns, plies, None, ())
    return MatchRecord("game", {}, ("a", "b"), 0, 0, match)


RECORDS = [
    record((1.0, 0.0), ply(CHANCE, 50), ply(0, 3), ply(1, 1), ply(0, 2)),
    record((0.5, 0.5), ply(0, 4), ply(1, 2)),
    record(None, ply(0, 9)),
    record((0.0, 2.0), ply(0, 1), ply(1, 1)),
]


def test_measures_agree_with_a_count_by_hand() -> None:
    assert first_seat_advantage(RECORDS).value == pytest.approx((1 + 0.5 + 0) / 3 - 0.5)
    assert draw_share(RECORDS).value == pytest.approx(1 / 3)
    assert match_length(RECORDS).value == pytest.approx((4 + 2 + 2) / 3)
    assert branching(RECORDS).value == pytest.approx((2 + 3 + 1) / 3)
    assert forced_move_share(RECORDS).value == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert decision_count(RECORDS, 0).value == pytest.approx((2 + 1 + 0) / 3)
    assert decision_count(RECORDS, 1).value == pytest.approx((0 + 1 + 0) / 3)


def test_unfinished_matches_are_not_counted() -> None:
    assert match_length(RECORDS).n == 3
    assert match_length(RECORDS) == match_length([r for r in RECORDS if r.match.returns])


def test_no_finished_match_is_no_measure() -> None:
    with pytest.raises(NoSamplesError, match="none of 1 matches finished"):
        draw_share([record(None)])
    taken = measure_all([record(None)], 2)
    assert all(isinstance(measure, Unmeasured) for measure in taken.values())


def test_all_measures_come_with_their_names() -> None:
    taken = measure_all(RECORDS, 2)
    assert list(taken) == [
        "first_seat_advantage",
        "draw_share",
        "match_length",
        "branching",
        "forced_move_share",
        "decisions_seat_0",
        "decisions_seat_1",
    ]
    assert taken["decisions_seat_1"] == decision_count(RECORDS, 1)
    assert all(isinstance(measure, Estimate) for measure in taken.values())


def test_a_shared_win_is_shared() -> None:
    assert [win_share((3, 3, 3, 1), seat) for seat in range(4)] == [1 / 3, 1 / 3, 1 / 3, 0]
