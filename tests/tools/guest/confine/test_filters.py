"""The filter, run by a small interpreter of classic BPF (linux/filter.h, seccomp(2))."""

import errno as codes
import struct
from collections.abc import Sequence

import pytest

from tools.guest.confine import filters
from tools.guest.confine.filters import ALLOW, KILL_PROCESS, CallRule, Unless, assemble, errno
from tools.guest.confine.syscalls import AUDIT_ARCH, number

MACHINES = ("x86_64", "aarch64")


def judged(program: bytes, machine: str, call: int, arguments: Sequence[int] = ()) -> int:
    """The action for one call; arguments that are not given are 0."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", call, AUDIT_ARCH[machine], 0, *padded)
    accumulator, position = 0, 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("<HBBI", program, position * 8)
        position += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            position += if_true if holds else if_false


def action(machine: str, call: str, *arguments: int) -> int:
    found = number(call, machine)
    assert found is not None
    return judged(filters.program(machine), machine, found, arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_computing_and_answering_stay_allowed(machine: str) -> None:
    for call in ("read", "write", "munmap", "brk", "clock_gettime", "exit_group"):
        assert action(machine, call) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_a_futex_is_one_of_this_process_alone(machine: str) -> None:
    private, realtime, wait_bits = 128, 256, 9  # linux/futex.h
    for operation in range(16):
        assert action(machine, "futex", 0, operation) == errno(codes.EPERM)
        assert action(machine, "futex", 0, operation | realtime) == errno(codes.EPERM)
        assert action(machine, "futex", 0, operation | private) == ALLOW
    assert action(machine, "futex", 0, wait_bits | private | realtime) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_files_are_denied_as_python_expects_it(machine: str) -> None:
    assert action(machine, "openat") == errno(codes.EACCES)
    assert action(machine, "statx") == errno(codes.EACCES)
    assert action(machine, "clone") == errno(codes.EAGAIN)
    assert action(machine, "ioctl") == errno(codes.ENOTTY)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_only_an_attack_makes_kill(machine: str) -> None:
    for call in ("ptrace", "io_uring_setup", "keyctl", "unshare", "userfaultfd", "bpf", "mount"):
        assert action(machine, call) == KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_never_executable(machine: str) -> None:
    for call in ("mmap", "mprotect"):
        assert action(machine, call, 0, 4096, 0x3) == ALLOW
        for protection in (0x4, 0x5, 0x7):
            assert action(machine, call, 0, 4096, protection) == errno(codes.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_can_be_asked_for_and_not_set(machine: str) -> None:
    assert action(machine, "prlimit64", 0, 7, 0, 1) == ALLOW
    assert action(machine, "prlimit64", 0, 7, 1 << 40, 0) == errno(codes.EPERM)
    assert action(machine, "prlimit64", 1234, 7, 0, 1) == errno(codes.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_timer_that_every_request_stops_can_be_set(machine: str) -> None:
    assert action(machine, "setitimer", 0, 1) == ALLOW  # ITIMER_REAL
    assert action(machine, "setitimer", 1, 1) == errno(codes.EPERM)  # ITIMER_VIRTUAL
    assert action(machine, "setitimer", 2, 1) == errno(codes.EPERM)  # ITIMER_PROF


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_that_no_rule_names_is_denied(machine: str) -> None:
    for call in (600, 999):
        assert judged(filters.program(machine), machine, call) == errno(codes.EPERM)


def test_another_architecture_and_the_32_bit_abi_kill() -> None:
    program = filters.program("x86_64")
    assert judged(program, "aarch64", 63) == KILL_PROCESS
    assert judged(program, "x86_64", 0x40000000) == KILL_PROCESS
    assert judged(program, "x86_64", 0xFFFFFFFF) == KILL_PROCESS


def test_a_condition_looks_at_both_halves_of_an_argument() -> None:
    rules = [CallRule("close", ALLOW, (Unless(1, "nonzero", errno(codes.EPERM)),))]
    program = assemble(rules, KILL_PROCESS, "x86_64")
    assert judged(program, "x86_64", 3, [9, 0]) == ALLOW
    for value in (1, 1 << 31, 1 << 32, 1 << 63):
        assert judged(program, "x86_64", 3, [9, value]) == errno(codes.EPERM)
    assert judged(program, "x86_64", 4) == KILL_PROCESS


def test_a_program_longer_than_the_kernel_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 4095"):
        assemble([CallRule("read", ALLOW)] * 2100, ALLOW, "x86_64")


@pytest.mark.parametrize(("machine", "number"), [("x86_64", 228), ("aarch64", 113)])
def test_no_process_s_clock_can_be_read(machine: str, number: int) -> None:
    program = filters.program(machine)
    assert judged(program, machine, number, [1]) == ALLOW  # CLOCK_MONOTONIC
    of_process_1000 = ~1000 << 3 | 2
    for clock in (of_process_1000 & 0xFFFFFFFF, of_process_1000 & 0xFFFFFFFFFFFFFFFF):
        assert judged(program, machine, number, [clock]) == errno(codes.EPERM)


def test_fewer_calls_than_fifty_one_are_allowed() -> None:
    clocks = ("clock_gettime", "clock_nanosleep", "clock_getres")
    conditional = ("futex", "setitimer", "mmap", "mprotect", "prlimit64", *clocks)
    rules = [rule for rule in filters.rules() if rule.action == ALLOW]
    assert {rule.call for rule in rules if rule.unless} == set(conditional)
    assert len(rules) <= 51
