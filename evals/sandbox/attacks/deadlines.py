"""Attacks on deadlines: code that runs on past the end of its time."""

from evals.sandbox.attacks import Attack, held


class AlarmDisabled(Attack):
    """Cannot run on past its deadline with the alarm turned off."""

    def _turned_off(self) -> object:
        signal = held("signal")
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.alarm(0)
        while True:
            pass


class AlarmIgnored(Attack):
    """Cannot run on past its deadline with the alarm's signal ignored or blocked."""

    def _ignored(self) -> object:
        signal = held("signal")
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        everything = signal.valid_signals()
        signal.pthread_sigmask(signal.SIG_BLOCK, everything)
        while True:
            pass


class AlarmSwallowed(Attack):
    """Cannot run on past its deadline by catching what interrupts it."""

    def _swallowed(self) -> object:
        while True:
            try:
                while True:
                    pass
            except BaseException:  # noqa: BLE001, S112 - the attack itself
                continue


class EndlessCCall(Attack):
    """Cannot run on past its deadline inside one long call of the interpreter."""

    def _pattern(self) -> object:
        return held("re").match(r"(a|aa)*b" * 2, "a" * 60)

    def _number(self) -> object:
        return pow(7, 10**8, 10**7_000_000)

    def _asleep(self) -> object:
        held("time").sleep(3600)
        return None


class Stopped(Attack):
    """Cannot hold its place by stopping itself."""

    def _stopped(self) -> object:
        os, signal = held("os"), held("signal")
        os.kill(os.getpid(), signal.SIGSTOP)
        return None

    def _by_raise(self) -> object:
        signal = held("signal")
        signal.raise_signal(signal.SIGSTOP)
        return None

    def _waits_for_nothing(self) -> object:
        reading, _ = held("os").pipe()
        held("os").read(reading, 1)
        return None

    def _paused(self) -> object:
        while True:
            held("signal").pause()

    def _locked(self) -> object:
        """A futex that nobody wakes."""
        lock = held("_thread").allocate_lock()
        lock.acquire()
        held("signal").pthread_sigmask(0, held("signal").valid_signals())
        lock.acquire()
        return None


class NeverReadsAgain(Attack):
    """Cannot hold the host up by reading no further request."""

    def _hung(self) -> object:
        for number in range(3, 16):
            try:
                held("os").read(number, 1)
            except OSError:
                continue
        return None


_LENGTH_BYTES = 4


def _write(body: bytes, length: int | None = None) -> object:
    """Write a frame to whatever takes it; the host must end this worker for it."""
    os = held("os")
    size = len(body) if length is None else length
    frame = size.to_bytes(_LENGTH_BYTES, "little") + body
    for number in range(3, 64):
        try:
            sent = os.write(number, frame)
            while sent < len(frame):
                sent += os.write(number, frame[sent:])
        except OSError:
            continue
        return None
    return None


class RawFrames(Attack):
    """Cannot harm the host by what it writes to its own connection."""

    def _long(self) -> object:
        return _write(b"{", 2**32 - 1)

    def _empty(self) -> object:
        return _write(b"")

    def _nested(self) -> object:
        return _write(b"[" * 4_000_000)

    def _nested_in_names(self) -> object:
        return _write(b'{"a":' * 1_000_000)

    def _digits(self) -> object:
        return _write(b'{"value":' + b"9" * 4_000_000 + b"}")

    def _exponent(self) -> object:
        return _write(b'{"value":1e' + b"9" * 4_000_000 + b"}")

    def _no_text(self) -> object:
        return _write(b"\xff\xfe" * 1000)

    def _half_characters(self) -> object:
        return _write(b'{"id":1,"value":"\\ud800"}')

    def _no_number(self) -> object:
        return _write(b'{"id":NaN,"value":Infinity}')

    def _many_small(self) -> object:
        return _write(b"[" + b"[]," * 2_000_000 + b"[]]")

    def _flood(self) -> object:
        for _ in range(16):
            _write(bytes(2**20))
        return None

    def _half(self) -> object:
        """The first half of a frame, and then nothing for as long as it may."""
        _write(b"{", 1000)
        held("time").sleep(3600)
        return None
