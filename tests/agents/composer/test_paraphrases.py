"""A development set of paraphrase pairs, written from players' language, not from the lexicons."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.composer.reader import Reading, find_reading

PAIRS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "paraphrases.json").read_text(encoding="utf-8")
)


def of_kind(kind: str) -> list[Any]:
    return [
        pytest.param(pair, id=f"{pair['family']}-{pair['category']}-{pair['b'][:60]}")
        for pair in PAIRS
        if pair["kind"] == kind
    ]


def reading_of(words: str, family: str) -> Reading:
    reading = find_reading(words)
    assert reading is not None, words
    assert reading.lexicon.family == family
    return reading


def settings_of(reading: Reading) -> dict[str, Any]:
    return {"num_players": reading.num_players, **reading.parameters}


def differing(one: Reading, other: Reading) -> set[str]:
    first, second = settings_of(one), settings_of(other)
    return {name for name in first if first[name] != second[name]}


def open_clauses(reading: Reading) -> list[str]:
    return [clause.text for clause in reading.clauses if clause.status == "not_honoured"]


def test_the_set_has_at_least_ten_dozen_pairs_over_every_family() -> None:
    assert len(PAIRS) >= 120
    assert len({pair["family"] for pair in PAIRS}) == 12


@pytest.mark.parametrize("pair", of_kind("equal"))
def test_equal_demands_give_equal_games_and_leave_nothing_open(pair: dict[str, Any]) -> None:
    one, other = (reading_of(pair[side], pair["family"]) for side in ("a", "b"))
    assert differing(one, other) == set()
    for reading in (one, other):
        assert {name: settings_of(reading)[name] for name in pair["sets"]} == pair["sets"]
        assert open_clauses(reading) == []


@pytest.mark.parametrize("pair", of_kind("differ"))
def test_pairs_that_differ_in_one_clause_differ_in_exactly_its_settings(
    pair: dict[str, Any],
) -> None:
    one, other = (reading_of(pair[side], pair["family"]) for side in ("a", "b"))
    assert differing(one, other) == set(pair["settings"])
    assert open_clauses(one) == open_clauses(other) == []


@pytest.mark.parametrize("pair", of_kind("unsupported"))
def test_an_unsupported_clause_changes_nothing_and_is_listed(pair: dict[str, Any]) -> None:
    one, other = (reading_of(pair[side], pair["family"]) for side in ("a", "b"))
    assert differing(one, other) == set()
    assert any(pair["clause"] in text for text in open_clauses(other)), open_clauses(other)
    assert dict(other.asked) == dict(one.asked)
