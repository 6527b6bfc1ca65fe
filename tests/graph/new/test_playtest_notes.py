import pytest

from tools.playtest.of_run.budget import Work
from tools.playtest.of_run.measuring import search_notes

PARTS = ("random", "seats", "good", "rung", "heuristic")
# Twelve deals of thirteen tricks for four: 624 cards are dealt, and as many are played.
LONG = Work(lines=200, seen=500, plies=1248)


def test_a_ladder_over_hidden_information_says_what_more_simulations_do_not_promise() -> None:
    (note,) = search_notes("ismcts", simulations=200, wanted=200)
    assert "hidden information" in note
    assert "no guarantee" in note


def test_a_ladder_without_hidden_information_has_no_such_note() -> None:
    assert search_notes("uct", simulations=200, wanted=200) == []


def test_searches_that_were_held_to_fewer_simulations_are_named() -> None:
    (note,) = search_notes("uct", simulations=20, wanted=200)
    assert "held to 20 simulations a move instead of 200" in note
    assert len(search_notes("ismcts", simulations=20, wanted=200)) == 2


@pytest.mark.parametrize("part", PARTS)
def test_what_a_quick_run_plays_is_bounded_by_lines_whatever_is_asked_for(part: str) -> None:
    """The heuristics of such a game were once tried out for seven minutes of a quick run."""
    matches = LONG.matches(part, 1_000_000, quick=True)
    least = LONG.lines if part in ("random", "seats") else LONG.seen
    assert matches > 6
    assert matches * LONG.plies * least <= 600_000_000  # a minute at ten million lines a second
    longer = LONG.model_copy(update={"plies": 10 * LONG.plies})
    tenth = longer.matches(part, 1_000_000, quick=True)
    assert tenth == 6 or abs(10 * tenth - matches) < 10
    assert matches < LONG.matches(part, 1_000_000, quick=False)


def test_all_parts_of_a_quick_run_together_stay_within_three_minutes_of_lines() -> None:
    played = sum(LONG.matches(part, 1_000_000, quick=True) * LONG.plies for part in PARTS)
    lines = played * LONG.lines + LONG.plies_searched(quick=True) * LONG.lines
    assert lines <= 3 * 600_000_000
