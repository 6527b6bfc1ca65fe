"""Needs of actions: learned from what was legal, and never against it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.encoding.needs import ActionNeeds, action_needs_of
from games.values import Json

CARDS = st.lists(st.sampled_from(["2C", "9C", "JD", "QH"]), unique=True)
LEGAL = st.lists(st.sampled_from(["play 2C", "play JD", "pass", "bid 2", "9C"]), unique=True)


@given(st.lists(st.tuples(CARDS, CARDS, LEGAL)))
def test_what_was_legal_stays_possible_where_it_was(
    positions: list[tuple[list[str], list[str], list[str]]],
) -> None:
    needs = ActionNeeds()
    for hand, table, legal in positions:
        needs.learn({"hand": [*hand], "table": [*table]}, legal)
    for hand, table, legal in positions:
        assert all(needs.met(action, {"hand": [*hand], "table": [*table]}) for action in legal)


def test_a_card_that_is_not_in_the_hand_cannot_be_played() -> None:
    needs = ActionNeeds()
    needs.learn({"hand": ["2C", "9C"], "table": ["2C"]}, ["play 2C"])
    needs.learn({"hand": ["2C", "9C"], "table": ["2C"]}, ["play 9C", "pass"])
    assert needs.as_json() == [[2, "play", 1, "hand"]]
    assert needs.met("play 9C", {"hand": ["9C"], "table": []})
    assert not needs.met("play JD", {"hand": ["9C"], "table": ["JD"]})
    assert needs.met("pass", {"hand": []})
    assert needs.met("fold the hand", {})  # nothing is known of it
    assert action_needs_of(needs.as_json()).as_json() == needs.as_json()


@pytest.mark.parametrize("row", [[], [2, "play", 2, "hand"], [2, "play", 1], {}])
def test_a_row_of_no_needs_is_refused(row: Json) -> None:
    with pytest.raises(ValueError, match="row of needs"):
        action_needs_of([row])
