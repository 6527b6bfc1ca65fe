"""Which candidate is refined: the newest, or by Thompson sampling."""

from typing import Any

import pytest

from games.checks import Finding, Outcome
from graph.run.candidates import EDIT, Candidate, best, newest, thompson, what_failed


def finding(check: str, outcome: Outcome) -> Finding:
    return Finding(check=check, outcome=outcome)


def candidate(number: int, passed: int, failed: int, refined: int = 0) -> Candidate:
    findings = [finding(f"good {n}", "passed") for n in range(passed)]
    findings += [finding(f"bad {n}", "failed") for n in range(failed)]
    return Candidate(number=number, source="", findings=tuple(findings), refined=refined)


class Draws:
    """Hands out prepared draws and notes the distributions that were asked for."""

    def __init__(self, *draws: float) -> None:
        self.draws = list(draws)
        self.asked: list[tuple[float, float]] = []

    def beta(self, a: float, b: float) -> float:
        self.asked.append((a, b))
        return self.draws.pop(0)


def test_a_conversation_goes_on_from_the_newest() -> None:
    unused: Any = Draws()
    assert newest([candidate(1, 9, 1), candidate(2, 1, 9)], unused).number == 2


def test_the_tree_draws_from_the_published_distributions_and_takes_the_largest() -> None:
    # REx (Tang et al. 2024): Beta(1 + C h, 1 + C (1 - h) + N), here with C = 5
    draws: Any = Draws(0.2, 0.7, 0.1)
    pool = [candidate(0, 0, 4, refined=2), candidate(1, 3, 1), candidate(2, 2, 2, refined=1)]
    assert thompson(pool, draws).number == 1
    assert draws.asked == [(1, 8), (4.75, 2.25), (3.5, 4.5)]


def test_a_check_counts_once_however_many_findings_it_gives() -> None:
    findings = [finding("start", "passed"), *[finding("random_play", "failed")] * 3]
    findings += [finding("unit_test", "passed"), finding("unit_test", "could_not_judge")]
    findings += [finding(EDIT, "failed")]  # the coder's last answer is none of its checks
    judged = Candidate(number=0, source="", findings=tuple(findings))
    assert judged.share_passed == pytest.approx((1 + 0 + 0.5) / 3)


def test_the_best_candidate_is_the_one_that_got_furthest_not_the_one_judged_by_less() -> None:
    tests = [finding("unit_test", outcome) for outcome in ("passed", "passed", "failed")]
    records = [finding("record", outcome) for outcome in ("passed", "failed")]
    sound = [finding(check, "passed") for check in ("start", "random_play", "functions")]
    late = Candidate(
        number=0, source="", findings=(*sound, finding("unit_test", "passed"), *records)
    )
    early = Candidate(number=1, source="", findings=(*sound, *tests))
    assert best([late, early]).number == 0


def test_every_open_finding_is_named_however_long_the_first_is() -> None:
    evidence = {"unit_test": "x" * 2_000, "leak_audit": "seat 1 sees a hand"}
    said = what_failed(
        [Finding(check=c, outcome="failed", evidence=e) for c, e in evidence.items()]
    )
    assert "leak_audit: seat 1 sees a hand" in said
    assert len(said) <= 600


def test_what_was_not_checked_has_passed_nothing() -> None:
    unchecked = Candidate(number=0, source="")
    assert (unchecked.share_passed, unchecked.outcome) == (0, "could_not_judge")
