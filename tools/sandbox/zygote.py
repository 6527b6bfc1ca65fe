"""The host's end of the zygote: start it, ask it for workers, hear how they ended."""

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from tools.sandbox.limits import Limits

_START_S = 60.0
_ANSWER_S = 20.0
_END_S = 5.0
_MESSAGE_BYTES = 1 << 16
_SHOWN_CHARACTERS = 2000


class SandboxUnavailableError(RuntimeError):
    """The sandbox itself could not start. Never show this as the game's output."""


class ZygoteGoneError(Exception):
    """The zygote no longer answers; start another one."""


class Zygote:
    """One running zygote. Its methods may be called from any thread."""

    def __init__(self, preload: Sequence[str], limits: Limits, *, use_numpy: bool) -> None:
        """Start it and wait until it has loaded everything.

        Raises:
            SandboxUnavailableError: If it cannot start here, saying why.
        """
        self._lock = threading.Lock()
        paths = _import_paths(preload, use_numpy=use_numpy)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _start(theirs.fileno(), paths, ours)
        self._control = ours
        settings = {
            "preload": list(preload),
            "numpy": use_numpy,
            "limits": limits.model_dump(),
            "host_paths": len(paths),
        }
        try:
            answer, _ = self._ask(settings, (), _START_S)
        except ZygoteGoneError as error:
            reason = self._last_words()
            raise SandboxUnavailableError(
                f"the sandbox's process could not start: {error}; it said: {reason}"
            ) from error
        if answer != {"ready": True}:
            self.close()
            raise SandboxUnavailableError(f"the sandbox's process started with {answer!r}")

    def fork(self) -> tuple[int, int, socket.socket]:
        """A fresh worker: its process id, a pidfd (the caller's to close) and its connection.

        Raises:
            SandboxUnavailableError: If the machine has no room for another process.
            ZygoteGoneError: If the zygote ended.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                answer, handles = self._ask({"fork": True}, (theirs.fileno(),), _ANSWER_S)
            except ZygoteGoneError:
                ours.close()
                raise
        if "error" in answer:
            ours.close()
            raise SandboxUnavailableError(f"no worker could be started: {answer['error']}")
        return cast("int", answer["pid"]), handles[0], ours

    def exit_status(self, pid: int) -> int | None:
        """How an ending worker ended: its exit code, minus the signal, or None where unknown.

        Raises:
            ZygoteGoneError: If the zygote is gone, which takes its workers along.
        """
        answer, _ = self._ask({"status": pid}, (), _ANSWER_S)
        return cast("int | None", answer["exit"])

    def close(self) -> None:
        """Hang up; the zygote ends and takes its workers along."""
        self._control.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        cast("IO[bytes]", self._process.stderr).close()

    def _ask(
        self, question: object, descriptors: Sequence[int], seconds: float
    ) -> tuple[dict[str, object], list[int]]:
        with self._lock:
            try:
                self._control.settimeout(seconds)
                socket.send_fds(self._control, [json.dumps(question).encode()], list(descriptors))
                message, handles, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
            except OSError as error:
                self._hang_up()
                raise ZygoteGoneError(f"no answer ({error})") from error
            except KeyboardInterrupt:
                self._hang_up()  # its answer, still to come, would be taken for the next one's
                raise
        if not message:
            raise ZygoteGoneError("it ended")
        for handle in handles:
            os.set_inheritable(handle, False)
        return json.loads(message), list(handles)

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def _last_words(self) -> str:
        self._control.close()
        self._process.kill()
        _, said = self._process.communicate()
        text = said.decode("utf-8", "replace").strip()
        return text[-_SHOWN_CHARACTERS:] or "nothing"


def _start(descriptor: int, paths: Sequence[str], ours: socket.socket) -> "subprocess.Popen[bytes]":
    if sys.platform != "linux":
        ours.close()
        raise SandboxUnavailableError(
            f"the sandbox needs Linux (pidfd, resource limits); this is {sys.platform}: run "
            "Rulewright in a Linux container or virtual machine"
        )
    # A clean environment: generated code must not inherit the host's keys and paths.
    environment = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
    }
    command = [sys.executable, "-s", "-S", "-P", "-m", "tools.guest.zygote", str(descriptor)]
    try:
        # Popen without preexec_fn execs at once: safe beside threads and open databases.
        return subprocess.Popen(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[descriptor],
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise SandboxUnavailableError(f"cannot start {sys.executable}: {error}") from error


def _import_paths(preload: Sequence[str], *, use_numpy: bool) -> list[str]:
    """The folders that hold the packages a zygote imports, each once."""
    names = ["tools", "games", *(["numpy"] if use_numpy else []), *preload]
    paths: list[str] = []
    for name in names:
        top = name.partition(".")[0]
        spec = importlib.util.find_spec(top)
        if spec is None or spec.origin is None:
            raise SandboxUnavailableError(f"cannot preload {name!r}: there is no package {top!r}")
        origin = Path(spec.origin)
        folder = origin.parent.parent if spec.submodule_search_locations else origin.parent
        if str(folder) not in paths:
            paths.append(str(folder))
    return paths
