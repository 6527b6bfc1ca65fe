"""The regression on labelled statements, held against its closed form."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from agents.composer.meaning.statements import RIDGE, STEEP, WORDS, Known, fit_statements

ANGLES = {"seven cards": 0.0, "the lowest wins": 1.1, "bidding first": 2.0, "trumps change": 0.3}
TEXTS = ("seven cards", "the lowest wins", "bidding first")
LABELS = (("hand", "7"), ("win", "low"), ("", ""))


def on_a_circle(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors whose cosines are known."""
    angles = [ANGLES[text] for text in texts]
    return np.array([[np.cos(a), np.sin(a)] for a in angles], np.float32)


def test_scores_are_those_of_kernel_ridge_regression() -> None:
    fitted = fit_statements(Known(LABELS, TEXTS, on_a_circle(TEXTS)), on_a_circle)
    known = [ANGLES[text] for text in TEXTS]
    kernel = np.exp(STEEP * (np.cos(np.subtract.outer(known, known)) - 1))
    kernel += WORDS * np.eye(3)  # no two of them share a word
    wanted = np.array([[1, 0], [0, 1], [0, 0]])
    weights = np.linalg.solve(kernel + RIDGE * np.eye(3), wanted)
    asked = np.exp(STEEP * (np.cos(np.subtract.outer([ANGLES["trumps change"]], known)) - 1))
    assert fitted.labels == LABELS[:2]
    assert fitted.scores(["trumps change"])[0] == pytest.approx((asked @ weights)[0], abs=1e-3)


def test_without_vectors_the_words_in_common_decide() -> None:
    fitted = fit_statements(Known(LABELS, TEXTS, on_a_circle(TEXTS)), None)
    (row,) = fitted.scores(["seven cards then"])
    assert row[0] > row[1]
    (strange,) = fitted.scores(["trumps change"])
    assert strange[0] == pytest.approx(strange[1], abs=1e-3)


def test_a_label_that_is_said_by_denying_is_known_as_such() -> None:
    texts = ("no trump", "never a trump", "hearts are trump")
    said = (("trump", "none"), ("trump", "none"), ("trump", "hearts"))
    fitted = fit_statements(Known(said, texts, np.zeros((3, 2), np.float32)), None)
    assert fitted.often == {"negators": {("trump", "none")}, "reversers": set()}
