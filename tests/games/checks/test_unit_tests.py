"""Generated unit tests: what counts as the expected value."""

import pytest

from games.checks.findings import Finding
from games.checks.unit_tests import UnitTest, check_unit_tests
from tests.games.checks.test_checks import SOUND
from tests.games.subjects import subject


def judged(function: str, expected: str, source: str = SOUND, *actions: str) -> Finding:
    test = UnitTest.model_validate(
        {
            "name": "t",
            "rule": "R1",
            "actions": actions,
            "function": function,
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
