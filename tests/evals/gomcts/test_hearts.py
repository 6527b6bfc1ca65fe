"""The evaluation of Hearts: it is resumed, converts points, and says what could not be had."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.players.specs import PlayerSpecError
from evals.gomcts.hearts import FULL, QUICK, HeartsSize, matching_amount, run
from evals.gomcts.seatings import SEATINGS
from evals.gomcts.worlds import VARIABLE
from evals.results import EvalError, EvalOptions, EvalResult, Tell, find_eval
from tests.evals.gomcts.test_program import GOOD, program

SIZE = replace(QUICK, pairs=("greedy-random",))


def result(
    folder: Path,
    size: HeartsSize = SIZE,
    tell: Tell = lambda _: None,
    games: tuple[str, ...] = (),
) -> EvalResult:
    folder.mkdir(exist_ok=True)
    options = EvalOptions(quick=True, folder=folder, tell=tell, games=games)
    return run(options, size)


def test_a_run_that_was_ended_goes_on_and_gives_the_same_result(tmp_path: Path) -> None:
    whole = result(tmp_path)
    journal = tmp_path / "greedy-random.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 2 * len(SEATINGS)  # what is played, and the matches
    journal.write_bytes(b"".join(lines[:9]))
    told: list[str] = []
    again = result(tmp_path, tell=told.append)
    assert again == whole
    assert journal.read_bytes() == b"".join(lines)
    assert whole.passed
    assert whole.effective["model"] == {}  # nobody played by one, and none was trained
    row: Any = whole.samples[0]
    table = row["table"]
    sums = [
        of_a * table[name]["A"] + (4 - of_a) * table[name]["B"]
        for of_a, name in ((3, "3A/1B"), (2, "2A/2B"), (1, "1A/3B"))
    ]
    shared = sum(n * points for n, points in zip((4, 6, 4), sums, strict=True)) / len(SEATINGS)
    assert shared == pytest.approx(26 - 52 * row["moons"])


def test_a_program_that_cannot_be_run_or_fails_gives_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = replace(SIZE, pairs=("strong-random",))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(PlayerSpecError, match=f"that can be run; {VARIABLE}"):
        result(tmp_path, size)
    mark = tmp_path / "failing"  # good while decisions are timed, and bad in the matches
    path = program(tmp_path, f"os.path.exists({str(mark)!r}) and 1 / 0; {GOOD}")
    monkeypatch.setenv(VARIABLE, str(path))
    found = result(
        tmp_path / "runs", size, tell=lambda line: mark.touch() if "meets" in line else None
    )
    assert not found.passed
    assert "ended before it answered" in found.unscored["strong-random"]
    assert found.scores == ()
    players: Any = found.effective["players"]
    assert players["strong"].startswith("program:path=program,sha256=")  # no folder of ours
    row: Any = found.samples[0]
    assert row["endings"]["forfeit"] == 2 * len(SEATINGS)


def test_the_calibration_finds_the_number_and_rounds_it() -> None:
    asked: list[int] = []

    def cost(count: int) -> float:
        asked.append(count)
        return 2 + 0.25 * count  # milliseconds, some of them for nothing

    assert matching_amount(cost, 402) == 1600
    assert len(asked) == 2
    assert matching_amount(lambda _: 1e9, 1) == 1  # never none


def test_the_usual_sizes_are_those_of_the_paper_where_it_has_them(tmp_path: Path) -> None:
    assert (FULL.runs, FULL.worlds, FULL.deals * len(SEATINGS)) == (100, 50, 840)
    assert {pair.split("-")[0] for pair in FULL.pairs} == {"argmaxval", "gomcts"}
    with pytest.raises(EvalError, match="no game argmaxval-nobody"):
        result(tmp_path, games=("argmaxval-nobody",))


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(json.dumps({}))
    with pytest.raises(EvalError, match="cannot be made"):
        find_eval("gomcts-hearts").run(EvalOptions(quick=True, folder=file / "under"))
