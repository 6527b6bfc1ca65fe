"""What a worker marked omniscient can be asked: to decide as if nothing were hidden.

No player preloads this module. An evaluation that does, in a sandbox of its own, marks its workers
as omniscient by doing so; the answers are no player's and enter no ranking.
"""

import time
from collections.abc import Callable
from typing import cast

import numpy as np

from agents.belief.cheat import CheatSampler, Omniscient
from agents.search.algorithms import planned, run
from agents.search.rules import bind
from games.contract import Json, State


def choose_omniscient(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Choose an action for one seat from the true state.

    Args:
        namespace: The module's names.
        payload: `algorithm`, `search` (its settings by name), `seat`, `num_players`, `words` (seed
            words), `state` (the true one) and `reason` (what is measured).

    Returns:
        `{"action", "effort"}`, the effort with `belief` "cheat".

    Raises:
        ValueError: If no reason is given, or as the algorithm.
    """
    sampler = CheatSampler(
        cast("State", payload["state"]), Omniscient(cast("str", payload["reason"]))
    )
    words = np.random.SeedSequence(cast("list[int]", payload["words"]))
    found = run(
        planned(cast("str", payload["algorithm"]), cast("dict[str, Json]", payload["search"])),
        bind(namespace, cast("int", payload["num_players"])),
        cast("int", payload["seat"]),
        sampler.sample,
        np.random.Generator(np.random.PCG64(words)),
        heuristics=(),
        clock=time.monotonic,
    )
    return {"action": found.best, "effort": {**found.effort(), "belief": "cheat"}}


OPERATIONS: dict[str, Callable[[dict[str, object], dict[str, Json]], Json]] = {
    "choose_omniscient": choose_omniscient
}
