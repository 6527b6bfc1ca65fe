"""Tallies: counts of matches give the figures that a hand count gives."""

import json

import pytest

from tools.balancing.tallies import Tally
from tools.balancing.targets import parse_targets
from tools.playtest.efforts import EffortSummary
from tools.playtest.intervals import NoSamplesError, mean_interval, wilson
from tools.playtest.jobs import MatchEntry


def entry(
    *returns: float, decisions: int = 4, forced: int = 1, ending: str = "finished"
) -> MatchEntry:
    used = (EffortSummary(decisions=decisions),)
    return MatchEntry.model_validate(
        {"ending": ending, "returns": returns or None, "plies": 9, "actions": (), "culprit": None,
         "reason": "" if returns else "no end", "fault_line": None, "used": used,
         "forced": forced, "options": 3 * decisions}
    )  # fmt: skip


def figure(tally: Tally, text: str) -> float:
    return tally.estimate(parse_targets(text, tally.seats)[0]).value


def test_ties_are_shared_among_the_seats_that_tie() -> None:
    matches = [entry(1, 0, 0)] * 6 + [entry(2, 2, 0)] * 2 + [entry(0, 0, 0)] * 4
    tally = Tally.of(3, matches)
    # 6 wins, 2 halves, 4 thirds of 12; the second seat 2 halves, 4 thirds; the third 4 thirds.
    found = [figure(tally, f"seat {seat} over 1 %") for seat in (1, 2, 3)]
    assert found == pytest.approx([(6 + 1 + 4 / 3) / 12, (1 + 4 / 3) / 12, 4 / 3 / 12])
    assert figure(tally, "ties under 5 %") == pytest.approx(6 / 12)


def test_partners_have_the_share_of_their_side() -> None:
    tally = Tally.of(4, [entry(3, 10, 3, 10), entry(7, 6, 7, 6), entry(5, 8, 5, 8)] * 4)
    assert tally.sides == ((0, 2), (1, 3))
    assert figure(tally, "first seat over 1 %") == pytest.approx(1 / 3)
    assert figure(tally, "ties under 5 %") == 0


def test_means_and_their_intervals_are_those_of_the_matches() -> None:
    lengths = [4, 6, 9, 13, 5]
    tally = Tally.of(2, [entry(1, 0, decisions=one) for one in lengths])
    found = tally.estimate(parse_targets("turns over 1", 2)[0])
    known = mean_interval([float(one) for one in lengths], "matches")
    assert (found.value, found.low, found.high) == pytest.approx(
        (known.value, known.low, known.high)
    )
    assert figure(tally, "forced moves under 5 %") == pytest.approx(
        sum(1 / one for one in lengths) / 5
    )
    assert figure(tally, "choices over 1") == pytest.approx(3)


def test_a_match_that_was_cut_takes_as_many_turns_as_it_had_at_least() -> None:
    cut = entry(decisions=10, ending="unfinished")
    tally = Tally.of(2, [entry(1, 0)] * 3 + [cut, entry(decisions=90, ending="fault")])
    assert (tally.matches, tally.void, tally.cut) == (3, 2, 1)
    assert figure(tally, "turns under 9") == pytest.approx((3 * 4 + 10) / 4)  # no longer 4
    assert figure(tally, "first seat over 1 %") == 1  # of those with a winner
    assert Tally.read(2, json.loads(json.dumps(tally.row()))) == tally


def test_the_interval_of_a_share_is_wilsons() -> None:
    tally = Tally.of(2, [entry(1, 0)] * 8 + [entry(0, 1)] * 2)
    found = tally.estimate(parse_targets("first seat 50±2%", 2)[0])
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert found.n == wilson(8, 10, "matches").n


def test_matches_without_a_result_count_for_nobody_and_are_told() -> None:
    tally = Tally.of(2, [entry(1, 0), entry(ending="unfinished"), entry(ending="unfinished")])
    assert (tally.matches, tally.void, tally.why) == (1, 2, "no end")
    with pytest.raises(NoSamplesError):
        tally.estimate(parse_targets("turns over 1", 2)[0])


def test_parts_add_up_and_come_back_from_json() -> None:
    matches = [entry(1, 0, decisions=n) for n in range(1, 9)] + [entry(0, 1), entry(1, 1)]
    both = Tally.of(2, matches[:3]).plus(Tally.of(2, matches[3:]))
    assert both == Tally.of(2, matches)
    assert Tally.read(2, json.loads(json.dumps(both.row()))) == both
