"""What a worker that holds a module can be asked to search: one message a decision."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, cast

import numpy as np

from agents.belief.beliefs import (
    Belief,
    BeliefName,
    NoDeterminizationError,
    Protocol,
    Situation,
)
from agents.belief.facts import CHOKES
from agents.belief.layer import with_belief
from agents.belief.memory import Memory
from agents.belief.patience import patient
from agents.belief.recover import (
    HiddenInformationError,
    known_state,
    require_perfect_information,
)
from agents.search.algorithms import Plan, planned, run
from agents.search.alphabeta import UnsuitableGameError
from agents.search.heuristics import scoring
from agents.search.pimc import shares
from agents.search.policies import Score
from agents.search.reuse import ReusedTree
from agents.search.rules import Rules, bind
from agents.search.settings import SearchResult, SearchSettings
from games.contract import Action, Json, ModuleFault, State
from games.information import SeatLog

Payload: TypeAlias = Mapping[str, Json]
Operation: TypeAlias = Callable[[dict[str, object], dict[str, Json]], Json]


def choose(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Choose an action for one seat from its log alone.

    Args:
        namespace: The module's names.
        payload: `algorithm` (of `agents.search.algorithms.USES`), `seat`, `num_players`,
            `parameters`, `entries` (of the seat's log, after the `held` ones that this worker was
            sent before), `legal`, `words` (seed words), `search` (the algorithm's settings by
            name). Where hidden states are sampled: `belief` and `determinizations`; without them
            the log must determine the state. `is_known` tries that first. `match_words` are seed
            words of the whole match, for a tree that is used again.

    Returns:
        `{"action", "effort"}`; or `{"hidden": why}` where the log had to determine the state and
        does not, or `{"unsuitable": why}` where the algorithm cannot play the game.
    """
    generator = _generator(payload)
    rules = bind(namespace, cast("int", payload["num_players"]))
    plan = planned(cast("str", payload["algorithm"]), cast("dict[str, Json]", payload["search"]))
    here = Situation(
        rules=rules,
        namespace=namespace,
        initial=_initial(namespace, payload),
        log=SeatLog(cast("int", payload["seat"]), _entries(payload)),
        legal=tuple(cast("list[Action]", payload["legal"])),
    )
    try:
        if plan.more.get("reuse"):
            return _reply(_reused(here, plan, payload), _KNOWN)
        if "belief" not in payload or payload.get("is_known"):
            root = known_state(here.follower, here.initial)
            return _reply(_searched(plan, here, lambda: root, generator), _KNOWN)
    except HiddenInformationError as error:
        if "belief" not in payload:
            return {"hidden": str(error)}
    except UnsuitableGameError as error:
        return {"unsuitable": str(error)}
    return _choose_believing(here, plan, payload, generator)


def hold_heuristics(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Load the game's heuristics beside the module, for searches that follow them.

    Args:
        namespace: The module's names; not looked at.
        payload: `sources`, the heuristics' source by name.

    Raises:
        ModuleFault: If one does not load, or defines no `score`.
    """
    del namespace
    sources = cast("dict[str, str]", payload["sources"])
    _heuristics[:] = [scoring(name, source) for name, source in sorted(sources.items())]
    return None


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
    "hold_heuristics": hold_heuristics,
    "perfect_information": perfect_information,
}

_KNOWN: dict[str, Json] = {"belief": "known_state", "determinizations": 1, "belief_failures": 0}


def _reply(found: SearchResult, belief: Mapping[str, Json]) -> dict[str, Json]:
    return {"action": found.best, "effort": {**found.effort(), **belief}}


def _searched(
    plan: Plan, here: Situation, determinize: Callable[[], State], generator: np.random.Generator
) -> SearchResult:
    return run(
        plan,
        here.rules,
        here.log.seat,
        determinize,
        generator,
        heuristics=_heuristics,
        clock=time.monotonic,
    )


def _choose_believing(
    here: Situation, plan: Plan, payload: Payload, generator: np.random.Generator
) -> dict[str, Json]:
    belief = Belief(
        here,
        cast("BeliefName", payload["belief"]),
        cast("int", payload["determinizations"]),
        generator,
        memory=_memory,
        guard=patient,
    )
    try:
        if plan.algorithm == "uct" and belief.pool > 1:
            found = _layered(plan, here, belief, generator)
        else:
            found = _searched(plan, here, belief.sample, generator)
    except UnsuitableGameError as error:
        return {"unsuitable": str(error)}
    except (NoDeterminizationError, ModuleFault, *CHOKES) as error:
        # A state filled at random may be one that the module cannot play on from.
        if belief.name != "random" and not isinstance(error, NoDeterminizationError):
            raise
    else:
        return _reply(found, belief.effort())
    action, fallback = belief.fallback(cast("Protocol", payload.get("protocol", "ours")))
    done: dict[str, Json] = {"simulations_done": 0, "calls": 0, "nodes": 0, "cut_rollouts": 0}
    return {"action": action, "effort": {**done, **belief.effort(), "fallback": fallback}}


def _layered(
    plan: Plan, here: Situation, belief: Belief, generator: np.random.Generator
) -> SearchResult:
    """A search of a known state, in each of the belief's determinizations."""

    def search(
        _rules: Rules, state: State, share: SearchSettings, draws: np.random.Generator
    ) -> SearchResult:
        return _searched(replace(plan, search=share), here, lambda: state, draws)

    parts = shares(plan.search, belief.pool)
    return with_belief(search)(here.rules, belief.sample, parts, generator)


def _reused(here: Situation, plan: Plan, payload: Payload) -> SearchResult:
    words = cast("list[int]", payload["match_words"])
    entries = here.log.entries
    if not _trees or not _trees[0].continues(entries, words):
        seat = here.log.seat
        _trees[:] = [
            ReusedTree(here.rules, here.initial, seat, plan.search, words, tuple(_heuristics))
        ]
    return _trees[0].decide(entries)


# A worker serves one player, whose log only grows.
_held: list[dict[str, Json]] = []
_memory = Memory()  # checks for itself that the log is still the same
_trees: list[ReusedTree] = []  # the one of this match; checks the same
_heuristics: list[Score] = []


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


def _initial(namespace: Mapping[str, object], payload: Payload) -> State:
    initial_state = cast("Callable[..., State]", namespace["initial_state"])
    parameters = cast("dict[str, Json]", payload["parameters"])
    return initial_state(payload["num_players"], **parameters)
