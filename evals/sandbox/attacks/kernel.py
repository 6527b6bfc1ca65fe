"""Attacks on the kernel: namespaces, mounts, keyrings, io_uring, programs, clocks."""

from evals.sandbox.attacks import BAIT, SYS, Attack, first, held, known, libc, system_call

# User, mount, network, process, ipc, host name, cgroup and time.
_FLAGS = (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80)


class UnshareNamespaces(Attack, seen="sometimes"):
    """Cannot make namespaces of its own."""

    def _one_of(self) -> object:
        return first(lambda flag: libc("unshare", flag) == 0 and hex(flag), _FLAGS)

    def _all_at_once(self) -> object:
        return libc("unshare", sum(_FLAGS)) == 0

    def _files_only(self) -> object:
        return libc("unshare", 0x400) == 0 or libc("unshare", 0x200) == 0

    def _by_system_call(self) -> object:
        return system_call(272, 97, _FLAGS[0] | _FLAGS[1]) == 0


_USER, _MOUNT, _CHILD_SIGNAL = 0x10000000, 0x20000, 17


def _wait(pid: int) -> object:
    os = held("os")
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)


class CloneIntoNamespaces(Attack, seen="sometimes"):
    """Cannot start a process in namespaces of its own."""

    def _cloned(self) -> object:
        return _wait(system_call(56, 220, _USER | _MOUNT | _CHILD_SIGNAL, 0, 0, 0, 0))

    def _only_user(self) -> object:
        return _wait(system_call(56, 220, _USER | _CHILD_SIGNAL, 0, 0, 0, 0))

    def _by_structure(self) -> object:
        structure = (held("ctypes").c_uint64 * 11)(_USER, 0, 0, 0, _CHILD_SIGNAL)
        return _wait(system_call(435, 435, structure, 88))


_NAMESPACES = ("net", "mnt", "user", "pid", "ipc", "uts", "cgroup")


def _of(pid: int) -> object:
    os, folder = held("os"), f"/proc/{pid}/ns"
    return first(lambda kind: libc("setns", os.open(f"{folder}/{kind}", 0), 0) == 0, _NAMESPACES)


class EnterNamespaces(Attack, stage="process", seen="sometimes"):
    """Cannot enter another process's namespaces."""

    def _victim(self) -> object:
        return _of(known("pid"))

    def _first_process(self) -> object:
        return _of(1)

    def _by_handle(self) -> object:
        return libc("setns", held("os").pidfd_open(known("pid")), 0x40000000) == 0

    def _by_descriptors(self) -> object:
        return first(lambda number: libc("setns", number, 0) == 0, range(3, 16))


class Mount(Attack, stage="folder", seen="sometimes", confined_only=True):
    """Cannot mount a file system or take one apart."""

    def _mounted(self) -> object:
        return libc("mount", b"none", known("folder").encode(), b"tmpfs", 0, None) == 0

    def _bound(self) -> object:
        return libc("mount", b"/", known("folder").encode(), None, 4096, None) == 0

    def _remounted(self) -> object:
        return libc("mount", None, b"/", None, 32 | 4096, None) == 0

    def _proc(self) -> object:
        return libc("mount", b"proc", b"/", b"proc", 0, None) == 0

    def _unmounted(self) -> object:
        return libc("umount2", known("folder").encode(), 2) == 0

    def _configured(self) -> object:
        return system_call(430, 430, b"tmpfs", 0)

    def _tree(self) -> object:
        return system_call(428, 428, -100, b"/", 1)

    def _attributes(self) -> object:
        return system_call(442, 442, -100, b"/", 0, (held("ctypes").c_uint64 * 4)(), 32) == 0

    def _listed(self) -> object:
        return system_call(458, 458, (held("ctypes").c_uint64 * 4)(24), None, 0, 0) >= 0


class ChangeRoot(Attack, stage="folder", seen="sometimes"):
    """Cannot change its root folder."""

    def _chroot(self) -> object:
        return held("os").chroot(BAIT.get("folder", "/tmp")) or "changed it"

    def _pivot(self) -> object:
        return system_call(155, 41, b"/", b"/") == 0

    def _by_system_call(self) -> object:
        return system_call(161, 51, BAIT.get("folder", "/tmp").encode()) == 0


class Keyrings(Attack, seen="sometimes"):
    """Cannot use the kernel's keyrings."""

    def _listed(self) -> object:
        return held("io").open("/proc/keys").read()

    def _session(self) -> object:
        return system_call(250, 219, 0, -3, 0)

    def _user(self) -> object:
        return system_call(250, 219, 0, -4, 0)

    def _added(self) -> object:
        return system_call(248, 217, b"user", b"probe", b"secret", 6, -2)

    def _requested(self) -> object:
        return system_call(249, 218, b"user", b"probe", None, -2)


