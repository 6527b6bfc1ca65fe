"""The worker's protocol: one frozen class a request or reply, and the one decoder of them all.

A message's payload is a JSON object with the fields of its class. Both ends read it with `decoded`;
what the host so reads is sound in its types, and still the worker's claim.
"""

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias, TypeVar, Union, get_args, get_origin

from games.values import Action, Json, State

Message = TypeVar("Message", bound=tuple[object, ...])


class MessageError(ValueError):
    """A payload that is no message of the class that was expected."""


class Envelope(NamedTuple):
    """The envelope of every request.

    Attributes:
        id: The request's number, which the reply repeats.
        op: The operation, built-in or of a preloaded package.
        soft_s: Seconds after which the operation is interrupted.
        payload: What the operation is given.
    """

    id: int
    op: str
    soft_s: float
    payload: dict[str, Json]


class CompileRequest(NamedTuple):
    """Compile a module before anything of it runs; answered with its code, see `LoadRequest`."""

    source: str


class LoadRequest(NamedTuple):
    """Load the module; answered with the contract names that it defines.

    Attributes:
        source: The module.
        code: What another worker of the same interpreter compiled it to: base64 of `marshal`'s
            bytes. Empty where it is to be compiled here.
    """

    source: str
    code: str = ""


class ConstantRequest(NamedTuple):
    """Read a constant; answered with its value."""

    name: str


class CallRequest(NamedTuple):
    """Call one function; answered with its value.

    Attributes:
        function: Its name in the module.
        arguments: Positional ones.
        keywords: Keyword arguments.
        seed: Words that random numbers are seeded with before it; None leaves them.
    """

    function: str
    arguments: list[Json]
    keywords: dict[str, Json]
    seed: list[int] | None


class EchoRequest(NamedTuple):
    """Call one function; answered with its value and the arguments as it left them."""

    function: str
    arguments: list[Json]


class OpenRequest(NamedTuple):
    """Begin a match; answered with a `RawPly`."""

    num_players: int
    parameters: dict[str, Json]


class AdvanceRequest(NamedTuple):
    """Go on to the next position; answered with a `RawPly`."""

    state: State
    action: Action


class PliesRequest(NamedTuple):
    """Begin matches, or go on in them; answered with a `RawPly` each.

    Attributes:
        num_players: Of every match.
        parameters: Of every match.
        moves: The state and the action of each; None begins a match.
    """

    num_players: int
    parameters: dict[str, Json]
    moves: list[Json]


class RawPly(NamedTuple):
    """The raw values of one ply, up to the first function that failed.

    Attributes:
        values: By function, in the order of the calls.
        fault: Why there is no next one; None where nothing failed.
    """

    values: dict[str, Json]
    fault: Json


class RoundRequest(NamedTuple):
    """Do one move in each of several matches; answered with columns, see `games.lockstep.Columns`.

    Attributes:
        num_players: Of every match.
        parameters: Of every match.
        sighted: Seats whose observation is told where they move.
        followed: Seats of which all is told that changed.
        slots: Where the matches are.
        actions: What is done there; None begins a match.
    """

    num_players: int
    parameters: dict[str, Json]
    sighted: list[int]
    followed: list[int]
    slots: list[int]
    actions: list[Json]


class ScoresRequest(NamedTuple):
    """Score positions with a heuristic; answered with one list of numbers each.

    Attributes:
        positions: Pairs of an observation and its legal actions.
    """

    positions: list[list[Json]]


class ColumnsRequest(NamedTuple):
    """Make several calls, each a pair of function and arguments.

    Answered with one object a call: `value`, or `fault` where the call failed.

    Attributes:
        calls: The pairs.
        keyed: Whether each value is to come as its canonical `key`, of which equal ones need not be
            read, and as the `text` of its JSON.
    """

    calls: list[list[Json]]
    keyed: bool = False

    def pairs(self) -> Iterator[tuple[str, list[Json]]]:
        """Function and arguments of each call.

        Raises:
            MessageError: At the first one that is no such pair.
        """
        for call in self.calls:
            match call:
                case [str(function), list(arguments)]:
                    yield function, arguments
                case _:
                    raise MessageError(f"{call!r:.80} is no pair of function and arguments")


