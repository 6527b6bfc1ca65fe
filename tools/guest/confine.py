"""What a fresh worker gives up before it reads a line of the module's source."""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_HIGHEST_DESCRIPTOR = 4096


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the zygote's only thread ends, busy or not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os._exit(0)  # the zygote ended before the kernel was told


def keep_only(descriptor: int) -> None:
    """Close every descriptor but one, and put dead pipes on 0, 1 and 2.

    Reading standard input gives its end at once; writing to 1 or 2 past Python's own streams
    raises BrokenPipeError. No file or device of the host stays open.
    """
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, _HIGHEST_DESCRIPTOR)
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
    for what, bound in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, descriptors),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory_bytes),
    ):
        resource.setrlimit(what, (bound, bound))


def forget_host() -> None:
    """Drop what the zygote was started with: its arguments and its environment."""
    os.environ.clear()
    sys.argv[:] = ["worker"]
    sys.dont_write_bytecode = True
