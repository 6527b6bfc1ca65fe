from dataclasses import replace

import pytest

from games.engine import Effort, Match, Ply
from games.records import MatchRecord
from games.values import CHANCE
from tools.playtest.intervals import Estimate, NoSamplesError, Unmeasured
from tools.playtest.ratings import win_share
from tools.playtest.report import (
    LadderStep,
    branching,
    decision_count,
    draw_share,
    figure_of,
    forced_move_share,
    last_lead,
    match_length,
    mean_score,
    measure_all,
    rung_of,
    seat_share,
    share_of_best,
    spread_of_returns,
)
from tools.playtest.schedule import each_alone, sides_paid_alike


def ply(player: int, options: int) -> Ply:
    legal = tuple(str(option) for option in range(options))
    return Ply(player, None, legal, legal[0], (0.0, 0.0), ((), ()), Effort(), {})


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


@pytest.mark.parametrize(
    ("best", "ends"),
    [((9.0, True), (-9.0, 9.0)), ((9.0, False), (-21.0, 26.0)), (None, (-21.0, 26.0))],
)
def test_a_difference_in_pay_is_cut_to_what_the_game_says_it_can_pay(
    best: tuple[float, bool] | None, ends: tuple[float, float]
) -> None:
    wide = Estimate(value=2.5, low=-21.0, high=26.0, n=2, of="deals", method="t")
    step = LadderStep(
        lower="a", higher="b", measure="return", advantage=wide, verdict="undecided", endings={}
    )
    figure = rung_of(step, 1, best).figure
    assert (figure.value, (figure.low, figure.high)) == (2.5, ends)
    assert ("cut to what the game can pay, -9 to 9" in figure.method) == (ends == (-9, 9))
    assert ("no bounds" in figure.meaning) == (best == (9, False))


def test_all_measures_come_with_their_names() -> None:
    taken = measure_all(RECORDS, each_alone(2))
    assert list(taken) == [
        "wins_player_1",
        "wins_player_2",
        "ties",
        "spread",
        "lead",
        "turns",
        "options",
        "forced",
        "choices_player_1",
        "choices_player_2",
    ]
    assert taken["choices_player_2"] == decision_count(RECORDS, 1)
    assert isinstance(taken.pop("lead"), Unmeasured)  # it pays nothing before the end
    assert all(isinstance(measure, Estimate) for measure in taken.values())


def test_the_last_change_of_the_lead_agrees_with_a_count_by_hand() -> None:
    def paying(*rewards: tuple[float, float]) -> MatchRecord:
        plies = [replace(ply(0, 2), rewards=paid) for paid in rewards]
        return record(tuple(map(sum, zip(*rewards, strict=True))), *plies)

    # The first seat leads from ply 1 on; the second draws level at ply 2 and passes at ply 3 of 4.
    rows = [
        paying((1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.0, 0.0)),
        paying((1.0, 0.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)),
    ]
    assert last_lead(rows).value == pytest.approx((1 / 4 + 3 / 4) / 2)
    assert spread_of_returns(rows).value == pytest.approx((2 + 2) / 2)


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


def test_a_tie_is_shared_between_sides_and_not_between_seats() -> None:
    paid = [(1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0.5, 0.5, 0.5)]
    records = [record(returns) for returns in paid]
    assert seat_share(records, 0, ((0,), (1, 2))).value == pytest.approx(1 / 2)
    assert seat_share(records, 2, ((0,), (1, 2))).value == pytest.approx(1 / 2)


def test_rivals_who_lose_to_a_third_are_no_side() -> None:
    lost = [(1.0, -0.5, -0.5), (0.0, 0.0, 0.0)] * 9
    assert sides_paid_alike(lost, 3) == ((0,), (1,), (2,))
    assert sides_paid_alike([*lost, (-1.0, 0.5, 0.5)], 3) == ((0,), (1, 2))


def test_three_seats_hold_together_with_95_percent() -> None:
    # Bonferroni: three intervals of 1 - 0.05 / 3 each.
    three = [record((1.0, 0.0, 0.0)), record((0.0, 1.0, 0.0)), record((0.0, 0.0, 1.0))]
    two = [record((1.0, 0.0)), record((0.0, 1.0)), record((1.0, 1.0))]
    assert seat_share(three, 0).method.endswith("98%")
    assert seat_share(two, 0).method.endswith("95%")
