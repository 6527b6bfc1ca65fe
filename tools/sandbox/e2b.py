"""Workers in a virtual machine of the E2B service, or of a service with the same interface.

One machine a pool. The machine keeps modules from this computer; inside it each worker gives up
what a local worker gives up, so that workers of one machine are kept from each other as well.
A worker is a command in the background; its two streams are the channel. The library is imported
with the first machine, since that takes seconds.
"""

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from games.text import plain_text
from tools.guest.framing import FrameError, decode, encode
from tools.guest.protocol import MessageError, Ready, decoded
from tools.guest.serving import DUMP_SIGNAL
from tools.sandbox.backends import (
    ALWAYS,
    SAME_EVERYWHERE,
    WALL,
    Ending,
    ForgeryError,
    Grade,
    Kit,
    Limits,
    PoolGoneError,
    SandboxUnavailableError,
    ending_of,
)
from tools.sandbox.bundle import sources
from tools.sandbox.connection import LineChannel
from tools.sandbox.holding import require_holding

if TYPE_CHECKING:
    from typing import Unpack

    from e2b import ApiParams, CommandHandle
    from e2b import Sandbox as Machine

RUNNER = "tools.guest.runner"
FOLDER = "/opt/rulewright"
# `exec` so that the process that is killed is the worker and not a shell around it.
COMMAND = f"exec python3 -s -P -u -m {RUNNER}"
TEMPLATE = "code-interpreter-v1"  # the service's own: Python with numpy
_USER = "root"  # the runner leaves root by itself, once it has loaded everything
_START_S, _HEALTH_S, _KILL_S = 60.0, 5.0, 10.0
_PIPE_BYTES = 1 << 15  # a pipe takes more than this from whoever writes, though nobody reads
_SAID_CHARACTERS = 2000
_LAYERS = ("virtual machine (E2B)", *ALWAYS, "unprivileged user", "no new privileges")
_OTHERWISE = "or use the sandbox of this computer (leave out --sandbox e2b)"
_NEEDED = "required: python3 of version 3.11 or newer; numpy and pydantic for players that search"
# Go's names for the signals, which the service reports.
_SIGNALS = {
    "killed": signal.SIGKILL,
    "terminated": signal.SIGTERM,
    "bad system call": signal.SIGSYS,
    "CPU time limit exceeded": signal.SIGXCPU,
    "segmentation fault": signal.SIGSEGV,
    "bus error": signal.SIGBUS,
    "illegal instruction": signal.SIGILL,
    "floating point exception": signal.SIGFPE,
    "aborted": signal.SIGABRT,
}


class E2BBackend:
    """The service, reached with a key; see `Backend`.

    Attributes:
        name: The word by which people choose it.
    """

    name = "e2b"

    def __init__(
        self, template: str = TEMPLATE, *, idle_s: int = 600, **service: "Unpack[ApiParams]"
    ) -> None:
        """Nothing is contacted before `start`.

        Args:
            template: The name of the image that machines are made from.
            idle_s: Seconds after which the service ends a machine that holds no worker, or whose
                host is gone.
            **service: The library's own options (key, domain, addresses); it takes those that are
                left out from the environment.
        """
        self._template = template
        self._idle_s = idle_s
        self._service = service

    def start(self, kit: Kit, limits: Limits) -> "E2BPool":
        """See `Backend.start`."""
        if not (self._service.get("api_key") or os.environ.get("E2B_API_KEY")):
            raise SandboxUnavailableError(
                "the sandbox 'e2b' needs a key of the E2B service and there is none: set "
                f"E2B_API_KEY (and E2B_DOMAIN for a service of your own), {_OTHERWISE}"
            )
        import e2b_code_interpreter  # type: ignore[import-untyped]

        files = sources([RUNNER, *kit.preload])
        try:
            machine = e2b_code_interpreter.Sandbox.create(
                self._template,
                timeout=self._idle_s,
                metadata={"made-by": "rulewright"},
                allow_internet_access=False,
                lifecycle={"on_timeout": "kill"},
                debug=False,
                **self._service,
            )
        except Exception as error:
            domain = self._service.get("domain") or os.environ.get("E2B_DOMAIN")
            where = f" at {domain}" if domain else ""
            wanted = f"start a virtual machine of template {self._template!r}{where}"
            raise _unavailable(wanted, error) from error
        pool = E2BPool(machine, kit, limits, self._idle_s, self._template)
        try:
            pool.prepare(files)
        except BaseException:
            pool.close()
            raise
        return pool


