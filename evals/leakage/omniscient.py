"""Omniscient workers: they decide as if nothing were hidden.

No player preloads this module. An evaluation that does, in a sandbox of its own, marks its workers
as omniscient by doing so; the answers are no player's and enter no ranking.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.search.algorithms import search_named
from agents.search.settings import SearchView
from agents.worker.protocol import Chosen
from games.contract import Json, State
from games.modules import bind
from tools.guest.protocol import decoded


@dataclass(frozen=True)
class Omniscient:
    """A reason to look behind the screen; whoever looks has to give one.

    No spec of a player makes one, so a player that a spec describes cannot cheat.

    Attributes:
        reason: What the evaluation measures; shown beside its results.
    """

    reason: str

    def __post_init__(self) -> None:
        """Ask for a reason."""
        if not self.reason.strip():
            raise ValueError("reason is empty; required: what the evaluation measures")


class CheatSampler:
    """Gives the true state as a determinization."""

    def __init__(self, state: State, marker: Omniscient) -> None:
        """Hold the true state.

        Raises:
            TypeError: Without the marker.
        """
        if not isinstance(marker, Omniscient):
            raise TypeError("the true state is for evaluations alone; required: Omniscient(reason)")
        self.state = state
        self.marker = marker

    def sample(self) -> State:
        """The true state."""
        return self.state


class OmniscientRequest(NamedTuple):
    """Choose an action for one seat from the true state.

    Attributes:
        algorithm: The search.
        search: Its settings by name.
        seat: The seat.
        num_players: Seats at the table.
        words: Seed words.
        state: The true state.
        reason: What is measured.
    """

    algorithm: str
    search: dict[str, Json]
    seat: int
    num_players: int
    words: list[int]
    state: State
    reason: str


def choose_omniscient(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Choose an action for one seat from the true state.

    Args:
        namespace: The module's names.
        payload: Of an `OmniscientRequest`.

    Returns:
        Of a `Chosen`, the effort with `belief` "cheat".

    Raises:
        ValueError: If no reason is given, or as the algorithm.
    """
    request = decoded(OmniscientRequest, payload)
    sampler = CheatSampler(request.state, Omniscient(request.reason))
    words = np.random.SeedSequence(request.words)
    search = search_named(request.algorithm)
    view = SearchView(
        bind(namespace, request.num_players), request.seat, sampler.sample, clock=time.process_time
    )
    settings = search.settings.model_validate(request.search)
    found = search.decide(view, settings, np.random.Generator(np.random.PCG64(words)))
    return Chosen(found.best, {**found.effort(), "belief": "cheat"})._asdict()


OPERATIONS: dict[str, Callable[[dict[str, object], dict[str, Json]], Json]] = {
    "choose_omniscient": choose_omniscient
}
