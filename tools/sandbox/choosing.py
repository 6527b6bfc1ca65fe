"""Which backend runs the workers, by name or by platform."""

import sys

from tools.sandbox.backends import Backend, SandboxUnavailableError
from tools.sandbox.local import WAYS_OUT, LinuxBackend, ProcessBackend, SeatbeltBackend

NAMES = ("linux", "seatbelt", "e2b", "process")


def default_backend() -> Backend:
    """The strongest backend of this platform.

    Raises:
        SandboxUnavailableError: If it has none, and the ways out.
    """
    if sys.platform == "linux":
        return LinuxBackend()
    if sys.platform == "darwin":
        return SeatbeltBackend()
    raise SandboxUnavailableError(
        f"{sys.platform} has no sandbox of its own that Rulewright can use: run it under Linux "
        f"(WSL2 on Windows), or {WAYS_OUT}"
    )


def backend_named(name: str | None, *, accept_no_isolation: bool = False) -> Backend:
    """The backend of a name; the platform's own without one.

    Args:
        name: One of `NAMES`, or None.
        accept_no_isolation: Must be said to get "process", which isolates nothing.

    Raises:
        ValueError: If there is no such backend, or "process" is asked for without saying that it
            isolates nothing.
        SandboxUnavailableError: If the platform has no backend of its own.
    """
    if accept_no_isolation and name != "process":
        raise ValueError(
            "--i-accept-no-isolation goes with --sandbox process alone; leave it out, or choose "
            "that backend"
        )
    if name is None:
        return default_backend()
    if name == "linux":
        return LinuxBackend()
    if name == "seatbelt":
        return SeatbeltBackend()
    if name == "e2b":
        from tools.sandbox.e2b import E2BBackend

        return E2BBackend()
    if name != "process":
        raise ValueError(f"no sandbox backend {name!r}; there are {', '.join(NAMES)}")
    if not accept_no_isolation:
        raise ValueError(
            "the backend 'process' isolates nothing: code in it can read your files and use your "
            "network. Say so with --i-accept-no-isolation, or use the default"
        )
    return ProcessBackend()