class E2BPool:
    """One virtual machine; see `Pool`. Its methods may be called from any thread.

    Attributes:
        machine: The machine.
        limits: Bounds of its workers.
        running: The workers whose end is not known.
        told: The last report of one of its workers that it is confined.
    """

    def __init__(
        self, machine: "Machine", kit: Kit, limits: Limits, idle_s: int, template: str
    ) -> None:
        """Take over a fresh machine, which `close` ends."""
        self.machine = machine
        self._template = template
        self.limits = limits
        self._settings = kit.settings(limits)
        self._idle_s = idle_s
        self.running: set[CommandProcess] = set()
        self.told = Ready(ready=False, landlock=0, machine="", python="", clock="")
        self._closing = threading.Event()
        threading.Thread(target=self._extend, name="e2b-extend", daemon=True).start()

    @property
    def grade(self) -> Grade:
        """See `Pool.grade`."""
        told = self.told
        inside = [f"Landlock {told.landlock}"] if told.landlock else []
        inside += [] if told.clock else ["no clock"]
        lacking = "" if told.landlock else "; there is no Landlock in it"
        lacking += f"; modules have a clock ({told.clock})" if told.clock else ""
        return Grade(
            name="medium",
            backend=E2BBackend.name,
            layers=(*_LAYERS, *inside, "system call allow-list"),
            reason=(
                "a module may go on uncounted after its answer; that it has a machine of its own "
                "without a network is the service's word, not verified from here; the layers "
                f"inside were tried out{lacking}; its Python {told.python} may draw other numbers"
            ),
        )

    def prepare(self, files: dict[str, bytes]) -> None:
        """Upload the runner and try out in a throw-away worker that it holds.

        Raises:
            SandboxUnavailableError: If it does not.
        """
        try:
            self.machine.files.write_files(
                [{"path": f"{FOLDER}/{path}", "data": data} for path, data in files.items()],
                user=_USER,
            )
        except Exception as error:
            raise _unavailable("send the runner to the virtual machine", error) from error
        require_holding(self, self.limits)

    def fork(self) -> "CommandProcess":
        """See `Pool.fork`."""
        if self._closing.is_set():
            raise PoolGoneError("the virtual machine was ended")
        try:
            command = self.machine.commands.run(
                COMMAND,
                background=True,
                envs={"PYTHONPATH": FOLDER, **SAME_EVERYWHERE},
                user=_USER,
                cwd="/",
                stdin=True,
                timeout=0,
                retain_output=False,
            )
        except Exception as error:
            from connectrpc.errors import ConnectError
            from e2b import NotFoundException, TimeoutException

            if isinstance(error, ConnectError | NotFoundException | TimeoutException):
                raise PoolGoneError(f"the virtual machine does not answer: {error}") from error
            raise _unavailable("start a worker in the virtual machine", error) from error
        process = CommandProcess(self, command)
        try:
            self._set_up(process)
        except BaseException:
            process.kill()
            raise
        return process

    def close(self) -> None:
        """See `Pool.close`."""
        if self._closing.is_set():
            return
        self._closing.set()
        for process in list(self.running):
            process.channel.close()
        with suppress(Exception):  # a connection grown old fails once; ending twice is safe
            self.machine.kill()
            return
        try:
            self.machine.kill()
        except Exception as error:  # noqa: BLE001 - told; the service ends the machine by itself
            warnings.warn(
                f"virtual machine {self.machine.sandbox_id} could not be ended ({error}); the "
                f"service ends it by itself within {self._idle_s} s",
                RuntimeWarning,
                stacklevel=2,
            )

    def _set_up(self, process: "CommandProcess") -> None:
        deadline = time.monotonic() + _START_S
        try:
            process.channel.send(encode(self._settings), deadline)
            report = decode(process.channel.receive(deadline))
        except (OSError, ForgeryError, FrameError) as error:
            ending = process.ending(1.0)
            raise SandboxUnavailableError(
                f"a worker could not start in a virtual machine of template "
                f"{self._template!r} ({ending.detail or error}); it said: "
                f"{plain_text(process.said).strip() or 'nothing'}; {_NEEDED}"
            ) from error
        try:
            self.told = decoded(Ready, report)
        except MessageError as error:
            told = report if isinstance(report, dict) else {}
            raise SandboxUnavailableError(
                f"the template {self._template!r} lacks what a worker needs "
                f"({told.get('refused')}): {told.get('why')}; {_NEEDED}; choose a template that "
                f"has it, {_OTHERWISE}"
            ) from error

    def _extend(self) -> None:
        """Put the machine's end off for as long as it holds workers."""
        while not self._closing.wait(self._idle_s / 3):
            if self.running:
                with suppress(Exception):  # tried again; whoever uses an ended machine hears of it
                    self.machine.set_timeout(self._idle_s)


