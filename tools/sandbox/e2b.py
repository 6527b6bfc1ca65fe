"""Workers in a virtual machine of the E2B service, or of a service with the same interface.

One machine a pool. The machine keeps modules from this computer; inside it each worker gives up
what a local worker gives up, so that workers of one machine are kept from each other as well.
"""

import json
import os
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

from games.text import plain_text
from tools.guest.framing import FrameError, decode
from tools.guest.protocol import MessageError, Ready, decoded
from tools.sandbox.backends import (
    SAME_EVERYWHERE,
    ForgeryError,
    Grade,
    Kit,
    Limits,
    PoolGoneError,
    SandboxUnavailableError,
)
from tools.sandbox.e2b_channel import (
    OTHERWISE,
    TEMPLATE,
    USER,
    CommandProcess,
    is_gone,
    sources,
    unavailable,
)
from tools.sandbox.holding import require_holding

if TYPE_CHECKING:
    from e2b import Sandbox as Machine

RUNNER = "tools.guest.runner"
FOLDER = "/opt/rulewright"
# `exec` so that the process that is killed is the worker and not a shell around it.
COMMAND = f"exec python3 -s -P -u -m {RUNNER}"
ENVIRONMENT = {"PYTHONPATH": FOLDER, **SAME_EVERYWHERE}
_START_S = 60.0
_LAYERS = (
    "separate process",
    "resource limits",
    "hard kill",
    "unprivileged user",
    "no new privileges",
)
_NEEDED = (
    "required: python3 of version 3.11 or newer, with numpy and pydantic for players that search"
)


class E2BBackend:
    """The service, reached with a key; see `Backend`.

    Attributes:
        name: What people choose it by.
    """

    name = "e2b"

    def __init__(
        self,
        template: str | None = None,
        *,
        api_key: str | None = None,
        domain: str | None = None,
        api_url: str | None = None,
        sandbox_url: str | None = None,
        idle_s: int = 600,
    ) -> None:
        """Nothing is contacted before `start`.

        Args:
            template: What machines are made from; the service's code interpreter by default.
            api_key: The key; E2B_API_KEY of the environment by default.
            domain: Of a service of one's own; E2B_DOMAIN of the environment by default.
            api_url: Where machines are ordered, where that does not follow from the domain.
            sandbox_url: Where machines are spoken with, likewise; both over HTTP/1.1.
            idle_s: Seconds after which the service ends a machine that holds no worker, or whose
                host is gone.
        """
        self._template = template or TEMPLATE
        self._key = api_key or os.environ.get("E2B_API_KEY")
        self._domain = domain or os.environ.get("E2B_DOMAIN")
        self._urls = {"api_url": api_url, "sandbox_url": sandbox_url} if api_url else {}
        self._idle_s = idle_s

    def start(self, kit: Kit, limits: Limits) -> "E2BPool":
        """See `Backend.start`."""
        if not self._key:
            raise SandboxUnavailableError(
                "the sandbox 'e2b' needs a key of the E2B service and there is none: set "
                "E2B_API_KEY (and E2B_DOMAIN for a service of your own), " + OTHERWISE
            )
        files = sources([RUNNER, *kit.preload])
        machine = self._machine(self._key)
        pool = E2BPool(machine, kit, limits, self._idle_s, self._template)
        try:
            pool.prepare(files)
        except PoolGoneError as error:
            pool.close()
            raise SandboxUnavailableError(f"the virtual machine was lost: {error}") from error
        except BaseException:
            pool.close()
            raise
        return pool

    def _machine(self, key: str) -> "Machine":
        try:
            import e2b_code_interpreter  # type: ignore[import-untyped]
        except ImportError as error:
            raise SandboxUnavailableError(
                "the sandbox 'e2b' needs the package e2b-code-interpreter, which is not "
                f"installed here ({error}): install it, {OTHERWISE}"
            ) from error
        options: dict[str, Any] = {"api_key": key, "domain": self._domain, "debug": False}
        if self._urls:
            options |= {**self._urls, "http_version": "1.1"}
        try:
            machine: Machine = e2b_code_interpreter.Sandbox.create(
                self._template,
                timeout=self._idle_s,
                metadata={"made-by": "rulewright"},
                allow_internet_access=False,
                lifecycle={"on_timeout": "kill"},
                **options,
            )
        except Exception as error:
            where = f" at {self._domain}" if self._domain else ""
            wanted = f"start a virtual machine of template {self._template!r}{where}"
            raise unavailable(wanted, error) from error
        return machine


