"""What a worker that holds a module can be asked to search: one message a decision."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar, cast

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
from agents.belief.patience import LateError, Watch, passes_module
from agents.belief.recover import (
    HiddenInformationError,
    known_state,
    require_perfect_information,
)
from agents.search.algorithms import Plan, planned, run
from agents.search.alphabeta import UnsuitableGameError
from agents.search.contracted import contracted
from agents.search.heuristics import scoring
from agents.search.pimc import shares
from agents.search.policies import Score
from agents.search.reuse import ReusedTree
from agents.search.rules import Rules, bind
from agents.search.settings import SearchResult, SearchSettings
from games.contract import Action, Json, ModuleFault, State
from games.information import SeatLog
from tools.guest.faults import SoftTimeoutError

Payload: TypeAlias = Mapping[str, Json]
Operation: TypeAlias = Callable[[dict[str, object], dict[str, Json]], Json]
Done = TypeVar("Done")


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
        does not, `{"unsuitable": why}` where the algorithm cannot play the game, `{"late": why}`
        where the search was given more to do than fits its deadline.

    Raises:
        ModuleFault: If a call of the module hung, or gave what breaks the contract.
        Exception: What a function of the module raised in a state that its rules lead to. In one
            that its own sampler gave, the sampler is at fault: it is asked no more in this match,
            and the decision is made without it. In one that `belief` "random" filled nobody is.
    """
    try:
        with Watch() as watch:
            return _blamed(namespace, payload, partial(_chosen, namespace, payload, watch))
    except LateError as error:
        _late[:] = [error]
        return {"late": str(error)}


def _chosen(
    namespace: dict[str, object], payload: Payload, watch: Watch, rules: Rules, memory: Memory
) -> dict[str, Json]:
    generator = _generator(payload)
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
    return _choose_believing(here, plan, payload, generator, _Mind(memory, watch))


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

    Raises:
        ModuleFault: If a call of the module hung, or gave what breaks the contract.
    """

    def tried(rules: Rules, _memory: Memory) -> None:
        require_perfect_information(rules, _initial(namespace, payload), _generator(payload))

    try:
        with Watch():
            _blamed(namespace, payload, tried)
    except HiddenInformationError as error:
        return str(error)
    except LateError:
        return "it could not be told in time whether a seat sees all that there is"
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


def _blamed(
    namespace: dict[str, object], payload: Payload, done: Callable[[Rules, Memory], Done]
) -> Done:
    """Do something with the module's raw functions; where it chokes, find out whose fault it is.

    Raises:
        ModuleFault: If a value of the module breaks the contract.
        Exception: What the module raised, or what was raised in spite of values that are right.
    """
    players = cast("int", payload["num_players"])
    try:
        return done(bind(namespace, players), _memory)
    except CHOKES as error:
        if passes_module(error):
            raise
        _trees.clear()
        return done(contracted(namespace, players), Memory())


class _Mind(NamedTuple):
    """What a belief keeps between decisions, and what bounds its calls in one."""

    memory: Memory
    watch: Watch


def _choose_believing(
    here: Situation, plan: Plan, payload: Payload, generator: np.random.Generator, mind: _Mind
) -> dict[str, Json]:
    name, pool = payload["belief"], payload["determinizations"]
    errors = 0
    while True:
        belief = Belief(
            here,
            cast("BeliefName", name),
            cast("int", pool),
            generator,
            memory=mind.memory,
            guard=mind.watch.patient,
            errors=errors,
        )
        try:
            found = _found_with(belief, here, plan, generator)
        except UnsuitableGameError as error:
            return {"unsuitable": str(error)}
        except NoDeterminizationError:
            break
        except Exception as error:
            if name == "random" and (isinstance(error, CHOKES) or passes_module(error)):
                break
            if isinstance(error, ModuleFault) or not belief.distrust_module():
                raise
            errors = belief.module_errors + 1
        except SoftTimeoutError:
            if name != "random" or not mind.watch.hangs:
                raise
            mind.watch.end()
            break
        else:
            return _reply(found, belief.effort())
    action, fallback = belief.fallback(cast("Protocol", payload.get("protocol", "ours")))
    done: dict[str, Json] = {"simulations_done": 0, "calls": 0, "nodes": 0, "cut_rollouts": 0}
    return {"action": action, "effort": {**done, **belief.effort(), "fallback": fallback}}


def _found_with(
    belief: Belief, here: Situation, plan: Plan, generator: np.random.Generator
) -> SearchResult:
    if plan.algorithm == "uct" and belief.pool > 1:
        return _layered(plan, here, belief, generator)
    return _searched(plan, here, belief.sample, generator)


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
_late: list[LateError] = []  # its tree outlives the reply: to free it may take past the deadline


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
