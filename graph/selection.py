"""Which candidate to refine: two strategies behind one interface."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from graph.settings import RefineStrategy
from graph.state import Candidate

Pick: TypeAlias = Callable[[Sequence[Candidate], np.random.Generator], Candidate]

# REx (Tang et al. 2024) weighs the heuristic value against the prior with this constant; 5 is the
# value Code World Models used.
REX_WEIGHT = 5.0


def newest(candidates: Sequence[Candidate], generator: np.random.Generator) -> Candidate:
    """Conversation: always go on from the newest candidate."""
    del generator
    return max(candidates, key=lambda candidate: candidate.number)


def thompson(candidates: Sequence[Candidate], generator: np.random.Generator) -> Candidate:
    """Tree: Thompson sampling over all candidates (REx).

    Each candidate with heuristic value `h` (share of findings passed) that was refined `n` times
    without success draws from ``Beta(1 + C * h, 1 + C * (1 - h) + n)``; the largest draw wins.
    """
    draws = [
        generator.beta(
            1 + REX_WEIGHT * candidate.share_passed,
            1 + REX_WEIGHT * (1 - candidate.share_passed) + candidate.refined,
        )
        for candidate in candidates
    ]
    return candidates[int(np.argmax(draws))]


STRATEGIES: Mapping[RefineStrategy, Pick] = {"conversation": newest, "tree": thompson}
