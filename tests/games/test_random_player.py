from collections import Counter

import numpy as np

from games.engine import RandomPlayer
from games.information import SeatLog


def test_every_legal_action_is_equally_likely() -> None:
    generator, player = np.random.default_rng(0), RandomPlayer()
    legal = ["a", "b", "c"]
    counts = Counter(player.choose(SeatLog(0), legal, generator).action for _ in range(3000))
    # Six standard deviations of a binomial with n = 3000, p = 1/3: 6 * sqrt(666.7) = 155.
    assert all(abs(counts[action] - 1000) < 155 for action in legal)


def test_the_same_generator_gives_the_same_action() -> None:
    legal = [str(number) for number in range(50)]
    first, second = (
        RandomPlayer().choose(SeatLog(0), legal, np.random.default_rng(5)) for _ in range(2)
    )
    assert first == second
