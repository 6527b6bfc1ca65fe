"""Tables of the paper beside ours: its figures as printed, and a reason where ours is missing."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from evals.cwm.synthesis import tasks
from evals.cwm.tables import ResultFile, TableCell, cells_told, read_results, table_cells
from evals.results import EvalError

SYNTHESES = {
    "name": "cwm-synthesis",
    "effective": {"modeller": "another", "set": {"refine": "conversation", "syntheses": 2}},
    "samples": [
        {"game": "mnk", "training": 1.0, "transitions": share, "calls": {"transition": 3}}
        for share in (0.5, 1.0)
    ],
}
SEATS = [
    {"payoffs": [1.0, -1.0], "wins": [1.0, 0.0, 0.0], "forfeits": [0.0, 0.25]},
    {"payoffs": [2.0, -2.0], "wins": [0.5, 0.5, 0.0], "forfeits": [0.0, 0.5]},
]
PLAYED = {
    "name": "cwm-arena",
    "effective": {"set": {"inference": "resample_state"}, "llm": "a small model"},
    "samples": [
        {
            "game": "leduc_poker",
            "protocol": protocol,
            "opponent": opponent,
            "by seat": SEATS,
            "transitions online": {"agreed": 9, "distinct": 10},
        }
        for protocol, opponent in (("paper", "gt"), ("paper", "llm"), ("ours", "random"))
    ],
}


def cells(*results: dict[str, Any], tables: str = "") -> dict[tuple[str, str, str], TableCell]:
    read = [ResultFile.model_validate(one) for one in results]
    found = table_cells(read, [*filter(None, tables.split(","))])
    return {(cell.table, cell.game, cell.figure): cell for cell in found}


def test_the_papers_figures_are_those_that_it_prints() -> None:
    found = cells()
    assert found["6", "backgammon", "transition, test"].paper == 0.99932
    assert found["7", "connect_four", "calls of the model"].paper == 3.2
    assert found["8", "gin_rummy", "inference, test"].paper == 0.9513
    assert found["12", "bargaining", "against random, second"].paper == [7.78, 3.47]
    assert found["13", "hand_of_war", "against gt, second"].paper == [0.42, 0.41, 0.17]
    assert found["17", "leduc_poker", "against llm, first"].paper == [0.0, 0.16]
    assert found["17", "bargaining", "against gt, first"].paper == [0.0, 0.0]


def test_what_has_no_figure_says_why_and_names_a_command_of_a_task_that_is_there() -> None:
    for cell in cells().values():
        assert cell.ours is None
        assert cell.why.startswith(("not run: `", "not comparable: ", "not measured: "))
        if cell.why.startswith("not run: `RULE"):
            assert "--set syntheses=5" in cell.why
        if "cwm-synthesis" in cell.why:
            assert cell.why.split("--games ")[1].split()[0] in tasks()
    assert cells()["6", "tic_tac_toe", "transition, test"].why == (
        "not run: `rulewright eval run cwm-synthesis --games tic_tac_toe --json`"
    )
    assert "--set inference=resample_state" in cells()["13", "quadranto", "against gt, first"].why
    chess = cells()["7", "generalized_chess", "transition, test"].why
    assert chess == "not comparable: the paper does not publish the set-up"


def test_ours_is_the_mean_of_the_syntheses_that_were_refined_as_the_papers() -> None:
    found = cells(SYNTHESES)
    assert found["7", "mnk", "transition, test"].ours == 0.75
    assert found["6", "mnk", "transition, test"].why.startswith("not run")
    assert found["7", "mnk", "calls of the model"].why.startswith("not comparable: ")
    own = {**SYNTHESES, "effective": {"modeller": "gemini-2.5-pro", "set": {}}}
    assert cells(own)["6", "mnk", "calls of the model"].ours == 3


def test_play_counts_under_the_papers_protocol_against_the_papers_opponents() -> None:
    found = cells(PLAYED, tables="8,12,17")
    assert {number for number, _, _ in found} == {"8", "12", "17"}
    assert found["12", "leduc_poker", "against gt, second"].ours == [2.0, -2.0]
    assert found["17", "leduc_poker", "against gt, first"].ours == [0.0, 0.25]
    assert found["8", "leduc_poker", "transition, online"].ours == 0.9
    assert found["12", "leduc_poker", "against random, first"].why.startswith("not run")
    assert found["12", "leduc_poker", "against llm, first"].why.startswith("not comparable")
    told = cells_told([*found.values()], [ResultFile.model_validate(PLAYED)])
    assert "| leduc_poker | against gt, first | 0.16 / -0.16 | 1 / -1 |" in told
    assert 'Ours are of cwm-arena: {"set": {"inference": "resample_state"}' in told


def test_the_command_reads_results_and_refuses_what_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, bad = tmp_path / "a.json", tmp_path / "bad.json"
    file.write_text(json.dumps({"result": SYNTHESES}))
    bad.write_text('{"name": 5}')
    text = tmp_path / "text.json"
    text.write_text("[1]")
    assert main(["eval", "table", "cwm", str(file), "--tables", "7", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["cells"]
    assert {row["ours"] for row in rows if row["game"] == "mnk"} >= {0.75, 1.0}
    for words, said in (
        (["cwm", str(bad)], "is no result of an evaluation"),
        (["cwm", str(text)], "is no result of an evaluation"),
        (["cwm", str(tmp_path / "none")], "is no result of an evaluation"),
        (["cwm", "--tables", "99"], "no table 99; known are 1, 2, 6"),
        (["chess"], "known: cwm"),
    ):
        assert main(["eval", "table", *words]) == 2
        assert said in capsys.readouterr().err


def test_results_that_the_repository_keeps_are_read() -> None:
    assert {one.name.partition("-")[0] for one in read_results(())} <= {"cwm"}
    with pytest.raises(EvalError, match="required: what rulewright eval run"):
        read_results([Path(__file__)])
