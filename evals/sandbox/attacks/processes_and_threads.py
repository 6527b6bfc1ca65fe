"""Attacks by new processes, programs and threads."""

from evals.sandbox.attacks import BAIT, Attack, held, known, libc, system_call


def _wait(pid: int) -> object:
    os = held("os")
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return f"made process {pid}"


class Fork(Attack, seen="unlimited"):
    """Cannot make another process."""

    def _forked(self) -> object:
        return _wait(held("os").fork())

    def _terminal(self) -> object:
        pid, descriptor = held("os").forkpty()
        return _wait(pid) if pid == 0 else [_wait(pid), held("os").close(descriptor)]

    def _c_library(self) -> object:
        return _wait(libc("fork"))

    def _old_system_call(self) -> object:
        return _wait(system_call(57, -1))

    def _cloned(self) -> object:
        return _wait(system_call(56, 220, 17, 0, 0, 0, 0))

    def _cloned_by_structure(self) -> object:
        ctypes = held("ctypes")
        return _wait(system_call(435, 435, (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17), 88))

    def _copy_that_shares_memory(self) -> object:
        """Without its own memory a child must not return; here only a refusal is told apart."""
        return held("_posixsubprocess").fork_exec and held("os").posix_spawn(
            "/bin/true", ["true"], {}
        )


def _command() -> str:
    return f"/bin/mkdir {BAIT.get('folder', '/tmp')}/ran"


class RunProgram(Attack, stage="folder", seen="unlimited"):
    """Cannot run a program."""

    def _system(self) -> object:
        return held("os").system(_command()) == 0

    def _spawned(self) -> object:
        os = held("os")
        return os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)

    def _subprocess(self) -> object:
        return held("subprocess").run(["/bin/true"], check=True, timeout=5)

    def _read_from(self) -> object:
        return held("os").popen("/bin/echo ran").read()

    def _c_library(self) -> object:
        return libc("system", _command().encode()) == 0

    def _pipe_of_the_c_library(self) -> object:
        return libc("popen", _command().encode(), b"r")

    def _script_folder(self) -> object:
        held("_posixsubprocess")
        return held("pty").spawn(["/bin/true"]) == 0

    def _replaced(self) -> object:
        """The last way: where it works this process is gone, and only the host sees the folder."""
        held("os").execv("/bin/sh", ["sh", "-c", f"{_command()}-by-exec"])
        return None


_CHILDREN = 32


class ForkBomb(Attack, seen="unlimited"):
    """Cannot make processes without bound."""

    def _children(self) -> object:
        os, made = held("os"), []
        for _ in range(_CHILDREN):
            pid = os.fork()
            if pid == 0:
                held("time").sleep(1)
                os._exit(0)
            made.append(pid)
        for pid in made:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        return f"{len(made)} processes at once"


_TICKS = 40


class SurvivingChild(Attack, stage="folder", seen="unlimited"):
    """Leaves no process behind when it is killed."""

    def _daemon(self) -> object:
        os = held("os")
        if os.fork():
            return None
        os.setsid()
        for tick in range(_TICKS):
            os.close(os.open(f"{known('folder')}/tick-{tick}", os.O_CREAT | os.O_WRONLY))
            held("time").sleep(0.05)
        return os._exit(0)

    def _orphan_by_system_call(self) -> object:
        os = held("os")
        if system_call(56, 220, 17, 0, 0, 0, 0):
            return None
        for tick in range(_TICKS):
            os.mkdir(f"{known('folder')}/raw-{tick}")
            held("time").sleep(0.05)
        return os._exit(0)


class OutliveHost(Attack, seen="unconfined"):
    """Cannot withdraw its wish to die with its parent."""

    def _withdrawn(self) -> object:
        return libc("prctl", 1, 0, 0, 0, 0) == 0

    def _other_signal(self) -> object:
        return libc("prctl", 1, 18, 0, 0, 0) == 0

    def _by_system_call(self) -> object:
        return system_call(157, 167, 1, 0, 0, 0, 0) == 0

    def _own_session(self) -> object:
        return held("os").setsid() or held("os").getsid(0)


_RAN: list[str] = []


class Threads(Attack, seen="unlimited"):
    """Cannot start a thread."""

    def _low(self) -> object:
        held("_thread").start_new_thread(_RAN.append, ("thread",))
        held("time").sleep(0.05)
        return _RAN

    def _high(self) -> object:
        thread = held("threading").Thread(target=_RAN.append, args=("thread",))
        thread.start()
        thread.join(1)
        return _RAN

    def _c_library(self) -> object:
        ctypes = held("ctypes")
        routine = ctypes.CDLL(None).sched_yield
        handle = ctypes.c_ulong()
        made = libc("pthread_create", ctypes.byref(handle), None, routine, None)
        return None if made else libc("pthread_join", handle, None) == 0

    def _pool(self) -> object:
        with held("concurrent.futures").ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: "ran").result(1)

    def _watchdog(self) -> object:
        """The fault handler's watchdog is a thread of its own; it writes when its time is up."""
        os = held("os")
        reading, writing = os.pipe()
        held("faulthandler").dump_traceback_later(0.02, file=writing)
        held("time").sleep(0.1)
        os.set_blocking(reading, False)
        return os.read(reading, 100)

    def _timer(self) -> object:
        """A timer whose expiry the C library tells by a thread."""
        ctypes = held("ctypes")
        event = (ctypes.c_int * 16)(0, 0, 0, 2)
        timer = ctypes.c_void_p()
        return libc("timer_create", 0, event, ctypes.byref(timer)) == 0


class OutliveRequest(Attack, stage="folder", seen="unlimited"):
    """Nothing of it runs on after the request that started it."""

    def _forgotten_thread(self) -> object:
        def tick() -> None:
            for number in range(40):
                held("os").mkdir(f"{known('folder')}/tick-{number}")
                held("time").sleep(0.05)

        held("_thread").start_new_thread(tick, ())
        return None

    def _interval(self) -> object:
        signal = held("signal")

        def tick(number: int, frame: object) -> None:
            held("os").mkdir(f"{known('folder')}/alarm-{held('time').monotonic_ns()}")

        signal.signal(signal.SIGALRM, tick)
        signal.signal(signal.SIGVTALRM, tick)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05, 0.05)
        return None
