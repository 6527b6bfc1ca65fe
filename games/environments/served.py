"""Environments in a worker: one module each, that a referee asks and a search plays over.

A state stands as `{"h": [...]}`, all actions and outcomes that led to it: plain JSON, from which
the environment's own position is made again where it was forgotten.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from games.contract import Game
from games.environments import (
    Environment,
    ModuleEnvironment,
    SearchableEnvironment,
    SourceTable,
)
from games.environments.classes import ClassEnvironment, of_class
from games.environments.openspiel.adapter import OpenSpielEnvironment, of_openspiel
from games.environments.registry import TwinEnvironment
from games.modules import STATE_KEY, LocalModule
from games.table import GameTable, Position
from games.values import CHANCE, Action, Json, Observation, State, canonical_key

PRELOAD = (__name__, "pyspiel")  # what a worker of an environment of OpenSpiel must hold
_KEPT = 10_000  # positions that are held at once
_ALIKE = 1e-9  # by which probabilities of uniform chance may differ


def served_source(environment: Environment) -> str:
    """The module that plays an environment in a worker, beside what it is made of.

    Besides the contract's functions it has `position` and `best`; see `ServedRules`.
    """
    told = json.dumps(_described(environment))
    return f"from {__name__} import served\nglobals().update(served({told!r}))\n"


def served(description: str) -> dict[str, object]:
    """The functions of the module that `served_source` writes."""
    return ServedRules(_made(json.loads(description))).functions()


def preload_of(environment: Environment) -> tuple[str, ...]:
    """Packages that a worker needs to play an environment by `served_source`."""
    while isinstance(environment, TwinEnvironment):
        environment = environment.origin
    if isinstance(environment, ClassEnvironment):
        return (PRELOAD[0], environment.name.partition(":")[0])
    return PRELOAD if isinstance(environment, OpenSpielEnvironment) else PRELOAD[:1]


def _described(environment: Environment) -> Json:
    """The description of an environment that `_made` reads.

    Raises:
        TypeError: If it plays elsewhere.
    """
    if isinstance(environment, OpenSpielEnvironment):
        return {"openspiel": environment.name.partition(":")[2]}
    if isinstance(environment, ClassEnvironment):
        return {"class": environment.name}
    if isinstance(environment, TwinEnvironment):
        return {"seed": environment.seed, "twin": _described(environment.origin)}
    source = source_of(environment)
    if source is None or not isinstance(environment, ModuleEnvironment):
        raise TypeError(f"{environment.name} plays elsewhere and cannot be sent to a worker")
    seats, parameters = environment.num_players, dict(environment.parameters)
    return {"source": source, "seats": seats, "parameters": parameters}


def _made(told: Any) -> Environment:  # noqa: ANN401 - JSON of our own
    if "openspiel" in told:
        return of_openspiel(told["openspiel"], "")
    if "class" in told:
        return of_class(told["class"])
    if "twin" in told:
        return TwinEnvironment(_made(told["twin"]), told["seed"])
    table = GameTable(Game(LocalModule(told["source"])))
    return ModuleEnvironment("module", told["seats"], told["parameters"], "", table)


def file_source(environment: Environment) -> str:
    """The source of a module's file that is played, under whatever names; "" for all else."""
    while isinstance(environment, TwinEnvironment):
        environment = environment.origin
    table = environment.table if isinstance(environment, ModuleEnvironment) else None
    return table.source if isinstance(table, SourceTable) else ""


def source_of(environment: Environment) -> str | None:
    """The source of an environment that is a module, here or in its file; else None."""
    table = environment.table if isinstance(environment, ModuleEnvironment) else None
    if isinstance(table, SourceTable):
        return table.source
    module = table.game.module if isinstance(table, GameTable) else None
    return module.source if isinstance(module, LocalModule) else None


class _Plain:
    """A position of any environment."""

    def __init__(self, environment: Environment, position: Position) -> None:
        self._environment, self._position = environment, position
        self.player, self.rewards = position.player, position.rewards
        self.legal, self.observations = position.legal, position.observations
        self.key = canonical_key(position.state)
        _require_uniform(position.probabilities)

    def after(self, action: Action) -> "_Plain":
        return _Plain(self._environment, self._environment.advance(self._position, action))


