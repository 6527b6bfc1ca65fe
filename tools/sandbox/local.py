"""Backends of this machine, behind whatever layers its kernel has; and every backend by name."""

import sys
from dataclasses import replace

from tools.sandbox.backends import (
    ALWAYS,
    Backend,
    Grade,
    Kit,
    Limits,
    Pool,
    SandboxUnavailableError,
)
from tools.sandbox.e2b import E2BBackend
from tools.sandbox.holding import require_holding
from tools.sandbox.zygote_client import LayerRefusedError, Layers, Zygote

WAYS_OUT = (
    "use another backend (--sandbox e2b runs the code in a virtual machine elsewhere and needs a "
    "key), a newer kernel (Linux 5.13 or later), or, for code whose origin you trust, "
    "--sandbox process --i-accept-no-isolation"
)

NAMES = ("linux", "seatbelt", "e2b", "process")


class LinuxBackend:
    """The default on Linux: namespaces where they work, Landlock where there is one, seccomp."""

    name = "linux"

    def __init__(self, *, namespaces: bool = True, landlock: bool = True) -> None:
        """Nothing is started yet.

        Args:
            namespaces: Whether to try namespaces; without them the grade is still strong.
            landlock: Whether to use Landlock where the kernel has it.
        """
        self._layers = Layers(namespaces=namespaces, landlock=landlock, seccomp=True)
        self._lacking = "" if namespaces else "namespaces are switched off"

    def start(self, kit: Kit, limits: Limits) -> Pool:
        """See `Backend.start`."""
        if sys.platform != "linux":
            raise SandboxUnavailableError(
                f"the backend 'linux' needs Linux; this is {sys.platform}: {WAYS_OUT}"
            )
        zygote = self._started(kit, limits)
        zygote.grade = self._grade(zygote)
        require_holding(zygote, limits)
        return zygote

    def _started(self, kit: Kit, limits: Limits) -> Zygote:
        try:
            return Zygote(kit, limits, self._layers)
        except LayerRefusedError as refused:
            if refused.layer != "namespaces":
                raise SandboxUnavailableError(
                    f"the sandbox cannot put {refused.layer} in force here: {refused}. {WAYS_OUT}"
                ) from refused
            self._lacking = f"no namespaces: {refused}"
            self._layers = replace(self._layers, namespaces=False)
        return self._started(kit, limits)

    def _grade(self, zygote: Zygote) -> Grade:
        lacking = [self._lacking] if self._lacking else []
        if not zygote.told.landlock:
            lacking.append("no Landlock: the system call filter alone keeps files closed")
        layers = [*ALWAYS, "unprivileged user"]
        layers += ["namespaces"] if self._layers.namespaces else []
        layers += ["no new privileges"]
        layers += [f"Landlock {zygote.told.landlock}"] if zygote.told.landlock else []
        layers += [] if zygote.told.clock else ["no clock"]
        if zygote.told.clock:
            lacking.append(
                f"workers can tell each other by the time of an answer: {zygote.told.clock}"
            )
        return Grade(
            name="medium" if zygote.told.clock else "strong",
            backend=self.name,
            layers=(*layers, "system call allow-list"),
            reason="; ".join(lacking) or "no layer is missing",
        )


class SeatbeltBackend:
    """macOS's own sandbox around every worker. Not tried on a Mac yet, hence never "strong"."""

    name = "seatbelt"

    def start(self, kit: Kit, limits: Limits) -> Pool:
        """See `Backend.start`."""
        if sys.platform != "darwin":
            raise SandboxUnavailableError(
                f"the backend 'seatbelt' needs macOS; this is {sys.platform}: {WAYS_OUT}"
            )
        zygote = Zygote(kit, limits, Layers(seatbelt=True))
        zygote.grade = Grade(
            name="medium",
            backend=self.name,
            layers=(*ALWAYS, "Seatbelt (deny default)"),
            reason="Seatbelt's interface is deprecated and this backend is untested",
        )
        require_holding(zygote, limits)
        return zygote


class ProcessBackend:
    """Resource limits only: for code whose origin one trusts, where nothing better works."""

    name = "process"

    def start(self, kit: Kit, limits: Limits) -> Pool:
        """See `Backend.start`."""
        zygote = Zygote(kit, limits, Layers())
        zygote.grade = Grade(
            name="none",
            backend=self.name,
            layers=ALWAYS,
            reason=(
                "time, memory and output are bounded, but nothing keeps the module's code "
                "from files, the network or other processes; run only code you trust"
            ),
        )
        return zygote


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
        return E2BBackend()
    if name != "process":
        raise ValueError(f"no sandbox backend {name!r}; there are {', '.join(NAMES)}")
    if not accept_no_isolation:
        raise ValueError(
            "the backend 'process' isolates nothing: code in it can read your files and use your "
            "network. Say so with --i-accept-no-isolation, or use the default"
        )
    return ProcessBackend()
