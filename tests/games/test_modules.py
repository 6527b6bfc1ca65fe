import random

import numpy as np

from games.modules import reseed


def drawn(*words: int) -> tuple[float, float]:
    reseed(words)
    return random.random(), float(np.random.random())  # noqa: NPY002


def test_the_same_words_give_the_same_numbers() -> None:
    assert drawn(1, 2**60) == drawn(1, 2**60)


def test_order_and_number_of_words_matter() -> None:
    assert len({drawn(1, 2), drawn(2, 1), drawn(1), drawn(12), drawn()}) == 5
