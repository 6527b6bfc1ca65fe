"""The encoder's pieces against definitions worked out another way."""

import math

import numpy as np
import pytest

from vectorstore.minilm import Dense, Norm, attend, erf, gelu_in_place


def test_erf_agrees_with_the_standard_library() -> None:
    values = np.concatenate([np.linspace(-6, 6, 4001), [-40.0, -0.0, 0.0, 40.0]])
    expected = [math.erf(float(np.float32(value))) for value in values]
    assert np.abs(erf(values.astype(np.float32)) - expected).max() < 5e-7


def test_gelu_agrees_with_its_definition_over_many_blocks() -> None:
    values = np.random.default_rng(0).normal(0, 3, (7, 11_000)).astype(np.float32)
    expected = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in values.reshape(-1).tolist()]
    gelu_in_place(values)
    assert values.reshape(-1) == pytest.approx(expected, abs=2e-6)


def test_layer_norm_of_a_hand_worked_row() -> None:
    # mean 2, variance 2/3: (1 - 2) / sqrt(2/3) = -1.2247449
    norm = Norm(np.array([1, 1, 2], np.float32), np.array([0, 0, 1], np.float32))
    row = norm(np.array([[1.0, 2.0, 3.0]], np.float32))
    assert row[0] == pytest.approx([-1.2247449, 0.0, 1 + 2 * 1.2247449], abs=1e-6)


def test_attention_to_equal_keys_is_the_mean_of_the_values() -> None:
    width, heads = 4, 2
    qkv = np.zeros((1, 3, 3 * width), np.float32)
    qkv[0, :, 2 * width :] = [[0, 3, 6, 9], [3, 3, 0, 0], [6, 3, 0, 0]]
    assert attend(qkv, heads)[0] == pytest.approx(np.tile([3.0, 3.0, 2.0, 3.0], (3, 1)))


def test_heads_attend_apart() -> None:
    # One head wide 1 looks hard at token 0, the other at token 1; values tell which.
    qkv = np.zeros((1, 2, 6), np.float32)
    qkv[0, :, 0:2] = 50.0  # queries
    qkv[0, :, 2:4] = [[1, -1], [-1, 1]]  # keys
    qkv[0, :, 4:6] = [[10, 20], [30, 40]]  # values
    assert attend(qkv, 2)[0] == pytest.approx(np.array([[10.0, 40.0], [10.0, 40.0]]))


def test_a_dense_map_of_a_hand_worked_vector() -> None:
    dense = Dense(np.array([[1, 0], [2, 1]], np.float32), np.array([10, 0], np.float32))
    assert dense(np.array([[[3.0, 4.0]]], np.float32)).tolist() == [[[21.0, 4.0]]]
