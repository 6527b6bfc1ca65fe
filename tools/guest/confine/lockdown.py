"""The lockdown of a fresh worker: user, descriptors, resources, Landlock, system calls.

The zygote enters namespaces before it forks any: no file of the host, no network, no other process.
"""

import ctypes
import os
import resource
import select
import signal
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tools.guest.confine import filters, kernel
from tools.guest.protocol import Ready

_HIGHEST_DESCRIPTOR = 4096
_LAST_S = 2
NOBODY = 65534

# The numbers are the same on x86_64 and aarch64.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION_FLAG = 1

# linux/landlock.h: rights over files that each version of the interface knows.
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK_RIGHTS = 0x3  # bind and connect TCP, from version 4
_SCOPES = 0x3  # abstract sockets and signals, from version 6
_NETWORK_FROM, _SCOPES_FROM = 4, 6
_MAC_LIBRARY = "/usr/lib/libSystem.dylib"
_MAC_PROFILE = b"(version 1)(deny default)"
_INSIDE_ID = 65534
_POLL_MS = 1000

_NEW_MOUNTS, _NEW_CGROUP, _NEW_HOSTNAME, _NEW_IPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_ALL = (
    _NEW_USER | _NEW_MOUNTS | _NEW_NETWORK | _NEW_IPC | _NEW_HOSTNAME | _NEW_CGROUP
) | kernel.NEW_PROCESSES
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_REMOUNT, _RECURSIVE, _PRIVATE = 32, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}


@dataclass(frozen=True)
class Lockdown:
    """The restrictions that a worker puts in force for itself.

    Attributes:
        machine: The architecture.
        landlock: Version of the Landlock interface to use; 0 for none.
        program: The seccomp program; empty for none.
        seatbelt: Whether to enter macOS's sandbox instead of the two above.
        clock: Why a clock is in reach of its modules; empty where none is.
    """

    machine: str = ""
    landlock: int = 0
    program: bytes = b""
    seatbelt: bool = False
    clock: str = "nothing takes it away"


def ready(lockdown: Lockdown) -> Ready:
    """The report to the host of a zygote, or of a worker without one, that is confined."""
    return Ready(True, lockdown.landlock, lockdown.machine, sys.version.split()[0], lockdown.clock)


def leave_root() -> None:
    """Become nobody, if this process is root; files that root alone may read are closed to it.

    Raises:
        OSError: If this root may not change its user, as in some containers.
    """
    if os.geteuid() != 0:
        return
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the zygote's only thread ends, busy or not."""
    kernel.die_with_parent_thread(signal.SIGKILL)
    if os.getppid() not in (parent, 0):  # 0: it is out of sight of a namespace of one's own
        os._exit(0)  # the zygote ended before the kernel was told


def strictest(*, use_landlock: bool = True) -> Lockdown:
    """The strictest lockdown of this machine: the filter always, Landlock where there is one.

    Raises:
        RefusedError: If the kernel has no filter, or we have no table for the machine.
    """
    machine = filters.architecture()
    if not kernel.has_seccomp(machine):
        raise filters.RefusedError("seccomp", "the kernel cannot filter system calls")
    version = landlock_version() if use_landlock else 0
    return Lockdown(machine, version, filters.program(machine))


def keep_only(descriptor: int) -> None:
    """Close every descriptor but one, and put dead pipes on 0, 1 and 2.

    No file or device of the host stays open.
    """
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, _HIGHEST_DESCRIPTOR)
    deaden_standard_streams()


def deaden_standard_streams() -> None:
    """Put dead pipes on 0, 1 and 2.

    Reading standard input gives its end at once; writing to 1 or 2 past Python's own streams
    raises BrokenPipeError.
    """
    empty, empty_end = os.pipe()
    unread, unread_end = os.pipe()
    os.dup2(empty, 0)
    os.dup2(unread_end, 1)
    os.dup2(unread_end, 2)
    for end in (empty, empty_end, unread, unread_end):
        os.close(end)


def limit_resources(limits: Mapping[str, int]) -> None:
    """Set the hard limits; none can be raised again without privileges.

    Args:
        limits: The fields of `tools.sandbox.Limits`, of which `memory_bytes`, `cpu_s` and
            `descriptors` are set.
    """
    descriptors, memory, cpu_s = (limits[k] for k in ("descriptors", "memory_bytes", "cpu_s"))
    bounds = [
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, descriptors, descriptors),
        (resource.RLIMIT_CPU, cpu_s, cpu_s + _LAST_S),  # the first one ends it by name
        (resource.RLIMIT_AS, memory, memory),
    ]
    if hasattr(resource, "RLIMIT_MSGQUEUE"):
        bounds.append((resource.RLIMIT_MSGQUEUE, 0, 0))
    for what, soft, hard in bounds:
        resource.setrlimit(what, (soft, hard))


