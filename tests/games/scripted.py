"""Players that do what a test tells them."""

from collections.abc import Sequence

import numpy as np

from games.engine import Decision, Effort, PlayerFault
from games.information import SeatLog
from games.values import Action


class Scripted:
    """Plays the given actions in order and remembers every log it was shown."""

    def __init__(self, *actions: Action) -> None:
        self.actions = list(actions)
        self.seen: list[str] = []

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        del legal, generator
        self.seen.append(str(log.entries))
        if not self.actions:
            raise PlayerFault("the script has ended")
        return Decision(self.actions.pop(0), Effort("scripted"))
