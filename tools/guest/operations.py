"""What a worker can be asked to do with the one module it holds."""

import linecache
import math
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from games.contract import CHANCE, IllegalActionError, Json, LocalModule, ModuleFault, require_json
from tools.guest.faults import MODULE_FILE, UnknownOperationError, describe
from tools.guest.seeding import reseed
from tools.guest.self_play import self_play

Payload: TypeAlias = dict[str, Json]
Operation: TypeAlias = Callable[[dict[str, object], Payload], Json]

BUILT_IN = (
    "ping",
    "load",
    "constant",
    "call",
    "echo",
    "open",
    "advance",
    "score",
    "columns",
    "self_play",
    "evaluate",
    "main",
)
_POSITION = ("get_current_player", "get_legal_actions", "get_rewards", "get_observations")


class Session:
    """One worker's life: at most one module, and the operations on it.

    Attributes:
        function: The contract function being called now, for whoever reports a fault.
    """

    def __init__(self, preloaded: Mapping[str, Operation]) -> None:
        self.function = "module"
        self._module: LocalModule | None = None
        self._preloaded = preloaded
        self._built_in: dict[str, Callable[[Payload], Json]] = {
            "ping": lambda payload: payload,
            "load": self._load,
            "constant": self._constant,
            "call": self._call,
            "echo": self._echo,
            "open": self._open,
            "advance": self._advance,
            "score": self._score,
            "columns": self._columns,
            "self_play": self._self_play,
            "evaluate": self._evaluate,
            "main": self._main,
        }

    def perform(self, operation: str, payload: Payload) -> Json:
        """Do one operation and return its value, held strictly against the contract's JSON.

        Raises:
            UnknownOperationError: Listing the known ones.
            BaseException: Whatever the module raised.
        """
        self.function = operation
        if operation in self._built_in:
            return self._built_in[operation](payload)
        if operation in self._preloaded:
            value = self._preloaded[operation](self._loaded().namespace, payload)
            return _checked(value, operation)
        known = ", ".join((*BUILT_IN, *sorted(self._preloaded)))
        raise UnknownOperationError(f"there is no operation {operation!r}; known ones: {known}")

    def is_preloaded(self, operation: str) -> bool:
        """Whether the operation is a preloaded package's own code."""
        return operation in self._preloaded

    def _loaded(self) -> LocalModule:
        if self._module is None:
            raise UnknownOperationError("no module is loaded yet; send 'load' first")
        return self._module

    def _load(self, payload: Payload) -> Json:
        self.function = "module"
        source = cast("str", payload["source"])
        reseed([0])
        linecache.cache[MODULE_FILE] = (len(source), None, source.splitlines(True), MODULE_FILE)
        sys.modules["game"] = types.ModuleType("game")  # dataclasses look their module up there
        self._module = LocalModule(source)
        return list(sorted(self._module.names))

    def _constant(self, payload: Payload) -> Json:
        name = self.function = cast("str", payload["name"])
        return _checked(self._loaded().constant(name), name)

    def _call(self, payload: Payload) -> Json:
        seed = payload.get("seed")
        if seed is not None:
            reseed(cast("list[int]", seed))
        return self._value(
            cast("str", payload["function"]),
            cast("list[Json]", payload["arguments"]),
            cast("Payload", payload["keywords"]),
        )

    def _echo(self, payload: Payload) -> Json:
        arguments = cast("list[Json]", payload["arguments"])
        value = self._value(cast("str", payload["function"]), arguments)
        return [value, _checked(arguments, self.function, "the argument")]

    def _open(self, payload: Payload) -> Json:
        arguments: list[Json] = [payload["num_players"]]
        keywords = cast("Payload", payload["parameters"])
        return self._position([("initial_state", arguments, keywords)])

    def _advance(self, payload: Payload) -> Json:
        arguments = [payload["state"], payload["action"]]
        return self._position([("get_events", arguments, {}), ("apply_action", arguments, {})])

    def _position(self, steps: Sequence[tuple[str, list[Json], Payload]]) -> Json:
        """The raw values of one ply up to the first fault; the host holds them to the contract."""
        values: Payload = {}
        try:
            for function, arguments, keywords in steps:
                values[function] = state = self._value(function, arguments, keywords)
            for function in _POSITION:
                values[function] = self._value(function, [state])
            chances = "get_chance_probabilities"
            if values["get_current_player"] == CHANCE and chances in self._loaded().namespace:
                values[chances] = self._value(chances, [state])
        except (ModuleFault, IllegalActionError) as fault:
            return {"values": values, "fault": describe(fault, self.function)}
        return {"values": values, "fault": None}

    def _score(self, payload: Payload) -> Json:
        scores: list[Json] = []
        for action in cast("list[Json]", payload["legal"]):
            score = self._value("score", [payload["observation"], action])
            if type(score) not in (int, float) or not math.isfinite(cast("float", score)):
                raise ModuleFault(
                    "bad_value", "score", f"returned {score!r:.80}; required: a finite number"
                )
            scores.append(float(cast("float", score)))
        return scores

    def _columns(self, payload: Payload) -> Json:
        """One answer a call, in order; a call that fails does not end the others."""
        answers: list[Json] = []
        for call in cast("list[list[Json]]", payload["calls"]):
            function, arguments = cast("str", call[0]), cast("list[Json]", call[1])
            try:
                answers.append({"value": self._value(function, arguments)})
            except (ModuleFault, IllegalActionError) as fault:
                answers.append({"fault": describe(fault, function)})
        return answers

    def _self_play(self, payload: Payload) -> Json:
        return self_play(self._loaded(), payload)

    def _evaluate(self, payload: Payload) -> Json:
        code = compile(cast("str", payload["expression"]), "<expression>", "eval")
        return _checked(cast("Json", eval(code, self._loaded().namespace)), "expression")  # noqa: S307

    def _main(self, payload: Payload) -> Json:
        del payload
        if not callable(self._loaded().namespace.get("main")):
            return {"defined": False, "value": None}
        return {"defined": True, "value": self._value("main", [])}

    def _value(
        self, function: str, arguments: list[Json], keywords: Mapping[str, Json] | None = None
    ) -> Json:
        self.function = function
        module = self._loaded()
        try:
            return module.call(function, *arguments, **(keywords or {}))
        except ModuleFault as fault:
            if fault.kind == "bad_value" and fault.line is None:
                fault.line = _first_line(module.namespace[function])
            raise
        except RecursionError as error:  # not the function's own: the value's check ran too deep
            raise _bottomless(function, module.namespace[function]) from error


def _checked(value: Json, function: str, path: str = "value") -> Json:
    try:
        require_json(value, function, path)
    except RecursionError as error:
        raise _bottomless(function, None) from error
    return value


def _first_line(function: object) -> int | None:
    code = getattr(function, "__code__", None)
    return code.co_firstlineno if isinstance(code, types.CodeType) else None


def _bottomless(function: str, target: object) -> ModuleFault:
    return ModuleFault(
        "bad_value",
        function,
        "returned a value that is nested too deeply or holds itself",
        line=_first_line(target),
    )
