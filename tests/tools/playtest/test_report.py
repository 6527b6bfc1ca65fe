import pytest

from games.contract import CHANCE
from games.engine import Match, Ply
from games.records import MatchRecord
from tools.playtest.intervals import Estimate, NoSamplesError, Unmeasured
from tools.playtest.report import (
    branching,
    decision_count,
    draw_share,
    figure_of,
    forced_move_share,
    match_length,
    mean_score,
    measure_all,
    seat_share,
    share_of_best,
)
from tools.playtest.results import win_share
from tools.playtest.schedule import each_alone


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
    assert seat_share(RECORDS, 0).value == pytest.approx((1 + 0.5 + 0) / 3)
    assert draw_share(RECORDS).value == pytest.approx(1 / 3)
    assert match_length(RECORDS).value == pytest.approx((3 + 2 + 2) / 3)
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
    taken = measure_all([record(None)], each_alone(2))
    assert all(isinstance(measure, Unmeasured) for measure in taken.values())


def test_all_measures_come_with_their_names() -> None:
    taken = measure_all(RECORDS, each_alone(2))
    assert list(taken) == [
        "wins_player_1",
        "wins_player_2",
        "ties",
        "turns",
        "options",
        "forced",
        "choices_player_1",
        "choices_player_2",
    ]
    assert taken["choices_player_2"] == decision_count(RECORDS, 1)
    assert all(isinstance(measure, Estimate) for measure in taken.values())


def test_a_shared_win_is_shared() -> None:
    assert [win_share((3, 3, 3, 1), seat) for seat in range(4)] == [1 / 3, 1 / 3, 1 / 3, 0]


TEAM = [record((3.0, 3.0), ply(0, 2)), record((5.0, 5.0), ply(1, 2)), record(None)]


def test_cooperation_is_measured_by_its_score_and_not_by_wins() -> None:
    assert mean_score(TEAM).value == pytest.approx(4)
    taken = measure_all(TEAM, ((0, 1),))
    assert taken["score"] == mean_score(TEAM)
    assert not any("wins" in name or name == "ties" for name in taken)
    assert share_of_best(TEAM, 10).value == pytest.approx(0.4)


def test_partners_win_together() -> None:
    # Of three matches partners 1 and 3 win one, lose one, and tie one with the others.
    paid = [(9.0, 2.0, 9.0, 2.0), (1.0, 4.0, 1.0, 4.0), (3.0, 3.0, 3.0, 3.0)]
    taken = measure_all([record(returns) for returns in paid], ((0, 2), (1, 3)))
    assert list(taken)[:3] == ["wins_players_1_3", "wins_players_2_4", "ties"]
    ours = taken["wins_players_1_3"]
    assert isinstance(ours, Estimate)
    assert ours.value == pytest.approx(1 / 2)
    assert figure_of("wins_players_2_4", ours).name == "players 2 and 4 win"


def test_three_seats_hold_together_with_95_percent() -> None:
    # Bonferroni: three intervals of 1 - 0.05 / 3 each; t(2) is 7.649 there, 4.303 at 0.95.
    three = [record((1.0, 0.0, 0.0)), record((0.0, 1.0, 0.0)), record((0.0, 0.0, 1.0))]
    two = [record((1.0, 0.0)), record((0.0, 1.0)), record((1.0, 1.0))]
    assert seat_share(three, 0).method.endswith("98%")
    assert seat_share(two, 0).method.endswith("95%")
