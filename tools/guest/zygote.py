"""The zygote: imports what workers need once, then forks one worker a request of the host.

It runs trusted code only. It ends when the host closes the control socket or ends in any way, and
takes its workers along.
"""

import json
import os
import select
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from tools.guest.confine import kernel
from tools.guest.confine.filters import RefusedError
from tools.guest.confine.lockdown import (
    Lockdown,
    become_init,
    die_with_parent,
    enter_namespaces,
    keep_only,
    leave_root,
    limit_resources,
    lock_down,
    ready,
    strictest,
)
from tools.guest.confine.scrub import forget_host, stop_clocks
from tools.guest.faults import DEADLINE, TICK
from tools.guest.framing import SocketStream
from tools.guest.kit import close_imports, keep_loaded, load_kit
from tools.guest.operations import Operation, Session
from tools.guest.protocol import Exited, Forked
from tools.guest.rehearsal import fill_gaps, warm_up
from tools.guest.serving import serve

_MESSAGE_BYTES = 1 << 16
_IDLE_S = 1.0
_STATUS_WAIT_MS = 1000
_CRASHED = 70
_EXITS_KEPT = 256


def main() -> NoReturn:
    """Serve the host on the control socket whose descriptor is the only argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the host's to handle
    for number in (TICK, DEADLINE):  # a fork may be rung for before it can hear it
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    host = os.getppid()
    settings = json.loads(control.recv(_MESSAGE_BYTES))
    operations = load_kit(settings["preload"], numpy=settings["numpy"])
    warm_up(settings["preload"], operations)
    close_imports(numpy=settings["numpy"])
    try:
        lockdown = _prepare(settings, control.fileno(), host)
    except RefusedError as error:
        control.send(error.message())
        os._exit(0)
    fill_gaps()
    keep_loaded()
    control.send(json.dumps(ready(lockdown)._asdict()).encode())
    _serve(control, os.getppid(), _Forge(settings, operations, lockdown))


def _prepare(settings: Mapping[str, Any], control: int, host: int) -> Lockdown:
    """Enter the layers that belong to the zygote; returns those that each worker puts in force."""
    layers = settings["layers"]
    lockdown = _lockdown(layers, settings["preload"])
    forget_host()
    try:
        leave_root()
    except OSError as error:
        if layers["seccomp"]:
            raise RefusedError("unprivileged", error) from error
    if layers["namespaces"]:
        kernel.set_dumpable(dumpable=True)  # else /proc/self belongs to root after `leave_root`
        try:
            enter_namespaces(lockdown.machine)
        except OSError as error:
            raise RefusedError("namespaces", error) from error
    if lockdown.program:
        # Of what it may do in its namespaces, it keeps what gives each worker one of its own.
        keep = kernel.ADMIN if layers["namespaces"] else None
        kernel.drop_capabilities(lockdown.machine, keep=keep)
        kernel.set_dumpable(dumpable=False)
    if layers["namespaces"]:
        become_init(control, host)
    return lockdown


def _lockdown(layers: Mapping[str, Any], preloaded: Sequence[str]) -> Lockdown:
    if layers["seatbelt"]:
        return Lockdown(seatbelt=True)
    if not layers["seccomp"]:
        return Lockdown()
    lockdown = strictest(use_landlock=layers["landlock"])
    return replace(lockdown, clock=stop_clocks(preloaded))


class _Forge:
    """Makes workers, and remembers how the last ones ended."""

    def __init__(
        self, settings: Mapping[str, Any], operations: Mapping[str, Operation], lockdown: Lockdown
    ) -> None:
        self._limits: Mapping[str, int] = settings["limits"]
        self._operations = operations
        self._lockdown = lockdown
        self._exits: OrderedDict[int, int] = OrderedDict()
        self._unburied: set[int] = set()
        self._own = os.pidfd_open(os.getpid()) if settings["layers"]["namespaces"] else None

    def fork(self, descriptor: int) -> int:
        """A worker that serves on `descriptor`; its process id."""
        zygote = os.getpid()
        pid = kernel.fork_apart(self._own)
        if pid == 0:
            self._become_worker(descriptor, zygote)
        self._unburied.add(pid)
        self._exits.pop(pid, None)  # of an earlier worker that had the same number
        return pid

    def status(self, pid: int) -> int | None:
        """The exit status of a worker that is ending: negative for a signal, None if unknown."""
        for _ in range(_STATUS_WAIT_MS):
            self.reap()
            if pid in self._exits:
                return self._exits.pop(pid)
            select.select([], [], [], 0.001)
        return None

    def kill(self, pid: int) -> None:
        """Kill a worker, unless it is buried already: then the number is no longer its own."""
        if pid in self._unburied:
            os.kill(pid, signal.SIGKILL)

    def reap(self) -> None:
        """Bury every worker that has ended."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._unburied.discard(pid)
            ended = os.waitstatus_to_exitcode(status)
            # The first process of a namespace hears no first warning, only the end.
            if ended == -signal.SIGKILL and used.ru_utime + used.ru_stime >= self._limits["cpu_s"]:
                ended = -signal.SIGXCPU
            self._exits[pid] = ended
            if len(self._exits) > _EXITS_KEPT:
                self._exits.popitem(last=False)

    def bury(self) -> None:
        """Kill every worker and wait for it: so its time is counted as this process's."""
        for pid in self._unburied:
            os.kill(pid, signal.SIGKILL)
        for pid in self._unburied:
            os.waitpid(pid, 0)
        self._unburied.clear()

    def _become_worker(self, descriptor: int, zygote: int) -> NoReturn:
        try:
            keep_only(descriptor)
            if sys.platform == "linux":
                die_with_parent(zygote)
            limit_resources(self._limits)
            session = Session(self._operations)
            if self._own is not None:
                kernel.drop_capabilities(self._lockdown.machine)
            lock_down(self._lockdown)
            deaf = not hasattr(os, "pidfd_open")  # then the host has no handle to ring by
            stream = SocketStream(descriptor)
            serve(stream, session, self._limits, dump_to=descriptor, has_timer=deaf)
        finally:
            os._exit(_CRASHED)  # never back into the zygote's loop


def _serve(control: socket.socket, parent: int, forge: _Forge) -> NoReturn:
    while True:
        ready, _, _ = select.select([control], [], [], _IDLE_S)
        forge.reap()
        if ready:
            _obey(control, forge)
        elif os.getppid() != parent:
            os._exit(0)  # a copy of the control socket may outlive the host, the host's id cannot


def _obey(control: socket.socket, forge: _Forge) -> None:
    message, descriptors, _, _ = socket.recv_fds(control, _MESSAGE_BYTES, 1)
    if not message:
        forge.bury()
        os._exit(0)
    order = json.loads(message)
    if "status" in order:
        control.send(json.dumps(Exited(forge.status(order["status"]))._asdict()).encode())
    elif "kill" in order:
        forge.kill(order["kill"])
        control.send(b"{}")
    else:
        _answer_with_worker(control, forge, descriptors[0])


def _answer_with_worker(control: socket.socket, forge: _Forge, descriptor: int) -> None:
    try:
        pid = forge.fork(descriptor)
    except OSError as error:
        control.send(json.dumps({"error": str(error)}).encode())
        return
    finally:
        os.close(descriptor)
    answer = json.dumps(Forked(pid)._asdict()).encode()
    if not hasattr(os, "pidfd_open"):
        control.send(answer)
        return
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [answer], [handle])
    os.close(handle)


if __name__ == "__main__":
    main()
