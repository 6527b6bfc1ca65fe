"""A game's heuristics as one policy: by mean rank, or by mean score."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.search.policies import Draw, Played, Score
from agents.search.rules import Rules
from agents.search.settings import Ensemble
from games.contract import Action, State


def mean_ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Mean rank of every action over several heuristics; larger is better.

    An action's rank in one heuristic is the number of actions scored lower, plus half the
    number of *other* actions scored the same; so the heuristics' scales do not matter.

    Args:
        scores: `[H, A]` scores, larger is better.

    Returns:
        `[A]` ranks, each in `[0, A - 1]`.

    >>> mean_ranks([[5.0, 1.0, 1.0], [10.0, 90.0, 20.0]]).tolist()
    [1.0, 1.25, 0.75]
    """
    table = np.asarray(scores, dtype=np.float64)
    lower = (table[:, None, :] < table[:, :, None]).sum(axis=2)
    same = (table[:, None, :] == table[:, :, None]).sum(axis=2) - 1
    ranks: NDArray[np.float64] = (lower + same / 2).mean(axis=0)
    return ranks


class EnsemblePolicy:
    """Plays the action that the heuristics together prefer; of equals one at random.

    Each heuristic sees what the seat to move sees, never the state.
    """

    def __init__(
        self, rules: Rules, heuristics: Sequence[Score], agreement: Ensemble, draw: Draw
    ) -> None:
        """Hold at least one heuristic.

        Raises:
            ValueError: If there is none.
        """
        if not heuristics:
            raise ValueError("leaf=heuristic needs a heuristic of this game; it has none")
        self.rules = rules
        self.heuristics = tuple(heuristics)
        self.agreement = agreement
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `agents.search.policies.Policy`."""
        if len(legal) == 1:
            return legal[0]
        seen = self.rules.observations(state)[player]
        scores = [[score(seen, action) for action in legal] for score in self.heuristics]
        if self.agreement == "rank":
            values = mean_ranks(scores).tolist()
        else:
            values = np.asarray(scores, np.float64).mean(axis=0).tolist()
        best = max(values)
        equal = [index for index, value in enumerate(values) if value == best]
        return legal[equal[int(self.draw() * len(equal))]]

    def learn(self, trace: Sequence[Played], returns: list[float]) -> None:
        """Nothing is learnt."""
