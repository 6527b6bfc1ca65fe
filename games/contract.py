"""The module contract: what one source file must define to be a game.

A game is one source file of plain functions over JSON values. The names are those of the
Code World Models paper (App. C and J). `Game` is the typed reading of any module, whether its
functions run in this process (`LocalModule`, trusted library sources only) or in a sandboxed
worker: every returned value is held against the contract, so that a set, a tuple with the wrong
length or a NaN is reported as the module's fault and never travels further.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from games.modules import Module
from games.text import skeleton
from games.values import (
    CHANCE,
    MAX_PLAYERS,
    TERMINAL,
    Action,
    Json,
    ModuleFault,
    Observation,
    State,
    Visibility,
    are_texts,
    is_number,
    is_visibility,
    show,
)

_KEPT, _SHORT = 2**14, 64  # looks of actions that are kept, and characters of such an action
_LOOKS: dict[str, str] = {}
MOST_PAID = 1e12  # either way, by one ply to one seat


def player_numbers(info: Mapping[str, Json]) -> tuple[int, ...]:
    """The numbers of players that a `GAME` says the module takes, fewest first.

    Raises:
        ModuleFault: If it says none, or others than a table has seats.

    >>> player_numbers({"min_players": 2, "max_players": 4}), player_numbers({"players": [2, 4]})
    ((2, 3, 4), (2, 4))
    """
    named = info.get("players")
    ends = [info.get(key) for key in ("min_players", "max_players")]
    if named is not None:
        listed = named if isinstance(named, list) else []
        known = [number for number in listed if type(number) is int]
        if (
            not known
            or known != listed
            or known != sorted({*known})
            or not 0 < known[0] <= known[-1] <= MAX_PLAYERS
        ):
            required = "whole numbers from 1 to 8, fewest first, such as [2, 4]"
            raise ModuleFault(
                "bad_value", "GAME", f"its 'players' is {show(named)}; required: {required}"
            )
        if any(
            end not in (None, own) for end, own in zip(ends, (known[0], known[-1]), strict=True)
        ):
            told = f"min_players={ends[0]!r}, max_players={ends[1]!r} are not the ends of its"
            raise ModuleFault(
                "bad_value", "GAME", f"{told} 'players', {show(named)}; leave them out"
            )
        return tuple(known)
    fewest, most = ends
    if not (type(fewest) is int and type(most) is int and 1 <= fewest <= most <= MAX_PLAYERS):
        told = f"min_players={fewest!r}, max_players={most!r}; required: 1 <= min <= max <= 8"
        raise ModuleFault("bad_value", "GAME", told)
    return tuple(range(fewest, most + 1))


def players_text(numbers: Sequence[int]) -> str:
    """Numbers of players in words.

    >>> players_text((2, 3, 4)), players_text((2, 4)), players_text((6,))
    ('2 to 4', '2 or 4', '6')
    """
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return " or ".join(map(str, numbers))


class Game:
    """The typed, checked reading of a module; raises `ModuleFault` where a value breaks it."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @property
    def info(self) -> dict[str, Json]:
        """The `GAME` dictionary."""
        value = self.module.constant("GAME")
        if isinstance(value, dict) and isinstance(named := value.get("players"), list) and named:
            value = {"min_players": named[0], "max_players": named[-1], **value}
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
        """True where the module defines this contract name."""
        return name in self.module.names

    def initial_state(self, num_players: int, parameters: Mapping[str, Json]) -> State:
        """The static state before any chance event."""
        value = self.module.call("initial_state", num_players, **parameters)
        return read_state("initial_state", value)

    def current_player(self, state: State) -> int:
        """0..n-1, or `CHANCE`, or `TERMINAL`."""
        return read_player(self.module.call("get_current_player", state))

    def player_name(self, player: int) -> str:
        """A display name; 'chance' for -1 and 'terminal' for -4."""
        value = self.module.call("get_player_name", player)
        if not isinstance(value, str):
            raise ModuleFault("bad_value", "get_player_name", f"returned {show(value)}, not a str")
        return value

    def legal_actions(self, state: State) -> list[Action]:
        """The legal actions (at a chance node, its outcomes), without duplicates."""
        return read_actions(self.module.call("get_legal_actions", state))

    def chance_probabilities(self, state: State, legal: Sequence[Action]) -> list[float]:
        """Probabilities aligned with `legal`; uniform where the module defines none."""
        if not self.defines("get_chance_probabilities"):
            return [1.0 / len(legal)] * len(legal)
        return read_probabilities(self.module.call("get_chance_probabilities", state), len(legal))

    def apply_action(self, state: State, action: Action) -> State:
        """The state after `action`; raises `IllegalActionError` for an illegal one."""
        return read_state("apply_action", self.module.call("apply_action", state, action))

    def rewards(self, state: State, num_players: int) -> list[float]:
        """Each seat's payment on entering `state`."""
        return read_rewards(self.module.call("get_rewards", state), num_players)

    def observations(self, state: State, num_players: int) -> list[Observation]:
        """One observation a seat."""
        return read_observations(self.module.call("get_observations", state), num_players)

    def events(self, state: State, action: Action, num_players: int) -> list[list[str]]:
        """Each seat's perceptions when `action` is applied in `state`."""
        return read_events(self.module.call("get_events", state, action), num_players)

    def visible(self, state: State, player: int) -> dict[str, Visibility]:
        """The view of `player` under the rules: state path to contents, count or nothing."""
        value = self.module.call("visible", state, player)
        paths = value if isinstance(value, dict) else {"": None}
        seen = {path: word for path, word in paths.items() if is_visibility(word)}
        if len(seen) != len(paths):
            raise _unfit("visible", value, "path -> 'contents', 'count' or 'nothing'")
        return seen


