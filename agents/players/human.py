"""A person at a seat."""

from collections.abc import Callable, Sequence

import numpy as np

from games.contract import Action
from games.engine import Decision
from games.information import SeatLog


class HumanPlayer:
    """Asks a person for every decision, forced ones included: they are part of the game."""

    def __init__(self, ask: Callable[[SeatLog, Sequence[Action]], Action]) -> None:
        """`ask` shows the seat's log and the legal actions and returns one of them."""
        self._ask = ask

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        del generator
        return Decision(self._ask(log, legal), {"algorithm": "human"})

    def close(self) -> None:
        """Nothing is held."""
