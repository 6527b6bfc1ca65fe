"""Targets: what a person writes is read as it is meant, and what no game can reach is refused."""

import math

import pytest

from tools.balancing.targets import Target, TargetError, parse_targets, require_possible
from tools.playtest.intervals import wilson

ALONE = ((0,), (1,))


def ranges(text: str, seats: int = 2) -> list[tuple[str, float, float]]:
    return [(one.key, round(one.low, 6), round(one.high, 6)) for one in parse_targets(text, seats)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("first seat 50±2 %", [("wins of seat 1", 0.48, 0.52)]),
        ("first player wins 50 +- 2%", [("wins of seat 1", 0.48, 0.52)]),
        ("Last seat: between 45 and 55 percent".replace(":", ""), [("wins of seat 2", 0.45, 0.55)]),
        ("seat 2 wins 45–55 %", [("wins of seat 2", 0.45, 0.55)]),
        ("ties under 5 %", [("ties", -math.inf, 0.05)]),
        ("at most 5% draws", [("ties", -math.inf, 0.05)]),
        ("12 to 20 turns", [("turns", 12, 20)]),
        ("at least 12.5 decisions per match", [("turns", 12.5, math.inf)]),
        ("forced moves below 20 %", [("forced", -math.inf, 0.2)]),
        ("over 3 choices a decision", [("choices", 3, math.inf)]),
        ("every seat 50±3%", [("wins of seat 1", 0.47, 0.53), ("wins of seat 2", 0.47, 0.53)]),
    ],
)
def test_a_target_is_read_as_it_is_written(
    text: str, found: list[tuple[str, float, float]]
) -> None:
    assert ranges(text) == found


def test_several_targets_stand_with_commas_between() -> None:
    text = "first seat 50±2 %, 12 to 20 turns; ties under 5 %"
    assert [key for key, *_ in ranges(text)] == ["wins of seat 1", "turns", "ties"]


@pytest.mark.parametrize(
    "text",
    [
        "first seat 50±30 %,3 to 5 turns",
        "first seat 50±30 %;3 to 5 turns",
        "first seat 50±30 %\n3 to 5 turns",
    ],
)
def test_no_blank_needs_to_follow_what_stands_between(text: str) -> None:
    assert ranges(text) == [("wins of seat 1", 0.2, 0.8), ("turns", 3, 5)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turns under " + "9" * 400, "a number beyond all figures"),
        ("turns under 1,5", "cannot be read"),  # 1.5 or two numbers: nobody knows
        ("", "required: targets"),
        ("make it fun", "“make it fun” is no target"),
        ("first seat 50 %", "cannot be read"),  # no range
        ("first seat 0.5±0.02", "cannot be read"),  # a share without percent
        ("12 to 20 % turns", "cannot be read"),
        ("first seat 50±2 % on mondays", "cannot be read"),
        ("20 to 12 turns", "no range that a game can have"),
        ("ties over 120 %", "no range that a game can have"),
        ("seat 3 50±2 %", "names a seat there is not; the seats are 1 to 2"),
        ("third seat 50±2 %", "names a seat there is not; the seats are 1 to 2"),
        ("seat 0 50±2 %", "names a seat there is not; the seats are 1 to 2"),
        ("first seat 60±2 %, first seat 40±2 %", "contradict each other"),
        ("turns under 10, at least 12 turns", "contradict each other"),
        ("ties under 5 %, " * 30, "required: targets"),
        ("x" * 5000, "required: targets"),
    ],
)
def test_what_is_no_target_is_refused_with_the_forms_that_can_be_read(text: str, said: str) -> None:
    with pytest.raises(TargetError, match="required|seats are|leave one") as refused:
        parse_targets(text, 2)
    assert said in str(refused.value)


def test_shares_of_wins_must_add_up_to_all_wins() -> None:
    require_possible(parse_targets("every seat 50±1 %", 2), ALONE)
    for text in ("first seat 60±2%, second seat 60±2%", "every seat under 40 %"):
        with pytest.raises(TargetError, match="add up to 100 %"):
            require_possible(parse_targets(text, 2), ALONE)


def test_partners_win_together() -> None:
    partners = ((0, 2), (1, 3))
    require_possible(parse_targets("every seat 50±3 %", 4), partners)
    with pytest.raises(TargetError, match="players 1 and 3 against players 2 and 4"):
        require_possible(parse_targets("seat 1 60±2 %, seat 3 40±2 %", 4), partners)


def test_a_game_that_pays_all_alike_has_no_share_of_wins() -> None:
    with pytest.raises(TargetError, match="win or lose together"):
        require_possible(parse_targets("first seat 50±2 %", 2), ((0, 1),))


def test_an_answer_is_that_of_the_whole_interval() -> None:
    target = Target("wins", 0, 0.48, 0.52, "")
    told = [target.met(wilson(won, 10_000, "matches")) for won in (5000, 5200, 5400)]
    assert told == ["met", "could not tell", "missed"]  # the interval is ±0.0098
    assert target.miss(0.54) == pytest.approx(0.02)
