"""Stages of the attacks: bait that the host lays out, and the harm that it sees afterwards."""

import contextlib
import ctypes
import hashlib
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import evals
from evals.results import read_data
from games.values import Json, ModuleFault
from tools.sandbox import Sandbox, SandboxUnavailableError

MARK = "PROBE_BAIT"  # an environment variable of the host whose value no worker may find
_PID: str = read_data("data/sources.yaml")["pid"]
_SOUND: str = read_data("data/sources.yaml")["sound"]
NOBODY = 65534
_REMOVE, _CREATE = 0, 0o1000
_BYSTANDER: str = read_data("data/sources.yaml")["bystander"]


@dataclass(frozen=True)
class Scene:
    """A laid-out stage.

    Attributes:
        bait: What the attacker is assumed to know.
        harm: What the host saw of the harm, to be asked after the worker's end; "" for nothing.
    """

    bait: Mapping[str, Json]
    harm: Callable[[], str] = lambda: ""


Stage: TypeAlias = Callable[[Sandbox], AbstractContextManager[Scene]]


def stage(name: str) -> Stage:
    """The stage of that name."""
    return _STAGES[name]


@contextlib.contextmanager
def _folder(_: Sandbox) -> Iterator[Scene]:
    """A folder that everybody may write to, whose files belong to whom the worker runs as."""
    folder = Path(tempfile.mkdtemp(prefix="probe-"))
    try:
        folder.chmod(0o777)
        (folder / "secret").write_text(secrets.token_hex(16))
        (folder / "movable").write_text("left alone")
        (folder / "inner").mkdir()
        for path in folder.iterdir():
            path.chmod(0o777 if path.is_dir() else 0o666)
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        before = _listing(folder)
        yield Scene(
            {"folder": str(folder), "secret": str(folder / "secret")},
            lambda: _changed(before, _listing(folder)),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _listing(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        facts = [oct(status.st_mode), status.st_uid, status.st_gid, status.st_mtime_ns]
        if path.is_file() and not path.is_symlink():
            facts.append(hashlib.sha256(path.read_bytes()).hexdigest())
        if path.is_dir():
            facts.pop()  # a folder's time changes with what is in it
        found[path.name] = json.dumps(facts)
    return found


def _changed(before: dict[str, str], after: dict[str, str]) -> str:
    names = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    return f"changed on the disk: {', '.join(sorted(names)[:5])}" if names else ""


@contextlib.contextmanager
def _hidden(_: Sandbox) -> Iterator[Scene]:
    """Words no worker may hold, as hexadecimal digits so that the bait is no find."""
    words = [str(Path(evals.__file__).parents[1]), str(Path.home()), sys.base_prefix]
    words = [word for word in words if word.count("/") > 1 and not word.startswith("/usr")]
    # A word that begins another one would be found in what is laid out of the longer one.
    words = [
        word
        for word in words
        if not any(word != other and word.startswith(other) for other in words)
    ]
    if MARK in os.environ:
        words.append(os.environ[MARK])
    yield Scene({"hidden": [word.encode().hex() for word in words]})


@contextlib.contextmanager
def _process(_: Sandbox) -> Iterator[Scene]:
    """A process of the least privileged user, which any unconfined process may do things to."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-I", "-S", "-c", f"NOBODY = {NOBODY}\n{_BYSTANDER}"]
    end = theirs.fileno()
    secret = {"SECRET": os.urandom(16).hex()}
    with (
        ours,
        ours.makefile("rw") as wire,
        subprocess.Popen(command, env=secret, cwd="/", stdin=end, stdout=end) as process,
    ):
        theirs.close()

        def facts() -> Json:
            wire.write("facts\n")
            wire.flush()
            found: Json = json.loads(wire.readline())
            return found

        def harm() -> str:
            try:
                after = facts()
            except (OSError, ValueError):
                return f"the bystander ended with {process.wait()}"
            return "" if after == before else f"the bystander changed: {before} to {after}"

        known = {"pid": process.pid, "signal": int(signal.SIGUSR1), **json.loads(wire.readline())}
        before = facts()
        try:
            yield Scene(known, harm)
        finally:
            process.kill()


@contextlib.contextmanager
def _sibling(sandbox: Sandbox) -> Iterator[Scene]:
    with sandbox.worker("sibling") as worker:
        worker.load(_PID)

        def harm() -> str:
            try:
                worker.call("pid")
            except (ModuleFault, SandboxUnavailableError) as fault:
                return f"the other worker ended: {fault}"
            return ""

        yield Scene({"sibling": worker.call("pid")}, harm)


@contextlib.contextmanager
def _next_worker(sandbox: Sandbox) -> Iterator[Scene]:
    def harm() -> str:
        with sandbox.worker("next") as worker:
            try:
                worker.load(_SOUND)
                found = worker.call("sound")
            except ModuleFault as fault:
                return f"the next worker failed: {fault}"
        return "" if found == [2, 251, [1], 2] else f"the next worker computed {found}"

    yield Scene({}, harm)


def _network(family: int, kind: int, address: tuple[str, int]) -> Stage:
    @contextlib.contextmanager
    def stage(_: Sandbox) -> Iterator[Scene]:
        with socket.socket(family, kind) as server:
            try:
                server.bind(address)
            except OSError:  # a machine without IPv6: nobody listens, and nobody can be reached
                yield Scene({})
                return
            if kind == socket.SOCK_STREAM:
                server.listen()
            bait: dict[str, Json] = {"port": server.getsockname()[1]}
            yield Scene(bait, lambda: _arrived(server))

    return stage


def _arrived(server: socket.socket) -> str:
    return "something arrived at the host's server" if select.select([server], [], [], 0)[0] else ""


@contextlib.contextmanager
def _unix(_: Sandbox) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="probe-") as folder:
        Path(folder).chmod(0o777)
        path = Path(folder) / "server"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            path.chmod(0o777)
            server.listen()
            yield Scene({"path": str(path)}, lambda: _arrived(server))


@contextlib.contextmanager
def _abstract(_: Sandbox) -> Iterator[Scene]:
    name = f"probe-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        yield Scene({"name": name}, lambda: _arrived(server))


@contextlib.contextmanager
def _segment(_: Sandbox) -> Iterator[Scene]:
    """A segment of shared memory that everybody on the machine may read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    key = secrets.randbits(30) + 1
    number = int(libc.shmget(key, 4096, _CREATE | 0o666))
    if number < 0:
        raise OSError(ctypes.get_errno(), "this machine gives no shared segment")
    address = libc.shmat(number, None, 0)
    ctypes.memmove(address, os.urandom(16), 16)
    try:
        yield Scene({"key": key, "segment": number})
    finally:
        libc.shmdt(ctypes.c_void_p(address))
        libc.shmctl(number, _REMOVE, None)


@contextlib.contextmanager
def _left_behind(_: Sandbox) -> Iterator[Scene]:
    key, name = secrets.randbits(30) + 1, f"probe-{secrets.token_hex(8)}"

    def harm() -> str:
        found = _left_in_kernel(key)
        for path in (Path("/dev/shm") / name, Path("/dev/shm") / f"sem.{name}"):
            if path.exists():
                path.unlink()
                found.append(str(path))
        return f"left behind: {', '.join(found)}" if found else ""

    try:
        yield Scene({"key": key, "name": name}, harm)
    finally:
        harm()


def _left_in_kernel(key: int) -> list[str]:
    """The texts that stand under a key in the kernel's tables; they are removed."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = []
    if (segment := libc.shmget(key, 0, 0)) >= 0:
        libc.shmctl(segment, _REMOVE, None)
        found.append("a shared segment")
    if (semaphores := libc.semget(key, 0, 0)) >= 0:
        libc.semctl(semaphores, 0, _REMOVE)
        found.append("semaphores")
    if (queue := libc.msgget(key, 0)) >= 0:
        libc.msgctl(queue, _REMOVE, None)
        found.append("a message queue")
    return found


_STAGES: Mapping[str, Stage] = {
    "none": lambda _: contextlib.nullcontext(Scene({})),
    "folder": _folder,
    "hidden": _hidden,
    "process": _process,
    "sibling": _sibling,
    "next_worker": _next_worker,
    "tcp": _network(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
    "tcp6": _network(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)),
    "udp": _network(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
    "unix": _unix,
    "abstract": _abstract,
    "segment": _segment,
    "left_behind": _left_behind,
}
