from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agents.model.budget import Budget, BudgetExhaustedError, Usage, budget_of, estimate_run
from agents.model.recording import Exchange, Recording
from agents.model.settings import ModelSettings, read_settings


def limits(**changes: object) -> ModelSettings:
    base: dict[str, object] = {"max_calls": 100, "max_tokens": 10_000, "max_seconds": 60.0}
    return ModelSettings.model_validate(base | changes)


def test_requests_in_flight_cannot_go_over_the_budget_together() -> None:
    budget = Budget(limits(max_calls=10))

    def reserve(_: int) -> bool:
        try:
            budget.reserve(1)
        except BudgetExhaustedError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(reserve, range(40))) == 10


def test_a_settled_request_frees_what_it_did_not_use() -> None:
    budget = Budget(limits(max_tokens=1000))
    budget.reserve(900)
    with pytest.raises(BudgetExhaustedError, match="900 of 1000 tokens"):
        budget.reserve(200)
    budget.settle(900, Usage(calls=1, tokens_in=100, tokens_out=50, seconds=1.0))
    budget.reserve(850)
    with pytest.raises(BudgetExhaustedError):
        budget.reserve(1)


def test_time_spent_waiting_counts() -> None:
    budget = Budget(limits(max_seconds=10.0))
    budget.wait(10.0)
    with pytest.raises(BudgetExhaustedError, match="RULEWRIGHT_MAX_SECONDS"):
        budget.reserve(1)


def test_dollars_are_checked_with_the_next_prompt() -> None:
    """Five prompts of 1000 tokens at two dollars a million are one cent."""
    budget = Budget(limits(max_dollars=0.01, price_in=2.0, price_out=8.0))
    for _ in range(5):
        budget.reserve(1000)
    with pytest.raises(BudgetExhaustedError, match="RULEWRIGHT_MAX_DOLLARS"):
        budget.reserve(1000)


def test_an_interrupted_run_goes_on_with_what_it_had_spent() -> None:
    budget = Budget(limits(max_calls=5), {"coder": Usage(calls=5, tokens_in=10)})
    with pytest.raises(BudgetExhaustedError, match="5 of 5 calls"):
        budget.reserve(1)
    assert budget.usage.tokens_in == 10


def test_the_bounds_hold_for_a_run_and_for_each_revision_by_itself() -> None:
    budget = Budget(limits(max_calls=2), {"designer": Usage(calls=2)})
    budget.begin("revise/1")
    for _ in range(2):
        budget.reserve(1)
        budget.settle(1, Usage(calls=1), "designer")
    budget.begin("revise/1")  # the same goes on after an interruption
    with pytest.raises(BudgetExhaustedError, match="2 of 2 calls"):
        budget.reserve(1)
    budget.begin("revise/2")
    budget.reserve(1)
    assert (budget.since.calls, budget.usage.calls, budget.roles["designer"].calls) == (0, 4, 4)


def test_a_revision_that_was_interrupted_goes_on_with_what_it_had_spent(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    recording = Recording(path)
    for at in ("design", "revise/1", "recode/1", "revise/2", "recode/2", "check/0/tests"):
        recording.add(Exchange(place=at, key=at, request={}, role="x", status=200, response={}))
    budget = budget_of(limits(record=path))
    assert (budget.since.calls, budget.usage.calls) == (3, 6)
    budget.begin("revise/2")
    assert budget.since.calls == 3
    budget.begin("revise/3")
    assert (budget.since.calls, budget.usage.calls) == (0, 6)


def test_an_estimate_counts_each_role_and_calls_itself_one() -> None:
    """Clarify, design, draft, tests, two records, six of the strategist: twelve calls."""
    estimate = estimate_run(read_settings({}))
    assert estimate.low.calls == 12
    assert estimate.low.dollars is None
    assert str(estimate).startswith("estimate: ")
    assert "cost unknown" in str(estimate)


def test_an_estimate_of_a_run_that_goes_on_counts_what_is_left() -> None:
    """Of the twelve calls three are answered; then the draft's tools and all before are over."""
    asked = {"intake/clarify": 1, "design": 1, "code/draft": 1}
    begun = estimate_run(read_settings({}), answered=asked)
    assert begun.low.calls == 9
    judged = estimate_run(read_settings({}), answered={**asked, "check/0/tests": 1})
    assert (judged.low.calls, begun.high.calls - judged.high.calls) == (8, 6 + 1)
    done = {"check/0/record/0": 1, "check/0/record/1": 1, "strategize": 6}
    assert estimate_run(read_settings({}), answered={**asked, **done}).low.calls == 0


def test_an_estimate_grows_with_the_bounds_of_the_run() -> None:
    priced = {"RULEWRIGHT_PRICE_IN": "2", "RULEWRIGHT_PRICE_OUT": "8"}
    small = estimate_run(read_settings(priced), max_rounds=0, records_judged=1)
    large = estimate_run(read_settings(priced), max_rounds=9, records_judged=3)
    assert small.low.calls < large.low.calls <= large.high.calls
    assert small.high.tokens < large.high.tokens
    dollars = [used.dollars or 0.0 for used in (small.low, small.high, large.high)]
    assert 0 < dollars[0] < dollars[1] < dollars[2]
