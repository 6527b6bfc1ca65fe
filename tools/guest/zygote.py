"""The zygote: imports what workers need once, then forks one worker a request of the host.

It runs trusted code only. It ends when the host closes the control socket or ends in any way, and
takes its workers along (each asked the kernel to be killed with it).
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from tools.guest.confine import die_with_parent, forget_host, keep_only, limit_resources
from tools.guest.operations import BUILT_IN, Operation, Session
from tools.guest.serving import Caps, serve

# Loaded before the fork, so that a module's own import costs nothing and shares memory.
STANDARD_LIBRARY = (
    "array",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "math",
    "operator",
    "random",
    "re",
    "statistics",
    "string",
    "textwrap",
    "time",
    "traceback",
    "types",
    "typing",
)

_MESSAGE_BYTES = 1 << 16
_IDLE_S = 1.0
_STATUS_WAIT_MS = 1000
_CRASHED = 70


def main() -> NoReturn:
    """Serve the host on the control socket whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the host's to handle
    control = socket.socket(fileno=int(sys.argv[1]))
    host = os.getppid()
    settings = json.loads(control.recv(_MESSAGE_BYTES))
    operations = _preload(settings)
    # What is loaded stays importable; the rest of the host's packages are not.
    del sys.path[: settings["host_paths"]]
    forget_host()
    gc.collect()
    gc.freeze()
    control.send(b'{"ready":true}')
    exits: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control], [], [], _IDLE_S)
        _reap(exits)
        if ready:
            _obey(control, settings, operations, exits)
        elif os.getppid() != host:
            os._exit(0)  # a copy of the control socket may outlive the host, the host's id cannot


def _preload(settings: Mapping[str, Any]) -> dict[str, Operation]:
    for name in STANDARD_LIBRARY:
        importlib.import_module(name)
    if settings["numpy"]:
        importlib.import_module("numpy")
        importlib.import_module("numpy.random")
    operations: dict[str, Operation] = {}
    for name in settings["preload"]:
        offered: dict[str, Operation] = getattr(importlib.import_module(name), "OPERATIONS", {})
        taken = sorted(offered.keys() & {*BUILT_IN, *operations})
        if taken:
            raise ValueError(f"{name} offers operations that exist already: {', '.join(taken)}")
        operations.update(offered)
    return operations


def _obey(
    control: socket.socket,
    settings: Mapping[str, Any],
    operations: Mapping[str, Operation],
    exits: dict[int, int],
) -> None:
    message, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 1)
    if not message:
        os._exit(0)
    order = json.loads(message)
    if "status" in order:
        control.send(json.dumps({"exit": _status(order["status"], exits)}).encode())
        return
    zygote = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(descriptors[0])
        control.send(json.dumps({"error": str(error)}).encode())
        return
    if pid == 0:
        _become_worker(descriptors[0], zygote, settings, operations)
    os.close(descriptors[0])
    exits.pop(pid, None)  # of an earlier worker that had the same number
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [json.dumps({"pid": pid}).encode()], [handle])
    os.close(handle)


def _become_worker(
    descriptor: int,
    zygote: int,
    settings: Mapping[str, Any],
    operations: Mapping[str, Operation],
) -> NoReturn:
    try:
        keep_only(descriptor)
        die_with_parent(zygote)
        limits = settings["limits"]
        limit_resources(
            memory_bytes=limits["memory_bytes"],
            cpu_s=limits["cpu_s"],
            descriptors=limits["descriptors"],
        )
        caps = Caps(limits["reply_bytes"], limits["output_characters"])
        serve(socket.socket(fileno=descriptor), Session(operations), caps)
    finally:
        os._exit(_CRASHED)  # never back into the zygote's loop


def _status(pid: int, exits: dict[int, int]) -> int | None:
    """The exit status of a worker that is ending: negative for a signal, None where unknown."""
    for _ in range(_STATUS_WAIT_MS):
        _reap(exits)
        if pid in exits:
            return exits.pop(pid)
        select.select([], [], [], 0.001)
    return None


def _reap(exits: dict[int, int]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        exits[pid] = os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()
