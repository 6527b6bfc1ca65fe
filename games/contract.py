"""The module contract: what one source file must define to be a game.

A game is one source file of plain functions over JSON values. The names are those of the
Code World Models paper (App. C and J). `Game` is the typed reading of any module, whether its
functions run in this process (`LocalModule`, trusted library sources only) or in a sandboxed
worker: every returned value is held against the contract, so that a set, a tuple with the wrong
length or a NaN is reported as the module's fault and never travels further.
"""

import json
import math
import types
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias, cast

Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
State: TypeAlias = dict[str, Json]
Observation: TypeAlias = dict[str, Json]
Action: TypeAlias = str
Visibility: TypeAlias = Literal["contents", "count", "nothing"]

CHANCE = -1
TERMINAL = -4
MAX_PLAYERS = 8

REQUIRED_FUNCTIONS = (
    "initial_state",
    "get_current_player",
    "get_player_name",
    "get_legal_actions",
    "apply_action",
    "get_rewards",
    "get_observations",
    "get_events",
    "visible",
)
OPTIONAL_FUNCTIONS = (
    "get_chance_probabilities",
    "parse_action",
    "resample_history",
    "resample_state",
    "value_function",
)
REQUIRED_CONSTANTS = ("GAME", "ZONES")

FaultKind: TypeAlias = Literal[
    "raised",  # the function raised
    "missing",  # the module does not define the name
    "unreadable",  # the source does not parse, or failed while loading
    "timed_out",  # the host's deadline passed
    "out_of_memory",
    "killed",  # the worker ended: a crash, a blocked call, a forged frame
    "bad_value",  # the value breaks the contract
]


class ModuleFault(Exception):  # noqa: N818 - a fault is the module's, an error would be ours
    """The game module itself is at fault; safe to show to its author.

    Attributes:
        kind: What happened, one of `FaultKind`.
        function: The contract name that was being called, or "module" while loading.
        line: Line of the module's source, 1-based, or None where none is known.
        message: What was wrong and what was required. Untrusted text where the module made it.
    """

    def __init__(
        self, kind: FaultKind, function: str, message: str, *, line: int | None = None
    ) -> None:
        where = f" (line {line})" if line is not None else ""
        super().__init__(f"{function}: {kind}{where}: {message}")
        self.kind = kind
        self.function = function
        self.line = line
        self.message = message


class IllegalActionError(ValueError):
    """`apply_action` refused an action with ValueError, as the contract asks."""


class Module(Protocol):
    """The raw functions of one module, wherever they run."""

    @property
    def names(self) -> frozenset[str]:
        """Contract names (functions and constants) that the module defines."""
        ...

    def constant(self, name: str) -> Json:
        """Return `GAME` or `ZONES`.

        Raises:
            ModuleFault: If the module does not define it, or it is not JSON.
        """
        ...

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """Call one function and return its plain value, not yet held against the contract.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If anything else went wrong in the module.
        """
        ...


class LocalModule:
    """A module loaded into this process: for trusted library sources and inside workers only."""

    def __init__(self, source: str, name: str = "game") -> None:
        """Compile and run `source`.

        Raises:
            ModuleFault: With kind "unreadable" and the line, if it does not parse or load.
        """
        self.source = source
        self.namespace = load_namespace(source, name)

    @property
    def names(self) -> frozenset[str]:
        """See `Module.names`."""
        known = (*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS, *REQUIRED_CONSTANTS)
        return frozenset(name for name in known if name in self.namespace)

    def constant(self, name: str) -> Json:
        """See `Module.constant`."""
        if name not in self.namespace:
            raise ModuleFault("missing", name, f"the module must define {name}")
        return cast("Json", self.namespace[name])

    def call(self, function: str, *arguments: Json, **keywords: Json) -> Json:
        """See `Module.call`."""
        target = self.namespace.get(function)
        if not callable(target):
            raise ModuleFault("missing", function, f"the module must define {function}()")
        try:
            return cast("Json", target(*arguments, **keywords))
        except ValueError as error:
            if function == "apply_action":
                raise IllegalActionError(str(error)) from error
            raise _raised(function, error) from error
        except Exception as error:
            raise _raised(function, error) from error


