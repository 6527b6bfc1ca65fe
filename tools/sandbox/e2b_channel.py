"""A command in a virtual machine as a worker's process, and its two streams as the channel.

A machine that has none of our own source files is sent a bundle of them.
"""

import ast
import base64
import binascii
import importlib.util
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from games.text import syntax_tree
from tools.guest.serving import DUMP_SIGNAL, OUT_OF_MEMORY_STATUS
from tools.sandbox.backends import (
    Cause,
    Ending,
    ForgeryError,
    PoolGoneError,
    SandboxUnavailableError,
)

if TYPE_CHECKING:
    from e2b import CommandHandle
    from e2b import Sandbox as Machine

USER = "root"  # the runner leaves root by itself, once it has loaded everything
_PIECE_BYTES = 1 << 20
_PIPE_BYTES = 1 << 15  # a pipe takes more than this from whoever writes, though nobody reads
_SAID_CHARACTERS = 2000
_PAUSE_S = 0.2
_HEALTH_S = 5.0
_KILL_S = 10.0
TEMPLATE = "code-interpreter-v1"  # the service's own: Python with numpy
OTHERWISE = "or use the sandbox of this computer (leave out --sandbox e2b)"

# Go's names for the signals, which the service reports.
_SIGNALS: dict[str, tuple[Cause, str]] = {
    "killed": ("killed", "SIGKILL"),
    "terminated": ("killed", "SIGTERM"),
    "bad system call": ("blocked_call", "SIGSYS"),
    "CPU time limit exceeded": ("cpu_limit", "SIGXCPU"),
    "segmentation fault": ("crashed", "SIGSEGV"),
    "bus error": ("crashed", "SIGBUS"),
    "illegal instruction": ("crashed", "SIGILL"),
    "floating point exception": ("crashed", "SIGFPE"),
    "aborted": ("crashed", "SIGABRT"),
}


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
    named = re.fullmatch(r"signal: (.+?)(?: \(core dumped\))?", words or "")
    if named:
        cause, name = _SIGNALS.get(named[1], ("killed", named[1][:80]))
        return Ending(cause, name)
    if exit_code == OUT_OF_MEMORY_STATUS:
        return Ending("out_of_memory", "no memory was left")
    return Ending("exited", f"exit code {exit_code}")