class _Lazy:
    """A state of OpenSpiel, whose names and observations are made when they are asked for."""

    def __init__(self, environment: OpenSpielEnvironment, native: Any) -> None:  # noqa: ANN401 - OpenSpiel's game has no types
        self._environment, self._native = environment, native
        self.player: int = native.current_player()
        self.rewards: list[float] = native.rewards()

    @cached_property
    def legal(self) -> dict[Action, int]:
        native, encoding = self._native, self._environment.encoding
        outcomes = native.chance_outcomes() if self.player == CHANCE else []
        if not encoding.is_plain:
            _require_uniform([chance for _, chance in outcomes])
        numbers = [number for number, _ in outcomes] or native.legal_actions()
        return encoding.numbered(native, numbers)

    @property
    def probabilities(self) -> list[float]:
        outcomes = self._native.chance_outcomes() if self.player == CHANCE else []
        return [chance for _, chance in outcomes]

    @cached_property
    def _view(self) -> tuple[State, Sequence[Observation]]:
        return self._environment.encoding.view(self._native)

    @property
    def key(self) -> str:
        return canonical_key(self._view[0])

    @property
    def observations(self) -> Sequence[Observation]:
        return self._view[1]

    def after(self, action: Action) -> "_Lazy":
        native = self._native.clone()
        native.apply_action(self.legal[action])
        return _Lazy(self._environment, native)


_Place: TypeAlias = _Plain | _Lazy
"""A position, as far as a search looks at it."""


def _require_uniform(chances: Sequence[float]) -> None:
    if chances and max(chances) - min(chances) > _ALIKE:
        raise ValueError("chance is not uniform here: searches must be given its probabilities")


class ServedRules:
    """The functions of the module of an environment, by all that led to a position."""

    def __init__(self, environment: Environment) -> None:
        """Serve an environment."""
        self._environment = environment
        known = environment.encoding if isinstance(environment, OpenSpielEnvironment) else None
        self._history = known.history if known else None
        self._kept = known.kept if known else _KEPT
        self._has_chances = known is not None and known.is_plain
        self._places: dict[tuple[Action, ...], _Place] = {}
        self._positions: dict[tuple[Action, ...], Position] = {}

    def functions(self) -> dict[str, object]:
        """By their names: the contract's, and a referee's.

        `__state_key__` is equal for histories that led to one state.
        """
        return {
            **({"resample_history": self._history} if self._history else {}),
            **({"get_chance_probabilities": self._chances} if self._has_chances else {}),
            "initial_state": lambda *_, **__: {"h": []},
            "get_current_player": lambda state: self._place(state).player,
            "get_legal_actions": lambda state: [*self._place(state).legal],
            "apply_action": self._apply,
            "get_rewards": lambda state: self._place(state).rewards,
            "get_observations": lambda state: self._place(state).observations,
            STATE_KEY: lambda state: self._place(state).key,
            "position": self.position,
            "best": self._best,
        }

    def position(self, history: Sequence[Action]) -> Json:
        """The fields of a position, in their order; events aside."""
        here = self._position(tuple(history))
        return [
            here.state,
            here.player,
            [*here.legal],
            [*here.probabilities],
            [*here.rewards],
            [*here.observations],
        ]

    def _chances(self, state: Mapping[str, Any]) -> list[float]:
        place = self._place(state)
        return place.probabilities if isinstance(place, _Lazy) else []

    def _best(self, history: Sequence[Action], simulations: int, seed: int) -> Action | None:
        environment = self._environment
        if not isinstance(environment, SearchableEnvironment):
            return None
        return environment.best(self._position(tuple(history)), simulations, seed)

    def _position(self, history: tuple[Action, ...]) -> Position:
        environment = self._environment
        if not history or not self._positions:  # of one match at a time
            first = environment.open(environment.num_players, environment.parameters)
            self._positions = {(): first}
        known = len(history)
        while history[:known] not in self._positions:
            known -= 1
        for end in range(known, len(history)):
            here = self._positions[history[:end]]
            after = environment.advance(here, history[end])
            self._positions[history[: end + 1]] = after
        return self._positions[history]

    def _root(self) -> _Place:
        environment = self._environment
        if isinstance(environment, OpenSpielEnvironment):
            return _Lazy(environment, environment.game.new_initial_state())
        first = environment.open(environment.num_players, environment.parameters)
        return _Plain(environment, first)

    def _place(self, state: Mapping[str, Any]) -> _Place:
        key = tuple(state["h"])
        place = self._places.get(key)
        if place is None:
            place = self._root()
            for action in key:
                place = place.after(action)
            self._keep(key, place)
        return place

    def _keep(self, key: tuple[Action, ...], place: _Place) -> None:
        if len(self._places) >= self._kept:
            self._places.clear()
        self._places[key] = place

    def _apply(self, state: Mapping[str, Any], action: Action) -> State:
        history = [*state["h"], action]
        key = tuple(history)
        if key not in self._places:
            self._keep(key, self._place(state).after(action))
        return {"h": history}
