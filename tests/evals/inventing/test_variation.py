"""The figures of `variation`, worked out by hand."""

from typing import Any

import pytest

from evals.inventing.variation import score_variation, variation_row
from evals.results import NothingScoredError
from graph.vary.report import VariantRow, VaryReport
from graph.vary.settings import VarySettings
from tools.playtest.intervals import Estimate
from tools.sandbox import Grade
from tools.variation.trial import TrialFigures

SHOWN = Estimate(value=5.0, low=4.0, high=6.0, n=9, of="matches", method="by hand")
FIGURES = TrialFigures(player="random", length=SHOWN, choices=SHOWN)


def reported(*at: float) -> VaryReport:
    """A run whose variants have one figure of play, at these places."""
    variants = [
        VariantRow(
            number=number,
            title="",
            difference="",
            changed={},
            novelty=place,
            figures=FIGURES,
            profile={"length": place},
            folder="",
            command="",
            checks=12,
        )
        for number, place in enumerate(at, 1)
    ]
    given: dict[str, Any] = {"kept": {}, "not_understood": (), "not_varied": (), "dropped": {}}
    return VaryReport(
        base="connect_four",
        title="",
        end="varied",
        reason="",
        chance=2.0,
        units={"length": 1.0},
        profile={"length": 0.0},
        figures=FIGURES,
        variants=tuple(variants),
        tried=9,
        settings=VarySettings(n=4),
        versions={},
        sandbox=Grade(name="strong", backend="", layers=(), reason=""),
        **given,
    )


def test_distances_are_in_chance_distances_and_the_nearest_two_are_found() -> None:
    row = variation_row(reported(4.0, 7.0, 9.0))
    assert (row["kept"], row["wanted"]) == (3, 4)
    # 4, 7 and 9 over 2; the nearest two are 7 and 9.
    assert (row["novelty_least"], row["novelty_median"], row["apart_least"]) == (2.0, 3.5, 1.0)


def test_scores_hold_their_thresholds_and_connect_four_stands_by_itself() -> None:
    rows = [variation_row(reported(4.0, 7.0, 9.0)), {**variation_row(reported(8.0)), "id": "poker"}]
    result = score_variation(rows, {})
    assert [score.value for score in result.scores] == [0.5, 3.75, 1.0, 0.75]
    # Of one variant no two can be compared: that is not scored, and so not passed.
    assert [score.passed for score in result.scores] == [False, True, False, True]
    assert [score.unscored for score in result.scores] == [0, 0, 1, 0]


def test_where_nothing_was_kept_no_distance_is_made_up() -> None:
    with pytest.raises(NothingScoredError):
        score_variation([variation_row(reported())], {})