class CommandProcess:
    """One background command; see `Process`.

    Attributes:
        channel: Its two streams.
        said: The first of what it wrote to its standard error; nothing of a module's.
    """

    def __init__(self, pool: "E2BPool", command: "CommandHandle[None]") -> None:
        """Listen to the command from now on, in a thread that ends with it."""
        self.channel = LineChannel(pool.limits.frame_bytes, self._write, self._machine_answers)
        self.said = ""
        self._machine, self._command = pool.machine, command
        self._running = pool.running
        self._ending: Ending | None = None
        self._lost: Exception | None = None
        self._killed = False
        self._running.add(self)
        self._listener = threading.Thread(target=self._listen, name="e2b-command", daemon=True)
        self._listener.start()

    def kill(self) -> None:
        """See `Process.kill`."""
        self.channel.close()
        late, self._killed = self._killed or self not in self._running, True
        if not late:
            with self._loss_noted():
                self._machine.commands.kill(self._command.pid, request_timeout=_KILL_S)

    def resume(self) -> None:
        """See `Process.resume`; nothing can be seen of it from here."""

    def ring(self, begun: float, seconds: float) -> float:
        """See `Process.ring`; the worker has a timer of its own."""
        return begun + seconds * WALL

    def rest(self, seconds: float) -> float:
        """See `Process.rest`; a stop would take longer than a request."""
        return seconds

    def dump(self) -> None:
        """See `Process.dump`."""
        order = f"kill -s {DUMP_SIGNAL.name.removeprefix('SIG')} {self._command.pid}"
        with self._loss_noted():
            self._machine.commands.run(order, user=_USER, timeout=_HEALTH_S)

    def ending(self, seconds: float) -> Ending:
        """See `Process.ending`."""
        self._listener.join(seconds)
        if self._killed:
            return Ending("killed", "by the host")
        ending = self._ending
        # A signal that nobody of ours sent may have come with the end of the whole machine.
        if ending is not None and (ending.cause != "killed" or self._machine_answers()):
            return ending
        if self._lost is not None:
            raise PoolGoneError(
                f"the virtual machine can no longer be spoken with: {self._lost}"
            ) from self._lost
        return Ending("unknown")

    def _listen(self) -> None:
        from e2b import CommandExitException

        with self._loss_noted():
            try:
                result = self._command.wait(on_stdout=self.channel.feed, on_stderr=self._hear)
                self._ending = how_it_ended(result.exit_code, result.error)
            except CommandExitException as error:
                self._ending = how_it_ended(error.exit_code, error.error)
        self._running.discard(self)
        self.channel.close()

    def _hear(self, text: str) -> None:
        self.said += text[: _SAID_CHARACTERS - len(self.said)]

    def _write(self, data: bytes, seconds: float) -> None:
        from e2b import NotFoundException, TimeoutException

        try:
            self._command.send_stdin(data, request_timeout=seconds)
        except Exception as error:
            slow = isinstance(error, TimeoutException) and len(data) > _PIPE_BYTES
            if slow and self._machine_answers():
                raise TimeoutError from error
            # Where the command ended or closed its input, its ending tells more.
            if not isinstance(error, NotFoundException) and "stdin" not in str(error):
                self._lost = self._lost or error
            raise ConnectionResetError(f"could not write to the command: {error}") from error

    def _machine_answers(self) -> bool:
        with self._loss_noted():
            if self._machine.is_running(request_timeout=_HEALTH_S):
                return True
            raise RuntimeError("the virtual machine has ended")
        return False

    @contextmanager
    def _loss_noted(self) -> Iterator[None]:
        """Keep what breaks for `ending`; an order to a command that has ended breaks nothing."""
        from e2b import CommandExitException

        try:
            yield
        except CommandExitException:
            return
        except Exception as error:  # noqa: BLE001 - `ending` reports it
            self._lost = self._lost or error


def how_it_ended(exit_code: int, words: str | None) -> Ending:
    """The ending of a command, read from the service's words.

    Args:
        exit_code: Negative where a signal ended it.
        words: "signal: killed", "exit status 3"; None after exit code 0.

    >>> how_it_ended(-1, "signal: segmentation fault (core dumped)")
    Ending(cause='crashed', detail='SIGSEGV')
    >>> how_it_ended(3, "exit status 3")
    Ending(cause='exited', detail='exit code 3')
    """
    if words is None or not words.startswith("signal: "):
        return ending_of(exit_code)
    name = words.removeprefix("signal: ").removesuffix(" (core dumped)")
    return ending_of(-_SIGNALS[name]) if name in _SIGNALS else Ending("killed", name[:80])


def _unavailable(wanted: str, error: Exception) -> SandboxUnavailableError:
    """The error for people when the service did not do what was wanted."""
    from e2b import exceptions as e2b

    ways = {
        e2b.AuthenticationException: (
            "the service refused the key: check E2B_API_KEY and E2B_DOMAIN"
        ),
        e2b.RateLimitException: "the service allows no more now: wait, or end other machines",
        e2b.ServiceBusyException: "the service is busy: try again in a minute",
        e2b.NotFoundException: "there is no such thing at the service: check the template's name",
        e2b.TimeoutException: "the service did not answer in time: check the network and try again",
        Exception: "check the network, E2B_DOMAIN and the template's name",
    }
    way = next(text for kind, text in ways.items() if isinstance(error, kind))
    return SandboxUnavailableError(
        f"the service E2B could not {wanted}: {str(error)[:300]}; {way}, {_OTHERWISE}"
    )
