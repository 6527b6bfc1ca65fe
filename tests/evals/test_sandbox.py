import pytest

from evals.bench.timings import Timing, Unmeasured
from evals.results import NothingScoredError
from evals.sandbox import Sample, breaches, forged_passes, result


def row(*, breached: bool | None) -> Sample:
    return {"name": "x", "breached": breached, "how": ""}


def test_one_breach_fails() -> None:
    assert breaches([row(breached=False)] * 3, "with").passed
    one = breaches([row(breached=False), row(breached=True)], "with")
    assert (one.value, one.scored, one.passed) == (1, 2, False)


def test_a_probe_that_could_not_be_judged_is_not_taken_for_contained() -> None:
    one = breaches([row(breached=False), row(breached=None)], "with")
    assert (one.value, one.scored, one.unscored, one.passed) == (0, 1, 1, False)
    with pytest.raises(NothingScoredError, match="none of 1"):
        breaches([row(breached=None)], "with")


def test_one_forged_pass_fails() -> None:
    honest: Sample = {"passed": 0, "judged": 64}
    assert forged_passes([honest]).passed
    assert not forged_passes([honest, {"passed": 1, "judged": 64}]).passed


def test_a_figure_that_could_not_be_had_fails_the_result_and_has_no_value() -> None:
    timing = Timing("x", (1.0,))
    whole = result([], [], [timing], [], {})
    assert whole.passed
    lacking = result([], [], [timing], [Unmeasured("worker PSS", "not for this user")], {})
    assert not lacking.passed
    assert [score.name for score in lacking.scores] == ["x"]
    assert "NOT SCORED worker PSS: not for this user" in lacking.as_text()
