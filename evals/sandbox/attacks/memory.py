"""Attacks on memory: more than a worker may have, shared, or left behind."""

from typing import Any

from evals.sandbox.attacks import BAIT, SYS, Attack, held, known, libc, system_call

_TOO_MUCH = 1200 * 2**20


class MemoryByLists(Attack, seen="sometimes"):
    """Cannot hold more memory in objects than a worker may have."""

    def _text(self) -> object:
        try:
            return len("x" * _TOO_MUCH)
        except MemoryError:
            return None

    def _number(self) -> object:
        try:
            return (1 << (8 * _TOO_MUCH)).bit_length()
        except (MemoryError, OverflowError):
            return None

    def _grown(self) -> object:
        pieces: list[bytes] = []
        try:
            while len(pieces) * 2**20 < _TOO_MUCH:
                pieces.append(bytes(2**20))
        except MemoryError:
            return None
        return f"{len(pieces)} MiB"


_PIECE, _PIECES = 64 * 2**20, 20


def _touched_mappings(**kind: int) -> object:
    mappings = []
    try:
        for _ in range(_PIECES):
            mapping = held("mmap").mmap(-1, _PIECE, **kind)
            mappings.append(mapping)
            for page in range(0, _PIECE, 4096):
                mapping[page] = 1
    except (OSError, MemoryError):
        return None
    return f"{len(mappings)} mappings"


class MemoryByMappings(Attack, seen="sometimes"):
    """Cannot map more memory than a worker may have."""

    def _private(self) -> object:
        return _touched_mappings(flags=0x22)

    def _shared(self) -> object:
        return _touched_mappings(flags=0x21)

    def _by_system_call(self) -> object:
        made = [system_call(9, 222, 0, _PIECE, 3, 0x22, -1, 0) for _ in range(_PIECES)]
        return len(made)

    def _data_segment(self) -> object:
        return libc("sbrk", _PIECE * _PIECES) > 0

    def _large_pages(self) -> object:
        return system_call(9, 222, 0, 2**30, 3, 0x40022, -1, 0)


_FILE_BYTES = 8 * 2**20


def _descriptor() -> int:
    descriptor: int = held("os").memfd_create("probe")
    return descriptor


class MemoryByFiles(Attack, seen="unlimited"):
    """Cannot hold memory in a file without a name."""

    def _written(self) -> object:
        return held("os").write(_descriptor(), bytes(_FILE_BYTES))

    def _mapped(self) -> object:
        descriptor = _descriptor()
        held("os").ftruncate(descriptor, _FILE_BYTES)
        held("mmap").mmap(descriptor, _FILE_BYTES)[:] = bytes(_FILE_BYTES)
        return "8 MiB"

    def _reserved(self) -> object:
        return libc("fallocate", _descriptor(), 0, 0, _FILE_BYTES) == 0

    def _large_pages(self) -> object:
        descriptor = system_call(319, 279, b"probe", 4)
        held("os").ftruncate(descriptor, 2**21)
        held("mmap").mmap(descriptor, 2**21)[:] = bytes(2**21)
        return "2 MiB"

    def _by_system_call(self) -> object:
        return held("os").write(system_call(319, 279, b"probe", 0), bytes(4096))

    def _secret(self) -> object:
        descriptor = system_call(447, 447, 0)
        held("os").ftruncate(descriptor, 4096)
        held("mmap").mmap(descriptor, 4096)[:] = bytes(4096)
        return "a page"


_ENOUGH = 64 * 2**20


def _spliced() -> int:
    ctypes, filled = held("ctypes"), 0
    page = ctypes.create_string_buffer(65536)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(page), 65536)
    while filled < _ENOUGH:
        ends = (ctypes.c_int * 2)()
        system_call(293, 59, ends, 0)
        filled += system_call(278, 75, ends[1], vector, 1, 8)
    return filled


class MemoryByPipes(Attack, seen="sometimes"):
    """Cannot hold memory in pipes beyond its limit."""

    def _filled(self) -> object:
        os, fcntl, filled, pipes = held("os"), held("fcntl"), 0, []
        try:
            while filled < _ENOUGH:
                pipes.append(os.pipe())
                writing = pipes[-1][1]
                fcntl.fcntl(writing, 1031, 2**20)
                os.set_blocking(writing, False)
                filled += os.write(writing, bytes(2**20))
        except OSError:
            return filled if filled >= _ENOUGH else None
        return filled

    def _by_system_call(self) -> object:
        return filled if (filled := _spliced()) >= _ENOUGH else None


class MemoryByArrays(Attack, seen="sometimes"):
    """Cannot hold more memory in arrays than a worker may have."""

    def _filled(self) -> object:
        import numpy

        try:
            return numpy.ones(1200 * 2**20, dtype="uint8").sum()
        except MemoryError:
            return None

    def _many(self) -> object:
        import numpy

        arrays = []
        try:
            for _ in range(20):
                arrays.append(numpy.ones(64 * 2**20, dtype="uint8"))
        except MemoryError:
            return None
        return len(arrays)


