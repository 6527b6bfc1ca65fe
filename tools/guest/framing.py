"""Frames between host and worker: a little-endian u32 length, then strict JSON."""

import json
import math
import os
import struct
from typing import NoReturn, Protocol

from games.values import Json, json_writer

HEADER = struct.Struct("<I")
_VALUE_BYTES = 56  # an empty list


class FrameError(ValueError):
    """The bytes are no frame of ours: not UTF-8, not JSON, or JSON outside the contract."""


def encode(value: Json) -> bytes:
    """The frame's body of a JSON value.

    Raises:
        ValueError: If a number is not finite, an integer is too long to write, or a string holds
            half of a surrogate pair.
        RecursionError: If the value is nested too deeply.
    """
    return _write(value).encode()


def decode(body: bytes) -> Json:
    """The JSON value of a frame's body.

    Whatever it returns is contract JSON: lists, string-keyed dicts, str, int, finite float, bool
    and None, with every string writable as UTF-8.

    Raises:
        FrameError: If the body is anything else.
    """
    try:
        text = body.decode()
        value: Json = _DECODER.decode(text)
        if "\\u" in text:
            _write(value).encode()  # an escape may hide half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise FrameError(str(error)[:200]) from error
    return value


def weight_of(body: bytes) -> int:
    """About how many bytes the values of a frame's body take in memory.

    >>> weight_of(b'[1,"a"]')
    119
    """
    parts = body.count(b",") + body.count(b"[") + body.count(b"{")
    return len(body) + _VALUE_BYTES * parts


def is_nested_beyond(body: bytes, levels: int) -> bool:
    r"""True where a frame's JSON nests lists and objects deeper than `levels`.

    >>> [is_nested_beyond(rb'{"a":[[1],"\\"]}', levels) for levels in (2, 3)]
    [True, False]
    """
    if b"\\" in body:
        # Of a run of backslashes each two are one of them; a last one belongs to what follows it.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = body.translate(_BRACKETS, _NO_MARKS)
    if marks.count(b"[") <= levels:
        return False
    marks = b"".join(marks.split(b'"')[::2])  # what is outside of strings
    for _ in range(levels):
        if not marks:
            return False
        marks = marks.replace(b"[]", b"")  # the innermost level
    return bool(marks)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is not a finite number")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a finite number")


_write = json_writer(sort_keys=False, ascii_only=False)
_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_MARKS = bytes(sorted({*range(256)} - {*b'[]{}"'}))


_CHUNK_BYTES = 1 << 16


class Stream(Protocol):
    """Frames, one at a time."""

    def read(self) -> bytes:
        """The body of the next frame; ends the process where the host has hung up."""

    def write(self, body: bytes) -> None:
        """Send one frame."""


class SocketStream:
    """Frames over one descriptor, with nothing but `read` and `write`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self) -> bytes:
        """See `Stream.read`."""
        chunk = os.read(self._descriptor, _CHUNK_BYTES)
        if len(chunk) >= HEADER.size:
            needed = HEADER.size + HEADER.unpack_from(chunk)[0]
            if len(chunk) == needed:  # nearly always
                return chunk[HEADER.size :]
        return self._assembled(bytearray(chunk))

    def _assembled(self, buffer: bytearray) -> bytes:
        needed = HEADER.size
        while True:
            if needed == HEADER.size and len(buffer) >= needed:
                needed += HEADER.unpack_from(buffer)[0]
            if len(buffer) >= needed > HEADER.size:
                return bytes(memoryview(buffer)[HEADER.size : needed])
            chunk = os.read(self._descriptor, _CHUNK_BYTES) if buffer else b""
            if not chunk:
                hang_up()
            buffer += chunk

    def write(self, body: bytes) -> None:
        """See `Stream.write`."""
        rest = memoryview(HEADER.pack(len(body)) + body)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def hang_up() -> NoReturn:
    """End: the host hung up, and nobody is left to answer."""
    os._exit(0)
