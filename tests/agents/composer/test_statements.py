"""The regression on labelled statements, held against its closed form."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from agents.composer.meaning.statements import STEEP, fit_statements

ANGLES = {"seven cards": 0.0, "the lowest wins": 1.1, "bidding first": 2.0, "trumps change": 0.3}
RIDGE, WORDS = 0.4, 0.5


def on_a_circle(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors whose cosines are known."""
    angles = [ANGLES[text] for text in texts]
    return np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32)


def test_scores_are_those_of_kernel_ridge_regression() -> None:
    said = [(("hand", "7"), "seven cards"), (("win", "low"), "the lowest wins")]
    fitted = fit_statements(said, ["bidding first"], RIDGE, WORDS, on_a_circle)
    known = [ANGLES[text] for text in ("seven cards", "the lowest wins", "bidding first")]
    kernel = np.exp(STEEP * (np.cos(np.subtract.outer(known, known)) - 1))
    kernel += WORDS * np.eye(3)  # no two of them share a word
    wanted = np.array([[1, 0], [0, 1], [0, 0]])
    weights = np.linalg.solve(kernel + RIDGE * np.eye(3), wanted)
    asked = np.exp(STEEP * (np.cos(np.subtract.outer([ANGLES["trumps change"]], known)) - 1))
    assert fitted.labels == (("hand", "7"), ("win", "low"))
    assert fitted.scores(["trumps change"])[0] == pytest.approx((asked @ weights)[0], abs=1e-3)


def alike(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.ones((len(texts), 1), np.float32)


def test_words_in_common_count_beside_the_embedding() -> None:
    said = [(("hand", "7"), "seven cards"), (("win", "low"), "the lowest wins")]
    fitted = fit_statements(said, (), RIDGE, WORDS, alike)
    (row,) = fitted.scores(["seven cards then"])
    assert row[0] > row[1]
    (strange,) = fitted.scores(["bidding first"])
    assert strange[0] == pytest.approx(strange[1], abs=1e-3)
