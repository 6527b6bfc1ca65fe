"""System calls made in a worker, one by its number, with arguments that can do no harm.

Preloaded by the host that sweeps; see `evals.sandbox.sweep`. It refuses to call anything where
no filter is in force or the process is root's: a sweep over an unconfined process has changed the
mode of a device of the host before now.
"""

import ctypes
import mmap
import os
from collections.abc import Callable
from typing import Any

_GET_FILTER = 21  # PR_GET_SECCOMP: 0 where there is none
_PRIVATE_ANONYMOUS = 0x22
_CHILD_SIGNAL = 17
_X32 = 0x40000000

_IS_X86 = os.uname().machine == "x86_64"
_libc = ctypes.CDLL(None, use_errno=True)


class UnconfinedError(RuntimeError):
    """This process is not confined, so nothing is called."""


def one_call(namespace: dict[str, object], payload: dict[str, Any]) -> list[int]:
    """Make one system call.

    Args:
        namespace: Unused.
        payload: `number`; `arguments`, six of them, such as -1, which is no descriptor, no address
            and no size.

    Returns:
        The result and the error number.
    """
    del namespace
    _require_confined()
    return _called(payload["number"], *payload["arguments"])


def special_call(namespace: dict[str, object], payload: dict[str, Any]) -> list[int]:
    """Make one call whose arguments matter.

    Args:
        namespace: Unused.
        payload: `name`, one of `SPECIAL`.

    Returns:
        The result and the error number.
    """
    del namespace
    _require_confined()
    return SPECIAL[payload["name"]]()


OPERATIONS = {"one_call": one_call, "special_call": special_call}


def _require_confined() -> None:
    if os.geteuid() == 0 or os.getegid() == 0:
        raise UnconfinedError("a sweep is never run as root")
    if _libc.prctl(_GET_FILTER, 0, 0, 0, 0) == 0:
        raise UnconfinedError("a sweep is only run behind a system call filter")


def _called(number: int, *arguments: int) -> list[int]:
    process = os.getpid()
    ctypes.set_errno(0)
    function = _libc.syscall
    function.restype = ctypes.c_long
    result = function(ctypes.c_long(number), *(ctypes.c_long(argument) for argument in arguments))
    if os.getpid() != process:
        os._exit(0)  # a copy must not answer as well
    return [int(result), ctypes.get_errno() if result == -1 else 0]


def _number(x86_64: int, aarch64: int) -> int:
    return x86_64 if _IS_X86 else aarch64


def _page() -> int:
    return _mapped(mmap.PROT_READ | mmap.PROT_WRITE)[0]


def _mapped(protection: int, flags: int = _PRIVATE_ANONYMOUS) -> list[int]:
    return _called(_number(9, 222), 0, mmap.PAGESIZE, protection, flags, -1, 0)


def _protected(protection: int) -> list[int]:
    return _called(_number(10, 226), _page(), mmap.PAGESIZE, protection)


def _limited(process: int) -> list[int]:
    """Set a limit to no more than it is; of this process or of another."""
    lower = (ctypes.c_uint64 * 2)(0, 0)
    core = 4
    return _called(_number(302, 261), process, core, ctypes.addressof(lower), 0)


_RWX = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
_RX = mmap.PROT_READ | mmap.PROT_EXEC

SPECIAL: dict[str, Callable[[], list[int]]] = {
    "mmap writable and executable": lambda: _mapped(_RWX),
    "mmap executable": lambda: _mapped(_RX),
    "mmap shared and executable": lambda: _mapped(_RWX, 0x21),
    "mmap shared": lambda: _mapped(mmap.PROT_READ | mmap.PROT_WRITE, 0x21),
    "mmap of a huge page": lambda: _mapped(mmap.PROT_READ | mmap.PROT_WRITE, 0x40022),
    "advice to merge pages": lambda: _called(_number(28, 233), _page(), mmap.PAGESIZE, 12),
    "advice to page out": lambda: _called(_number(28, 233), _page(), mmap.PAGESIZE, 21),
    "futex that tells its owner": lambda: _called(_number(202, 98), _page(), 0x86, 0, 0, 0, 0),
    "mprotect executable": lambda: _protected(_RX),
    "mprotect writable and executable": lambda: _protected(_RWX),
    "pkey_mprotect executable": lambda: _called(_number(329, 288), _page(), mmap.PAGESIZE, _RX, -1),
    "prlimit sets": lambda: _limited(0),
    "prlimit of another process": lambda: _called(_number(302, 261), 1, 4, 0, 0),
    "clone": lambda: _called(_number(56, 220), _CHILD_SIGNAL, 0, 0, 0, 0),
    "prctl sets the parent's death signal": lambda: _called(_number(157, 167), 1, 0, 0, 0, 0),
    "prctl gets the filter": lambda: _called(_number(157, 167), _GET_FILTER, 0, 0, 0, 0),
    "seccomp": lambda: _called(_number(317, 277), 3, 0, 0),
    "socket": lambda: _called(_number(41, 198), 1, 1, 0),
    "kill of itself with no signal": lambda: _called(_number(62, 129), os.getpid(), 0),
    "ioctl past 32 bits": lambda: _called(_number(16, 29), 0, 0x5412 | 1 << 32, 0),
    "futex of a shared page": lambda: _called(_number(202, 98), _page(), 1, 1, 0, 0, 0),
    "a clock that goes on": lambda: _called(_number(228, 113), 1, _page()),
    "a timer that goes on": lambda: _called(_number(38, 103), 0, _page(), 0),
    "a wait until a moment": lambda: _called(_number(230, 115), 1, 1, _page(), 0),
    "another process's clock": lambda: _called(_number(228, 113), ~1 << 3 | 2, 0),
    "x32 getpid": lambda: _called(_X32 + 39),
    "x32 read": lambda: _called(_X32, -1, -1, -1),
    "x32 open": lambda: _called(_X32 + 2, -1, -1, -1),
    "a number past all tables": lambda: _called(100_000),
    "a negative number": lambda: _called(-1),
}
