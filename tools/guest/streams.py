"""How a worker reads requests and writes replies."""

import os
from typing import NoReturn, Protocol

from tools.guest.framing import HEADER

_CHUNK_BYTES = 1 << 16


class Stream(Protocol):
    """Frames, one at a time."""

    def read(self) -> bytes:
        """The body of the next frame; ends the process where the host has hung up."""
        ...

    def write(self, body: bytes) -> None:
        """Send one frame."""
        ...


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
