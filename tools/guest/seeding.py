"""The only randomness a module may use: reseeded from the request before each inference call."""

import random
import sys
from collections.abc import Sequence


def reseed(words: Sequence[int]) -> None:
    """Seed `random`, and `numpy.random` where numpy is loaded, from non-negative integers.

    The same words give the same numbers afterwards, in this worker and in any other.
    """
    random.seed(",".join(str(word) for word in words))
    if "numpy" in sys.modules:
        import numpy as np

        # The module's own code may use the global generator, so that is what must be seeded.
        np.random.seed(np.random.SeedSequence(list(words)).generate_state(4))  # noqa: NPY002