def read_state(function: str, value: Json) -> State:
    """A raw value as the state or observation that it must be."""
    if not isinstance(value, dict):
        raise _unfit(function, value, "a dict")
    return value


def read_player(value: Json) -> int:
    """A raw value as a seat, `CHANCE` or `TERMINAL`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or (value < 0 and value not in (CHANCE, TERMINAL))
    ):
        required = f"a seat from 0, {CHANCE} (chance) or {TERMINAL} (terminal), as an int"
        raise _unfit("get_current_player", value, required)
    return value


def read_actions(value: Json) -> list[Action]:
    """A raw value as actions, none of them twice."""
    if isinstance(value, list) and _look_apart(value):  # nearly always: every ply comes here
        return [*value]
    if not are_texts(value):
        raise _unfit("get_legal_actions", value, "a list of str")
    if len(set(value)) != len(value):
        raise ModuleFault("bad_value", "get_legal_actions", f"returned duplicates: {show(value)}")
    looks = {action: skeleton(action) for action in value}
    if None in looks.values():
        required = (
            "one line each, without control, direction and invisible characters, letters composed "
            "(NFC), so that no two look the same"
        )
        raise _unfit("get_legal_actions", value, required)
    if len({*looks.values()}) != len(value):
        required = "actions that differ in more than case, blanks, or how a letter is written"
        raise _unfit("get_legal_actions", value, required)
    if len(_LOOKS) > _KEPT:
        _LOOKS.clear()
    _LOOKS.update(
        (action, look) for action, look in looks.items() if look and len(action) <= _SHORT
    )
    return [*value]


def _look_apart(actions: list[Json]) -> TypeGuard[list[Action]]:
    """True for actions that were read before, each with another look."""
    try:
        looks = {*map(_LOOKS.get, actions)}  # type: ignore[arg-type] # another type has no look
    except TypeError:
        return False
    return len(looks) == len(actions) and None not in looks


def read_probabilities(value: Json, count: int) -> list[float]:
    """A raw value as the probabilities of `count` outcomes."""
    numbers = _numbers("get_chance_probabilities", value, count)
    if any(not 0 < p <= 1 for p in numbers) or abs(math.fsum(numbers) - 1) > 1e-9:  # noqa: PLR2004 - rounding of a sum
        required = "positive numbers that sum to 1 within 1e-9"
        raise _unfit("get_chance_probabilities", value, required)
    return numbers


def read_rewards(value: Json, count: int) -> list[float]:
    """A raw value as the rewards of `count` seats."""
    numbers = _numbers("get_rewards", value, count)
    if any(abs(number) > MOST_PAID for number in numbers):
        raise _unfit("get_rewards", value, f"numbers of at most {MOST_PAID:g} either way")
    return numbers


def read_observations(value: Json, count: int) -> list[Observation]:
    """A raw value as the observations of `count` seats."""
    if not isinstance(value, list) or len(value) != count:
        raise _unfit("get_observations", value, f"a list of {count} dicts, one a player")
    return [read_state("get_observations", item) for item in value]


def read_events(value: Json, count: int) -> list[list[str]]:
    """A raw value as what each of `count` seats perceives."""
    events = [seat for seat in value if are_texts(seat)] if isinstance(value, list) else []
    if not isinstance(value, list) or not len(events) == len(value) == count:
        raise _unfit("get_events", value, f"{count} lists of str, one a player")
    return events


def _numbers(function: str, value: Json, count: int) -> list[float]:
    numbers = [float(n) for n in value if is_number(n)] if isinstance(value, list) else []
    if not isinstance(value, list) or not len(numbers) == len(value) == count:
        raise _unfit(function, value, f"{count} finite numbers")
    return numbers


def _unfit(function: str, value: object, required: str) -> ModuleFault:
    """The fault of a returned value that the contract does not take."""
    return ModuleFault("bad_value", function, f"returned {show(value)}; required: {required}")
