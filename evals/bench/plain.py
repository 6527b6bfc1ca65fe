"""A plain Python process, asked the same as a worker: a yardstick that is as slow as the machine.

It has no walls, checks nothing and is trusted. A figure of the sandbox divided by the same one of
such a process, taken in turn with it, tells what the sandbox costs on any machine.
"""

import json
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import Self

from evals.bench.timings import Timing
from evals.results import Row, read_data
from games.values import Json

TIMES = "times a plain process's"

_SERVER: str = read_data("data/sources.yaml")["plain"]
_LENGTH = struct.Struct("<I")


def start_plain(source: str) -> None:
    """Start a Python that runs `source`, and wait for its end.

    Raises:
        subprocess.CalledProcessError: If it failed.
    """
    subprocess.run([sys.executable, "-I", "-c", source], check=True, stderr=subprocess.DEVNULL)


class PlainProcess:
    """A process that holds a module and answers calls, one JSON message each way."""

    def __init__(self, source: str = "def echo(value):\n    return value\n") -> None:
        """Start it; the module of the default gives back what it is sent."""
        self._endpoint, far = socket.socketpair()
        with far:
            command = [sys.executable, "-I", "-c", _SERVER, str(far.fileno()), source]
            self._process = subprocess.Popen(
                command, pass_fds=[far.fileno()], stderr=subprocess.DEVNULL
            )

    def ask(self, function: str, arguments: Sequence[Json]) -> Json:
        """The value of one call.

        Raises:
            EOFError: If the process ended.
        """
        body = json.dumps([function, arguments], separators=(",", ":")).encode()
        self._endpoint.sendall(_LENGTH.pack(len(body)) + body)
        value: Json = json.loads(self._read(*_LENGTH.unpack(self._read(_LENGTH.size))))
        return value

    def _read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            chunk = self._endpoint.recv(count - len(found))
            if not chunk:
                raise EOFError("the plain process ended")
            found += chunk
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._endpoint.close()  # which ends it
        self._process.wait()


def beside_plain(
    name: str, values: Sequence[float], plain: Sequence[float], conditions: Row
) -> Timing:
    """Each value over that of a plain process next to it.

    Args:
        name: Of the figure, without its unit.
        values: Of the sandbox.
        plain: Of plain processes, as many, in the same unit.
        conditions: Of the values.
    """
    shares = tuple(one / other for one, other in zip(values, plain, strict=True))
    return Timing(f"{name}, {TIMES}", shares, conditions)