def load_namespace(source: str, name: str = "game") -> dict[str, object]:
    """Run a module's source and return its namespace.

    Raises:
        ModuleFault: With kind "unreadable" and the line, if it does not parse or load.
    """
    module = types.ModuleType(name)
    try:
        code = compile(source, f"<{name}>", "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except SyntaxError as error:
        raise ModuleFault("unreadable", "module", str(error.msg), line=error.lineno) from error
    except Exception as error:
        raise _raised("module", error, kind="unreadable") from error
    return module.__dict__


def _raised(function: str, error: BaseException, kind: FaultKind = "raised") -> ModuleFault:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<"):
            line = trace.tb_lineno
        trace = trace.tb_next
    return ModuleFault(kind, function, f"{type(error).__name__}: {error}", line=line)


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
                f"returned {_show(value)}; required: a seat from 0, {CHANCE} (chance) or "
                f"{TERMINAL} (terminal), as an int",
            )
        return value

    def player_name(self, player: int) -> str:
        """A display name; 'chance' for -1 and 'terminal' for -4."""
        value = self.module.call("get_player_name", player)
        if not isinstance(value, str):
            raise ModuleFault("bad_value", "get_player_name", f"returned {_show(value)}, not a str")
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
                f"returned {_show(value)}; required: a list of {num_players} dicts, one a player",
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
                f"returned {_show(value)}; required: {num_players} lists of str, one a player",
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
                f"returned {_show(value)}; required: path -> 'contents', 'count' or 'nothing'",
            )
        return cast("dict[str, Visibility]", value)


def canonical_key(value: Json) -> str:
    """The canonical key of a JSON value: its JSON with sorted keys.

    >>> canonical_key({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def require_json(value: object, function: str, path: str = "value") -> None:
    """Hold a value against the contract's JSON, strictly.

    Raises:
        ModuleFault: Naming the path of the first tuple, set, non-string key, NaN or numpy scalar.
    """
    if value is None or type(value) in (bool, int, str):
        return
    if type(value) is float:
        if math.isfinite(value):
            return
        raise ModuleFault("bad_value", function, f"{path} is {value}; required: a finite number")
    if type(value) is list:
        for index, item in enumerate(value):
            require_json(item, function, f"{path}[{index}]")
        return
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise ModuleFault(
                    "bad_value", function, f"{path} has the key {key!r}; required: string keys"
                )
            require_json(item, function, f"{path}[{key!r}]")
        return
    raise ModuleFault(
        "bad_value",
        function,
        f"{path} is a {type(value).__name__}; required: dict with string keys, list, str, int, "
        "float, bool or None (make a set or tuple a list, a numpy scalar an int or float)",
    )


def _state(function: str, value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ModuleFault("bad_value", function, f"returned {_show(value)}; required: a dict")
    return value


def _actions(value: Json) -> list[Action]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModuleFault(
            "bad_value", "get_legal_actions", f"returned {_show(value)}; required: a list of str"
        )
    if len(set(cast("list[str]", value))) != len(value):
        raise ModuleFault("bad_value", "get_legal_actions", f"returned duplicates: {_show(value)}")
    return cast("list[Action]", value)


def _probabilities(value: Json, count: int) -> list[float]:
    numbers = _numbers("get_chance_probabilities", value, count)
    if any(p <= 0 for p in numbers) or abs(math.fsum(numbers) - 1) > 1e-9:  # noqa: PLR2004
        raise ModuleFault(
            "bad_value",
            "get_chance_probabilities",
            f"returned {_show(value)}; required: positive numbers that sum to 1 within 1e-9",
        )
    return numbers


def _numbers(function: str, value: Json, count: int) -> list[float]:
    good = (
        isinstance(value, list)
        and len(value) == count
        and all(type(n) in (int, float) and math.isfinite(cast("float", n)) for n in value)
    )
    if not good:
        raise ModuleFault(
            "bad_value", function, f"returned {_show(value)}; required: {count} finite numbers"
        )
    return [float(cast("float", n)) for n in cast("list[Json]", value)]


def _show(value: object, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
