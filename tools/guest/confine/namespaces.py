"""Namespaces around the zygote: no file of the host, no network, no other process in sight."""

import ctypes
import os
import select
import signal
from pathlib import Path
from typing import NoReturn

from tools.guest.confine.kernel import call, die_with_parent_thread

_INSIDE_ID = 65534
_POLL_MS = 1000

_NEW_MOUNTS, _NEW_CGROUP, _NEW_HOSTNAME, _NEW_IPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_ALL = (
    _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_NETWORK | _NEW_IPC | _NEW_HOSTNAME | _NEW_CGROUP
)
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_REMOUNT, _RECURSIVE, _PRIVATE = 32, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_libc = ctypes.CDLL(None, use_errno=True)


def enter(machine: str) -> None:
    """Move this process into namespaces of its own, under an empty read-only root.

    Everything it will ever read from a file must be loaded already. Processes it forks from now
    on live in the new process namespace; see `become_init`.

    Raises:
        OSError: Where namespaces are not allowed; the process is then in no state to go on.
    """
    user, group = os.getuid(), os.getgid()
    _require(_libc.unshare(ctypes.c_int(_ALL)), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{_INSIDE_ID} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{_INSIDE_ID} {group} 1", encoding="ascii")
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    # Over a folder that every Linux has; nothing outside this namespace sees the mount.
    limits = "size=4k,nr_inodes=2,mode=755"
    _mount("none", "/proc", "tmpfs", _NO_SETUID | _NO_DEVICES | _NO_EXEC, limits)
    os.chdir("/proc")
    call(_PIVOT_ROOT[machine], b".", b".")  # the old root now lies over the new one
    _require(_libc.umount2(b".", ctypes.c_int(_DETACH)), "umount2")
    os.chdir("/")
    _mount(None, "/", None, _REMOUNT | _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_EXEC, limits)
    name = b"sandbox"
    _require(_libc.sethostname(name, ctypes.c_size_t(len(name))), "sethostname")


def become_init(control: int, host: int) -> None:
    """Fork the first process of the new namespace and go on in it.

    When it ends, the kernel kills every process of the namespace. The parent stays outside, waits
    for it, and takes it along when the host is gone.

    Args:
        control: The descriptor that only the inner process shall keep.
        host: The host's process id.
    """
    alive, held = os.pipe()
    inner = os.fork()
    if inner:
        os.close(control)
        os.close(alive)
        _guard(inner, host)
    os.close(held)
    die_with_parent_thread(signal.SIGKILL)
    if select.select([alive], [], [], 0)[0]:
        os._exit(0)  # the outer process ended before the kernel was told
    os.close(alive)


def _guard(inner: int, host: int) -> NoReturn:
    handle = os.pidfd_open(inner)
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    while not ended.poll(_POLL_MS):
        if os.getppid() != host:
            break  # a copy of the control socket may outlive the host, the host's id cannot
    os._exit(0)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    result = _libc.mount(*texts, ctypes.c_ulong(flags), data.encode() or None)
    _require(result, f"mount {target}")


def _require(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
