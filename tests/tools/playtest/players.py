"""Players of nim (`tests.tools.sources.NIM`) for tests."""

from collections.abc import Sequence

import numpy as np

from games.contract import Action
from games.engine import Decision, PlayerFault
from games.information import SeatLog
from tools.playtest import Entrant


class Uniform:
    def __init__(self) -> None:
        self.closed = False

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        return Decision(legal[int(generator.integers(len(legal)))], {"algorithm": "uniform"})

    def close(self) -> None:
        self.closed = True


class Perfect:
    """Leaves a multiple of three where it can: then the other one loses."""

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        pile = log.latest()["pile"]
        assert isinstance(pile, int)
        return Decision(f"take {pile % 3 or 1}")


class Refuses:
    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        raise PlayerFault("cannot")


UNIFORM = Entrant("uniform", lambda seat, match: Uniform())
PERFECT = Entrant("perfect", lambda seat, match: Perfect())
REFUSES = Entrant("refuses", lambda seat, match: Refuses())
