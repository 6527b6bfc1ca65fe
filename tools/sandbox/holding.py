"""Proof of a pool: a throw-away worker tries to get out, and must not succeed."""

from typing import Protocol

from games.values import ModuleFault
from tools.guest.confine.canaries import TELL_TIME
from tools.guest.protocol import Ready
from tools.sandbox.backends import Limits, Pool, PoolGoneError, SandboxUnavailableError
from tools.sandbox.worker import Worker


class TellingPool(Pool, Protocol):
    """A pool that knows what its workers have put in force.

    Attributes:
        told: The report of one of them, at the latest when it was forked: the architecture whose
            system call filter must end a worker that traces another process, and their clock.
    """

    told: Ready


def require_holding(pool: TellingPool, limits: Limits) -> None:
    """Run the canaries of `tools.guest.confine.canaries` in a fresh worker of a pool.

    Args:
        pool: What is on trial.
        limits: Its workers' bounds.

    Raises:
        SandboxUnavailableError: If one of them succeeds, or they cannot be run; the pool is closed.
    """
    try:
        problem = _problem(pool, limits)
    except PoolGoneError as gone:
        pool.close()
        raise SandboxUnavailableError(
            f"the sandbox's own process ended during its self-test ({gone}); try again"
        ) from gone
    except BaseException:
        pool.close()
        raise
    if problem:
        pool.close()
        raise SandboxUnavailableError(
            f"the sandbox's self-test failed, so nothing is run in it: {problem}. Use another "
            "backend (--sandbox e2b), or report this with the output of 'rulewright doctor'"
        )


def _problem(pool: TellingPool, limits: Limits) -> str | None:
    with Worker("self-test", pool.fork(), limits, forget=lambda _: None, loads={}) as worker:
        try:
            worker.load("")
            out = worker.request("canaries", {}, limits.load_s)
        except ModuleFault as fault:
            return f"its canaries could not run ({fault})"
        machine, known = pool.told.machine, [TELL_TIME] if pool.told.clock else []
        if not isinstance(out, list) or any(could not in known for could in out):
            return f"a worker could {_listed(out)}"
        if not machine:
            return None
        try:
            said = worker.request("trip", {"machine": machine}, limits.call_s)
        except ModuleFault:
            ending = worker.ended_by
            if ending is not None and ending.cause == "blocked_call":
                return None
            return f"a worker that traced a process was ended by {ending}, not by the filter"
        return f"a worker that traced a process went on ({said!r:.40})"


def _listed(out: object) -> str:
    return ", ".join(map(str, out)) if isinstance(out, list) else repr(out)[:200]
