"""Which action a move puts in the place of another."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

from agents.belief.guide import CHECKED, Guide
from agents.belief.particles import Link
from games.contract import Action


class Proposals(Protocol):
    """Draws new actions for the choices of a play."""

    def draw(self, links: Sequence[Link], index: int) -> Action:
        """A new action for a choice; it may be the old one."""
        ...

    def log_chance(self, links: Sequence[Link], index: int, action: Action) -> float:
        """Log of the probability of drawing an action."""
        ...

    def is_known_to_fit(self, links: Sequence[Link], index: int, action: Action) -> bool:
        """Whether all that is known says that the play reproduces the log with another choice."""
        ...


@dataclass
class AnyAction:
    """Proposes any legal action; a share `CHECKED` of the time also those not worth a try.

    Attributes:
        guide: The log.
    """

    guide: Guide

    def draw(self, links: Sequence[Link], index: int) -> Action:
        """See `Proposals`."""
        uniform = self.guide.draw
        legal: Sequence[Action] = self._legal(links[index])
        if uniform() >= CHECKED:
            legal = self._promising(links, index, legal) or legal
        return legal[int(uniform() * len(legal))]

    def log_chance(self, links: Sequence[Link], index: int, action: Action) -> float:
        """See `Proposals`."""
        legal = self._legal(links[index])
        promising = self._promising(links, index, legal) or legal
        among = (1.0 - CHECKED) / len(promising) if action in promising else 0.0
        return log(among + CHECKED / len(legal))

    def is_known_to_fit(self, links: Sequence[Link], index: int, action: Action) -> bool:
        """Never: nothing is known."""
        del links, index, action
        return False

    def _legal(self, link: Link) -> list[Action]:
        return self.guide.follower.rules.legal_actions(link.place.state)

    def _promising(
        self, links: Sequence[Link], index: int, legal: Sequence[Action]
    ) -> Sequence[Action]:
        """Actions that are worth a try; none where that is not known."""
        del links, index
        return legal
