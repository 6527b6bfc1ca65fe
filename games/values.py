"""The values a game is made of: JSON, actions, and the faults of a module."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from json import encoder as json_encoder
from typing import Literal, TypeAlias, TypeGuard, get_args

Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
State: TypeAlias = dict[str, Json]
Observation: TypeAlias = dict[str, Json]
Action: TypeAlias = str
Visibility: TypeAlias = Literal["contents", "count", "nothing"]

CHANCE = -1
TERMINAL = -4
MAX_PLAYERS = 8
_PLAIN = frozenset((str, int, bool, type(None)))
_INEXACT = 1e16
DEEPEST = 64  # levels of lists and dicts in one another

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
    "observation_to_tensor",
    "parse_action",
    "render",
    "resample_history",
    "resample_state",
    "tensor_to_observation",
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
        message: What was wrong and what was required. Untrusted text where the module made it, of
            which no more than a page is kept.
    """

    def __init__(
        self, kind: FaultKind, function: str, message: str, *, line: int | None = None
    ) -> None:
        where = f" (line {line})" if line is not None else ""
        if (left := len(message) - _PAGE) > 0:
            message = f"{message[:_PAGE]} ... ({left} characters more)"
        super().__init__(f"{function}: {kind}{where}: {message}")
        self.kind = kind
        self.function = function
        self.line = line
        self.message = message

    @classmethod
    def of_syntax(cls, error: SyntaxError) -> "ModuleFault":
        """The fault of a source that this Python does not parse, with the line as it stands."""
        version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        quoted = f" {error.text.strip()[:_LINE]!r}" if error.text else " it"
        message = f"{error.msg}; {version} cannot read{quoted}"
        return cls("unreadable", "module", message, line=error.lineno)


class IllegalActionError(ValueError):
    """`apply_action` refused an action with ValueError, as the contract asks."""


_CARD = re.compile(r"\b(?:[2-9TJQKA]|10)[CDHScdhs]\b|\b[CDHS](?:[2-9TJQKA]|10)\b|\b[A-Z]\d\b")
_CARDS = re.compile(r"\b(?:(?:[2-9TJQKA]|10)[CDHScdhs]){2,}\b")
_NUMBER = re.compile(r"-?\d+")
_LONGEST_TYPE = 60
_LINE = 100
_PAGE = 4000  # characters


def canonical_key(value: Json) -> str:
    """The canonical key of a JSON value: its JSON with sorted keys.

    >>> canonical_key({"b": 1, "a": [True, None]})
    '{"a":[true,null],"b":1}'
    """
    return _write_sorted(value)


