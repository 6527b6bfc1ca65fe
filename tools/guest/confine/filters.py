"""The filter of system calls: a short allow-list, everything else fails or kills.

What stays allowed is what an interpreter needs that computes and answers on descriptors it
already holds. Honest mistakes (opening a file, starting a thread) fail with the error that
Python turns into a clear exception; calls that only an attack makes end the process.

The policy is assembled into a program of seccomp's classic BPF, which reads `struct seccomp_data`
(linux/seccomp.h) in 32-bit words: the call's number at byte 0, the architecture at byte 4, six
64-bit arguments from byte 16. The calls' numbers, in `filters.json` beside the policy's lists,
are those of the Linux kernel's `asm/unistd_64.h` (x86_64) and `asm-generic/unistd.h` (aarch64).
"""

import errno as codes
import json
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

# Seccomp's name of an architecture (linux/audit.h): machine, 64 bit, little-endian.
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_POLICY: dict[str, Any] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)
# name: [x86_64, aarch64]; -1 where the architecture has no such call
_NUMBERS: dict[str, list[int]] = _POLICY["numbers"]
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000

_LOAD, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000  # x86_64 calls of the 32-bit ABI carry this bit
_LONGEST = 4096

_ALL_BITS = 0xFFFFFFFF
_READ_WRITE = 0x3  # PROT_READ, PROT_WRITE
# linux/mman.h: MAP_PRIVATE and MAP_ANONYMOUS; with MAP_FIXED, MAP_NORESERVE, MAP_STACK and
# MAP_FIXED_NOREPLACE that is all that the C library and Python ask for.
_PRIVATE_MAP, _ANONYMOUS = 0x2, 0x20
_MAPS = _PRIVATE_MAP | _ANONYMOUS | 0x10 | 0x4000 | 0x20000 | 0x100000
_ADVICE = (4, 8)  # MADV_DONTNEED and MADV_FREE: memory is given back
# linux/futex.h: FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAIT_BITSET (also by another clock) and
# FUTEX_WAKE_BITSET, all with FUTEX_PRIVATE_FLAG: of this process's memory alone.
_FUTEXES = (0x80, 0x81, 0x89, 0x189, 0x8A)
_NOT_ITS_OWN = 0xFFFFFFFC  # clocks 2 and 3 count processor time, of this process and this thread
_PROCESSOR_TIME = 0x2  # of clocks and of timers: ITIMER_PROF is number 2


class RefusedError(Exception):
    """A layer, or something else that was asked for, cannot be had on this machine.

    Attributes:
        lacking: What it lacks ("namespaces", "seccomp", "numpy", "a package").
    """

    def __init__(self, lacking: str, why: object) -> None:
        super().__init__(str(why))
        self.lacking = lacking

    def message(self) -> bytes:
        """The message for the host."""
        return json.dumps({"refused": self.lacking, "why": str(self)}).encode()


def architecture() -> str:
    """This machine's architecture.

    Raises:
        RefusedError: If there is no table for it.
    """
    machine = platform.machine()
    if machine not in AUDIT_ARCH:
        known = ", ".join(sorted(AUDIT_ARCH))
        raise RefusedError("seccomp", f"no system call table for {machine!r}; there is: {known}")
    return machine


def number(name: str, machine: str) -> int | None:
    """The number of a call, or None where the architecture has none.

    >>> number("read", "x86_64"), number("read", "aarch64"), number("fork", "aarch64")
    (0, 63, None)
    """
    found = _NUMBERS[name][0 if machine == "x86_64" else 1]
    return found if found >= 0 else None


def errno(code: int) -> int:
    """The action that fails a call with this error number."""
    return 0x00050000 | code


@dataclass(frozen=True)
class Unless:
    """A condition on an argument under which a rule's call is refused instead.

    Attributes:
        argument: Its index.
        test: "any_bit": some bit of `value` is set in its low word; "no_bit": none is; "none_of":
            its low word is none of `values`; "nonzero": it is not 0.
        action: What happens then.
        value: The bits.
        values: The words.
    """

    argument: int
    test: Literal["any_bit", "no_bit", "none_of", "nonzero"]
    action: int
    value: int = 0
    values: tuple[int, ...] = ()


@dataclass(frozen=True)
class CallRule:
    """The rule for one system call."""

    call: str
    action: int
    unless: tuple[Unless, ...] = ()


