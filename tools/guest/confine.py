"""What a fresh worker gives up before it reads a line of the module's source."""

import os
import resource
import signal
from dataclasses import dataclass

from tools.guest import filters, kernel, landlock
from tools.guest.syscalls import UnknownArchitectureError, architecture

_HIGHEST_DESCRIPTOR = 4096
_LAST_S = 2
NOBODY = 65534


@dataclass(frozen=True)
class Lockdown:
    """What a worker puts in force for itself.

    Attributes:
        machine: The architecture.
        landlock: Version of the Landlock interface to use; 0 for none.
        program: The seccomp program; empty for none.
        seatbelt: Whether to enter macOS's sandbox instead of the two above.
    """

    machine: str = ""
    landlock: int = 0
    program: bytes = b""
    seatbelt: bool = False


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
    if os.getppid() != parent:
        os._exit(0)  # the zygote ended before the kernel was told


class NoFilterError(Exception):
    """This machine cannot filter system calls."""


def strictest(*, use_landlock: bool = True) -> Lockdown:
    """The strictest lockdown of this machine: the filter always, Landlock where there is one.

    Raises:
        NoFilterError: If the kernel has no filter, or we have no table for the machine.
    """
    try:
        machine = architecture()
    except UnknownArchitectureError as error:
        raise NoFilterError(str(error)) from error
    if not kernel.has_seccomp(machine):
        raise NoFilterError("the kernel cannot filter system calls")
    version = landlock.version() if use_landlock else 0
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


def limit_resources(*, memory_bytes: int, cpu_s: int, descriptors: int) -> None:
    """Set the hard limits; none can be raised again without privileges.

    Args:
        memory_bytes: Address space, the interpreter's own share (some 150 MiB) included.
        cpu_s: Processor seconds over the worker's life; a backstop behind the host's deadlines.
        descriptors: Open files and sockets.
    """
    bounds = [
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, descriptors, descriptors),
        (resource.RLIMIT_CPU, cpu_s, cpu_s + _LAST_S),  # the first one ends it by name
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
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
        from tools.guest.seatbelt import deny_everything

        deny_everything()
    if lockdown.landlock or lockdown.program:
        kernel.no_new_privileges()
    if lockdown.landlock:
        landlock.forbid_everything(lockdown.landlock)
    if lockdown.program:
        kernel.install_filter(lockdown.program, lockdown.machine)