class IoUring(Attack, seen="sometimes"):
    """Cannot do input and output past the system calls."""

    def _old_asynchronous(self) -> object:
        context = held("ctypes").c_ulong()
        return system_call(206, 0, 4, held("ctypes").byref(context)) == 0

    def _set_up(self) -> object:
        return system_call(425, 425, 4, held("ctypes").create_string_buffer(120))

    def _registered(self) -> object:
        return system_call(427, 427, -1, 0, None, 0)


class PageFaults(Attack, seen="sometimes"):
    """Cannot handle page faults by itself."""

    def _device(self) -> object:
        return held("io").open("/dev/userfaultfd", "rb")

    def _user_mode(self) -> object:
        return system_call(323, 282, 1)

    def _kernel_mode(self) -> object:
        return system_call(323, 282, 0)


class KernelPrograms(Attack, seen="sometimes"):
    """Cannot load programs or modules into the kernel."""

    def _filter_of_its_own(self) -> object:
        """A second seccomp filter with a listener could answer for the first."""
        ctypes = held("ctypes")
        code = ctypes.c_uint64(6 | 0x7FFF0000 << 32)
        structure = (ctypes.c_uint64 * 2)(1, ctypes.addressof(code))
        return system_call(317, 277, 1, 8, structure)

    def _filter_by_prctl(self) -> object:
        return libc("prctl", 21, 0, 0, 0, 0) not in (0, 2)

    def _map(self) -> object:
        attributes = (held("ctypes").c_uint32 * 32)(2, 4, 8, 1)
        return system_call(321, 280, 0, attributes, 128)

    def _program(self) -> object:
        """The shortest program: return zero."""
        ctypes = held("ctypes")
        code = (ctypes.c_uint64 * 2)(0xB7, 0x95)
        text = ctypes.create_string_buffer(b"GPL")
        attributes = (ctypes.c_uint64 * 16)(
            1 | 2 << 32, ctypes.addressof(code), ctypes.addressof(text)
        )
        return system_call(321, 280, 5, attributes, 128)


class PerformanceEvents(Attack, seen="sometimes"):
    """Cannot measure itself or others by hardware or software events."""

    def _software(self) -> object:
        attributes = (held("ctypes").c_uint64 * 16)(1 | 128 << 32, 0, 0, 0, 0, 1 << 5 | 1 << 6)
        return system_call(298, 241, attributes, 0, -1, -1, 0)

    def _whole_machine(self) -> object:
        attributes = (held("ctypes").c_uint64 * 16)(1 | 128 << 32)
        return system_call(298, 241, attributes, -1, 0, -1, 0)


class Personality(Attack, seen="sometimes"):
    """Cannot change its execution domain."""

    def _readable_is_executable(self) -> object:
        held("ctypes")
        return libc("personality", 0x0400000) >= 0 and "read implies execute"

    def _fixed_addresses(self) -> object:
        return system_call(135, 92, 0x0040000) >= 0 and "no random addresses"

    def _segments(self) -> object:
        """A segment of its own, as 32-bit programs use."""
        return system_call(154, -1, 1, (held("ctypes").c_uint32 * 4)(0, 0, 0xFFFFF, 0x51), 16) == 0


class SetClock(Attack, seen="sometimes", confined_only=True):
    """Cannot set the host's clock or name."""

    def _adjusted(self) -> object:
        buffer = held("ctypes").create_string_buffer(256)
        return f"clock state {system_call(159, 171, buffer)}"

    def _clock(self) -> object:
        time = held("time")
        time.clock_settime(time.CLOCK_REALTIME, time.time())
        return "set the clock"

    def _name(self) -> object:
        return held("socket").sethostname("probe") or "set the host's name"

    def _name_by_system_call(self) -> object:
        return system_call(170, 161, b"probe", 5) == 0


_X32 = 0x40000000


class OtherMachineCalls(Attack):
    """Cannot make system calls of another kind of machine."""

    def _old_gate(self) -> object:
        """The 32-bit gate, where the C library holds its two bytes before a return."""
        ctypes = held("ctypes")
        if "x86_64" not in SYS.implementation._multiarch:
            return None
        start = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value & ~4095
        offset = ctypes.string_at(start, 2**18).find(b"\xcd\x80\xc3")
        if offset < 0:
            return None
        answer = ctypes.CFUNCTYPE(ctypes.c_int)(start + offset)()
        return None if answer == -38 else f"the gate answered {answer}"  # noqa: PLR2004

    def _x32_process_id(self) -> object:
        return system_call(_X32 + 39, -1)

    def _x32_open(self) -> object:
        return system_call(_X32 + 2, -1, b"/etc/passwd", 0, 0)

    def _x32_vector(self) -> object:
        return system_call(_X32 + 515, -1, 0, None, 0)
