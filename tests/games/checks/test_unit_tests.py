"""Generated unit tests: what counts as the expected value."""

import pytest

from games.checks import Finding
from games.checks.unit_tests import UnitTest, check_unit_tests
from tests.games.checks.test_checks import SOUND
from tests.games.subjects import subject


def judged(
    function: str, expected: str, source: str = SOUND, *actions: str, relation: str = "is"
) -> Finding:
    test = UnitTest.model_validate(
        {
            "name": "t",
            "rule": "R1",
            "actions": actions,
            "function": function,
            "relation": relation,
            "expected_json": expected,
        }
    )
    (found,) = check_unit_tests(subject(source, 2), [test])
    return found


@pytest.mark.parametrize("expected", ["NaN", "[1e999]", "-Infinity", "[" * 5000, "{1: 2}", ""])
def test_an_expected_value_that_is_no_contract_json_could_not_be_judged(expected: str) -> None:
    assert judged("get_rewards", expected).outcome == "could_not_judge"


@pytest.mark.parametrize(
    ("function", "expected", "outcome"),
    [
        ("get_rewards", "[0, 0]", "passed"),
        ("get_rewards", "[-0.0, 0.0]", "passed"),
        ("get_rewards", "[false, false]", "failed"),
        ("get_current_player", "-1", "passed"),
        ("get_current_player", "-1.0", "failed"),
        ("get_legal_actions", '["deal 5", "deal 3", "deal 2", "deal 4"]', "passed"),
        ("get_legal_actions", '["deal 5", "deal 3", "deal 2", "deal 4", "deal 4"]', "failed"),
        ("get_legal_actions", '{"deal 2": 1}', "failed"),
    ],
)
def test_values_are_compared_as_the_contract_reads_them(
    function: str, expected: str, outcome: str
) -> None:
    assert judged(function, expected).outcome == outcome


def test_a_reward_of_minus_zero_is_zero() -> None:
    source = SOUND.replace("return [0.0, 0.0]", "return [-0.0, 0]")
    assert judged("get_rewards", "[0.0, 0.0]", source).outcome == "passed"


def test_evidence_that_quotes_a_long_value_is_cut() -> None:
    long = SOUND.replace('"bids": state["bids"],', '"bids": "x" * 100000,')
    assert len(judged("get_observations", "[]", long).evidence) < 3000


DEALT = ("deal 5", "deal 3")


@pytest.mark.parametrize(
    ("function", "relation", "expected", "outcome"),
    [
        ("get_legal_actions", "contains", '["deal 5", "deal 2"]', "passed"),
        ("get_legal_actions", "contains", '["deal 5", "deal 9"]', "failed"),
        ("get_legal_actions", "contains", '"deal 5"', "failed"),
        ("get_legal_actions", "lacks", '["deal 9", "bid 1"]', "passed"),
        ("get_legal_actions", "lacks", '["deal 9", "deal 5"]', "failed"),
        ("apply_action", "raises", '"deal 9"', "passed"),
        ("apply_action", "raises", '"deal 5"', "failed"),
        ("get_observations", "contains", '[{"bids": []}, null]', "passed"),
        ("get_observations", "contains", '[{"bids": [1]}, null]', "failed"),
        ("get_observations", "contains", '[{"bids": []}]', "failed"),
        ("get_observations", "lacks", '[{"deck": 1}, {"hands": 1}]', "passed"),
        ("get_observations", "lacks", '[null, {"bids": []}]', "failed"),
        ("winners", "is", "[0]", "failed"),
    ],
)
def test_members_refusals_and_winners_can_be_asked_for(
    function: str, relation: str, expected: str, outcome: str
) -> None:
    assert judged(function, expected, relation=relation).outcome == outcome


def test_returns_and_winners_are_those_of_the_whole_match() -> None:
    ended = (*DEALT, "bid 1", "bid 2")  # the 5 beats the 3 and wins both bids, 3 in all
    assert judged("returns", "[3, -3]", SOUND, *ended).outcome == "passed"
    assert judged("returns", "[0, 0]", SOUND, *DEALT).outcome == "passed"
    assert judged("winners", "[0]", SOUND, *ended).outcome == "passed"
    assert judged("winners", "[1]", SOUND, *ended).outcome == "failed"
    assert judged("winners", "[0]", SOUND, *DEALT).outcome == "failed"  # the match goes on


def test_a_failing_test_shows_the_sequence_that_leads_there() -> None:
    evidence = judged("get_current_player", "7", SOUND, *DEALT).evidence
    assert "ply 0: chance does: deal 5" in evidence
    assert "ply 1: chance does: deal 3" in evidence
    illegal = judged("get_current_player", "7", SOUND, "deal 5", "bid 9")
    assert illegal.unplayable
    assert "action 1 ('bid 9') is not legal" in illegal.evidence
    assert "ply 0: chance does: deal 5" in illegal.evidence


UNEQUAL = (
    SOUND
    + """
def get_chance_probabilities(state):
    return [0.5] + [0.5 / 3] * 3 if len(state["deck"]) == 4 else [1 / 3] * 3
"""
)


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ('{"deal 2": 0.5, "deal 3": 0.1667, "deal 4": 0.1667, "deal 5": 0.1667}', "passed"),
        ('{"deal 2": 0.25, "deal 3": 0.25, "deal 4": 0.25, "deal 5": 0.25}', "failed"),
        ('{"deal 2": 0.5, "deal 3": 0.1667, "deal 4": 0.1667}', "failed"),
        ("[0.5, 0.1667, 0.1667, 0.1667]", "failed"),
    ],
)
def test_unequal_odds_can_be_tested(expected: str, outcome: str) -> None:
    assert judged("get_chance_probabilities", expected, UNEQUAL).outcome == outcome


def test_of_observations_the_fields_of_the_test_are_quoted_and_of_the_last_seat_too() -> None:
    long = SOUND.replace('"bids": state["bids"],', '"bids": state["bids"], "long": "x" * 1000,')
    found = judged("get_observations", '[null, {"bids": [1]}]', long, relation="contains")
    assert 'get_observations is [null,{"bids":[]}]; required by' in found.evidence