def json_writer(*, sort_keys: bool, ascii_only: bool) -> Callable[[Json], str]:
    """The standard encoder; its C part is made once where there is one, not at every call.

    What it gives raises ValueError for a number that is not finite, and RecursionError for a value
    that is nested too deeply.
    """
    encoder = json.JSONEncoder(
        separators=(",", ":"),
        allow_nan=False,
        sort_keys=sort_keys,
        ensure_ascii=ascii_only,
        check_circular=False,
    )
    make = getattr(json_encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    quoted = getattr(json_encoder, f"encode_basestring{'_ascii' * ascii_only}")
    write = make(None, encoder.default, quoted, None, ":", ",", sort_keys, False, False)
    return lambda value: quoted(value) if type(value) is str else "".join(write(value, 0))


_write_sorted = json_writer(sort_keys=True, ascii_only=True)


def canonical_value(value: Json) -> Json:
    """The one form of a JSON value: keys in order, a whole number as an int, no negative zero.

    What a seat is told has this form, so that how a module wrote a value tells nothing. Floats
    from 1e16 up stay, as they hold no exact count. A bool is no number, and no text is changed.

    >>> canonical_value({"b": [1.0, -0.0], "a": True})
    {'a': True, 'b': [1, 0]}
    """
    if isinstance(value, dict):
        return canonical_object(value)
    if isinstance(value, list):
        if _PLAIN.issuperset(map(type, value)):
            return value[:]
        return [item if type(item) in _PLAIN else canonical_value(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _INEXACT:
        return int(value)
    return value


def canonical_object(value: dict[str, Json]) -> dict[str, Json]:
    """The one form of a JSON object; see `canonical_value`."""
    return {
        name: item if type(item) in _PLAIN else canonical_value(item)
        for name, item in sorted(value.items())
    }


def require_json(value: object, function: str, path: str = "value") -> None:
    """Hold a value against the contract's JSON, strictly.

    Raises:
        ModuleFault: Naming the path of the first tuple, set, non-string key, NaN or numpy scalar,
            or of what is nested more than `DEEPEST` levels deep.
    """
    if not _is_json(value, DEEPEST):
        _refuse(value, function, path, DEEPEST)


def _is_json(value: object, room: int) -> bool:
    """True for the contract's JSON; every value of every ply passes through here."""
    items: Iterable[object]
    if not room:
        return type(value) not in (dict, list) and _is_json(value, 1)
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                return False
        items = value.values()
    elif type(value) is list:
        items = value
    else:
        return type(value) in _PLAIN or (type(value) is float and math.isfinite(value))
    for item in items:  # noqa: SIM110 - a generator costs as much again
        if type(item) not in _PLAIN and not _is_json(item, room - 1):
            return False
    return True


def _refuse(value: object, function: str, path: str, room: int) -> None:
    """Raise for the first part of a value that is not the contract's JSON."""
    if _is_json(value, room):
        return
    if not room and type(value) in (dict, list):
        told = f"{path[:80]}… is nested too deeply or holds itself; at most {DEEPEST} levels may be"
        raise ModuleFault("bad_value", function, told)
    if type(value) is float:
        raise ModuleFault("bad_value", function, f"{path} is {value}; required: a finite number")
    if type(value) is list:
        for index, item in enumerate(value):
            _refuse(item, function, f"{path}[{index}]", room - 1)
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise ModuleFault(
                    "bad_value", function, f"{path} has the key {key!r}; required: string keys"
                )
            _refuse(item, function, f"{path}[{key!r}]", room - 1)
    raise ModuleFault(
        "bad_value",
        function,
        f"{path} is a {type(value).__name__}; required: dict with string keys, list, str, int, "
        "float, bool or None (make a set or tuple a list, a numpy scalar an int or float)",
    )


def is_number(value: object) -> TypeGuard[int | float]:
    """True for an int or float of the contract: no bool, finite as a float."""
    if not isinstance(value, int | float) or type(value) not in (int, float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_visibility(value: object) -> TypeGuard[Visibility]:
    """True for a word of `visible`."""
    return value in get_args(Visibility)


def are_texts(value: object) -> TypeGuard[list[str]]:
    """True for a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def as_object(value: Json) -> dict[str, Json]:
    """A JSON value that must be an object.

    Raises:
        TypeError: If it is none.
    """
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.80} is no object")
    return value


def show(value: object, limit: int = 120) -> str:
    """A value's repr, cut to `limit` characters, for messages."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def same_value(value: Json, expected: Json) -> bool:
    """True for equal JSON values, strictly: True is not 1 and 1 is not 1.0.

    The order of a dict's keys does not matter.

    Raises:
        ModuleFault: If either is no contract JSON (a tuple, a set, a key that is no string, NaN).

    >>> same_value({"a": 1, "b": [True]}, {"b": [True], "a": 1})
    True
    >>> same_value([1], [True]), same_value([1], [1.0])
    (False, False)
    """
    require_json(value, "value")
    require_json(expected, "value", "expected value")
    return canonical_key(value) == canonical_key(expected)


def as_numbers(rewards: Json) -> Json:
    """Rewards as the contract reads them: numbers, whether written 1, 1.0 or -0.0; a bool is none.

    >>> as_numbers([1, -0.0, True])
    [1.0, 0.0, True]
    """
    if not isinstance(rewards, list):
        return rewards
    return [float(n) + 0.0 if is_number(n) else n for n in rewards]


def type_of(action: Action) -> str:
    """The type of an action: its words, with numbers and cards taken out.

    >>> type_of("Player: 0 Action: Draw upcard"), type_of("x(0,2)"), type_of("Deal K2")
    ('Player: # Action: Draw upcard', 'x(#,#)', 'Deal card')
    >>> type_of("Player: 1 Action: 9cTcJc")
    'Player: # Action: cards'
    """
    return _NUMBER.sub("#", _CARD.sub("card", _CARDS.sub("cards", action)))[:_LONGEST_TYPE]