def lock_down(lockdown: Lockdown) -> None:
    """Put the lockdown in force; nothing can lift it again.

    Raises:
        OSError: If the kernel refuses a layer; the process must not go on.
    """
    if lockdown.seatbelt:
        _enter_seatbelt()
    if lockdown.landlock or lockdown.program:
        kernel.no_new_privileges()
    if lockdown.landlock:
        _forbid_files(lockdown.landlock)
    if lockdown.program:
        kernel.install_filter(lockdown.program, lockdown.machine)


def landlock_version() -> int:
    """The newest version of Landlock's interface that this kernel has; 0 where it has none."""
    try:
        return kernel.call(_CREATE_RULESET, 0, 0, _VERSION_FLAG)
    except OSError:
        return 0


def _forbid_files(version: int) -> None:
    """Have Landlock take away every right that `version` knows; needs no-new-privileges.

    Raises:
        OSError: If the kernel refuses.
    """
    rights = struct.pack("=Q", _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))])
    if version >= _NETWORK_FROM:
        rights += struct.pack("=Q", _NETWORK_RIGHTS)
    if version >= _SCOPES_FROM:
        rights += struct.pack("=Q", _SCOPES)
    ruleset = kernel.call(
        _CREATE_RULESET, ctypes.create_string_buffer(rights, len(rights)), len(rights), 0
    )
    try:
        kernel.call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _enter_seatbelt() -> None:
    """Have macOS deny this process files, network, processes and services, for good.

    Not tried on a Mac yet. `sandbox_init` is marked deprecated by Apple and has no successor for
    command-line programs.

    Raises:
        OSError: If the system refuses the profile.
    """
    library = ctypes.CDLL(_MAC_LIBRARY, use_errno=True)
    problem = ctypes.c_char_p()
    flags = ctypes.c_uint64(0)  # the profile is given as text
    if library.sandbox_init(ctypes.c_char_p(_MAC_PROFILE), flags, ctypes.byref(problem)) != 0:
        said = (problem.value or b"no reason given").decode("utf-8", "replace")
        raise OSError(f"sandbox_init: {said}")


def enter_namespaces(machine: str) -> None:
    """Move this process into namespaces of its own, under an empty read-only root.

    Everything it will ever read from a file must be loaded already. Processes it forks from now
    on live in the new process namespace; see `become_init`.

    Raises:
        OSError: Where namespaces are not allowed; the process is then in no state to go on.
    """
    user, group = os.getuid(), os.getgid()
    kernel.require(kernel.libc.unshare(ctypes.c_int(_ALL)), "unshare")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{_INSIDE_ID} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{_INSIDE_ID} {group} 1", encoding="ascii")
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    # Over a folder that every Linux has; nothing outside this namespace sees the mount.
    limits = "size=4k,nr_inodes=2,mode=755"
    _mount("none", "/proc", "tmpfs", _NO_SETUID | _NO_DEVICES | _NO_EXEC, limits)
    os.chdir("/proc")
    kernel.call(_PIVOT_ROOT[machine], b".", b".")  # the old root now lies over the new one
    kernel.require(kernel.libc.umount2(b".", ctypes.c_int(_DETACH)), "umount2")
    os.chdir("/")
    _mount(None, "/", None, _REMOUNT | _READ_ONLY | _NO_SETUID | _NO_DEVICES | _NO_EXEC, limits)
    name = b"sandbox"
    kernel.require(kernel.libc.sethostname(name, ctypes.c_size_t(len(name))), "sethostname")


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
    kernel.die_with_parent_thread(signal.SIGKILL)
    if select.select([alive], [], [], 0)[0]:
        os._exit(0)  # the outer process ended before the kernel was told
    os.close(alive)


def _guard(inner: int, host: int) -> NoReturn:
    handle = os.pidfd_open(inner)
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    while not ended.poll(_POLL_MS):
        if os.getppid() != host:
            os._exit(0)  # a copy of the control socket may outlive the host, the host's id cannot
    os.waitpid(inner, 0)  # so that the time of its workers is counted where somebody asks for it
    os._exit(0)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    result = kernel.libc.mount(*texts, ctypes.c_ulong(flags), data.encode() or None)
    kernel.require(result, f"mount {target}")
