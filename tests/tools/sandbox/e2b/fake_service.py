"""A fake of the E2B service on loopback: it proves which calls our side makes, nothing more.

It orders no machine. What it is asked to run it runs on this computer, and therefore runs nothing
but our own runner. Its answers follow what the service's client expects and what the service's
daemon is known to report; that the real service answers so is not verified here.
"""

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Self

from tests.tools.sandbox.e2b.fake_http import Handler
from tools.sandbox.e2b import COMMAND, FOLDER, TEMPLATE, E2BBackend

KEY = "e2b_0000000000000000000000000000000000000000"
_LIBRARIES = ("numpy*", "pydantic*", "annotated_types*", "typing_*")  # of players that search
_DUMP = re.compile(r"kill -s USR2 [0-9]+")


@dataclass(eq=False)
class Command:
    """A process that stands for a command in a machine."""

    process: "subprocess.Popen[bytes]"
    events: list[dict[str, Any]] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    pumps: list[threading.Thread] = field(default_factory=list)
    buriers: list[threading.Thread] = field(default_factory=list)

    def bury(self) -> None:
        """Wait for the process and everything it wrote, and queue how it ended."""
        for pump in self.pumps:
            pump.join()
        code, words = status_words(self.process.wait())
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        end = {"exitCode": code, "exited": code >= 0, "status": words or "exit status 0"}
        self.add({"end": {**end, **({"error": words} if words else {})}})

    def add(self, event: dict[str, Any]) -> None:
        """Queue what the stream shall carry next."""
        with self.arrived:
            self.events.append(event)
            self.arrived.notify_all()


@dataclass(eq=False)
class FakeMachine:
    """One ordered machine: a folder, and the processes started in it."""

    name: str
    folder: Path
    commands: dict[int, Command] = field(default_factory=dict)

    def run(self, order: str, envs: Mapping[str, str]) -> Command:
        """Start our runner, or a signal to it, and nothing else."""
        if order != COMMAND and not _DUMP.fullmatch(order):
            raise PermissionError(f"the fake runs nothing but the runner, not {order!r}")
        environment = {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            **{
                name: value.replace(FOLDER, f"{self.folder}{FOLDER}")
                for name, value in envs.items()
            },
        }
        environment["PYTHONPATH"] = f"{environment.get('PYTHONPATH')}:{self.folder / 'site'}"
        process = subprocess.Popen(
            ["/bin/bash", "-c", order],
            env=environment,
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        command = Command(process)
        self.commands[process.pid] = command
        return command

    def end(self) -> None:
        """Kill whatever still runs, as the end of a machine does."""
        for command in list(self.commands.values()):
            if command.process.poll() is None:
                command.process.kill()


class FakeService:
    """Serves on a loopback port until it is closed.

    Attributes:
        calls: Every call, in order: (what, details).
        refusals: Statuses to answer calls of a name with instead: {"create": (429, "slow down")}.
        python: What the python3 of machines does, in shell.
        silent: Names of calls that are never answered.
        dropped: Names of calls whose connection is closed instead, once each.
        machines: Those that were ordered, dead ones too.
    """

    def __init__(self, *, numpy: bool = True) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.refusals: dict[str, tuple[int, str]] = {}
        self.silent: set[str] = set()
        self.dropped: set[str] = set()
        self.machines: dict[str, FakeMachine] = {}
        self.alive: set[str] = set()
        self.streams: dict[socket.socket, str] = {}
        self.closed = threading.Event()
        self.python = f'exec {sys.executable} -S "$@"'
        self._numpy = numpy
        self._folder = Path(tempfile.mkdtemp(prefix="fake-e2b-"))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.service = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def backend(
        self, template: str = TEMPLATE, *, api_key: str = KEY, idle_s: int = 600
    ) -> E2BBackend:
        """The backend under test, pointed here."""
        return E2BBackend(
            template,
            idle_s=idle_s,
            api_key=api_key,
            api_url=self.url,
            sandbox_url=self.url,
            http_version="1.1",
        )

    def named(self, what: str) -> list[Any]:
        """The details of every call of that name."""
        return [details for name, details in list(self.calls) if name == what]

    def order(self) -> FakeMachine:
        """A new machine, with python3 and perhaps numpy and pydantic, and none of our packages."""
        name = f"machine{len(self.machines)}"
        machine = FakeMachine(name, self._folder / name)
        for folder in ("bin", "site"):
            (machine.folder / folder).mkdir(parents=True)
        python = machine.folder / "bin" / "python3"
        python.write_text(f"#!/bin/sh\n{self.python}\n", encoding="utf-8")
        python.chmod(0o755)
        spec = find_spec("numpy")
        if self._numpy and spec is not None and spec.origin is not None:
            packages = Path(spec.origin).parent.parent
            for package in chain.from_iterable(map(packages.glob, _LIBRARIES)):
                (machine.folder / "site" / package.name).symlink_to(package)
        self.machines[name] = machine
        self.alive.add(name)
        return machine

    def end(self, name: str) -> bool:
        """End a machine; whether there was one."""
        if name not in self.alive:
            return False
        self.alive.discard(name)
        self.cut_streams(name)
        self.machines[name].end()
        return True

    def cut_streams(self, name: str) -> None:
        """Break every open command stream of a machine, as a lost connection does."""
        for stream, machine in list(self.streams.items()):
            if machine == name:
                with contextlib.suppress(OSError):  # cut before
                    stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop serving, end every process, remove every file."""
        self.closed.set()
        for machine in self.machines.values():
            machine.end()
            for command in machine.commands.values():
                command.process.wait()
                for thread in (*command.pumps, *command.buriers):
                    thread.join(5)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()


def status_words(code: int) -> tuple[int, str | None]:
    """Exit code and words as the service's daemon, written in Go, reports them."""
    if code == 0:
        return 0, None
    if code > 0:
        return code, f"exit status {code}"
    words = {6: "aborted", 9: "killed", 11: "segmentation fault", 31: "bad system call"}
    return -1, f"signal: {words.get(-code, f'signal {-code}')}"
