"""Trying out every sandbox that could run here: what works, how far, how fast it starts."""

import os
import platform
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.sandbox import Sandbox
    from tools.sandbox.backends import Backend

_TRACING = "trace a process"
_NUMPY = "import numpy\n"


def default_name() -> str | None:
    """The name of this platform's own backend; None where it has none."""
    from tools.sandbox import SandboxUnavailableError
    from tools.sandbox.local import default_backend

    try:
        return default_backend().name
    except SandboxUnavailableError:
        return None


def try_all(*, elsewhere: bool) -> list[dict[str, Any]]:
    """A row a backend, in the order in which they are to be preferred.

    Args:
        elsewhere: Whether to also start a machine of a service, which takes its time and costs
            money.
    """
    from tools.sandbox.local import NAMES

    here = (default_name(), "e2b", "process")
    return [_tried(name, elsewhere=elsewhere) for name in NAMES if name in here]


def _tried(name: str, *, elsewhere: bool) -> dict[str, Any]:
    from tools.sandbox import SandboxUnavailableError
    from tools.sandbox.local import backend_named

    row: dict[str, Any] = {"backend": name, "default": name == default_name()}
    if name == "e2b" and os.environ.get("E2B_API_KEY") and not elsewhere:
        return row | {
            "works": None,
            "says": "not tried: a machine costs money; rulewright sandbox self-test tries it",
        }
    backend = backend_named(name, accept_no_isolation=name == "process")
    try:
        return row | _measured(backend)
    except SandboxUnavailableError as error:
        return row | {"works": False, "says": str(error)}


def _measured(backend: "Backend") -> dict[str, Any]:
    """What the backend's workers hold against, tried in a fresh one by trusted code.

    Raises:
        SandboxUnavailableError: If it cannot start, or its own start-up test fails.
    """
    from tools.guest.confine.canaries import CANARIES
    from tools.sandbox import Sandbox

    with Sandbox(backend) as sandbox:
        plain = _start_ms(sandbox, "")
        numpy = _start_ms(sandbox, _NUMPY)
        grade = sandbox.grade
        succeeded = _canaries_out(sandbox)
        traced = _traces(sandbox) if backend.name == "linux" else None
    names = CANARIES + ((_TRACING,) if traced is not None else ())
    succeeded += (_TRACING,) if traced else ()
    return {
        "works": grade.name == "none" or not succeeded,
        "says": f"grade {grade.name}: {', '.join(grade.layers)}; {grade.reason}",
        "grade": grade.model_dump(mode="json"),
        "held": [name for name in names if name not in succeeded],
        "not_held": list(succeeded),
        "start_ms": {"without_numpy": plain, "with_numpy": numpy},
    }


def _start_ms(sandbox: "Sandbox", source: str) -> float:
    """Milliseconds until a first worker has loaded a module, the start-up test included."""
    started = time.perf_counter()
    with sandbox.worker("self-test", source) as worker:
        worker.load(source)
    return round((time.perf_counter() - started) * 1000, 1)


def _canaries_out(sandbox: "Sandbox") -> tuple[str, ...]:
    with sandbox.worker("self-test", "") as worker:
        worker.load("")
        out = worker.request("canaries", {}, sandbox.limits.load_s)
    return tuple(map(str, out)) if isinstance(out, list) else (repr(out)[:200],)


def _traces(sandbox: "Sandbox") -> bool:
    """Whether a worker that asks to be traced lives on."""
    from games.contract import ModuleFault

    with sandbox.worker("self-test", "") as worker:
        worker.load("")
        try:
            worker.request("trip", {"machine": platform.machine()}, sandbox.limits.call_s)
        except ModuleFault:
            return worker.ended_by is None or worker.ended_by.cause != "blocked_call"
    return True
