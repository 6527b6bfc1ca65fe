"""The evaluation of novelty: the recorded variants, the paired test, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest

from evals.cardiverse.novelty import FOLDER, METHODS, paired_tests, run
from evals.results import EvalError, EvalOptions, Row


def rows(**figures: list[float | None]) -> list[Row]:
    """A row a base and method, with one figure for every column."""
    columns = [f"{scope} {p:g}" for scope in ("store", "within") for p in (0.25, 0.5, 0.75)]
    return [
        {"base": f"b{n}", "method": method, **dict.fromkeys(columns, value)}
        for method in METHODS
        for n, value in enumerate(figures[method.partition("-")[0]])
    ]


def test_methods_are_paired_by_their_base() -> None:
    # Differences 4, 5, 6: mean 5, s = 1, t(2) = 4.303, so 5 ± 4.303 / sqrt(3) = 5 ± 2.48.
    told = paired_tests(rows(vanilla=[90, 70, 50], promptbreeder=[90, 71, 49], ours=[86, 65, 44]))
    assert told["store 0.5: ours less vanilla"] == "-5.00 (-7.48 to -2.52), p < 0.05"
    assert told["store 0.5: promptbreeder-like less vanilla"].endswith("not told apart")


def test_a_base_that_one_method_lacks_is_left_out_of_all() -> None:
    told = paired_tests(rows(vanilla=[90, 70], promptbreeder=[90, 71], ours=[86, None]))
    assert told["store 0.5: ours less vanilla"] == "could not be tested over 1 bases"


def test_the_recorded_variants_of_a_base_are_compared_in_both_scopes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RULEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RULEWRIGHT_EMBEDDINGS", "lexical")
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in FOLDER.glob("*.json"):
        (kept / path.name).write_text(
            path.read_text().replace("minilm-l6-v2-384", "lexical-v1-512")
        )
    result = run(EvalOptions(games=("tic_tac_toe",), folder=kept))
    by = {str(row["method"]): row for row in result.samples}
    assert by.keys() == {*METHODS}
    assert all(row["variants"] == 6 for row in by.values())
    assert all(str(row["by"]).startswith("answered by hand") for row in by.values())
    figures = [row[name] for row in by.values() for name in row if name[-1].isdigit()]
    assert len(figures) == 18
    assert all(isinstance(one, float) and 0 < one < 100 for one in figures)
    assert str(result.effective["paper, Table 1"]).startswith("not comparable")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"settings": {"live": "perhaps"}}, "--set takes live=true"),
        ({"settings": {"variants": -1}}, "--set takes live=true"),
        ({"settings": {"bases": 3}}, "--set takes live=true"),
    ],
)
def test_settings_that_there_are_not_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(EvalError, match=said):
        run(EvalOptions(**options))


def test_a_folder_without_recordings_is_said(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="holds no recorded variants"):
        run(EvalOptions(folder=tmp_path))
