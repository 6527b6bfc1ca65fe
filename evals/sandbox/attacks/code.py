"""Attacks by machine code, and by modules of the host."""

from typing import Any

from evals.sandbox.attacks import BAIT, SYS, Attack, first, held, libc, system_call

_RETURN = {"x86_64": b"\xb8\x2a\0\0\0\xc3", "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"}


def _run(address: int) -> object:
    ctypes = held("ctypes")
    code = _RETURN["x86_64" if "x86_64" in SYS.implementation._multiarch else "aarch64"]
    ctypes.memmove(address, code, len(code))
    return f"its code returned {ctypes.CFUNCTYPE(ctypes.c_int)(address)()}"


class WritableCode(Attack, seen="unconfined"):
    """Cannot have memory that is both writable and executable."""

    def _by_python(self) -> object:
        mmap, ctypes = held("mmap"), held("ctypes")
        mapping = mmap.mmap(-1, 4096, prot=7)
        return _run(ctypes.addressof(ctypes.c_char.from_buffer(mapping)))

    def _shared(self) -> object:
        return held("mmap").mmap(-1, 4096, flags=0x21, prot=7)

    def _by_the_c_library(self) -> object:
        return _run(libc("mmap", 0, 4096, 7, 0x22, -1, 0))

    def _by_system_call(self) -> object:
        return _run(system_call(9, 222, 0, 4096, 7, 0x22, -1, 0))

    def _low_address(self) -> object:
        return system_call(9, 222, 0x10000, 4096, 7, 0x32, -1, 0)


_READ_EXECUTE = 5


def _page() -> int:
    return libc("mmap", 0, 4096, 3, 0x22, -1, 0)


class MadeExecutable(Attack, seen="unconfined"):
    """Cannot make memory executable that it has written."""

    def _protected(self) -> object:
        return libc("mprotect", _page(), 4096, _READ_EXECUTE) == 0

    def _protected_by_key(self) -> object:
        return system_call(329, 288, _page(), 4096, _READ_EXECUTE, -1) == 0

    def _key(self) -> object:
        return system_call(330, 289, 0, 0) >= 0 and "a protection key"

    def _code_made_writable(self) -> object:
        ctypes = held("ctypes")
        function = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
        return libc("mprotect", function & ~4095, 4096, 7) == 0

    def _shadow_stack(self) -> object:
        return system_call(453, 453, 0, 4096, 0) > 0

    def _by_system_call(self) -> object:
        return system_call(10, 226, _page(), 4096, _READ_EXECUTE) == 0

    def _stack_and_heap(self) -> object:
        return libc("mprotect", libc("sbrk", 0) & ~4095, 4096, 7) == 0

    def _remapped_over_code(self) -> object:
        """Move a written page to where code stands."""
        ctypes = held("ctypes")
        function = ctypes.cast(ctypes.CDLL(None).l64a, ctypes.c_void_p).value
        moved = libc("mremap", _page(), 4096, 4096, 3, function & ~4095)
        return None if moved else "moved"


class ExecuteFromFiles(Attack, seen="unconfined"):
    """Cannot load code from a file, a segment or another library."""

    def _library(self) -> object:
        names = ("libcrypt.so.1", "libresolv.so.2", "libnss_files.so.2", "libthread_db.so.1")
        return first(held("ctypes").CDLL, names)

    def _nameless(self) -> object:
        descriptor = held("os").memfd_create("probe")
        held("os").ftruncate(descriptor, 4096)
        return held("mmap").mmap(descriptor, 4096, prot=5)

    def _segment(self) -> object:
        segment = libc("shmget", 0, 4096, 0o1700)
        try:
            return libc("shmat", segment, 0, 0o100000)
        finally:
            libc("shmctl", segment, 0, 0)

    def _extension(self) -> object:
        names = {"_sqlite3", "_curses", "_dbm", "_crypt", "_testcapi", "readline"}
        return first(__import__, names - SYS.modules.keys())

    def _old_library_call(self) -> object:
        return system_call(134, -1, b"/lib/libc.so.6") == 0


_NAMES = (
    "app.cli",
    "graph.new.build",
    "evals.registry",
    "agents.model.chat",
    "vectorstore",
    "tools.sandbox",
)


class ImportHostModules(Attack, stage="hidden", seen="unconfined"):
    """Cannot import the host's own code."""

    def _imported(self) -> object:
        return first(__import__, _NAMES)

    def _already_there(self) -> object:
        return [name for name in _NAMES if name in SYS.modules]

    def _by_folder_of_a_package(self) -> object:
        path = list(SYS.modules["tools"].__path__)
        return held("importlib.machinery").PathFinder.find_spec("tools.sandbox", path)

    def _with_the_path(self) -> object:
        SYS.path[:0] = [bytes.fromhex(word).decode() for word in BAIT.get("hidden", [])]
        held("importlib").invalidate_caches()
        return self._imported()

    def _installed(self) -> object:
        names = ("pip", "pytest", "openai", "chromadb", "pydantic", "sqlite3", "ssl")
        return first(__import__, names)

    def _from_text(self) -> object:
        folders = [bytes.fromhex(word).decode() for word in BAIT.get("hidden", [])]
        return first(lambda folder: held("io").open(f"{folder}/app/cli.py").read(), folders)


def _ran(value: object) -> object:
    text = getattr(value, "read", lambda: value)()
    return text if "ran" in str(text) else None


class EscapesOfTheLanguage(Attack, seen="unlimited"):
    """Reaches no program by the known escapes from restricted Python."""

    def _module_of_a_module(self) -> object:
        return _ran(vars(held("re").enum)["sys"].modules["os"].popen("/bin/echo ran"))

    def _subclasses(self) -> object:
        for kind in object.__subclasses__():
            names = getattr(kind.__init__, "__globals__", {})
            if "popen" in names:
                return _ran(names["popen"]("/bin/echo ran"))
        return None

    def _frames(self) -> object:
        def empty() -> object:
            yield frame

        generator: Any = empty()
        frame = generator.gi_frame
        built_in = frame.f_builtins
        return _ran(built_in["__import__"]("os").popen("/bin/echo ran"))

    def _format_fields(self) -> object:
        formatter = held("string").Formatter()
        module, _ = formatter.get_field("0.__globals__", (held,), {})
        return _ran(module["held"]("posix").posix_spawn("/bin/echo", ["echo", "ran"], {}) and "ran")

    def _arrays(self) -> object:
        ctypes = held("numpy").ctypeslib.ctypes
        return ctypes.CDLL(None).system(b"/bin/true") == 0 and "ran"

    def _help_and_debugger(self) -> object:
        return _ran(held("pydoc").pipepager("ran", "/bin/cat") or "")
