"""The two fitted files: they hold what the training material says, and nothing was forgotten."""

import json

import numpy as np
import pytest

from agents.composer.lexicon import lexicon_of, lexicons
from agents.composer.meaning.family import head, probabilities
from agents.composer.meaning.statements import FITTED
from agents.composer.reader import read
from scripts.meaning import labelled_briefs, stated, stretched, trained
from vectorstore.minilm import MiniLM

MOST_BYTES = 1_000_000


def test_the_weights_of_the_families_are_small() -> None:
    assert (FITTED / "families.npz").stat().st_size < MOST_BYTES
    classes = len(lexicons()) + 1
    assert head().full.shape == (len(head().grams) + classes + MiniLM.dimension, classes)
    assert head().plain.shape == (len(head().grams) + classes, classes)


def test_every_labelled_sentence_is_kept_with_its_vector() -> None:
    briefs = labelled_briefs()
    sample, vectors = [], []
    with np.load(FITTED / "statements.npz") as kept:
        for lexicon in lexicons():
            said = stated(lexicon.family, briefs)
            texts = [tuple(row) for row in json.loads(kept[f"{lexicon.family}.texts"].tobytes())]
            assert texts == said, "run python -m scripts.meaning"
            sample.append(said[len(said) // 3][2])
            vectors.append(kept[f"{lexicon.family}.vectors"][len(said) // 3])
    apart = np.abs(np.array(vectors, float) - stretched(MiniLM().embed(sample)))
    assert apart.max() <= 1  # a step of int8: the batch it was embedded in moves the last bits


def test_training_separates_what_can_be_separated() -> None:
    given = np.array([[1, 0, 1], [0.9, 0.1, 1], [0, 1, 1], [0.1, 0.9, 1]], np.float32)
    scores = given @ trained(given, np.array([0, 0, 1, 1]), 2)
    assert scores.argmax(axis=1).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("words", "family"),
    [
        ("a trick-taking card game with trumps", "trick_taking"),
        ("call squares and sink the hidden ships of the other", "battleship"),
        ("push your luck: roll the die again or bank your points", "push_your_luck"),
    ],
)
def test_a_family_is_told_by_words_alone(words: str, family: str) -> None:
    best = probabilities(words, None).argmax()
    assert lexicons()[best].family == family


@pytest.mark.parametrize("words", ["taking hearts costs points", "hearts hurt"])
def test_a_suit_that_costs_an_amount_nobody_names_costs_a_point(words: str) -> None:
    """The words of the README's example and of the project's own first sentence."""
    brief = f"a trick-taking game for three players where {words}"
    reading = read(brief, lexicon_of("trick_taking"), embed=MiniLM().embed)
    assert reading.asked == {"heart_points": -1}
    assert reading.num_players == 3
