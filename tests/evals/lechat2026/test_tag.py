import json
from pathlib import Path

import pytest

from evals.lechat2026.board import GameCounts
from evals.lechat2026.fleets import FleetKind
from evals.lechat2026.shooters import Condition
from evals.lechat2026.tables import PUBLISHED, WinRate, averages, published_pairs
from evals.lechat2026.tag import (
    GAMES,
    HEURISTICS,
    NAMES,
    TagAmounts,
    field_of,
    run,
    tag_contestant,
    tag_rows,
    tag_scores,
)
from evals.results import EvalOptions

TINY = TagAmounts(dict.fromkeys(HEURISTICS, GameCounts(4, 4)), twice=False, calls=200)


def told(line: str) -> None:
    assert line


def stored(kind: FleetKind) -> dict[tuple[str, str], float]:
    return published_pairs(PUBLISHED["tag"]["pairs"][kind])


def as_published(kind: FleetKind) -> dict[tuple[str, str], WinRate]:
    """Rates that are the published ones, from as many games."""
    rates = {}
    for (one, other), value in stored(kind).items():
        error = (value * (1 - value) / GAMES) ** 0.5
        rate = WinRate(value, error, value - 0.02, value + 0.02, GAMES, "planted")
        rates[one, other], rates[other, one] = rate, rate.turned()
    return rates


@pytest.mark.parametrize("kind", ["random", "constraint"])
def test_published_averages_are_the_means_of_the_published_pairs(kind: FleetKind) -> None:
    means = averages(NAMES, as_published(kind))
    for name, value in PUBLISHED["tag"]["averages"][kind].items():
        assert means[name].value == pytest.approx(value, abs=0.001), name


@pytest.mark.parametrize("kind", ["random", "constraint"])
def test_published_rates_themselves_are_within_tolerance(kind: FleetKind) -> None:
    rows = tag_rows(kind, as_published(kind))
    pairs, means = tag_scores(kind, rows)
    assert (pairs.value, pairs.scored, pairs.passed) == (0, 10, True)
    assert (means.value, means.scored, means.passed) == (0, 5, True)


def test_a_planted_wrong_published_value_is_flagged() -> None:
    known = stored("random")
    wrong = {**known, ("OSLA", "random"): known["OSLA", "random"] + 0.06}
    rows = tag_rows("random", as_published("random"), pairs=wrong)
    (row,) = [row for row in rows if row.get("within") is False]
    assert (row["what"], row["difference"], row["tolerance"]) == ("OSLA - random", -6.0, 4.4)
    pairs, _ = tag_scores("random", rows)
    assert (pairs.value, pairs.passed) == (1, False)


def test_only_players_that_do_not_look_are_measured_alone() -> None:
    lines = [" - ".join(one.name for one in line) for line in field_of("constraint", 1).lines]
    assert lines[:2] == ["random", "OSLA"]
    assert len(lines) == 2 + 9  # every pair but OSLA and random
    assert "random - OSLA" not in lines


def test_effective_parameters_say_what_ran_and_not_what_was_asked_for() -> None:
    field = field_of("heat map", 1)
    tree = field.contestants[NAMES.index("MAST")].effective
    assert (tree["player"], tree["asked_for"], tree["calls"]) == ("IS-MCTS", "MAST", 4000)
    climber = field.contestants[NAMES.index("RMHC")].effective
    assert (climber["horizon"], climber["effective_horizon"]) == (10, 1)
    assert json.dumps(field.identity())


def test_an_unknown_player_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(ValueError, match="required: one of random, OSLA, RMHC, IS-MCTS, MAST"):
        tag_contestant("UCT", Condition("random", "score"))


@pytest.mark.whole
def test_a_whole_run_has_every_table_and_goes_on_in_its_folder(tmp_path: Path) -> None:
    said: list[str] = []
    result = run(EvalOptions(seed=3, tell=said.append, folder=tmp_path), TINY)
    assert sum("interval reaches" in line for line in said) == 3
    tables = {row["table"] for row in result.samples}
    assert tables == {"pairs", "averages", "matrix", "confound"}
    assert [score.scored for score in result.scores] == [9, 5, 9, 5, 9, 5]
    assert result.effective["mast"] == "IS-MCTS' games count for it"
    again = run(EvalOptions(seed=3, tell=told, folder=tmp_path), TINY)
    assert (again.samples, again.scores) == (result.samples, result.scores)
    cells = [row for row in result.samples if row["table"] == "confound"]
    assert [(row["determinization"], row["heuristic"]) for row in cells] == [
        ("random", "score"),
        ("random", "cluster"),
        ("constraint", "score"),
        ("constraint", "cluster"),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tag-confound.jsonl",
        "tag-constraint-quick.jsonl",
        "tag-heat-map-quick.jsonl",
        "tag-random-quick.jsonl",
    ]