class LinesRequest(NamedTuple):
    """Play a match again with its lines traced; answered with one list of line numbers a ply.

    Attributes:
        actions: Every decision and chance outcome, in order.
        lines: The lines of the source that are looked for; no others are told.
    """

    num_players: int
    parameters: dict[str, Json]
    actions: list[Action]
    lines: list[int]


class EvaluateRequest(NamedTuple):
    """Evaluate an expression among the module's names; answered with its value."""

    expression: str


class Ready(NamedTuple):
    """A zygote, or a worker without one, that has loaded all and is confined.

    Attributes:
        ready: Whether it is.
        landlock: Version of Landlock that is in force; 0 for none.
        machine: The architecture that the filter was made for; empty without one.
        python: The interpreter's version.
        clock: Why a clock is in reach of its modules; empty where none is.
    """

    ready: bool
    landlock: int
    machine: str
    python: str
    clock: str


class Forked(NamedTuple):
    """A fresh worker, by its number in the zygote's own count."""

    pid: int


class Exited(NamedTuple):
    """The exit status of a worker: negative for a signal, None if unknown."""

    exit: int | None


def decoded(kind: Callable[..., Message], payload: Json) -> Message:
    """The message of a class that a payload holds.

    Args:
        kind: A named tuple. Its fields are JSON types: `str`, `int`, `float`, `bool`, `Json`,
            lists, string-keyed dicts, unions and literals of these.
        payload: An object with its fields; those with defaults may be left out.

    Raises:
        MessageError: If a field is missing, unknown or of another type.

    >>> decoded(ConstantRequest, {"name": "GAME"})
    ConstantRequest(name='GAME')
    >>> decoded(ConstantRequest, {"name": 1})
    Traceback (most recent call last):
    tools.guest.protocol.MessageError: ConstantRequest(name=1) does not hold to name: <class 'str'>
    """
    if not isinstance(payload, dict):
        raise MessageError(f"{payload!r:.80} is no object")
    try:
        message = kind(**payload)
    except TypeError as error:
        raise MessageError(str(error)) from error
    form = _FORMS.get(kind)
    if form is None:
        form = _FORMS[kind] = [_field(hint) for hint in kind.__annotations__.values()]
    for (plain, holds), value in zip(form, message, strict=True):
        if type(value) not in plain and (holds is None or not holds(value)):
            expected = ", ".join(f"{name}: {hint}" for name, hint in kind.__annotations__.items())
            raise MessageError(f"{message!r:.200} does not hold to {expected}")
    return message


_Holds: TypeAlias = Callable[[object], bool]
_Field: TypeAlias = tuple[frozenset[type], _Holds | None]  # what fits by its type, and what else
_FORMS: dict[object, list[_Field]] = {}
_JSON = frozenset({type(None), bool, int, float, str, list, dict})


def _field(hint: object) -> _Field:
    """The values that fit a field: those of exactly these types, and those of a predicate."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint == Json:
        return _JSON, None
    if origin is Literal:
        return frozenset(), lambda value: value in inner
    if origin in (Union, types.UnionType):
        plain, holds = zip(*map(_field, inner), strict=True)
        return frozenset[type]().union(*plain), lambda value: any(
            one is not None and one(value) for one in holds
        )
    if isinstance(origin, type) and inner[-1] != Json:
        return frozenset(), _all(origin, _field(inner[-1]))
    named = origin if origin is not None else hint
    if not isinstance(named, type):
        raise TypeError(f"{hint} is no type of the protocol")
    return frozenset({int, float} if named is float else {named}), None


def _all(container: type, item: _Field) -> _Holds:
    plain, holds = item

    def every(value: object) -> bool:
        if type(value) is not container:
            return False
        parts = value.values() if isinstance(value, dict) else value
        return isinstance(parts, Iterable) and all(
            type(part) in plain or (holds is not None and holds(part)) for part in parts
        )

    return every
