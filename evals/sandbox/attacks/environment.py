"""Attacks on the host's environment: its variables, paths, memory and name."""

from evals.sandbox.attacks import BAIT, SYS, Attack, held, libc, system_call

_OURS = (b"PYTHON", b"OPENBLAS", b"OMP_", b"MKL_", b"LC_")


class EnvironmentValues(Attack, seen="sometimes"):
    """Finds no value of the host's environment."""

    def _python(self) -> object:
        return dict(held("os").environ)

    def _c_library(self) -> object:
        ctypes = held("ctypes")
        strings = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
        found: list[object] = []
        while strings and strings[len(found)]:
            found.append(strings[len(found)])
        return found

    def _asked_for(self) -> object:
        ctypes = held("ctypes")
        getenv = ctypes.CDLL(None).getenv
        getenv.restype = ctypes.c_char_p
        names = (b"HOME", b"PATH", b"USER", b"LOGNAME", b"PWD", b"PYTHONPATH", b"PROBE_BAIT")
        return [value for value in map(getenv, names) if value]

    def _process_file(self) -> object:
        return held("io").open("/proc/self/environ", "rb").read()

    def _copied_by_posix(self) -> object:
        values = held("posix").environ
        return {name: value for name, value in values.items() if not name.startswith(_OURS)}


_PAGE = 4096


def _hidden_in(found: bytes) -> object:
    words = [bytes.fromhex(word) for word in BAIT.get("hidden", ["2f686f6d652f", "2f726f6f742f"])]
    return [(word, found.count(word)) for word in words if word in found]


def _block_from(address: int) -> bytes:
    """The bytes from one argument up to the top of the stack, which ends in eight zeros."""
    ctypes, found = held("ctypes"), b""
    for _ in range(64):
        size = _PAGE - address % _PAGE
        found += ctypes.string_at(address, size)
        address += size
        if found.endswith(bytes(8)):
            break
    return found


class ArgumentBlocks(Attack, stage="hidden", seen="unlimited"):
    """Finds no path of the host in the memory its arguments and environment once stood in."""

    def _interpreter(self) -> object:
        values = [SYS.argv, SYS.orig_argv, SYS.executable, SYS.path, SYS.flags, SYS.warnoptions]
        return _hidden_in(repr(values).encode())

    def _process_file(self) -> object:
        return _hidden_in(held("io").open("/proc/self/cmdline", "rb").read())

    def _program_name(self) -> object:
        ctypes = held("ctypes")
        name = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "program_invocation_name")
        return _hidden_in(_block_from(name.value))

    def _argument_vector(self) -> object:
        ctypes = held("ctypes")
        vector = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "__libc_argv")
        return _hidden_in(_block_from(vector[0]))

    def _original_environment(self) -> object:
        """The auxiliary vector names the program's file, in the same block."""
        ctypes = held("ctypes")
        getauxval = ctypes.CDLL(None).getauxval
        getauxval.restype = ctypes.c_void_p
        file = getauxval(31)
        return _hidden_in(ctypes.string_at(file)) if file else None


_LIMIT = 2_000_000


def _hidden() -> list[str]:
    return [bytes.fromhex(word).decode() for word in BAIT.get("hidden", ["2f726f6f742f"])]


def _texts(roots: list[object]) -> list[str]:
    """Every string reachable from the roots by what the collector knows of."""
    gc, seen, texts = held("gc"), set[int](), list[str]()
    while roots and len(seen) < _LIMIT:
        item = roots.pop()
        if id(item) in seen or item is BAIT:
            continue
        seen.add(id(item))
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, bytes):
            texts.append(item.decode("latin-1"))
        elif type(item).__name__ == "code":
            texts += (repr(item), *map(repr, vars(type(item))["co_consts"].__get__(item)))
        else:
            roots += gc.get_referents(item)
    return texts


def _matching(texts: list[str]) -> object:
    words = _hidden()
    return sorted({text[:150] for text in texts for word in words if word in text})[:4]


class PathsInMemory(Attack, stage="hidden", seen="unlimited"):
    """Finds no path or secret of the host in any object, module or code it can walk to."""

    def _modules(self) -> object:
        attributes = ("__file__", "__path__", "__cached__", "__spec__", "__loader__")
        return _matching(
            [
                f"{name}.{attribute}={vars(module).get(attribute)!r}"
                for name, module in list(SYS.modules.items())
                for attribute in attributes
            ]
        )

    def _interpreter(self) -> object:
        names = ("path", "prefix", "exec_prefix", "base_prefix", "executable", "_base_executable")
        caches = [SYS.path_importer_cache, SYS.meta_path, SYS.path_hooks]
        values = [getattr(SYS, name, None) for name in names]
        return _matching([repr(value) for value in [*values, *caches]])

    def _interned(self) -> object:
        texts = [repr(name) for name in SYS.modules]
        texts += [repr(vars(held("linecache")).get("cache"))[:100_000]]
        return _matching(texts)

    def _walk_from_modules(self) -> object:
        return _matching(_texts([dict(vars(module)) for module in list(SYS.modules.values())]))

    def _walk_from_the_collector(self) -> object:
        gc = held("gc")
        gc.unfreeze()
        return _matching(_texts([item for item in gc.get_objects() if item is not BAIT]))


