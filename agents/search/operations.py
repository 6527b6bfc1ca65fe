"""What a worker that holds a module can be asked to search: one message a decision."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

import numpy as np

from agents.belief.beliefs import (
    Belief,
    BeliefName,
    Memory,
    NoDeterminizationError,
    Situation,
)
from agents.belief.patience import patient
from agents.belief.recover import (
    HiddenInformationError,
    known_state,
    require_perfect_information,
)
from agents.search.ismcts import ismcts
from agents.search.rules import bind
from agents.search.settings import Leaf, SearchSettings
from agents.search.uct import uct
from games.contract import Action, Json, State
from games.information import SeatLog

Payload: TypeAlias = Mapping[str, Json]
Operation: TypeAlias = Callable[[dict[str, object], dict[str, Json]], Json]


def choose(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Choose an action for one seat from its log alone.

    Args:
        namespace: The module's names.
        payload: `algorithm` ("uct" or "ismcts"), `seat`, `num_players`, `parameters`, `entries`
            (of the seat's log, after the `held` ones that this worker was sent before), `legal`,
            `words` (seed words), `search` (`SearchSettings` by name, but for the range); for
            ISMCTS also `belief` and `determinizations`.

    Returns:
        `{"action", "effort"}`; or `{"hidden": why}` where UCT was asked and the seat's log does
        not determine the state.
    """
    generator = _generator(payload)
    rules = bind(namespace, cast("int", payload["num_players"]))
    settings = _settings(cast("dict[str, Json]", payload["search"]))
    situation = Situation(
        rules=rules,
        namespace=namespace,
        initial=_initial(namespace, payload),
        log=SeatLog(cast("int", payload["seat"]), _entries(payload)),
        legal=tuple(cast("list[Action]", payload["legal"])),
    )
    if payload["algorithm"] == "uct":
        return _choose_uct(situation, settings, generator)
    belief = Belief(
        situation,
        cast("BeliefName", payload["belief"]),
        cast("int", payload["determinizations"]),
        generator,
        memory=_memory,
        guard=patient,
    )
    return _choose_ismcts(situation, belief, settings, generator)


def perfect_information(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Whether what a seat sees determines the state, tried by random play.

    Args:
        namespace: The module's names.
        payload: `num_players`, `parameters`, `words` (seed words).

    Returns:
        None, or why not.
    """
    rules = bind(namespace, cast("int", payload["num_players"]))
    try:
        require_perfect_information(rules, _initial(namespace, payload), _generator(payload))
    except HiddenInformationError as error:
        return str(error)
    return None


OPERATIONS: dict[str, Operation] = {
    "choose": choose,
    "perfect_information": perfect_information,
}


def _choose_uct(
    here: Situation, settings: SearchSettings, generator: np.random.Generator
) -> dict[str, Json]:
    try:
        root = known_state(here.follower, here.initial)
    except HiddenInformationError as error:
        return {"hidden": str(error)}
    found = uct(here.rules, root, settings, generator)
    known: dict[str, Json] = {"belief": "known_state", "determinizations": 1, "belief_failures": 0}
    return {"action": found.best, "effort": {**found.effort(), **known}}


def _choose_ismcts(
    here: Situation, belief: Belief, settings: SearchSettings, generator: np.random.Generator
) -> dict[str, Json]:
    try:
        found = ismcts(here.rules, here.log.seat, belief.sample, settings, generator)
    except NoDeterminizationError:
        action = here.legal[int(generator.integers(len(here.legal)))]
        done: dict[str, Json] = {"simulations_done": 0, "nodes": 0, "cut_rollouts": 0}
        return {"action": action, "effort": {**done, **belief.effort()}}
    return {"action": found.best, "effort": {**found.effort(), **belief.effort()}}


_held: list[dict[str, Json]] = []  # a worker serves one player, whose log only grows
_memory = Memory()  # checks for itself that the log is still the same


def _entries(payload: Payload) -> list[dict[str, Json]]:
    """The whole log: what was held already and what is new.

    Raises:
        ValueError: If more is said to be held than was ever sent.
    """
    held = cast("int", payload.get("held", 0))
    if held > len(_held):
        raise ValueError(f"{held} entries of the log are said to be held; there are {len(_held)}")
    _held[held:] = cast("list[dict[str, Json]]", payload["entries"])
    return list(_held)


def _generator(payload: Payload) -> np.random.Generator:
    words = cast("list[int]", payload["words"])
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


def _settings(values: Payload) -> SearchSettings:
    return SearchSettings(
        simulations=cast("int", values["simulations"]),
        exploration=cast("float", values["exploration"]),
        rollouts=cast("int", values["rollouts"]),
        rollout_limit=cast("int", values["rollout_limit"]),
        leaf=cast("Leaf", values["leaf"]),
    )


def _initial(namespace: Mapping[str, object], payload: Payload) -> State:
    initial_state = cast("Callable[..., State]", namespace["initial_state"])
    parameters = cast("dict[str, Json]", payload["parameters"])
    return initial_state(payload["num_players"], **parameters)
