"""One worker as the host holds it: framed requests, an absolute deadline, a hard kill."""

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, Self, TypeAlias, get_args

from games.text import plain_text
from games.values import DEEPEST, FaultKind, IllegalActionError, Json, ModuleFault
from tools.guest.faults import (
    ILLEGAL_ACTION,
    INTERNAL,
    MESSAGE_CHARACTERS,
    MODULE_FILE,
    UNKNOWN_OPERATION,
)
from tools.guest.framing import FrameError, decode, encode, is_nested_beyond, weight_of
from tools.guest.operations import BUILT_IN
from tools.guest.protocol import CallRequest, ColumnsRequest
from tools.guest.serving import CRASH
from tools.sandbox.backends import (
    Ending,
    ForgeryError,
    Limits,
    PoolGoneError,
    Process,
    SandboxUnavailableError,
)

CallResult: TypeAlias = Json | ModuleFault | IllegalActionError

_MESSAGE_CALLS = 400
_MESSAGE_S = 10.0  # for the calls of one message together
_DUMP_S = 1.0
_END_S = 0.5
_NUMBER_BITS = 53  # so that JSON readers of every kind keep a request's number whole
_DEEPEST = DEEPEST + 16  # with what our own code puts around the module's values
_DUMPED = re.compile(rb'File "' + re.escape(MODULE_FILE).encode() + rb'", line (\d{1,9})\b')


