"""The filter, run by a small interpreter of classic BPF (linux/filter.h, seccomp(2))."""

import errno as codes
import struct
from collections.abc import Sequence

import pytest

from tools.guest.confine import filters
from tools.guest.confine.filters import (
    ALLOW,
    AUDIT_ARCH,
    KILL_PROCESS,
    CallRule,
    Unless,
    assemble,
    errno,
    number,
)

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
    for call in ("read", "write", "munmap", "brk", "getrandom", "exit_group"):
        assert action(machine, call) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_a_futex_is_one_of_this_process_alone(machine: str) -> None:
    private, realtime, wait_bits = 128, 256, 9  # linux/futex.h
    waiting_and_waking = {0, 1, wait_bits, 10}  # the others lock, requeue, or tell who holds it
    for operation in range(16):
        assert action(machine, "futex", 0, operation) == errno(codes.EPERM)
        assert action(machine, "futex", 0, operation | realtime) == errno(codes.EPERM)
        allowed = action(machine, "futex", 0, operation | private) == ALLOW
        assert allowed == (operation in waiting_and_waking)
    assert action(machine, "futex", 0, wait_bits | private | realtime) == ALLOW
    for moment in (1, 1 << 40):  # a pointer to it
        assert action(machine, "futex", 0, wait_bits | private, 0, moment) == errno(codes.ETIMEDOUT)


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
        assert action(machine, call, 0, 4096, 0x3, 0x22) == ALLOW
        for protection in (0x4, 0x5, 0x7):
            assert action(machine, call, 0, 4096, protection, 0x22) == errno(codes.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_this_process_own_and_of_plain_pages(machine: str) -> None:
    # linux/mman.h: MAP_PRIVATE | MAP_ANONYMOUS, with MAP_NORESERVE, MAP_FIXED, MAP_STACK
    for flags in (0x22, 0x4022, 0x32, 0x20022):
        assert action(machine, "mmap", 0, 4096, 0x3, flags) == ALLOW
    named = {
        "shared": 0x21,
        "shared, validated": 0x23,
        "of a file": 0x2,
        "droppable": 0x28,
        "locked": 0x2022,
        "growing down": 0x122,
        "huge": 0x40022,
        "filled at once": 0x8022,
    }
    for name, flags in named.items():
        assert action(machine, "mmap", 0, 4096, 0x3, flags) == errno(codes.EPERM), name


@pytest.mark.parametrize("machine", MACHINES)
def test_advice_on_memory_gives_it_back_and_does_nothing_else(machine: str) -> None:
    given_back = {4, 8}  # MADV_DONTNEED, MADV_FREE of asm-generic/mman-common.h
    for advice in range(128):
        allowed = action(machine, "madvise", 0, 4096, advice) == ALLOW
        assert allowed == (advice in given_back), advice


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_can_be_asked_for_and_not_set(machine: str) -> None:
    assert action(machine, "prlimit64", 0, 7, 0, 1) == ALLOW
    assert action(machine, "prlimit64", 0, 7, 1 << 40, 0) == errno(codes.EPERM)
    assert action(machine, "prlimit64", 1234, 7, 0, 1) == errno(codes.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", ["setitimer", "getitimer"])
def test_the_only_timer_counts_processor_time(machine: str, call: str) -> None:
    assert action(machine, call, 0, 1) == errno(codes.EPERM)  # ITIMER_REAL
    assert action(machine, call, 1, 1) == errno(codes.EPERM)  # ITIMER_VIRTUAL
    assert action(machine, call, 2, 1) == ALLOW  # ITIMER_PROF


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
def test_the_only_clocks_count_its_own_processor_time(machine: str, number: int) -> None:
    program = filters.program(machine)
    process, thread = 2, 3  # linux/time.h
    for clock in (process, thread):
        assert judged(program, machine, number, [clock]) == ALLOW
    of_process_1000, of_descriptor_3 = ~1000 << 3 | 2, ~3 << 3 | 3
    others = [clock for clock in range(32) if clock not in (process, thread)]
    for clock in (*others, of_process_1000, of_descriptor_3):
        for argument in (clock & 0xFFFFFFFF, clock & 0xFFFFFFFFFFFFFFFF):
            assert judged(program, machine, number, [argument]) == errno(codes.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_no_other_call_that_tells_the_time_or_waits_for_it_is_let_through(machine: str) -> None:
    x86_64 = {
        "times": 100,
        "gettimeofday": 96,
        "time": 201,
        "nanosleep": 35,
        "clock_nanosleep": 230,
    }
    x86_64 |= {"getrusage": 98, "sysinfo": 99, "adjtimex": 159, "timer_create": 222, "alarm": 37}
    x86_64 |= {"timerfd_create": 283, "poll": 7, "ppoll": 271, "select": 23, "clock_getres": 229}
    x86_64 |= {"epoll_wait": 232, "rt_sigtimedwait": 128, "fstat": 5, "recvmsg": 47}
    aarch64 = {"times": 153, "gettimeofday": 169, "nanosleep": 101, "clock_nanosleep": 115}
    aarch64 |= {"getrusage": 165, "sysinfo": 179, "adjtimex": 171, "timer_create": 107}
    aarch64 |= {"timerfd_create": 85, "ppoll": 73, "pselect6": 72, "clock_getres": 114}
    aarch64 |= {"epoll_pwait": 22, "rt_sigtimedwait": 137, "fstat": 80, "recvmsg": 212}
    for found in {"x86_64": x86_64, "aarch64": aarch64}[machine].values():
        assert judged(filters.program(machine), machine, found) == errno(codes.EPERM)


def test_fewer_calls_than_fifty_one_are_allowed() -> None:
    timers = ("clock_gettime", "setitimer", "getitimer")
    conditional = ("futex", "madvise", "mmap", "mprotect", "prlimit64", *timers)
    rules = [rule for rule in filters.rules() if rule.action == ALLOW]
    assert {rule.call for rule in rules if rule.unless} == set(conditional)
    assert len(rules) <= 51
