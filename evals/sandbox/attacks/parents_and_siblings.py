"""Attacks on other processes, the zygote and other workers."""

from evals.sandbox.attacks import SYS, Attack, first, held, known, libc, system_call


def _of(pid: object) -> object:
    return held("io").open(f"/proc/{pid}/environ", "rb").read()


class ParentEnvironment(Attack, stage="process", seen="unconfined"):
    """Cannot read the environment of the process that started it, or of another one."""

    def _parent(self) -> object:
        return _of(held("os").getppid())

    def _victim(self) -> object:
        return _of(known("pid"))

    def _first(self) -> object:
        return _of(1)

    def _arguments(self) -> object:
        return held("io").open(f"/proc/{known('pid')}/cmdline", "rb").read()


class ReadProcessMemory(Attack, stage="process", seen="sometimes"):
    """Cannot read another process's memory."""

    def _memory_file(self) -> object:
        with held("io").open(f"/proc/{known('pid')}/mem", "rb", buffering=0) as memory:
            memory.seek(known("address"))
            return memory.read(16)

    def _parent_maps(self) -> object:
        return held("io").open(f"/proc/{held('os').getppid()}/maps").read()

    def _vector(self) -> object:
        ctypes = held("ctypes")
        buffer = ctypes.create_string_buffer(16)
        ours = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
        theirs = (ctypes.c_void_p * 2)(known("address"), 16)
        return system_call(310, 270, known("pid"), ours, 1, theirs, 1, 0) and buffer.raw


class WriteProcessMemory(Attack, stage="process", seen="sometimes"):
    """Cannot write into another process's memory."""

    def _memory_file(self) -> object:
        with held("io").open(f"/proc/{known('pid')}/mem", "r+b", buffering=0) as memory:
            memory.seek(known("address"))
            return memory.write(b"overwritten")

    def _advice(self) -> object:
        ctypes = held("ctypes")
        descriptor = system_call(434, 434, known("pid"), 0)
        theirs = (ctypes.c_void_p * 2)(known("address") & ~4095, 4096)
        return system_call(440, 440, descriptor, theirs, 1, 20, 0)

    def _vector(self) -> object:
        ctypes = held("ctypes")
        buffer = ctypes.create_string_buffer(b"overwritten")
        ours = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 11)
        theirs = (ctypes.c_void_p * 2)(known("address"), 11)
        return system_call(311, 271, known("pid"), ours, 1, theirs, 1, 0)


_SEIZE, _DETACH, _ATTACH, _TRACE_ME = 0x4206, 17, 16, 0


class TraceProcess(Attack, stage="process", seen="sometimes"):
    """Cannot trace another process."""

    def _seized(self) -> object:
        return libc("ptrace", _SEIZE, known("pid"), 0, 0) == 0

    def _attached(self) -> object:
        if libc("ptrace", _ATTACH, known("pid"), 0, 0) == 0:
            held("os").waitpid(known("pid"), 0x40000000)
            libc("ptrace", _DETACH, known("pid"), 0, 0)
            return "attached"
        return None

    def _parent_seized(self) -> object:
        return libc("ptrace", _SEIZE, held("os").getppid(), 0, 0) == 0

    def _traced_by_parent(self) -> object:
        return libc("ptrace", _TRACE_ME, 0, 0, 0) == 0

    def _by_system_call(self) -> object:
        return system_call(101, 117, _SEIZE, known("pid"), 0, 0) == 0


class SignalProcess(Attack, stage="process", seen="unconfined"):
    """Cannot send a signal to another process."""

    def _killed(self) -> object:
        return held("os").kill(known("pid"), known("signal")) or "sent"

    def _by_handle(self) -> object:
        os, signal = held("os"), held("signal")
        return signal.pidfd_send_signal(os.pidfd_open(known("pid")), known("signal")) or "sent"

    def _queued(self) -> object:
        return libc("sigqueue", known("pid"), known("signal"), 0) == 0

    def _to_thread(self) -> object:
        return system_call(234, 131, known("pid"), known("pid"), known("signal")) == 0

    def _to_any_thread(self) -> object:
        return system_call(200, 130, known("pid"), known("signal")) == 0

    def _by_system_call(self) -> object:
        return system_call(62, 129, known("pid"), known("signal")) == 0


class SignalParent(Attack, seen="unconfined"):
    """May not signal the process that forked it, its group or everybody."""

    def _parent(self) -> object:
        return held("os").kill(held("os").getppid(), 0) or "may signal its parent"

    def _group(self) -> object:
        return held("os").killpg(0, 0) or "may signal its group"

    def _everybody(self) -> object:
        return held("os").kill(-1, 0) or "may signal everybody"

    def _first_processes(self) -> object:
        os = held("os")
        for pid in range(1, 64):
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                continue
            if pid != os.getpid():
                return f"may signal process {pid}"
        return None


_SET_OWNER, _SET_SIGNAL, _SET_FLAGS, _ASYNCHRONOUS = 8, 10, 4, 0o20000


def _armed(descriptor: int) -> bool:
    """Whether the kernel will now signal the other process when something arrives."""
    try:
        system_call(72, 25, descriptor, _SET_OWNER, known("pid"))
        system_call(72, 25, descriptor, _SET_SIGNAL, known("signal"))
        system_call(72, 25, descriptor, _SET_FLAGS, _ASYNCHRONOUS)
    except OSError:
        return False
    return True