_MOST_BYTES, _LAST = 1 << 28, 4


def _ends() -> list[tuple[bytes, bytes]]:
    """Each hidden word without its end, and the end: the whole word is never put together."""
    words = BAIT.get("hidden", ["2f726f6f742f"])
    halves = [(bytes.fromhex(word[:-_LAST]), bytes.fromhex(word[-_LAST:])) for word in words]
    return halves + [(_wide(start), _wide(end)) for start, end in halves]


def _wide(text: bytes) -> bytes:
    return b"".join(bytes((letter, 0, 0, 0)) for letter in text)


def _readable(address: int) -> bool:
    """A call that refuses its first argument, after it has read what its second one points to."""
    try:
        system_call(14, 135, 99, address, 0, 8)
    except OSError as error:
        return error.errno == int(held("errno").EINVAL)
    return True


def _around(seeds: list[int]) -> object:
    """Search from page to page as far as memory can be read, around every seed."""
    ctypes, seen, found, ends = held("ctypes"), set[int](), list[str](), _ends()
    for seed in seeds:
        first = last = seed // _PAGE
        if first in seen or not _readable(first * _PAGE):
            continue
        while first - 1 not in seen and _readable((first - 1) * _PAGE):
            first -= 1
        while last + 1 not in seen and _readable((last + 1) * _PAGE):
            last += 1
        seen.update(range(first, last + 1))
        for page in range(first, last + 1, 64):
            memory = ctypes.string_at(page * _PAGE, min(64, last + 1 - page) * _PAGE)
            found += _hits(memory, ends)
        if found or len(seen) * _PAGE > _MOST_BYTES:
            break
    return found[:4]


def _hits(memory: bytes, ends: list[tuple[bytes, bytes]]) -> list[str]:
    hits = []
    for start, end in ends:
        at = memory.find(start)
        while at >= 0:
            behind = at + len(start)
            if memory[behind : behind + len(end)] == end:
                hits.append(f"a path {memory[at : behind + 40]!r}")
            at = memory.find(start, behind)
    return hits


class ScanMemory(Attack, stage="hidden", seen="unlimited"):
    """Finds no path or secret of the host in all the memory that it can read."""

    def _objects(self) -> object:
        held("gc").unfreeze()
        items = held("gc").get_objects()
        return _around([id(item) for item in items[:: max(len(items) // 2000, 1)]])

    def _heap(self) -> object:
        return _around([libc("sbrk", 0) - _PAGE])

    def _libraries(self) -> object:
        ctypes = held("ctypes")
        names = ("environ", "stdout", "program_invocation_name", "_PyRuntime", "Py_None")
        library = ctypes.CDLL(None)
        found = [getattr(library, name, None) for name in names]
        return _around([ctypes.addressof(item) for item in found if item is not None])

    def _stack(self) -> object:
        """Random bytes that the kernel left near the stack's top tell where it is."""
        asked = held("ctypes").CDLL(None).getauxval
        asked.restype = held("ctypes").c_void_p
        return _around([asked(25)])


class OwnProcessFiles(Attack, seen="unconfined"):
    """Cannot see or rewrite itself through the process files."""

    def _maps(self) -> object:
        return held("io").open("/proc/self/maps").read()

    def _memory(self) -> object:
        return held("io").open("/proc/self/mem", "r+b", buffering=0)

    def _thread_files(self) -> object:
        return held("io").open("/proc/thread-self/status").read()

    def _mount_table(self) -> object:
        return held("io").open("/proc/self/mountinfo").read()

    def _score(self) -> object:
        return held("io").open("/proc/self/oom_score_adj", "w").write("0")

    def _machine(self) -> object:
        return held("io").open("/proc/cpuinfo").read()


class HostName(Attack, seen="unconfined"):
    """Cannot learn the host's name or time zone."""

    def _uname(self) -> object:
        return held("os").uname().nodename

    def _platform(self) -> object:
        return held("platform").node()

    def _socket(self) -> object:
        return held("socket").gethostname()

    def _c_library(self) -> object:
        buffer = held("ctypes").create_string_buffer(256)
        return libc("gethostname", buffer, 256) == 0 and buffer.value

    def _by_system_call(self) -> object:
        buffer = held("ctypes").create_string_buffer(512)
        return system_call(63, 160, buffer) == 0 and buffer.raw[65:130].rstrip(b"\0")

    def _time_zone(self) -> object:
        time = held("time")
        return [name for name in time.tzname if name != "UTC"] or time.timezone or time.altzone

    def _local_time(self) -> object:
        time = held("time")
        return [
            second for second in (0, 15_000_000) if time.localtime(second) != time.gmtime(second)
        ]
