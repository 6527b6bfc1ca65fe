"""A small assembler for seccomp's classic BPF: an ordered list of rules becomes a program.

The program reads `struct seccomp_data` (linux/seccomp.h): the call's number at byte 0, the
architecture at byte 4, six 64-bit arguments from byte 16. It works on 32-bit words.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tools.guest.syscalls import AUDIT_ARCH, number

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000

_LOAD, _JUMP_EQUAL, _JUMP_NOT_BELOW, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000  # x86_64 calls of the 32-bit ABI carry this bit
_LONGEST = 4096


def errno(code: int) -> int:
    """The action that fails a call with this error number."""
    return 0x00050000 | code


@dataclass(frozen=True)
class Unless:
    """A condition on an argument under which a rule's call is refused instead.

    Attributes:
        argument: Its index.
        test: "any_bit": some bit of `value` is set in its low word; "nonzero": it is not 0.
        action: What happens then.
        value: The bits.
    """

    argument: int
    test: Literal["any_bit", "nonzero"]
    action: int
    value: int = 0


@dataclass(frozen=True)
class Rule:
    """What happens to one system call."""

    call: str
    action: int
    unless: tuple[Unless, ...] = ()


def assemble(rules: Sequence[Rule], default: int, machine: str) -> bytes:
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
        program += [
            _instruction(_JUMP_NOT_BELOW, _X32, 0, 1),
            _instruction(_RETURN, KILL_PROCESS),
        ]
    for rule in rules:
        call = number(rule.call, machine)
        if call is not None:
            body = _body(rule)
            program += [_instruction(_JUMP_EQUAL, call, 0, len(body)), *body]
    program.append(_instruction(_RETURN, default))
    if len(program) >= _LONGEST:
        raise ValueError(f"the filter has {len(program)} instructions; at most {_LONGEST - 1}")
    return b"".join(program)


def _body(rule: Rule) -> list[bytes]:
    body: list[bytes] = []
    for unless in rule.unless:
        low = _ARGUMENTS + 8 * unless.argument
        refuse = _instruction(_RETURN, unless.action)
        if unless.test == "any_bit":
            body += [
                _instruction(_LOAD, low),
                _instruction(_JUMP_ANY_BIT, unless.value, 0, 1),
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
