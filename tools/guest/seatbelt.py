"""macOS's own sandbox, for a worker that has loaded everything. Not tried on a Mac yet."""

import ctypes

_LIBRARY = "/usr/lib/libSystem.dylib"
_PROFILE = b"(version 1)(deny default)"


def deny_everything() -> None:
    """Deny this process files, network, processes and services, for good.

    `sandbox_init` is marked deprecated by Apple and has no successor for command-line programs.

    Raises:
        OSError: If the system refuses the profile.
    """
    library = ctypes.CDLL(_LIBRARY, use_errno=True)
    problem = ctypes.c_char_p()
    flags = ctypes.c_uint64(0)  # the profile is given as text
    if library.sandbox_init(ctypes.c_char_p(_PROFILE), flags, ctypes.byref(problem)) != 0:
        said = (problem.value or b"no reason given").decode("utf-8", "replace")
        raise OSError(f"sandbox_init: {said}")
