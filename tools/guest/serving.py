"""A worker's loop: one request in, one reply out, until the host hangs up."""

import faulthandler
import io
import os
import signal
import sys
from collections.abc import Mapping
from typing import NoReturn

from games.values import Json, ModuleFault
from tools.guest.faults import ALARM, SoftTimeoutError, describe
from tools.guest.framing import Stream, decode, encode
from tools.guest.operations import Session
from tools.guest.protocol import Envelope, decoded

OUT_OF_MEMORY_STATUS = 71
DUMP_SIGNAL = signal.SIGUSR2
CRASH = b"Fatal Python error"
_RESERVE_BYTES = 4 * 2**20
CUT = "\n[the rest of the output was dropped]\n"


class BoundedOutput(io.TextIOBase):
    """A text stream that keeps the first `cap` characters of a worker's life."""

    def __init__(self, cap: int) -> None:
        self._left = cap
        self._cut = False
        self._pieces: list[str] = []

    def writable(self) -> bool:
        """See `io.IOBase.writable`."""
        return True

    def write(self, text: str, /) -> int:
        """Keep what still fits; always claims to have written everything."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if len(text) <= self._left:
            self._pieces.append(text)
            self._left -= len(text)
        elif not self._cut:
            self._pieces += [text[: self._left], CUT]
            self._left, self._cut = 0, True
        return len(text)

    def take(self) -> str:
        """The text since the last call."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text


def serve(
    stream: Stream,
    session: Session,
    limits: Mapping[str, int],
    *,
    dump_to: int | None,
    has_timer: bool,
) -> NoReturn:
    """Answer requests until the host hangs up; never returns.

    Args:
        stream: Where requests come from and replies go.
        session: What they are about.
        limits: `Limits` of the host by name; what a worker keeps to by itself, so that the host
            can stay friendly, are `reply_bytes` and `output_characters`.
        dump_to: Descriptor that the interpreter itself writes its position to when it crashes, or
            when it is sent `DUMP_SIGNAL`; None for nowhere.
        has_timer: Whether a timer of its own ends requests, for a host that sends no signals.
    """
    printed = {name: BoundedOutput(limits["output_characters"]) for name in ("output", "errors")}
    sys.stdout, sys.stderr = printed.values()
    ALARM.listen(has_timer=has_timer)
    if dump_to is not None:
        # Both write from C, so they name the line even where no bytecode runs any more.
        faulthandler.register(DUMP_SIGNAL, dump_to, all_threads=False)
        faulthandler.enable(dump_to, all_threads=False)
    reserve = [bytes(_RESERVE_BYTES)]
    while True:
        request = decoded(Envelope, decode(stream.read()))
        try:
            reply = answer(request, session, printed, limits["reply_bytes"])
        except MemoryError:
            reserve.clear()  # room to unwind in; the module holds all the rest
            os._exit(OUT_OF_MEMORY_STATUS)
        stream.write(reply)


def answer(
    request: Envelope, session: Session, printed: Mapping[str, BoundedOutput], reply_bytes: int
) -> bytes:
    """The body of the reply to a request; whatever a module raises is told in it.

    Raises:
        MemoryError: If none is left.
    """
    number, operation, seconds, payload = request
    reply: dict[str, Json] = {"id": number}
    try:
        try:
            ALARM.begin(seconds)
            reply["value"] = session.perform(operation, payload)
            reply |= _texts(printed)
            return _within(reply, session.function, reply_bytes)
        finally:
            ALARM.end()
    except BaseException as error:  # noqa: BLE001 - whatever a module raises is for the host to hear
        fault = describe(error, session.function, own_code=session.is_preloaded(operation))
        if isinstance(error, SoftTimeoutError):
            fault["message"] = f"did not return within {seconds:g} s"
    reply.clear()  # the refused value may be large
    return encode({"id": number, "fault": fault, **_texts(printed)})


def _texts(printed: Mapping[str, BoundedOutput]) -> dict[str, Json]:
    """The text that the module printed since the last call, by stream."""
    told = {name: stream.take() for name, stream in printed.items()}
    return {name: text.encode("utf-8", "replace").decode() for name, text in told.items() if text}


def _within(reply: dict[str, Json], function: str, reply_bytes: int) -> bytes:
    try:
        body = encode(reply)
    except ValueError as error:
        named = _unwritable(reply["value"]) or function
        raise ModuleFault(
            "bad_value", named, f"returned a value that cannot be written as JSON: {error}"
        ) from error
    if len(body) > reply_bytes:
        raise ModuleFault(
            "bad_value",
            function,
            f"returned {len(body)} bytes of JSON; required: at most {reply_bytes}",
        )
    return body


def _unwritable(ply: Json) -> str | None:
    """The first function of a ply whose value cannot be written."""
    values = ply.get("values") if isinstance(ply, dict) else None
    for function, value in values.items() if isinstance(values, dict) else ():
        try:
            encode(value)
        except ValueError:
            return function
    return None