class E2BPool:
    """One virtual machine; see `Pool`. Its methods may be called from any thread."""

    def __init__(
        self, machine: "Machine", kit: Kit, limits: Limits, idle_s: int, template: str
    ) -> None:
        """Take over a fresh machine, which `close` ends."""
        self._machine = machine
        self._template = template
        self._limits = limits
        self._settings = kit.settings(limits)
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._processes: set[CommandProcess] = set()
        self._told = Ready(ready=False, landlock=0, machine="", python="", clock="")
        self._first: CommandProcess | None = None
        self._closing = threading.Event()
        self._extender = threading.Thread(target=self._extend, name="e2b-extend", daemon=True)
        self._extender.start()

    @property
    def grade(self) -> Grade:
        """See `Pool.grade`."""
        told = self._told
        landlock = [f"Landlock {told.landlock}"] if told.landlock else []
        clock = [] if told.clock else ["no clock"]
        lacking = "" if told.landlock else "; there is no Landlock in it"
        lacking += f"; modules have a clock ({told.clock})" if told.clock else ""
        return Grade(
            name="medium" if told.clock else "strong",
            backend=E2BBackend.name,
            layers=("virtual machine (E2B)", *_LAYERS, *landlock, *clock, "system call allow-list"),
            reason=(
                "that it is a machine of its own without a network is the service's word, not "
                f"verified from here; the layers inside were tried out{lacking}; it runs Python "
                f"{told.python}, whose random numbers may differ from this computer's"
            ),
        )

    def prepare(self, files: dict[str, bytes]) -> None:
        """Upload the runner and try out in a throw-away worker that it holds.

        Raises:
            SandboxUnavailableError: If it does not.
            PoolGoneError: If the machine ended.
        """
        entries: list[Any] = [
            {"path": f"{FOLDER}/{path}", "data": content} for path, content in files.items()
        ]
        try:
            self._machine.files.write_files(entries, user=USER)
        except Exception as error:
            raise unavailable("send the runner to the virtual machine", error) from error
        self._first = self.fork()  # which says what architecture it is
        machine, has_clock = self._told.machine, bool(self._told.clock)
        require_holding(self, self._limits, machine=machine, has_clock=has_clock)

    def fork(self) -> CommandProcess:
        """See `Pool.fork`."""
        with self._lock:
            first, self._first = self._first, None
        if self._closing.is_set():
            raise PoolGoneError("the virtual machine was ended")
        if first is not None:
            return first
        try:
            command = self._machine.commands.run(
                COMMAND,
                background=True,
                envs=ENVIRONMENT,
                user=USER,
                cwd="/",
                stdin=True,
                timeout=0,
                retain_output=False,
            )
        except Exception as error:
            if is_gone(error):
                raise PoolGoneError(f"the virtual machine does not answer: {error}") from error
            raise unavailable("start a worker in the virtual machine", error) from error
        process = CommandProcess(self._machine, command, self._limits.frame_bytes)
        with self._lock:
            self._processes = {other for other in self._processes if other.running} | {process}
        try:
            self._set_up(process)
        except BaseException:
            process.kill()
            raise
        return process

    def close(self) -> None:
        """See `Pool.close`."""
        with self._lock:
            if self._closing.is_set():
                return
            self._closing.set()
            processes = list(self._processes)
        for process in processes:
            process.channel.close()
        try:
            self._end_machine()
        except Exception as error:  # noqa: BLE001 - told; the service ends the machine by itself
            warnings.warn(
                f"virtual machine {self._machine.sandbox_id} could not be ended ({error}); the "
                f"service ends it by itself within {self._idle_s} s",
                RuntimeWarning,
                stacklevel=2,
            )
        for process in processes:
            process.join(1.0)

    def _end_machine(self) -> None:
        try:
            self._machine.kill()
        except Exception:  # noqa: BLE001 - a connection grown old fails once; ending twice is safe
            self._machine.kill()

    def _set_up(self, process: CommandProcess) -> None:
        deadline = time.monotonic() + _START_S
        try:
            process.channel.send(json.dumps(self._settings).encode(), deadline)
            report = decode(process.channel.receive(deadline))
        except (OSError, ForgeryError, FrameError) as error:
            ending = process.ending(1.0)
            raise SandboxUnavailableError(
                f"a worker could not start in a virtual machine of template "
                f"{self._template!r} ({ending.detail or error}); it said: "
                f"{plain_text(process.said).strip() or 'nothing'}; {_NEEDED}"
            ) from error
        try:
            self._told = decoded(Ready, report)
        except MessageError as error:
            told = report if isinstance(report, dict) else {}
            raise SandboxUnavailableError(
                f"the template {self._template!r} lacks what a worker needs "
                f"({told.get('refused')}): {told.get('why')}; {_NEEDED}; choose a template that "
                f"has it, {OTHERWISE}"
            ) from error

    def _extend(self) -> None:
        """Put the machine's end off for as long as it holds workers."""
        while not self._closing.wait(self._idle_s / 3):
            with self._lock:
                used = any(process.running for process in self._processes)
            if not used:
                continue
            try:
                self._machine.set_timeout(self._idle_s)
            except Exception as error:  # noqa: BLE001 - told; tried again before the machine ends
                if self._closing.is_set() or is_gone(error):
                    continue  # whoever uses the machine next hears of it
                warnings.warn(
                    f"the end of virtual machine {self._machine.sandbox_id} could not be put off "
                    f"({error}); it is tried again",
                    RuntimeWarning,
                    stacklevel=2,
                )
