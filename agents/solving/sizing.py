"""How large a game is, from a few random plays: far too large to enumerate is seen at once.

One play that chooses uniformly among `b_0, b_1, ...` actions and outcomes at its plies estimates
the number of histories without bias by `1 + b_0 + b_0 b_1 + ...` (Knuth 1975). Estimates vary
wildly, but by Markov's inequality an unbiased one exceeds the truth a thousandfold with
probability 1/1000 at the most: one that exceeds a limit that far is proof enough.
"""

import numpy as np

from agents.search.rules import Rules
from games.contract import State

PLAYS = 16
MARGIN = 1000.0
LONGEST = 2000  # plies of a play; the histories beyond are not counted


def estimated_histories(
    rules: Rules, initial: State, generator: np.random.Generator, *, enough: float = 1e300
) -> float:
    """The mean estimate of `PLAYS` random plays.

    Args:
        rules: The module's functions.
        initial: The state before any ply.
        generator: Chooses the plays.
        enough: The plays end early once the mean is sure to be larger.

    Returns:
        About how many histories there are; more than `enough` says only that it is more.
    """
    total = 0.0
    for _ in range(PLAYS):
        state, here = initial, 1.0
        total += here
        for _ in range(LONGEST):
            legal = rules.legal_actions(state)
            if not legal or total > enough * PLAYS:
                break
            here *= len(legal)
            total += here
            state = rules.apply_action(state, legal[int(generator.integers(len(legal)))])
    return total / PLAYS
