from typing import Literal

import pytest

from evals.bench.timings import Timing
from evals.results import EvalResult, NothingScoredError, Row
from evals.sandbox.bench import bounded_score
from evals.sandbox.evaluation import breaches, forged_passes, reached
from evals.sandbox.forgery import ForgeOutcome
from evals.sandbox.sweep import SweepResult


def row(*, breached: bool | None) -> Row:
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
    honest = ForgeOutcome(
        name="x", property="", game="tic_tac_toe", judged_by="forward", judged=64, passed=0
    )
    assert forged_passes([honest]).passed
    assert not forged_passes([honest, honest.model_copy(update={"passed": 1})]).passed


def test_a_figure_that_could_not_be_had_fails_the_result_and_has_no_value() -> None:
    scores = (bounded_score(Timing("x", (1.0,))),)
    whole = EvalResult(name="sandbox", scores=scores, samples=(), effective={})
    assert whole.passed
    lacking = whole.model_copy(update={"unscored": {"worker PSS": "not for this user"}})
    assert not lacking.passed
    assert [score.name for score in lacking.scores] == ["x"]
    assert "NOT SCORED worker PSS: not for this user" in lacking.as_text()


@pytest.mark.parametrize(
    ("reachable", "unexpected", "special", "passed"),
    [
        (51, (), "denied", [True, True]),
        (52, (), "killed", [False, True]),
        (36, (17,), "denied", [False, True]),
        (36, (), "reachable", [True, False]),
    ],
)
def test_a_sweep_holds_to_its_bounds_only_where_nothing_was_unexpected(
    reachable: int,
    unexpected: tuple[int, ...],
    special: Literal["reachable", "denied", "killed"],
    passed: list[bool],
) -> None:
    swept = SweepResult(
        reachable=tuple(range(reachable)),
        denied=(400,),
        killed=(401,),
        skipped=(),
        unexpected=unexpected,
        special={"x32 getpid": special},
    )
    assert [score.passed for score in reached(swept)] == passed
