"""Attacks on privileges: higher limits, core dumps, root."""

from evals.sandbox.attacks import BAIT, Attack, held, libc, system_call

_KINDS = ("CORE", "FSIZE", "AS", "CPU", "NOFILE", "NPROC", "MEMLOCK", "MSGQUEUE", "STACK")


def _set(x86_64: int, aarch64: int, arguments: tuple[object, ...]) -> bool:
    try:
        return system_call(x86_64, aarch64, *arguments) == 0
    except OSError:
        return False


class RaiseLimits(Attack, seen="sometimes"):
    """Cannot raise its own limits or priority."""

    def _higher(self) -> object:
        resource, raised = held("resource"), []
        for name in _KINDS:
            kind = getattr(resource, f"RLIMIT_{name}")
            soft, hard = resource.getrlimit(kind)
            if soft == resource.RLIM_INFINITY:
                continue
            try:
                resource.setrlimit(kind, (soft + 1, max(soft + 1, hard)))
                raised.append(name)
            except (ValueError, OSError):
                continue
        return raised

    def _by_system_call(self) -> object:
        unlimited = (held("ctypes").c_uint64 * 2)(2**64 - 1, 2**64 - 1)
        return [n for n in range(16) if _set(302, 261, (0, n, unlimited, None)) and n not in (2, 3)]

    def _by_old_system_call(self) -> object:
        unlimited = (held("ctypes").c_uint64 * 2)(2**64 - 1, 2**64 - 1)
        return [n for n in range(16) if _set(160, 164, (n, unlimited)) and n not in (2, 3)]

    def _priority(self) -> object:
        return held("os").nice(-1) or "runs with a higher priority"

    def _scheduler(self) -> object:
        os = held("os")
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        return os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0)) or "ran in real time"

    def _locked_memory(self) -> object:
        return libc("mlock", held("ctypes").create_string_buffer(8192), 8192) == 0


class CoreDump(Attack, stage="folder", seen="sometimes"):
    """Cannot leave an image of its memory on the disk."""

    def _allowed(self) -> object:
        resource = held("resource")
        return resource.setrlimit(resource.RLIMIT_CORE, (1, 1)) or "may leave a core file"

    def _dumpable(self) -> object:
        return libc("prctl", 4, 2, 0, 0, 0) == 0

    def _filter(self) -> object:
        return held("io").open("/proc/self/coredump_filter", "w").write("0xff")

    def _crashed(self) -> object:
        """The last way: only the host sees what it leaves in the folder."""
        os = held("os")
        try:
            os.chdir(BAIT.get("folder", "/tmp"))
        finally:
            os.abort()
        return None


class BecomeRoot(Attack, seen="sometimes"):
    """Is not root, and cannot become it."""

    def _is_root(self) -> object:
        os = held("os")
        return 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) and "it is root"

    def _set_user(self) -> object:
        return held("os").setuid(0) or "became root"

    def _set_all_users(self) -> object:
        return held("os").setresuid(0, 0, 0) or "became root"

    def _set_groups(self) -> object:
        return held("os").setgroups([0]) or "joined root's group"

    def _file_system_user(self) -> object:
        return libc("setfsuid", 0) == 0 and libc("setfsuid", 0) == 0

    def _capabilities(self) -> object:
        ctypes = held("ctypes")
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        everything = (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6)
        return system_call(126, 91, header, everything) == 0

    def _privileges_regained(self) -> object:
        return libc("prctl", 38, 0, 0, 0, 0) == 0
