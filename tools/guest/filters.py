"""Which system calls a worker may make: a short allow-list, everything else fails or kills.

What stays allowed is what an interpreter needs that computes, sleeps and answers on descriptors
it already holds. Honest mistakes (opening a file, starting a thread) fail with the error that
Python turns into a clear exception; calls that only an attack makes end the process.
"""

import errno as codes

from tools.guest.bpf import ALLOW, KILL_PROCESS, Rule, Unless, assemble, errno
from tools.guest.syscalls import architecture

_EXECUTABLE = 0x4  # PROT_EXEC
_OF_A_PROCESS = 1 << 31  # a clock's number is negative where it counts one process's time

_ALLOWED = (
    "read",
    "write",
    "futex",
    "munmap",
    "brk",
    "mremap",
    "madvise",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "getitimer",
    "close",
    "nanosleep",
    "gettimeofday",
    "time",
    "times",
    "getrusage",
    "getpid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "sched_yield",
    "getrandom",
    "restart_syscall",
    "exit",
    "exit_group",
)

_CLOCKS = ("clock_gettime", "clock_nanosleep", "clock_getres")

_FILES = (
    "open",
    "openat",
    "openat2",
    "creat",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "readlink",
    "readlinkat",
    "access",
    "faccessat",
    "faccessat2",
    "getcwd",
    "getdents",
    "getdents64",
    "chdir",
)

_NEVER_HONEST = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "memfd_secret",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_by_handle_at",
    "open_tree",
    "move_mount",
    "fsopen",
    "mount_setattr",
    "unshare",
    "setns",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "quotactl",
    "acct",
    "iopl",
    "ioperm",
    "modify_ldt",
)


def rules() -> list[Rule]:
    """The whole policy, the most frequent calls first."""
    denied = errno(codes.EPERM)
    no_code = (Unless(2, "any_bit", denied, _EXECUTABLE),)
    return [
        *(Rule(call, ALLOW) for call in _ALLOWED),
        # Another process's clock would tell that it is there, and what it does.
        *(Rule(call, ALLOW, (Unless(0, "any_bit", denied, _OF_A_PROCESS),)) for call in _CLOCKS),
        # The one timer that the worker itself stops after every request.
        Rule("setitimer", ALLOW, (Unless(0, "nonzero", denied),)),
        Rule("mmap", ALLOW, no_code),
        Rule("mprotect", ALLOW, no_code),
        # Only asking for this process's own limits.
        Rule("prlimit64", ALLOW, (Unless(0, "nonzero", denied), Unless(2, "nonzero", denied))),
        *(Rule(call, errno(codes.EACCES)) for call in _FILES),
        *(Rule(call, errno(codes.EAGAIN)) for call in ("clone", "fork", "vfork")),
        Rule("clone3", errno(codes.ENOSYS)),  # libc then tries clone
        Rule("ioctl", errno(codes.ENOTTY)),
        *(Rule(call, KILL_PROCESS) for call in _NEVER_HONEST),
    ]


def program(machine: str | None = None) -> bytes:
    """The policy as a BPF program for this machine, or for the one that is named.

    Raises:
        UnknownArchitectureError: If there is no table for this machine.
    """
    return assemble(rules(), errno(codes.EPERM), machine or architecture())
