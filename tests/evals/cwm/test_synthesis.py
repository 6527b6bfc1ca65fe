"""Recorded modellers, replayed: each run of `learn` ends as it did, and fresh matches judge it."""

import json
from pathlib import Path

import pytest

from agents.model.settings import ModelSettings
from evals.cwm import synthesis
from evals.cwm.synthesis import MODEL, SynthesisSize, learned, recording_of, tasks
from evals.results import EvalOptions, NothingScoredError
from scripts.recordings import LABEL

RECORDED = [name for name in tasks() if recording_of(name).exists()]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_modeller_reaches_what_it_reached(name: str, tmp_path: Path) -> None:
    kept = json.loads(recording_of(name).read_text())
    assert kept["label"] == LABEL
    model = ModelSettings(model=MODEL, replay=recording_of(name))
    report = learned(tasks()[name], tmp_path, model).result.report
    assert f"{report.end}: {report.reason or report.accuracy}" == kept["ended"]
    assert sum(report.calls.values()) <= tasks()[name].max_calls


def test_without_recording_and_model_nothing_is_scored(tmp_path: Path) -> None:
    with pytest.raises(NothingScoredError, match="RULEWRIGHT_MODEL"):
        synthesis.run(EvalOptions(), SynthesisSize(2, 2, ("tic_tac_toe",)), tmp_path)


def test_a_task_is_refined_as_set_and_its_row_holds_what_the_papers_table_asks(
    tmp_path: Path,
) -> None:
    """Table 7: tic-tac-toe by conversation, all transitions right in two calls."""
    asked = EvalOptions(settings={"refine": "conversation"})
    path = recording_of("tic_tac_toe", tmp_path)
    path.parent.mkdir()
    path.write_bytes(recording_of("tic_tac_toe").read_bytes())
    result = synthesis.run(asked, SynthesisSize(2, 2, ("tic_tac_toe", "mnk")), tmp_path)
    row, unrecorded = result.samples
    assert (row["game"], row["training"], row["transitions"]) == ("tic_tac_toe", 1.0, 1.0)
    assert row["training inference"] is None
    assert "no model is configured" in str(unrecorded["missing"])
    assert result.effective["set"] == {"refine": "conversation"}
    assert not result.passed, "one that was asked for is missing"


def test_prompts_stay_under_thirty_thousand_tokens() -> None:
    for name in RECORDED:
        for one in json.loads(recording_of(name).read_text())["exchanges"]:
            messages = one["request"]["body"]["messages"]
            assert sum(len(m.get("content") or "") for m in messages) // 4 < 30_000
