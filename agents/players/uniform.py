"""The player that draws its actions."""

from collections.abc import Sequence

import numpy as np

from games.contract import Action
from games.engine import Decision
from games.information import SeatLog


class RandomPlayer:
    """Plays a legal action drawn uniformly."""

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; the log is not looked at."""
        del log
        return Decision(legal[int(generator.integers(len(legal)))], {"algorithm": "random"})

    def close(self) -> None:
        """Nothing to release."""
