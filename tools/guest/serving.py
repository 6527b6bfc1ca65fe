"""A worker's loop: one request in, one reply out, until the host hangs up."""

import faulthandler
import os
import signal
import socket
import sys
import types
from dataclasses import dataclass
from typing import NoReturn, cast

from games.contract import Json, ModuleFault
from tools.guest.capture import BoundedOutput
from tools.guest.faults import SoftTimeoutError, describe
from tools.guest.framing import HEADER, decode, encode
from tools.guest.operations import Session

OUT_OF_MEMORY_STATUS = 71
DUMP_SIGNAL = signal.SIGUSR2
CRASH = b"Fatal Python error"
_RESERVE_BYTES = 4 * 2**20
_CHUNK_BYTES = 1 << 18


@dataclass(frozen=True)
class Caps:
    """What a worker keeps to by itself, so that the host can stay friendly.

    Attributes:
        reply_bytes: Longest reply.
        output_characters: Printed text kept over the worker's life.
    """

    reply_bytes: int
    output_characters: int


def serve(connection: socket.socket, session: Session, caps: Caps) -> NoReturn:
    """Answer requests until the host closes the connection; never returns."""
    output = BoundedOutput(caps.output_characters)
    sys.stdout = sys.stderr = output
    signal.signal(signal.SIGALRM, _ring)
    # Both write from C, so they name the line even where no bytecode runs any more.
    faulthandler.register(DUMP_SIGNAL, connection.fileno(), all_threads=False)
    faulthandler.enable(connection.fileno(), all_threads=False)
    reserve = [bytes(_RESERVE_BYTES)]
    while True:
        request = _receive(connection)
        try:
            reply = _answer(request, session, output, caps)
        except MemoryError:
            reserve.clear()  # room to unwind in; the module holds all the rest
            os._exit(OUT_OF_MEMORY_STATUS)
        connection.sendall(HEADER.pack(len(reply)) + reply)


def _answer(request: dict[str, Json], session: Session, output: BoundedOutput, caps: Caps) -> bytes:
    operation = cast("str", request["op"])
    seconds = cast("float", request["soft_s"])
    reply: dict[str, Json] = {"id": request["id"]}
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            reply["value"] = session.perform(operation, cast("dict[str, Json]", request["payload"]))
            reply["output"] = output.take()
            return _within(reply, session.function, caps)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # noqa: BLE001 - whatever a module raises is for the host to hear
        fault = describe(error, session.function, own_code=session.is_preloaded(operation))
        if isinstance(error, SoftTimeoutError):
            fault["message"] = f"did not return within {seconds:g} s"
    reply.clear()  # the refused value may be large
    return encode({"id": request["id"], "fault": fault, "output": _writable(output.take())})


def _within(reply: dict[str, Json], function: str, caps: Caps) -> bytes:
    try:
        reply["output"] = _writable(cast("str", reply["output"]))
        body = encode(reply)
    except ValueError as error:
        raise ModuleFault(
            "bad_value", function, f"returned a value that cannot be written as JSON: {error}"
        ) from error
    if len(body) > caps.reply_bytes:
        raise ModuleFault(
            "bad_value",
            function,
            f"returned {len(body)} bytes of JSON; required: at most {caps.reply_bytes}",
        )
    return body


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _receive(connection: socket.socket) -> dict[str, Json]:
    buffer = bytearray()
    needed = HEADER.size
    while len(buffer) < needed:
        chunk = connection.recv(_CHUNK_BYTES)
        if not chunk:
            os._exit(0)  # the host hung up: nobody is left to answer
        buffer += chunk
        if needed == HEADER.size and len(buffer) >= needed:
            needed += HEADER.unpack_from(buffer)[0]
    return cast("dict[str, Json]", decode(bytes(memoryview(buffer)[HEADER.size :])))


def _ring(signal_number: int, frame: types.FrameType | None) -> NoReturn:
    del signal_number, frame
    raise SoftTimeoutError
