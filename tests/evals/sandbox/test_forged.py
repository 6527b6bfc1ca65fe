"""How a forgery is judged; the evaluation itself plays every module."""

from importlib.resources import files
from typing import Any

import pytest

from evals.sandbox.forged import ForgeryCase, forgery_cases, judge_forgery, scores_of

FORGED = ForgeryCase(
    name="op_flag",
    kind="rebuilt",
    arguments="match {module}",
    honest=0.5,
    tolerance=0.12,
    reason="Marks the matches that count.",
)
SOUND = FORGED.model_copy(update={"name": "sums", "kind": "sound"})


def share_of(value: float, width: float = 0.1) -> dict[str, float]:
    return {"value": value, "low": value - width, "high": value + width}


def match(share: float, **more: str) -> dict[str, Any]:
    return {"no_result": "", "entrants": [{"win_share": share_of(share)}, {}], **more}


@pytest.mark.parametrize(
    ("checked", "report", "forged", "sound"),
    [
        (0, match(1.0), True, False),
        (0, match(0.55), False, True),
        (0, {"pairs": [{"score": share_of(0.2)}]}, True, False),
        # Void matches widen an interval: one that holds the honest share is no forgery.
        (0, {"pairs": [{"score": share_of(0.2, 0.4)}]}, False, True),
        (0, match(1.0, no_result="in 9 of 40 matches the game failed"), False, False),
        (0, match(1.0, audit="not audited: visible raised"), False, False),
        (0, {"end": "error", "error": "the result is void"}, False, False),
        (0, {"entrants": [{"win_share": None}]}, False, False),
        (1, match(1.0), False, False),
        (1, None, False, False),
    ],
)
def test_a_forgery_works_where_a_passed_module_gets_another_estimate_unsaid(
    checked: int, report: dict[str, Any] | None, forged: bool, sound: bool
) -> None:
    assert judge_forgery(FORGED, checked, report)["works"] is forged
    assert judge_forgery(SOUND, checked, report)["works"] is sound


def test_one_forgery_that_works_fails_the_evaluation_and_so_does_a_refused_sound_game() -> None:
    works = judge_forgery(FORGED, 0, match(1.0))
    fails = judge_forgery(FORGED, 1, None)
    sound, refused = judge_forgery(SOUND, 0, match(0.5)), judge_forgery(SOUND, 1, None)
    assert [score.passed for score in scores_of([fails, sound])] == [True, True]
    assert [score.passed for score in scores_of([works, fails, sound])] == [False, True]
    assert [score.passed for score in scores_of([fails, sound, refused])] == [True, False]


def test_every_case_has_its_module_and_five_are_sound() -> None:
    cases = forgery_cases()
    folder = files("evals").joinpath("sandbox/forgeries")
    assert all(folder.joinpath(f"{case.name}.py").is_file() for case in cases)
    assert len({case.name for case in cases}) == len(cases)
    assert sum(case.kind == "sound" for case in cases) >= 5
    assert {case.kind for case in cases if case.quick} >= {"sound", "rebuilt"}
