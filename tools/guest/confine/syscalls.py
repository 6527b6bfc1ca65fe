"""Numbers of the system calls that the filter names, by architecture: `syscalls.json`.

Source: the Linux kernel's `asm/unistd_64.h` (x86_64) and `asm-generic/unistd.h` (aarch64).
"""

import json
import platform
from pathlib import Path

# Seccomp's name of an architecture (linux/audit.h): machine, 64 bit, little-endian.
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: [x86_64, aarch64]; -1 where the architecture has no such call
_NUMBERS: dict[str, list[int]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)["numbers"]


class UnknownArchitectureError(RuntimeError):
    """The filter has no table for this machine."""


def architecture() -> str:
    """This machine's architecture.

    Raises:
        UnknownArchitectureError: If there is no table for it.
    """
    machine = platform.machine()
    if machine not in AUDIT_ARCH:
        known = ", ".join(sorted(AUDIT_ARCH))
        raise UnknownArchitectureError(f"no system call table for {machine!r}; there is: {known}")
    return machine


def number(name: str, machine: str) -> int | None:
    """The number of a call, or None where the architecture has none.

    >>> number("read", "x86_64"), number("read", "aarch64"), number("fork", "aarch64")
    (0, 63, None)
    """
    found = _NUMBERS[name][0 if machine == "x86_64" else 1]
    return found if found >= 0 else None
