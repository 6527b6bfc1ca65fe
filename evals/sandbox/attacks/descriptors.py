"""Attacks through the descriptors that a worker holds."""

from evals.sandbox.attacks import Attack, each, first, held, libc, system_call

_OURS = (0, 0o010000, 0o140000)  # none, a pipe, a socket


def _kind(number: int) -> int:
    """The kind of file behind a descriptor; 0 where it is not open."""
    try:
        mode: int = held("os").fstat(number).st_mode
    except OSError:
        return 0
    return mode & 0o170000


def _open(number: int) -> bool:
    """Reading nothing from an open descriptor succeeds, or fails by its mode."""
    try:
        held("os").read(number, 0)
    except OSError as error:
        writable_alone = held("os").write
        try:
            writable_alone(number, b"")
        except OSError:
            return bool(error.errno != held("errno").EBADF)
    return True


class InheritedDescriptors(Attack):
    """Holds no file, device or folder of the host."""

    def _kinds(self) -> object:
        kind = {number: _kind(number) for number in range(1024)}
        return {number: oct(kind[number]) for number in kind if kind[number] not in _OURS}

    def _seekable(self) -> object:
        return each(lambda number: (number, held("os").lseek(number, 0, 1)), range(256))

    def _mapped(self) -> object:
        """Files and devices can be mapped; pipes and sockets cannot."""
        return each(lambda number: (number, libc("mmap", 0, 4096, 1, 1, number, 0)), range(64))

    def _terminal(self) -> object:
        return [n for n in range(256) if held("os").isatty(n)]

    def _many(self) -> object:
        """Three dead pipes and one connection is all a worker needs."""
        numbers = [n for n in range(1024) if _open(n)]
        return numbers if len(numbers) > 4 else None  # noqa: PLR2004


def _of_the_host() -> list[int]:
    return [number for number in range(256) if _kind(number) not in _OURS]


class ChangeThroughDescriptors(Attack):
    """Cannot change a file of the host through a descriptor it holds."""

    def _modes(self) -> object:
        os = held("os")
        return each(lambda n: os.fchmod(n, os.fstat(n).st_mode & 0o7777), _of_the_host())

    def _sizes(self) -> object:
        return each(lambda n: held("io").open(f"/proc/self/fd/{n}", "rb").close(), _of_the_host())

    def _locks(self) -> object:
        fcntl = held("fcntl")
        return each(lambda n: fcntl.flock(n, fcntl.LOCK_SH | fcntl.LOCK_NB), _of_the_host())


_TYPE_A_CHARACTER, _WINDOW = 0x5412, 0x5413


class Terminal(Attack, seen="unconfined"):
    """Cannot type into or read from the host's terminal."""

    def _opened(self) -> object:
        return held("io").open("/dev/tty", "rb")

    def _console(self) -> object:
        return held("io").open("/dev/console", "wb")

    def _typed(self) -> object:
        fcntl = held("fcntl")
        return first(lambda n: (n, fcntl.ioctl(n, _TYPE_A_CHARACTER, b"#")), range(16))

    def _size(self) -> object:
        fcntl = held("fcntl")
        return first(lambda number: fcntl.ioctl(number, _WINDOW, bytes(8)), range(16))

    def _typed_past_32_bits(self) -> object:
        """The upper half of the request, which the kernel drops and a filter might compare."""
        return first(
            lambda number: system_call(16, 29, number, _TYPE_A_CHARACTER | 1 << 32, b"#") == 0,
            range(16),
        )

    def _new_terminal(self) -> object:
        return held("os").openpty()


class WrittenPastPython(Attack):
    """Nothing it writes past Python's streams reaches anybody."""

    def _descriptors(self) -> object:
        return each(lambda number: held("os").write(number, b"past Python\n"), (0, 1, 2))

    def _c_library(self) -> object:
        return libc("dprintf", 1, b"past Python\n") > 0 or libc("dprintf", 2, b"past Python\n") > 0

    def _vectors(self) -> object:
        return held("os").writev(1, [b"past ", b"Python\n"])

    def _fault_handler(self) -> object:
        """The fault handler writes to any descriptor, from C."""
        os = held("os")
        for number in (0, 1, 2):
            held("faulthandler").dump_traceback(file=number)
        return os.write(2, b"x")
