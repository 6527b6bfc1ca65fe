"""Differential play: two modules of one game agree; where they part, the place is told."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import pytest

from tests.tools.sources import NIM, nim_with
from tools.differing import Differential, differential_sources
from tools.sandbox import Sandbox

Played: TypeAlias = Callable[..., Differential]


@pytest.fixture
def played(sandbox: Sandbox) -> Played:
    """Six matches of two sources."""
    return partial(differential_sources, sandbox, num_players=2, matches=6, seed=1)


def test_a_module_agrees_with_itself(played: Played) -> None:
    found = played(NIM, NIM, to_the_letter=True)
    assert (found.outcome, found.divergence, found.matches) == ("agree", None, 6)
    assert found.plies >= 6 * 3  # a pile of three or four, two at the most at a time


def test_names_that_differ_in_case_and_punctuation_alone_are_the_same(played: Played) -> None:
    other = NIM.replace('f"take {n}"', 'f"Take_{n}!"').replace(
        "int(action.split()[1])", 'int(action.strip("!").replace("_", " ").split()[1])'
    )
    assert played(NIM, other).outcome == "agree"
    assert played(NIM, other, to_the_letter=True).outcome == "diverge"


def test_the_first_divergence_is_told_with_its_history_and_both_readings(played: Played) -> None:
    # Whoever takes the last one loses, in the other's reading.
    misere = NIM.replace("[1, -1] if", "[-1, 1] if").replace("else [-1, 1]", "else [1, -1]")
    found = played(NIM, misere)
    place = found.divergence
    assert found.outcome == "diverge"
    assert place is not None
    assert (place.match, place.about, place.ply) == (0, "rewards", len(place.history))
    assert place.history[0] in ("pile 3", "pile 4")
    assert sorted(place.readings) == ["[-1.0,1.0]", "[1.0,-1.0]"]


def test_other_odds_of_chance_and_other_legal_actions_are_told_apart(played: Played) -> None:
    even = nim_with("get_chance_probabilities", "return [0.5, 0.5]")
    assert played(NIM, even).divergence.about == "probabilities"  # type: ignore[union-attr]
    three = NIM.replace('"default": 2', '"default": 3').replace("most=2", "most=3")
    assert played(NIM, three).divergence.about == "legal actions"  # type: ignore[union-attr]


def test_what_each_seat_sees_counts_only_to_the_letter(played: Played) -> None:
    worded = NIM.replace('[f"{action}."], [f"{action}."]', '["It was so."], ["It was so."]')
    assert played(NIM, worded).outcome == "agree"
    assert played(NIM, worded, to_the_letter=True).outcome == "diverge"


def test_two_vocabularies_cannot_be_judged(played: Played) -> None:
    other = NIM.replace('f"take {n}"', 'f"remove {n}"').replace(
        '"pile 3", "pile 4"', '"a 3", "b 4"'
    )
    found = played(NIM, other)
    assert (found.outcome, found.matches) == ("could_not_judge", 0)
    assert found.divergence is not None
    assert found.divergence.about == "vocabulary"


def test_a_module_that_fails_where_the_other_goes_on_diverges(played: Played) -> None:
    found = played(NIM, nim_with("get_rewards", "return [1 / 0, 0]"))
    assert found.divergence is not None
    assert found.divergence.about == "fault"
    assert found.divergence.readings[0] == "goes on"
    assert "ZeroDivisionError" in found.divergence.readings[1]


def test_where_what_the_seats_see_parted_before_is_told_with_the_places_around_it(
    played: Played,
) -> None:
    seen = '{"pile": state["pile"], "turn": state["turn"]'
    assert NIM.count(seen) == 1
    worded = [NIM.replace(seen, f'{seen}, "note": "{note}"') for note in ("a", "another")]
    loses = worded[1].replace(
        'left = state["pile"] - number',
        'left = state["pile"] - number - (action == "take 1" and state["pile"] == 4)',
    )
    place = played(worded[0], loses).divergence
    assert place is not None
    assert 0 < place.seen_at < place.ply
    action = place.history[place.seen_at - 1]
    assert action == "take 1"
    for text in place.seen:
        before, after = text.split(f"\nthen {action}:\n")
        assert before.count("seat ") == after.count("seat ") == 2
    first, second = (text.split("then")[0].replace("another", "a") for text in place.seen)
    assert first == second
    assert place.seen[0] != place.seen[1].replace("another", "a")


def test_readings_that_part_at_a_limit_alone_are_found_at_the_ends_of_the_choices(
    played: Played,
) -> None:
    # Twelve numbers to choose from; the readings part where both players choose the last one.
    wide = NIM.replace('["pile 3", "pile 4"]', '["pile 40", "pile 41"]').replace(
        'range(1, min(state["most"], state["pile"]) + 1)', 'range(1, min(12, state["pile"]) + 1)'
    )
    limit = wide.replace(
        '    won = state["turn"] if left == 0 else -1',
        '    twice = state["pile"] <= 29 and number == 12 and state.get("last") == 12\n'
        '    won = state["turn"] if left == 0 or twice else -1\n'
        '    state = {**state, "last": number}',
    )
    assert played(wide, limit, matches=12).outcome == "agree"
    assert played(wide, limit, matches=12, at_ends=12).divergence.match >= 12  # type: ignore[union-attr]