class Worker:
    """A process that holds one module in one role. One thread at a time may use it.

    Everything it answers is the module's claim; compare results on the host.

    Attributes:
        role: What it is for.
        limits: Its bounds.
        names: Contract names the loaded module defines; empty before `load`.
        weight: About how many bytes its answers took in memory so far.
        spent: Seconds that its answers took so far: of the processor, where those are told.
        alive: Whether it can still be asked.
        ended_by: How its process ended, once it is no longer alive.
        keeper: Takes it when it is released, or says no; None has it killed then.
    """

    keeper: Callable[["Worker"], bool] | None = None

    def __init__(
        self,
        role: str,
        process: Process,
        limits: Limits,
        forget: Callable[["Worker"], None],
        loads: dict[str, bytes],
    ) -> None:
        """Take over a fresh process; `Sandbox.worker` calls this.

        Args:
            role: What it is for.
            process: The process.
            limits: Its bounds.
            forget: Told when it ends.
            loads: By source, what a worker of this interpreter is asked to load it; grows.
        """
        self.role = role
        self.names: frozenset[str] = frozenset()
        self.weight, self.spent = 0, 0.0
        self.alive = True
        self.ended_by: Ending | None = None
        self._fault: ModuleFault | None = None  # that it ended with
        self.limits = limits
        self._process, self._channel = process, process.channel
        self._forget = forget
        self._loads = loads
        self._printed: dict[str, list[str]] = {"output": [], "errors": []}
        self._loaded = self._used = False
        self._busy = threading.Lock()
        self._ending = threading.Lock()

    @property
    def output(self) -> str:
        """The module's printed text so far: capped, without control characters, untrusted."""
        return "".join(self._printed["output"])

    @property
    def errors(self) -> str:
        """The module's text to standard error so far; see `output`."""
        return "".join(self._printed["errors"])

    def load(self, source: str) -> None:
        """Load the module; once in a worker's life, or since it was emptied.

        Raises:
            ModuleFault: With the line, where the source does not parse or fails while loading.
        """
        if self._loaded:
            raise ValueError("this worker holds a module already; ask the sandbox for another one")
        self._loaded = True
        try:
            source.encode()
        except UnicodeEncodeError as error:
            line = source.count("\n", 0, error.start) + 1
            raise ModuleFault("unreadable", "module", f"is not text: {error}", line=line) from error
        # Before the module runs, so that it has no part in what workers of other roles will load.
        asked = self._loads.get(source)
        if asked is None and self._used:
            asked = encode({"source": source})
        elif asked is None:
            code = self.request("compile", {"source": source}, self.limits.load_s)
            compiled = code if isinstance(code, str) else ""
            asked = self._loads[source] = encode({"source": source, "code": compiled})
            self.weight = 0
        names = self.request("load", asked, self.limits.load_s)
        if not isinstance(names, list):
            self._violation("load", "did not list the module's names")
        self.names = frozenset(name for name in names if isinstance(name, str))

    def call(
        self,
        function: str,
        arguments: Sequence[Json] = (),
        keywords: Mapping[str, Json] | None = None,
        *,
        deadline_s: float | None = None,
        seed: Sequence[int] | None = None,
    ) -> Json:
        """Call one function of the module and return its plain value.

        Args:
            function: Name in the module.
            arguments: Positional arguments.
            keywords: Keyword arguments.
            deadline_s: Seconds it may take; the limits' `call_s` by default.
            seed: Non-negative words to seed `random` and `numpy.random` with before the call.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If anything else went wrong in the module, or the worker is gone.
        """
        words = [*seed] if seed else None
        request = CallRequest(function, list(arguments), dict(keywords or {}), words)
        return self.request("call", request._asdict(), deadline_s or self.limits.call_s)

    def call_echo(
        self, function: str, arguments: Sequence[Json], *, deadline_s: float | None = None
    ) -> tuple[Json, list[Json]]:
        """Call one function; return its value and its arguments as it left them.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If anything else went wrong in the module, or the worker is gone.
        """
        payload: dict[str, Json] = {"function": function, "arguments": list(arguments)}
        reply = self.request("echo", payload, deadline_s or self.limits.call_s)
        if not (isinstance(reply, list) and len(reply) == 2 and isinstance(reply[1], list)):  # noqa: PLR2004 - a pair
            self._violation(function, "did not return the arguments")
        return reply[0], reply[1]

    def ask(
        self, function: str, arguments: Sequence[Json], seed: Sequence[int] | None = None
    ) -> CallResult:
        """The value of one call, or its fault."""
        try:
            return self.call(function, arguments, seed=seed)
        except (ModuleFault, IllegalActionError) as fault:
            return fault

    def ask_many(
        self, asked: Sequence[tuple[str, list[Json]]], at_once: int = _MESSAGE_CALLS
    ) -> list[CallResult]:
        """The value of each call, or its fault, with so many calls in a message at most.

        Where their values together are too long for one reply, half as many are asked for.
        """
        answers: list[CallResult] = []
        for start in range(0, len(asked), at_once):
            part = asked[start : start + at_once]
            calls: list[list[Json]] = [[function, arguments] for function, arguments in part]
            try:
                reply = self.request("columns", ColumnsRequest(calls)._asdict(), _MESSAGE_S)
            except (ModuleFault, IllegalActionError) as fault:
                is_long = isinstance(fault, ModuleFault) and fault.kind == "bad_value"
                again = is_long and len(part) > 1
                answers += self.ask_many(part, len(part) // 2) if again else [fault] * len(part)
                continue
            told = reply if isinstance(reply, list) else []
            rows = told if len(told) == len(part) else [None] * len(part)
            answers += [answer_of(row, name) for row, (name, _) in zip(rows, part, strict=True)]
        return answers

    def request(self, op: str, payload: Mapping[str, Json] | bytes, deadline_s: float) -> Json:
        """Have one operation done.

        Args:
            op: A built-in operation or one that a preloaded package offers.
            payload: Its arguments; as bytes where they are written already, as `encode` writes.
            deadline_s: Seconds after which the module is interrupted; `grace_s` later the worker
                is killed.

        Raises:
            IllegalActionError: If `apply_action` raised ValueError.
            ModuleFault: If the module failed, did not answer in time, or the worker is gone.
            OperationError: If the operation is unknown or failed by itself.
            SandboxUnavailableError: If the pool's own process ended and took the worker along.
        """
        if not self._busy.acquire(blocking=False):
            raise RuntimeError(f"worker {self.role!r} is in use by another thread")
        try:
            about = op
            if not isinstance(payload, bytes):
                about = str(payload.get("function", payload.get("name", op)))
                payload = encode(dict(payload))
            function = "module" if op in ("compile", "load") else about
            reply = self._exchange(op, payload, function, deadline_s)
        except ModuleFault as fault:
            self._fault = self._fault or (None if self.alive else fault)
            raise
        finally:
            self._busy.release()
        if "fault" in reply:
            own_code = op not in BUILT_IN or not self._loaded
            raise_fault(reply["fault"], function, own_code=own_code)
        return reply["value"]

    def release(self) -> None:
        """Be done with it: it is killed, unless its keeper takes it to serve once more."""
        if self.keeper is None or not self.alive or self._busy.locked() or not self.keeper(self):
            self.kill()

    def empty(self) -> None:
        """Forget the module; what it left in its process may still be there."""
        self._loaded, self._used = False, True
        self.names = frozenset()
        self.weight = 0
        self._printed = {"output": [], "errors": []}

    def kill(self) -> None:
        """Kill the process at once; safe to call twice, and from another thread."""
        self._end(Ending("killed", "by the host"))

    def _end(self, ending: Ending) -> None:
        with self._ending:
            if not self.alive:
                return
            self.alive = False
            self.ended_by = ending
            self._process.kill()
            self._channel.close()
        self._forget(self)

    def _exchange(self, op: str, payload: bytes, function: str, seconds: float) -> dict[str, Json]:
        self._require_alive(function)
        number = secrets.randbits(_NUMBER_BITS)  # that a module cannot guess
        head = encode({"id": number, "op": op, "soft_s": seconds})
        body = head[:-1] + b',"payload":' + payload + b"}"
        if len(body) > self.limits.request_bytes:
            required = f"required: at most {self.limits.request_bytes}"
            told = f"its argument has grown to {len(body)} bytes of JSON; {required}"
            raise ModuleFault("bad_value", function, told)
        begun = time.monotonic()
        late = begun + seconds + self.limits.grace_s
        try:
            self._process.resume()
            self._channel.send(body, late)
            due = self._process.ring(begun, seconds)
            answer = self._channel.receive(max(late, due + self.limits.grace_s))
            self.spent += self._process.rest(time.monotonic() - begun)
            self.weight += (weight := weight_of(answer))
        except TimeoutError as error:
            self._process.dump()
            line = dumped_line(self._channel.rest(_DUMP_S))
            self._end(Ending("killed", f"{function} did not return within {seconds:g} s"))
            message = f"did not return within {seconds:g} s and was killed"
            raise ModuleFault("timed_out", function, message, line=line) from error
        except ForgeryError as error:
            if error.seen.startswith(CRASH):
                dump = error.seen + self._channel.rest(_DUMP_S)
                self._died(function, error, line=dumped_line(dump))
            self._violation(function, str(error))
        except OSError as error:
            self._died(function, error)
        except (KeyboardInterrupt, SandboxUnavailableError):
            self.kill()  # its answer, still to come, would be taken for the next request's
            raise
        most = self.limits.table_bytes >> 20
        if weight >> 20 > most:  # said before it is read, which takes that memory
            told = f"returned what takes {weight >> 20} MiB of memory; required: at most {most}"
            raise ModuleFault("bad_value", function, told)
        return self._opened(answer, number, function)

    def _require_alive(self, function: str) -> None:
        if not self.alive:
            told, by = f"worker {self.role!r} ended before this call", self._fault
            if by is None:
                raise ModuleFault("killed", function, told)
            raise ModuleFault("killed", by.function, f"{told}: {by.message}", line=by.line)

    def _opened(self, answer: bytes, number: int, function: str) -> dict[str, Json]:
        try:
            reply = decode(answer)
        except FrameError as error:
            self._violation(function, f"sent a reply that is no contract JSON: {error}")
        if not isinstance(reply, dict) or reply.get("id") != number:
            self._violation(function, "sent a reply to another request")
        if is_nested_beyond(answer, _DEEPEST):
            self._violation(function, f"sent a reply nested more than {_DEEPEST} levels deep")
        if ("value" in reply) == ("fault" in reply):
            self._violation(function, "sent a reply with neither a value nor a fault")
        for name, printed in self._printed.items():
            text = reply.get(name)
            if isinstance(text, str) and text:
                room = self.limits.output_characters + 100 - sum(map(len, printed))
                printed.append(plain_text(text)[: max(room, 0)])
        return reply

    def _died(self, function: str, cause: Exception, *, line: int | None = None) -> NoReturn:
        if not self.alive:
            raise ModuleFault("killed", function, f"worker {self.role!r} was killed") from cause
        try:
            ending = self._process.ending(_END_S)
        except PoolGoneError as gone:
            self.kill()
            # The module is not to blame: a fault would be journalled as the match's result.
            raise SandboxUnavailableError(
                f"the sandbox's own process ended while {function} was at work ({gone}); try again"
            ) from gone
        self._end(ending)
        if (ending.cause, ending.detail) == ("killed", "SIGKILL"):
            # Nothing that a confined module can do: neither a fault of it nor a match's result.
            raise SandboxUnavailableError(
                f"the worker was killed from outside while {function} was at work (SIGKILL: by "
                "somebody, or because the machine ran out of memory); try again"
            ) from cause
        if ending.cause == "out_of_memory":
            told = "needed more memory than a worker may have"
            raise ModuleFault("out_of_memory", function, told) from cause
        raise ModuleFault("killed", function, f"the worker {_told(ending)}", line=line) from cause

    def _violation(self, function: str, what: str) -> NoReturn:
        self._end(Ending("killed", f"it {what}"))
        raise ModuleFault("killed", function, f"the worker {what}, and was killed for it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _told(ending: Ending) -> str:
    if ending.cause == "blocked_call":
        return f"made a system call that no module needs, and was ended by {ending.detail}"
    if ending.cause == "cpu_limit":
        return "used up its processor time"
    if ending.cause in ("killed", "crashed"):
        return f"was ended by {ending.detail}"
    if ending.cause == "exited":
        return f"ended by itself with {ending.detail}"
    return "hung up"


class OperationError(RuntimeError):
    """A preloaded operation failed without the module's part in it: our fault, not the game's."""


def raise_fault(fault: Json, function: str, *, own_code: bool = False) -> NoReturn:
    """Raise what a worker's fault says, trusting none of its fields.

    Args:
        fault: The claim.
        function: What the host asked for.
        own_code: Whether a preloaded package's code took part, which may fail by itself; where
            only the module's did, such a claim is false and counts as a fault of the module.

    Raises:
        IllegalActionError, ModuleFault, OperationError: By the fault's kind.
    """
    fields = fault if isinstance(fault, dict) else {}
    kind, line = fields.get("kind"), fields.get("line")
    message = plain_text(str(fields.get("message", "")))[:MESSAGE_CHARACTERS]
    asked, named = function, fields.get("function")
    if isinstance(named, str) and named.isidentifier():
        function = named[:80]
    if kind == ILLEGAL_ACTION and (own_code or asked == "apply_action"):
        raise IllegalActionError(message)
    if kind in (UNKNOWN_OPERATION, INTERNAL) and own_code:
        raise OperationError(f"operation {function!r} failed in the sandbox: {message}")
    known: FaultKind | None = next((word for word in get_args(FaultKind) if word == kind), None)
    if known is None:
        known, message = "killed", f"the worker reported a fault that this cannot end in: {message}"
    whole = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None
    raise ModuleFault(known, function, message, line=whole)


def answer_of(row: Json, function: str) -> CallResult:
    """The content of a row of the reply to "columns": a value, or the fault instead."""
    told = row if isinstance(row, dict) else {}
    if told.keys() == {"value"}:
        return told["value"]
    try:
        if isinstance(text := told.get("text"), str):
            return decode(text.encode())
        raise_fault(told.get("fault"), function)
    except FrameError as error:
        return ModuleFault("bad_value", function, f"sent what is no contract JSON: {error}")
    except (ModuleFault, IllegalActionError) as fault:
        return fault


def dumped_line(dump: bytes) -> int | None:
    r"""The innermost line of the module in a traceback that the interpreter dumped.

    >>> dumped_line(b'Stack:\n  File "/x.py", line 9\n  File "<game>", line 3 in f\n')
    3
    """
    found = _DUMPED.search(dump)
    return int(found[1]) if found else None
