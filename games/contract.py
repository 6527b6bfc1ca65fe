"""The module contract: what one source file must define to be a game.

A game is one source file of plain functions over JSON values. The names are those of the
Code World Models paper (App. C and J). `Game` is the typed reading of any module, whether its
functions run in this process (`LocalModule`, trusted library sources only) or in a sandboxed
worker: every returned value is held against the contract, so that a set, a tuple with the wrong
length or a NaN is reported as the module's fault and never travels further.
"""

import math
from collections.abc import Mapping, Sequence
from typing import cast

from games.modules import LocalModule, Module, load_namespace
from games.values import (
    CHANCE,
    MAX_PLAYERS,
    OPTIONAL_FUNCTIONS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    TERMINAL,
    Action,
    FaultKind,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    State,
    Visibility,
    canonical_key,
    require_json,
    show,
)

__all__ = [
    "CHANCE",
    "MAX_PLAYERS",
    "OPTIONAL_FUNCTIONS",
    "REQUIRED_CONSTANTS",
    "REQUIRED_FUNCTIONS",
    "TERMINAL",
    "Action",
    "FaultKind",
    "Game",
    "IllegalActionError",
    "Json",
    "LocalModule",
    "Module",
    "ModuleFault",
    "Observation",
    "State",
    "Visibility",
    "canonical_key",
    "load_namespace",
    "require_json",
]


class Game:
    """The typed, checked reading of a module; raises `ModuleFault` where a value breaks it."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @property
    def info(self) -> dict[str, Json]:
        """The `GAME` dictionary."""
        value = self.module.constant("GAME")
        if not isinstance(value, dict) or not {"name", "summary", "min_players", "max_players"} <= (
            value.keys()
        ):
            raise ModuleFault(
                "bad_value", "GAME", "must be a dict with name, summary, min_players, max_players"
            )
        for key in ("name", "summary"):
            if not isinstance(value[key], str):
                raise ModuleFault(
                    "bad_value", "GAME", f"has the {key} {show(value[key])}; required: a str"
                )
        return value

    def defines(self, name: str) -> bool:
        """Whether the module defines this contract name."""
        return name in self.module.names

    def initial_state(self, num_players: int, parameters: Mapping[str, Json]) -> State:
        """The static state before any chance event."""
        return _state("initial_state", self.module.call("initial_state", num_players, **parameters))

    def current_player(self, state: State) -> int:
        """0..n-1, or `CHANCE`, or `TERMINAL`."""
        value = self.module.call("get_current_player", state)
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or (value < 0 and value not in (CHANCE, TERMINAL))
        ):
            raise ModuleFault(
                "bad_value",
                "get_current_player",
                f"returned {show(value)}; required: a seat from 0, {CHANCE} (chance) or "
                f"{TERMINAL} (terminal), as an int",
            )
        return value

    def player_name(self, player: int) -> str:
        """A display name; 'chance' for -1 and 'terminal' for -4."""
        value = self.module.call("get_player_name", player)
        if not isinstance(value, str):
            raise ModuleFault("bad_value", "get_player_name", f"returned {show(value)}, not a str")
        return value

    def legal_actions(self, state: State) -> list[Action]:
        """The legal actions (at a chance node, its outcomes), without duplicates."""
        value = self.module.call("get_legal_actions", state)
        return list(_actions(value))

    def chance_probabilities(self, state: State, legal: Sequence[Action]) -> list[float]:
        """Probabilities aligned with `legal`; uniform where the module defines none."""
        if not self.defines("get_chance_probabilities"):
            return [1.0 / len(legal)] * len(legal)
        value = self.module.call("get_chance_probabilities", state)
        return _probabilities(value, len(legal))

    def apply_action(self, state: State, action: Action) -> State:
        """The state after `action`; raises `IllegalActionError` for an illegal one."""
        return _state("apply_action", self.module.call("apply_action", state, action))

    def rewards(self, state: State, num_players: int) -> list[float]:
        """What entering `state` paid each seat."""
        value = self.module.call("get_rewards", state)
        return _numbers("get_rewards", value, num_players)

    def observations(self, state: State, num_players: int) -> list[Observation]:
        """One observation a seat."""
        value = self.module.call("get_observations", state)
        if not isinstance(value, list) or len(value) != num_players:
            raise ModuleFault(
                "bad_value",
                "get_observations",
                f"returned {show(value)}; required: a list of {num_players} dicts, one a player",
            )
        return [_state("get_observations", item) for item in value]

    def events(self, state: State, action: Action, num_players: int) -> list[list[str]]:
        """What each seat perceives when `action` is applied in `state`."""
        value = self.module.call("get_events", state, action)
        good = (
            isinstance(value, list)
            and len(value) == num_players
            and all(
                isinstance(seat, list) and all(isinstance(e, str) for e in seat) for seat in value
            )
        )
        if not good:
            raise ModuleFault(
                "bad_value",
                "get_events",
                f"returned {show(value)}; required: {num_players} lists of str, one a player",
            )
        return cast("list[list[str]]", value)

    def visible(self, state: State, player: int) -> dict[str, Visibility]:
        """What the rules let `player` see: state path to contents, count or nothing."""
        value = self.module.call("visible", state, player)
        good = isinstance(value, dict) and all(
            v in ("contents", "count", "nothing") for v in value.values()
        )
        if not good:
            raise ModuleFault(
                "bad_value",
                "visible",
                f"returned {show(value)}; required: path -> 'contents', 'count' or 'nothing'",
            )
        return cast("dict[str, Visibility]", value)


def _state(function: str, value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ModuleFault("bad_value", function, f"returned {show(value)}; required: a dict")
    return value


def _actions(value: Json) -> list[Action]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModuleFault(
            "bad_value", "get_legal_actions", f"returned {show(value)}; required: a list of str"
        )
    if len(set(cast("list[str]", value))) != len(value):
        raise ModuleFault("bad_value", "get_legal_actions", f"returned duplicates: {show(value)}")
    return cast("list[Action]", value)


def _probabilities(value: Json, count: int) -> list[float]:
    numbers = _numbers("get_chance_probabilities", value, count)
    if any(p <= 0 for p in numbers) or abs(math.fsum(numbers) - 1) > 1e-9:  # noqa: PLR2004
        raise ModuleFault(
            "bad_value",
            "get_chance_probabilities",
            f"returned {show(value)}; required: positive numbers that sum to 1 within 1e-9",
        )
    return numbers


def _numbers(function: str, value: Json, count: int) -> list[float]:
    good = (
        isinstance(value, list)
        and len(value) == count
        and all(type(n) in (int, float) and _is_finite(cast("float", n)) for n in value)
    )
    if not good:
        raise ModuleFault(
            "bad_value", function, f"returned {show(value)}; required: {count} finite numbers"
        )
    return [float(cast("float", n)) for n in cast("list[Json]", value)]


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that no float holds
        return False
