"""Quantiled max similarity is the paper's Eq. 2, checked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from tools.variation.novelty import Array, closest, closest_within, qms, text_vector

GAMES = np.array([[1, 0], [0, 1]], dtype=np.float32)
VARIANTS = np.array([[0.6, 0.8], [0.8, 0.6], [1, 0]], dtype=np.float32)


def test_the_nearest_game_counts_and_then_the_quantile_over_the_variants() -> None:
    nearest = closest(VARIANTS, GAMES)
    assert nearest.tolist() == pytest.approx([0.8, 0.8, 1.0])
    assert qms(nearest, 0.5) == pytest.approx(0.8)
    # Of three values the quantile 0.75 lies half way between the second and the third.
    assert qms(nearest, 0.75) == pytest.approx(0.9)


def test_within_a_batch_a_variant_is_not_compared_with_itself() -> None:
    # 0.6 * 0.8 + 0.8 * 0.6 = 0.96; the third is nearest to the second, with 0.8.
    assert closest_within(VARIANTS).tolist() == pytest.approx([0.96, 0.96, 0.8])


def test_a_long_text_is_read_to_its_end() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> Array:
        seen.extend(texts)
        return np.array([[float("end" in text), 1.0] for text in texts], dtype=np.float32)

    lines = [f"R{n}: {'word ' * 40}" for n in range(40)]
    vector = text_vector("\n".join([*lines, "R40: the end"]), embed)
    assert "".join(seen).count("R") == 41
    assert 0 < vector[0] < vector[1]
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
