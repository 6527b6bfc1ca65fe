"""Numbers of the system calls that the filter names, by architecture.

Source: the Linux kernel's `asm/unistd_64.h` (x86_64) and `asm-generic/unistd.h` (aarch64).
"""

import platform

# Seccomp's name of an architecture (linux/audit.h): machine, 64 bit, little-endian.
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86_64, aarch64); -1 where the architecture has no such call
_NUMBERS = {
    "access": (21, -1),
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "brk": (12, 214),
    "capset": (126, 91),
    "chdir": (80, 49),
    "chroot": (161, 51),
    "clock_gettime": (228, 113),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "creat": (85, -1),
    "delete_module": (176, 106),
    "execve": (59, 221),
    "execveat": (322, 281),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "finit_module": (313, 273),
    "fork": (57, -1),
    "fsopen": (430, 430),
    "futex": (202, 98),
    "getcwd": (79, 17),
    "getdents": (78, -1),
    "getdents64": (217, 61),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getitimer": (36, 102),
    "getpid": (39, 172),
    "getrandom": (318, 278),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lstat": (6, -1),
    "madvise": (28, 233),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mmap": (9, 222),
    "modify_ldt": (154, -1),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "newfstatat": (262, 79),
    "open": (2, -1),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "poll": (7, -1),
    "ppoll": (271, 73),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "read": (0, 63),
    "readlink": (89, -1),
    "readlinkat": (267, 78),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "sethostname": (170, 161),
    "setitimer": (38, 103),
    "setns": (308, 268),
    "sigaltstack": (131, 132),
    "socket": (41, 198),
    "stat": (4, -1),
    "statx": (332, 291),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uprobe": (336, -1),
    "uretprobe": (335, -1),
    "userfaultfd": (323, 282),
    "vfork": (58, -1),
    "write": (1, 64),
}


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
