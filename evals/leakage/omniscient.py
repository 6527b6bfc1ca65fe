"""Omniscient workers: they decide as if nothing were hidden.

No player preloads this module. An evaluation that does, in a sandbox of its own, marks its workers
as omniscient by doing so; the answers are no player's and enter no ranking.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from agents.search.algorithms import search_named
from agents.search.settings import SearchView
from agents.worker.protocol import Chosen
from games.modules import bind
from games.values import Json, State
from tools.guest.protocol import decoded


class OmniscientRequest(NamedTuple):
    """Choose an action for one seat from the true state.

    Attributes:
        algorithm: The search.
        search: Its settings by name.
        seat: The seat.
        num_players: Seats at the table.
        words: Seed words.
        state: The true state.
        reason: What the evaluation measures; shown beside its results.
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
        ValueError: If no reason to look behind the screen is given, or as the algorithm.
    """
    request = decoded(OmniscientRequest, payload)
    if not request.reason.strip():
        raise ValueError("reason is empty; required: what the evaluation measures")
    search = search_named(request.algorithm)
    view = SearchView(
        bind(namespace, request.num_players),
        request.seat,
        lambda: request.state,
        clock=time.process_time,
    )
    settings = search.settings.model_validate(request.search)
    found = search.decide(view, settings, np.random.default_rng(request.words))
    return Chosen(found.best, {**found.effort(), "belief": "cheat"})._asdict()


OPERATIONS: dict[str, Callable[[dict[str, object], dict[str, Json]], Json]] = {
    "choose_omniscient": choose_omniscient
}