class SignalByDescriptor(Attack, stage="process", seen="unconfined"):
    """Cannot have the kernel signal another process through a descriptor it holds."""

    def _owned_pipe(self) -> object:
        reading, writing = held("os").pipe()
        return _armed(reading) and held("os").write(writing, b"x")

    def _owned_connection(self) -> object:
        return [number for number in range(3, 32) if _armed(number)]

    def _owner_by_structure(self) -> object:
        """The newer way to name who is signalled."""
        owner = (held("ctypes").c_int * 2)(1, known("pid"))
        return first(lambda number: system_call(72, 25, number, 15, owner) == 0, range(3, 32))


class TakeDescriptors(Attack, stage="process", seen="sometimes"):
    """Cannot take a descriptor out of another process."""

    def _reopened(self) -> object:
        return held("io").open(f"/proc/{known('pid')}/fd/{known('descriptor')}", "rb", buffering=0)

    def _duplicated(self) -> object:
        handle = held("os").pidfd_open(known("pid"))
        return system_call(438, 438, handle, known("descriptor"), 0)

    def _of_parent(self) -> object:
        os = held("os")
        handle = os.pidfd_open(os.getppid())
        return system_call(438, 438, handle, 3, 0)


class SeeProcesses(Attack, stage="process", seen="unconfined"):
    """Cannot see which other processes there are or what they do."""

    def _listed(self) -> object:
        return [name for name in held("os").listdir("/proc") if name.isdigit()]

    def _session(self) -> object:
        return held("os").getsid(known("pid"))

    def _group(self) -> object:
        return held("os").getpgid(known("pid"))

    def _nice(self) -> object:
        os = held("os")
        return f"priority {os.getpriority(os.PRIO_PROCESS, known('pid'))}"

    def _processors(self) -> object:
        return held("os").sched_getaffinity(known("pid"))

    def _scheduler(self) -> object:
        return f"scheduler {held('os').sched_getscheduler(known('pid'))}"

    def _bounds(self) -> object:
        return held("resource").prlimit(known("pid"), held("resource").RLIMIT_NOFILE)

    def _handle(self) -> object:
        return held("os").pidfd_open(known("pid"))

    def _clock(self) -> object:
        return held("time").clock_gettime(~known("pid") << 3 | 2)

    def _locks_of_others(self) -> object:
        ctypes = held("ctypes")
        head, size = ctypes.c_void_p(), ctypes.c_size_t()
        pointers = ctypes.byref(head), ctypes.byref(size)
        return system_call(274, 100, known("pid"), *pointers) == 0


class ChangeProcesses(Attack, stage="process", seen="unconfined"):
    """Cannot change another process's processors, priority or limits."""

    def _processors(self) -> object:
        os = held("os")
        return (
            os.sched_setaffinity(known("pid"), {min(os.sched_getaffinity(known("pid")))})
            or "moved it"
        )

    def _nice(self) -> object:
        os = held("os")
        return os.setpriority(os.PRIO_PROCESS, known("pid"), 7) or "slowed it"

    def _scheduler(self) -> object:
        os = held("os")
        return (
            os.sched_setscheduler(known("pid"), os.SCHED_BATCH, os.sched_param(0))
            or "rescheduled it"
        )

    def _bounds(self) -> object:
        resource = held("resource")
        return resource.prlimit(known("pid"), resource.RLIMIT_CORE, (0, 0)) or "bounded it"

    def _disk_priority(self) -> object:
        return system_call(251, 30, 1, known("pid"), 3 << 13) == 0

    def _group(self) -> object:
        return held("os").setpgid(known("pid"), 0) or "moved it to another group"


class CompareProcesses(Attack, stage="process", seen="sometimes"):
    """Cannot compare kernel objects of two processes."""

    def _memory(self) -> object:
        return f"order {system_call(312, 272, held('os').getpid(), known('pid'), 1, 0, 0)}"

    def _itself(self) -> object:
        pid = held("os").getpid()
        return f"order {system_call(312, 272, pid, pid, 0, 0, 1)}"


class KillSibling(Attack, stage="sibling", seen="unconfined"):
    """Cannot end another worker."""

    def _killed(self) -> object:
        return held("os").kill(known("sibling"), 9) or "sent"

    def _by_handle(self) -> object:
        return (
            held("signal").pidfd_send_signal(held("os").pidfd_open(known("sibling")), 9) or "sent"
        )

    def _to_thread(self) -> object:
        return system_call(234, 131, known("sibling"), known("sibling"), 9) == 0

    def _starved(self) -> object:
        resource = held("resource")
        return resource.prlimit(known("sibling"), resource.RLIMIT_CPU, (1, 1)) or "bounded its time"


class PoisonNextWorker(Attack, stage="next_worker"):
    """Leaves nothing behind for the next worker."""

    def _shadowed(self) -> object:
        import builtins

        vars(builtins)["len"] = lambda value: 7
        vars(held("json"))["loads"] = lambda text: "poisoned"
        SYS.modules["math"] = SYS.modules["enum"]
        return None

    def _kept_in_the_thawed(self) -> object:
        held("gc").unfreeze()
        held("atexit").register(print, "poisoned")
        return None

    def _overwritten(self) -> object:
        """Change a small integer in place, in memory that the zygote shares with its workers."""
        ctypes = held("ctypes")
        number = 251
        ctypes.c_uint32.from_address(id(number) + 24).value = 252
        return None


class SharedFutex(Attack, seen="unconfined"):
    """Cannot wake who waits in another process, in a page of a file that both have mapped."""

    def _wake(self) -> object:
        ctypes = held("ctypes")
        text = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value & ~4095
        return system_call(202, 98, text, 1, 1, 0, 0, 0) == 0 and "may wake others"

    def _bits(self) -> object:
        ctypes = held("ctypes")
        text = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value & ~4095
        return system_call(202, 98, text, 10, 1, 0, 0, 1) == 0 and "may wake others by bits"
