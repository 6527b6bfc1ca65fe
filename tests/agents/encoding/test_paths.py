"""Encoder: what it has seen comes back, what it has not is counted."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.encoding.paths import encoder_of, fitted_encoder
from games.information import Seen
from games.values import Json
from tests.agents.belief.posteriors import library_game, random_match

SCALARS = st.none() | st.booleans() | st.integers(-9999, 9999) | st.text(max_size=5)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def observations(name: str, seeds: Iterator[int] | range) -> list[Json]:
    rules, _, start = library_game(name)
    logs = [random_match(rules, start, 0, seed)[-1][0] for seed in seeds]
    return [entry.observation for log in logs for entry in log.entries if isinstance(entry, Seen)]


@given(st.lists(OBJECTS, min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_whatever_was_seen_comes_back_as_it_was(seen: list[Json]) -> None:
    encoder = fitted_encoder(seen)
    for value in seen:
        array, unknown = encoder.encoded(value)
        restored = json.dumps(encoder.decoded(array), sort_keys=True)
        assert (unknown, restored) == (0, json.dumps(value, sort_keys=True))


@pytest.mark.parametrize("name", ["tic_tac_toe", "leduc_poker", "go_fish"])
def test_observations_of_library_games_come_back(name: str) -> None:
    seen = observations(name, range(3))
    encoder = fitted_encoder(seen)
    assert all(encoder.decoded(encoder.encoded(value)[0]) == value for value in seen)
    assert all(array.shape == (encoder.width,) for array in [encoder.encoded(seen[0])[0]])


def test_true_one_and_its_digit_are_three_values() -> None:
    seen: list[Json] = [{"a": True}, {"a": 1}, {"a": "1"}]
    arrays = {fitted_encoder(seen).encoded(value)[0].tobytes() for value in seen}
    assert len(arrays) == 3


def test_an_unknown_value_fills_its_paths_slot_and_an_unknown_path_the_first() -> None:
    encoder = fitted_encoder([{"a": "x"}, {"a": "y"}])
    known, _ = encoder.encoded({"a": "x"})
    strange, count = encoder.encoded({"a": "z"})
    elsewhere, other = encoder.encoded({"b": "x"})
    assert (count, other) == (1, 1)
    assert known[0] == strange[0] == 0
    assert elsewhere[0] == 1
    assert len({known.tobytes(), strange.tobytes(), elsewhere.tobytes()}) == 3
    assert encoder.decoded(strange) == {}


def test_many_numbers_are_told_by_amount_also_those_never_seen() -> None:
    encoder = fitted_encoder([{"chips": 2 * n} for n in range(50)])
    array, unknown = encoder.encoded({"chips": 51})
    assert (unknown, encoder.decoded(array)) == (0, {"chips": 51})
    assert np.abs(array).max() <= 1  # scaled by the power of two above the largest


def test_boards_of_many_forms_are_told_letter_by_letter() -> None:
    boards = [f"{n:09b}" for n in range(100)]
    encoder = fitted_encoder([{"board": board} for board in boards])
    array, unknown = encoder.encoded({"board": "001110011"})  # 115, never seen
    assert (unknown, encoder.decoded(array)) == (0, {"board": "001110011"})


def test_it_is_the_same_from_a_file_and_in_any_order() -> None:
    seen = observations("leduc_poker", range(6))
    encoder = fitted_encoder(seen)
    assert (
        encoder
        == fitted_encoder(seen[::-1])
        == encoder_of(json.loads(json.dumps(encoder.as_json())))
    )