def assemble(rules: Sequence[CallRule], default: int, machine: str) -> bytes:
    """The program that applies the first rule of a call, or else `default`.

    Calls of another architecture, or of x86_64's 32-bit ABI, kill the process. Rules for calls
    that the architecture does not have are left out.

    Args:
        rules: In order; those asked most often first.
        default: Action for every other call.
        machine: "x86_64" or "aarch64".

    Raises:
        ValueError: If the program is longer than the kernel takes.
    """
    program = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        _instruction(_RETURN, KILL_PROCESS),
        _instruction(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        program += [_instruction(_JUMP_NOT_BELOW, _X32, 0, 1), _instruction(_RETURN, KILL_PROCESS)]
    for rule in rules:
        call = number(rule.call, machine)
        if call is not None:
            body = _body(rule)
            program += [_instruction(_JUMP_EQUAL, call, 0, len(body)), *body]
    program.append(_instruction(_RETURN, default))
    if len(program) >= _LONGEST:
        raise ValueError(f"the filter has {len(program)} instructions; at most {_LONGEST - 1}")
    return b"".join(program)


def _body(rule: CallRule) -> list[bytes]:
    body: list[bytes] = []
    for unless in rule.unless:
        low = _ARGUMENTS + 8 * unless.argument
        refuse = _instruction(_RETURN, unless.action)
        if unless.test == "none_of":
            count = len(unless.values)
            body += [
                _instruction(_LOAD, low),
                *(
                    _instruction(_JUMP_EQUAL, value, count - place, 0)
                    for place, value in enumerate(unless.values)
                ),
                refuse,
            ]
        elif unless.test != "nonzero":
            skip = (0, 1) if unless.test == "any_bit" else (1, 0)
            body += [
                _instruction(_LOAD, low),
                _instruction(_JUMP_ANY_BIT, unless.value, *skip),
                refuse,
            ]
        else:
            body += [
                _instruction(_LOAD, low),
                _instruction(_JUMP_EQUAL, 0, 0, 2),
                _instruction(_LOAD, low + 4),
                _instruction(_JUMP_EQUAL, 0, 1, 0),
                refuse,
            ]
    return [*body, _instruction(_RETURN, rule.action)]


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def rules() -> list[CallRule]:
    """The whole policy, the most frequent calls first."""
    denied = errno(codes.EPERM)
    no_code = Unless(2, "any_bit", denied, _ALL_BITS ^ _READ_WRITE)
    # A shared page is a file of the kernel's, which no limit counts; a huge one is from a pool
    # that all workers share.
    own_memory = (
        Unless(3, "any_bit", denied, _ALL_BITS ^ _MAPS),
        Unless(3, "no_bit", denied, _PRIVATE_MAP),
        Unless(3, "no_bit", denied, _ANONYMOUS),
    )
    return [
        *(CallRule(call, ALLOW) for call in _POLICY["allowed"]),
        # A futex in a file's page, such as a library's, is one and the same for all workers.
        # To wait until a moment would tell whether it has come; here it always has.
        CallRule(
            "futex",
            ALLOW,
            (
                Unless(1, "none_of", denied, values=_FUTEXES),
                Unless(3, "nonzero", errno(codes.ETIMEDOUT)),
            ),
        ),
        # A clock that goes on between two requests would tell how long others took to answer.
        CallRule(
            "clock_gettime",
            ALLOW,
            (
                Unless(0, "any_bit", denied, _NOT_ITS_OWN),
                Unless(0, "no_bit", denied, _PROCESSOR_TIME),
            ),
        ),
        *(
            CallRule(call, ALLOW, (Unless(0, "no_bit", denied, _PROCESSOR_TIME),))
            for call in ("setitimer", "getitimer")
        ),
        CallRule("mmap", ALLOW, (no_code, *own_memory)),
        CallRule("mprotect", ALLOW, (no_code,)),
        # Other advice moves pages between workers' memory, or waits for pools that they share.
        CallRule("madvise", ALLOW, (Unless(2, "none_of", denied, values=_ADVICE),)),
        # Only asking for this process's own limits.
        CallRule("prlimit64", ALLOW, (Unless(0, "nonzero", denied), Unless(2, "nonzero", denied))),
        *(CallRule(call, errno(codes.EACCES)) for call in _POLICY["files"]),
        *(CallRule(call, errno(codes.EAGAIN)) for call in ("clone", "fork", "vfork")),
        CallRule("clone3", errno(codes.ENOSYS)),  # libc then tries clone
        CallRule("ioctl", errno(codes.ENOTTY)),
        *(CallRule(call, KILL_PROCESS) for call in _POLICY["never_honest"]),
    ]


def program(machine: str | None = None) -> bytes:
    """The policy as a BPF program for this machine, or for the one that is named.

    Raises:
        RefusedError: If there is no table for this machine.
    """
    return assemble(rules(), errno(codes.EPERM), machine or architecture())