class MemoryThatStays(Attack, stage="left_behind", seen="unconfined"):
    """Cannot leave memory, semaphores or messages behind in the kernel."""

    def _segment(self) -> object:
        segment = libc("shmget", known("key"), 2**20, 0o1666)
        ctypes = held("ctypes")
        address = libc("shmat", segment, 0, 0)
        ctypes.memset(address, 1, 2**20)
        return "1 MiB"

    def _semaphores(self) -> object:
        return libc("semget", known("key"), 1, 0o1666) >= 0

    def _messages(self) -> object:
        queue = libc("msgget", known("key"), 0o1666)
        return libc("msgsnd", queue, held("ctypes").create_string_buffer(b"\1" * 64), 32, 0) == 0

    def _named_queue(self) -> object:
        return libc("mq_open", f"/{known('name')}".encode(), 0o102, 0o600, 0)

    def _by_system_call(self) -> object:
        return system_call(29, 194, known("key"), 2**20, 0o1666) >= 0


class SharedSegment(Attack, stage="segment", seen="unconfined"):
    """Cannot read memory that the host's programs share."""

    def _attached(self) -> object:
        segment = libc("shmget", known("key"), 0, 0)
        return held("ctypes").string_at(libc("shmat", segment, 0, 0o10000), 16)

    def _by_number(self) -> object:
        return held("ctypes").string_at(libc("shmat", known("segment"), 0, 0o10000), 16)

    def _described(self) -> object:
        return libc("shmctl", known("segment"), 2, held("ctypes").create_string_buffer(256)) == 0

    def _listed(self) -> object:
        return held("io").open("/proc/sysvipc/shm").read()

    def _by_system_call(self) -> object:
        return system_call(30, 196, known("segment"), 0, 0o10000) > 0


_REACH = 2**18


def _hidden_in(found: bytes) -> object:
    words = [bytes.fromhex(word) for word in BAIT.get("hidden", ["2f726f6f742f"])]
    return [word for word in words if word in found]


class ReadOutsideAnArray(Attack, stage="hidden", seen="sometimes"):
    """Finds nothing of the host by reading outside of an array."""

    def _around_an_object(self) -> object:
        import numpy

        ctypes: Any = vars(numpy.ctypeslib)["ctypes"]
        return _hidden_in(ctypes.string_at(id(held("os")) - 4096, 8192))

    def _behind(self) -> object:
        import numpy

        strided = numpy.lib.stride_tricks.as_strided
        return _hidden_in(strided(numpy.zeros(16, dtype="uint8"), (_REACH,), (1,)).tobytes())

    def _before(self) -> object:
        import numpy

        strided = numpy.lib.stride_tricks.as_strided
        return _hidden_in(strided(numpy.zeros(16, dtype="uint8"), (_REACH,), (-1,)).tobytes()[::-1])


_FRAMES, _LEVELS = 500_000, 200_000


class DeepRecursion(Attack, seen="sometimes"):
    """Cannot grow its stack without bound."""

    def _stack_limit(self) -> object:
        resource = held("resource")
        resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY

    def _through_c(self) -> object:
        SYS.setrecursionlimit(2**31 - 1)
        nested: list[object] = []
        for _ in range(_LEVELS):
            nested = [nested]
        try:
            return len(repr(nested)) > _LEVELS
        except (RecursionError, MemoryError):
            return None

    def _plain(self) -> object:
        """Frames of Python functions need memory and no stack, so they come to an end with it."""
        SYS.setrecursionlimit(2**31 - 1)
        bound = held("resource").getrlimit(held("resource").RLIMIT_AS)[0]

        def deeper(depth: int) -> int:
            return depth if depth >= _FRAMES else deeper(depth + 1)

        try:
            return deeper(0) and bound < 0
        except (RecursionError, MemoryError):
            return None


class OutputFlood(Attack):
    """Cannot flood the host with output or terminal sequences."""

    def _printed(self) -> object:
        for _ in range(2000):
            print("\x1b]0;title\x07\x1b[2J" + "x" * 50_000)  # noqa: T201 - what the host keeps is tested
        return None

    def _original_stream(self) -> object:
        SYS.__stdout__.write("original" * 100_000)
        SYS.__stdout__.flush()
        return None

    def _written_past_python(self) -> object:
        held("os").write(1, b"\x1b[2Jpast" * 1000)
        return None


class ReplyFlood(Attack):
    """Cannot flood the host with its answer."""

    def _long(self) -> object:
        return "x" * (12 * 2**20)

    def _nested(self) -> object:
        nested: list[object] = []
        for _ in range(100_000):
            nested = [nested]
        return nested

    def _amplified(self) -> object:
        return [[]] * 4_000_000

    def main(self, first: int = 0, last: int = 99) -> dict[str, object]:
        """Answer with too much at once; what the host keeps of it is what the host sees."""
        found = [way() for way in self.ways()[first:last]]
        tried = len(found)
        return {"breached": tried > 0, "how": "it all arrived", "tried": tried, "found": found}
