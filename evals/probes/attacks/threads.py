"""Cannot start a thread."""

import enum
from types import ModuleType
from typing import Any

BAIT: dict[str, Any] = {}
SYS: ModuleType = vars(enum)["sys"]


def held(name: str) -> ModuleType:
    """A module by import, or as the interpreter holds it."""
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        built_in = SYS.modules["_frozen_importlib"].BuiltinImporter
        module: ModuleType = SYS.modules.get(name) or built_in.load_module(name)
        return module


def main(first: int = 0, last: int = 99) -> dict[str, object]:
    """Try each way; a way returns what it saw of the harm, and the first that does is a breach."""
    notes: list[str] = []
    seen: object = None
    for way in WAYS[first:last]:
        try:
            seen = way()
            note = f"saw {seen!r:.150}" if seen else "saw nothing"
        except Exception as error:  # noqa: BLE001 - that a way is refused is what we hope for
            seen, note = None, f"{type(error).__name__}: {error}"
        notes.append(f"{way.__name__.strip('_')}: {note}")
        if seen:
            break
    told = notes[-1] if seen else "; ".join(notes)
    return {"breached": bool(seen), "how": told, "tried": len(notes)}


def libc(name: str, *arguments: object) -> int:
    """The value of a C function, 64 bits wide; OSError where it is -1."""
    ctypes = held("ctypes")
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_long
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = function(*wide)
    if result in (-1, 0xFFFFFFFF):
        raise OSError(ctypes.get_errno(), f"{name} was refused")
    return result


RAN: list[str] = []


def _low() -> object:
    held("_thread").start_new_thread(RAN.append, ("thread",))
    held("time").sleep(0.05)
    return RAN


def _high() -> object:
    thread = held("threading").Thread(target=RAN.append, args=("thread",))
    thread.start()
    thread.join(1)
    return RAN


def _c_library() -> object:
    ctypes = held("ctypes")
    routine = ctypes.CDLL(None).sched_yield
    handle = ctypes.c_ulong()
    made = libc("pthread_create", ctypes.byref(handle), None, routine, None)
    return None if made else libc("pthread_join", handle, None) == 0


def _pool() -> object:
    with held("concurrent.futures").ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: "ran").result(1)


def _watchdog() -> object:
    """The fault handler's watchdog is a thread of its own; it writes when its time is up."""
    os = held("os")
    reading, writing = os.pipe()
    held("faulthandler").dump_traceback_later(0.02, file=writing)
    held("time").sleep(0.1)
    os.set_blocking(reading, False)
    return os.read(reading, 100)


def _timer() -> object:
    """A timer whose expiry the C library tells by a thread."""
    ctypes = held("ctypes")
    event = (ctypes.c_int * 16)(0, 0, 0, 2)
    timer = ctypes.c_void_p()
    return libc("timer_create", 0, event, ctypes.byref(timer)) == 0


WAYS = (_low, _high, _c_library, _pool, _watchdog, _timer)