class LineChannel:
    """Frames as lines of base64: out by a function, in by `feed`, from another thread."""

    def __init__(
        self, longest_bytes: int, write: Callable[[bytes, float], None], alive: Callable[[], bool]
    ) -> None:
        """Start with nothing received.

        Args:
            longest_bytes: Longest frame to be received.
            write: Sends bytes within seconds; raises TimeoutError or another OSError.
            alive: Whether the machine still answers, asked when a deadline has passed: where it
                does not, the silence is no fault of the module.
        """
        self._longest_line = 4 * (longest_bytes // 3 + 1) + 1
        self._write = write
        self._alive = alive
        self._arrived = threading.Condition()
        self._buffer = bytearray()
        self._over = False

    def feed(self, text: str) -> None:
        """Take in what arrived; more than one longest frame is never kept."""
        with self._arrived:
            room = self._longest_line + 1 - len(self._buffer)
            self._buffer += text.encode("utf-8", "replace")[:room]
            self._arrived.notify_all()

    def hang_up(self) -> None:
        """Say that nothing more will arrive."""
        with self._arrived:
            self._over = True
            self._arrived.notify_all()

    def send(self, body: bytes, deadline: float) -> None:
        """See `Channel.send`."""
        with self._arrived:
            if self._buffer:
                raise ForgeryError("sent bytes that nobody asked for", self._take())
            if self._over:
                raise ConnectionResetError("the other side hung up")
        line = memoryview(base64.b64encode(body) + b"\n")
        for start in range(0, len(line), _PIECE_BYTES):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._write(bytes(line[start : start + _PIECE_BYTES]), left)

    def receive(self, deadline: float) -> bytes:
        """See `Channel.receive`."""
        try:
            with self._arrived:
                line = self._line(deadline)
        except TimeoutError:
            if self._alive():
                raise
            raise ConnectionResetError("the virtual machine does not answer") from None
        try:
            return base64.b64decode(line, validate=True)
        except binascii.Error:
            raise ForgeryError("sent a line that is no frame", line) from None

    def _line(self, deadline: float) -> bytes:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched >= self._longest_line:
                raise ForgeryError("sent a reply that is too long", self._take())
            left = deadline - time.monotonic()
            if self._over:
                raise ConnectionResetError("the other side hung up")
            if left <= 0 or not self._arrived.wait(left):
                raise TimeoutError
        line = self._take()
        if end + 1 < len(line):
            what = "sent more than one reply" if end else "sent an empty line"
            raise ForgeryError(what, line)
        return line[:end]

    def rest(self, seconds: float) -> bytes:
        """See `Channel.rest`."""
        until = time.monotonic() + seconds
        with self._arrived:
            if not self._buffer and not self._over:
                self._arrived.wait(seconds)
            while not self._over and self._buffer and self._arrived.wait(_PAUSE_S):
                if len(self._buffer) >= self._longest_line or time.monotonic() > until:
                    break
            return self._take()

    def close(self) -> None:
        """See `Channel.close`."""
        self.hang_up()

    def _take(self) -> bytes:
        taken = bytes(self._buffer)
        self._buffer.clear()
        return taken


class CommandProcess:
    """One background command; see `Process`."""

    def __init__(
        self, machine: "Machine", command: "CommandHandle[None]", longest_bytes: int
    ) -> None:
        """Listen to the command from now on, in a thread that ends with it."""
        self.channel = LineChannel(longest_bytes, self._write, self._machine_answers)
        self._machine = machine
        self._command = command
        self._ending: Ending | None = None
        self._lost: Exception | None = None
        self._said = ""
        self._over = threading.Event()
        self._killing = threading.Lock()
        self._killed = False
        self._listener = threading.Thread(
            target=self._listen, name=f"e2b-command-{command.pid}", daemon=True
        )
        self._listener.start()

    @property
    def running(self) -> bool:
        """True while the command's end is not known."""
        return not self._over.is_set()

    @property
    def said(self) -> str:
        """The first of what it wrote to its standard error; nothing of a module's."""
        return self._said

    def kill(self) -> None:
        """See `Process.kill`."""
        self.channel.close()
        with self._killing:
            late = self._killed or self._over.is_set()
            self._killed = True
        if late:
            return
        self._ask(lambda: self._machine.commands.kill(self._command.pid, request_timeout=_KILL_S))

    def resume(self) -> None:
        """See `Process.resume`; nothing can be seen of it from here."""

    def ring(self, begun: float, seconds: float) -> None:
        """See `Process.ring`; the worker has a timer of its own."""

    def rest(self, seconds: float) -> None:
        """See `Process.rest`; a stop would take longer than a request."""

    def dump(self) -> None:
        """See `Process.dump`."""
        name = DUMP_SIGNAL.name.removeprefix("SIG")
        order = f"kill -s {name} {self._command.pid}"
        self._ask(lambda: self._machine.commands.run(order, user=USER, timeout=_HEALTH_S))

    def ending(self, seconds: float) -> Ending:
        """See `Process.ending`."""
        self._over.wait(seconds)
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

    def join(self, seconds: float) -> None:
        """Wait for the thread that listens to the command."""
        self._listener.join(seconds)

    def _listen(self) -> None:
        from e2b import CommandExitException

        try:
            result = self._command.wait(on_stdout=self.channel.feed, on_stderr=self._hear)
            self._ending = how_it_ended(result.exit_code, result.error)
        except CommandExitException as error:
            self._ending = how_it_ended(error.exit_code, error.error)
        except Exception as error:  # noqa: BLE001 - whatever broke the stream, `ending` reports it
            self._lost = error
        finally:
            self._over.set()
            self.channel.hang_up()

    def _hear(self, text: str) -> None:
        self._said += text[: _SAID_CHARACTERS - len(self._said)]

    def _write(self, data: bytes, seconds: float) -> None:
        from e2b import NotFoundException, SandboxException, TimeoutException

        try:
            self._command.send_stdin(data, request_timeout=seconds)
        except NotFoundException:
            raise ConnectionResetError("the command has ended") from None
        except TimeoutException as error:
            if len(data) > _PIPE_BYTES and self._machine_answers():
                raise TimeoutError from error
            self._lost = self._lost or error
            raise ConnectionResetError("the virtual machine does not answer") from error
        except Exception as error:
            closed = isinstance(error, SandboxException) and "stdin" in str(error)
            if not closed:  # where the command closed its input, its ending tells more
                self._lost = self._lost or error
            raise ConnectionResetError(f"could not write to the command: {error}") from error

    def _machine_answers(self) -> bool:
        try:
            if self._machine.is_running(request_timeout=_HEALTH_S):
                return True
            self._lost = self._lost or RuntimeError("the virtual machine has ended")
        except Exception as error:  # noqa: BLE001 - no answer of any kind is the answer "no"
            self._lost = self._lost or error
        return False

    def _ask(self, order: Callable[[], object]) -> None:
        """Give an order that may come too late; a lost connection is kept for `ending`."""
        from e2b import CommandExitException, NotFoundException

        try:
            order()
        except (CommandExitException, NotFoundException):
            return  # the command has ended already
        except Exception as error:  # noqa: BLE001 - `ending` reports it
            self._lost = self._lost or error


def unavailable(wanted: str, error: Exception) -> SandboxUnavailableError:
    """The error for people when the service did not do what was wanted."""
    from e2b import AuthenticationException, NotFoundException, RateLimitException, TimeoutException
    from e2b.exceptions import ServiceBusyException

    ways = {
        AuthenticationException: "the service refused the key: check E2B_API_KEY and E2B_DOMAIN",
        RateLimitException: "the service allows no more now: wait, or end other machines",
        ServiceBusyException: "the service is busy: try again in a minute",
        NotFoundException: "there is no such thing at the service: check the template's name",
        TimeoutException: "the service did not answer in time: check the network and try again",
    }
    way = next(
        (text for kind, text in ways.items() if isinstance(error, kind)),
        "check the network, E2B_DOMAIN and the template's name",
    )
    return SandboxUnavailableError(
        f"the service E2B could not {wanted}: {str(error)[:300]}; {way}, {OTHERWISE}"
    )


def is_gone(error: Exception) -> bool:
    """True where a machine that existed can no longer be reached."""
    from connectrpc.errors import ConnectError
    from e2b import NotFoundException, TimeoutException

    return isinstance(error, ConnectError | NotFoundException | TimeoutException)


_OURS = ("games", "tools")


def sources(modules: Sequence[str]) -> dict[str, bytes]:
    """The files that `modules` are made of and import, directly or not, from our own packages.

    Ours are `games`, `tools` and whatever package a named module belongs to; everything else
    that they import has to be installed already where the files go. A module's table (`kit.json`
    of `kit.py`) comes along.

    Args:
        modules: Dotted names.

    Returns:
        Content by path below a folder for imports ("tools/guest/runner.py").

    Raises:
        SandboxUnavailableError: If a named module has no source here.
    """
    homes = {top: _home(top) for top in {*_OURS, *(name.partition(".")[0] for name in modules)}}
    files: dict[str, bytes] = {}
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        top, _, rest = name.partition(".")
        file = _file(homes[top], rest) if top in homes else None
        if file is None:
            if name in modules:
                raise SandboxUnavailableError(f"cannot preload {name!r}: it has no source file")
            continue
        content = file.read_bytes()
        for part in filter(Path.is_file, (file, file.with_suffix(".json"))):
            files[part.relative_to(homes[top].parent).as_posix()] = part.read_bytes()
        waiting += [name[:dot] for dot in range(len(name)) if name[dot] == "."]
        waiting += _imported(content, name if file.stem == "__init__" else name.rpartition(".")[0])
    return files


def _home(top: str) -> Path:
    """The folder of a package, or the file of a module that is in none."""
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise SandboxUnavailableError(f"cannot preload {top!r}: there is no such package")
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def _file(home: Path, rest: str) -> Path | None:
    if home.suffix == ".py":
        return None if rest else home
    path = home.joinpath(*rest.split(".")) if rest else home
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file() and (rest or file.parent == home):
            return file
    return None


def _imported(content: bytes, package: str) -> Iterator[str]:
    for node in ast.walk(syntax_tree(content)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            named = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(named, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
