"""The kernel's own interfaces that Python has no name for, through the C library."""

import ctypes
import os
import struct

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_TSC = 26
_TSC_SIGSEGV = 2
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_GET_ACTION_AVAIL = 2
_SPEC_ALLOW = 4  # without it every worker runs with slower speculation
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITIES = 64
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITY_WORDS = struct.Struct("<6I")  # effective, permitted, inheritable; twice

NEW_PROCESSES = 0x20000000
ADMIN = 21  # CAP_SYS_ADMIN

_PROT_READ = 1
_PRIVATE_ANONYMOUS_FIXED = 0x32

libc = ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments: "int | bytes | ctypes.Array[ctypes.c_char]") -> int:
    """One raw system call.

    Raises:
        OSError: With the call's error number.
    """
    given = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    return require(libc.syscall(ctypes.c_long(number), *given), f"system call {number}")


def require(result: int, what: str) -> int:
    """The value that a call of the C library returned.

    Raises:
        OSError: With the call's error number, where it failed.
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def control(option: int, value: int) -> None:
    """`prctl(option, value)`.

    Raises:
        OSError: With the call's error number.
    """
    zero = ctypes.c_ulong(0)
    result = libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)
    require(result, f"prctl({option})")


def die_with_parent_thread(signal_number: int) -> None:
    """Have the kernel send this signal when the thread that forked this process ends."""
    control(_PR_SET_PDEATHSIG, signal_number)


def set_dumpable(*, dumpable: bool) -> None:
    """Open or close core dumps, /proc/PID and tracing to processes of the same user."""
    control(_PR_SET_DUMPABLE, int(dumpable))


def no_new_privileges() -> None:
    """Make every later exec keep the privileges of now; seccomp and Landlock require it."""
    control(_PR_SET_NO_NEW_PRIVS, 1)


def trap_counter() -> None:
    """Have the instructions that read the processor's counter of time end the process.

    Raises:
        OSError: If the kernel cannot, as for aarch64 before Linux 6.12.
    """
    control(_PR_SET_TSC, _TSC_SIGSEGV)


def blank(start: int, length: int) -> None:
    """Put pages of zeros, for reading alone, in the place of whatever is mapped there.

    Raises:
        OSError: If the kernel keeps what is there.
    """
    where, size, nothing = ctypes.c_void_p(start), ctypes.c_size_t(length), ctypes.c_long(0)
    libc.mmap.restype = ctypes.c_void_p
    if libc.mmap(where, size, _PROT_READ, _PRIVATE_ANONYMOUS_FIXED, -1, nothing) != start:
        code = ctypes.get_errno()
        raise OSError(code, f"mmap: {os.strerror(code)}")


def drop_capabilities(machine: str, *, keep: int | None = None) -> None:
    """Give up every capability, but for one that this process may keep, now and for good.

    Raises:
        OSError: If the kernel refuses.
    """
    for capability in range(_CAPABILITIES):
        try:
            control(_PR_CAPBSET_DROP, capability)
        except OSError:  # an unknown capability, or no right to shrink what is empty anyway
            continue
    header = ctypes.create_string_buffer(_CAPABILITY_VERSION_3.to_bytes(4, "little") + bytes(4), 8)
    kept = 0 if keep is None else 1 << keep
    words = _CAPABILITY_WORDS.pack(kept, kept, 0, 0, 0, 0)
    call(_CAPSET[machine], header, ctypes.create_string_buffer(words, len(words)))


def fork_apart(own: int | None) -> int:
    """Fork; with a handle on this process, the child has a process namespace of its own.

    There it is number 1, so that its number tells nothing. This process must hold `ADMIN`.

    Raises:
        OSError: If the kernel refuses.
    """
    if own is None:
        return os.fork()
    require(libc.unshare(ctypes.c_int(NEW_PROCESSES)), "unshare")
    forked = -1
    try:
        forked = os.fork()
    finally:
        if forked:  # each child is to have another one, and a namespace cannot be left twice
            require(libc.setns(ctypes.c_int(own), ctypes.c_int(NEW_PROCESSES)), "setns")
    return forked


def has_seccomp(machine: str) -> bool:
    """True where the kernel can filter system calls and kill a process for one."""
    action = ctypes.create_string_buffer((0x80000000).to_bytes(4, "little"), 4)
    try:
        call(_SECCOMP[machine], _SECCOMP_GET_ACTION_AVAIL, 0, action)
    except OSError:
        return False
    return True


def install_filter(program: bytes, machine: str) -> None:
    """Put a seccomp program in force for this process, for good.

    Raises:
        OSError: If the kernel refuses it.
    """
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: a 16-bit count, padding, a pointer
    header = (len(program) // 8).to_bytes(8, "little") + ctypes.addressof(code).to_bytes(
        8, "little"
    )
    call(_SECCOMP[machine], _SECCOMP_SET_MODE_FILTER, _SPEC_ALLOW, header)
