"""Multiple-observer information set MCTS: one tree a seat, of what that seat can tell apart.

As `agents.search.ismcts`, but every seat chooses by its *own* information (Cowling, Powley &
Whitehouse 2012, algorithm MO-ISMCTS): what an opponent does depends on the hand it holds in the
determinization and on what it perceived, no longer on what the observer sees alone. All trees are
descended together; a seat's tree holds statistics of its own decisions.

Of another seat's past only its newest observation at the root is known here, so its nodes
begin from that.
"""

from collections.abc import Callable, Sequence

import numpy as np

from agents.search.ismcts import IsmctsSearch, Known
from agents.search.meter import Clock, Meter
from agents.search.policies import Score
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import State


def moismcts(
    rules: Rules,
    observer: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows; see `agents.search.ismcts.ismcts` for all arguments."""
    meter = Meter(rules, settings, clock)
    search = MoismctsSearch(meter.rules, observer, settings, generator, heuristics)
    meter.run(lambda: search.simulate(determinize()))
    return search.result(meter)


class MoismctsSearch(IsmctsSearch):
    """One tree a seat.

    Attributes:
        views: The seats whose information is followed: all.
    """

    def __init__(
        self,
        rules: Rules,
        observer: int,
        settings: SearchSettings,
        generator: np.random.Generator,
        heuristics: Sequence[Score] = (),
    ) -> None:
        """See `moismcts`."""
        super().__init__(rules, observer, settings, generator, heuristics)
        self.views = tuple(range(rules.num_players))
        self.splits = False

    def _view_of(self, player: int, known: list[Known]) -> int:
        """Whose information a player's node stands for: its own."""
        return known[player][0]
