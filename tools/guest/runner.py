"""A worker without a zygote: one process for one module, where no process can be forked ahead.

It runs in a machine of its own, is started by `python3 -m tools.guest.runner`, and speaks on
standard input and output, one message a line, in base64: no transport can cut or recode that.
The first message is the settings, the first answer what is in force; then requests follow.
"""

import base64
import importlib.util
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from tools.guest.confine import kernel
from tools.guest.confine.filters import RefusedError
from tools.guest.confine.lockdown import (
    Lockdown,
    deaden_standard_streams,
    leave_root,
    limit_resources,
    lock_down,
    ready,
    strictest,
)
from tools.guest.confine.scrub import forget_host, stop_clocks
from tools.guest.framing import hang_up
from tools.guest.kit import close_imports, keep_loaded, load_kit
from tools.guest.operations import Session
from tools.guest.serving import serve

_CHUNK_BYTES = 1 << 16
_READING, _WRITING = 3, 4
_HIGHEST_DESCRIPTOR = 4096
_CRASHED = 70


class LineStream:
    """Frames as lines of base64 over two descriptors, with nothing but `read` and `write`."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._buffer = bytearray()

    def read(self) -> bytes:
        """See `Stream.read`."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            chunk = os.read(self._reading, _CHUNK_BYTES)
            if not chunk:
                hang_up()
            self._buffer += chunk
        line = bytes(memoryview(self._buffer)[:end])
        del self._buffer[: end + 1]
        return base64.b64decode(line)

    def write(self, body: bytes) -> None:
        """See `Stream.write`."""
        rest = memoryview(base64.b64encode(body) + b"\n")
        while rest:
            rest = rest[os.write(self._writing, rest) :]


def main() -> NoReturn:
    """Load what the settings name, lock this process down, and serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(0, _READING)
    os.dup2(1, _WRITING)
    os.closerange(_WRITING + 1, _HIGHEST_DESCRIPTOR)
    stream = LineStream(_READING, _WRITING)
    settings = json.loads(stream.read())
    try:
        session, lockdown = _prepare(settings)
    except RefusedError as error:
        stream.write(error.message())
        os._exit(0)
    try:
        stream.write(json.dumps(ready(lockdown)._asdict()).encode())
        serve(stream, session, settings["limits"], dump_to=_WRITING, has_timer=True)
    finally:
        os._exit(_CRASHED)


def _prepare(settings: Mapping[str, Any]) -> tuple[Session, Lockdown]:
    """Load everything, then give everything up; returns what is in force as well."""
    session = _session(settings)
    lockdown = replace(strictest(), clock=stop_clocks(settings["preload"]))
    forget_host()
    try:
        leave_root()
    except OSError as error:
        raise RefusedError("an unprivileged user", error) from error
    kernel.drop_capabilities(lockdown.machine)
    kernel.set_dumpable(dumpable=False)
    keep_loaded()
    deaden_standard_streams()
    limit_resources(settings["limits"])
    try:
        lock_down(lockdown)
    except OSError as error:
        raise RefusedError("seccomp or Landlock", error) from error
    return session, lockdown


def _session(settings: Mapping[str, Any]) -> Session:
    numpy = settings["numpy"]
    if numpy and importlib.util.find_spec("numpy") is None:
        raise RefusedError("numpy", "its python3 has no package numpy")
    try:
        operations = load_kit(settings["preload"], numpy=numpy)
    except ImportError as error:
        raise RefusedError("a package", error) from error
    close_imports(numpy=numpy)
    return Session(operations)


if __name__ == "__main__":
    main()
