"""Sweep over the system calls: every number is tried in a confined worker."""

import errno
import os
from contextlib import closing
from typing import Literal, TypeAlias

from pydantic import BaseModel

from evals.sandbox.probes import BrokenProbeError, UnsafeProbeError
from evals.sandbox.system_calls import SPECIAL
from games.values import Json, ModuleFault
from tools.guest.confine import filters
from tools.guest.confine.filters import ALLOW, architecture, number
from tools.sandbox import Sandbox, Worker

PRELOAD = "evals.sandbox.system_calls"  # a sandbox must preload it
HIGHEST = 471
TARGET = 51

_CALL_S = 2.0
# uretprobe and uprobe: x86_64 calls that the kernel runs past every filter, by its own design.
_PAST_EVERY_FILTER = frozenset({335, 336})
_FILTERS_ERRORS = frozenset(
    {errno.EPERM, errno.EACCES, errno.EAGAIN, errno.ENOSYS, errno.ENOTTY}
)  # what the filter answers with; the kernel may answer so, too

Reach: TypeAlias = Literal["reachable", "denied", "killed"]


class SweepResult(BaseModel, frozen=True, extra="forbid"):
    """The findings of a sweep.

    Attributes:
        reachable: Numbers whose call got through to the kernel, as far as can be told.
        denied: Numbers that failed with the filter's error, whatever the arguments.
        killed: Numbers that ended the process by the filter.
        skipped: Numbers that say nothing about a filter.
        unexpected: Numbers that answered otherwise than the filter's own table says.
        special: Calls whose arguments matter, by name.
    """

    reachable: tuple[int, ...]
    denied: tuple[int, ...]
    killed: tuple[int, ...]
    skipped: tuple[int, ...]
    unexpected: tuple[int, ...]
    special: dict[str, Reach]


def sweep(sandbox: Sandbox) -> SweepResult:
    """Try every number from 0 to `HIGHEST`, and every special call.

    A number counts as reachable unless its call failed with an error of the filter for arguments
    of -1, 0, 0x81 and 2 alike, and for those that fit it. The kernel itself answers some privileged
    calls like that; so each verdict is also held against the filter's own table, and what differs
    is `unexpected`.

    Args:
        sandbox: A confined one that preloads `PRELOAD`.

    Raises:
        UnsafeProbeError: If its workers are not confined, or may be root.
        BrokenProbeError: If the operation cannot be used.
    """
    _require_confined(sandbox)
    skipped = _PAST_EVERY_FILTER if architecture() == "x86_64" else frozenset()
    found: dict[int, Reach] = {}
    with closing(_Asking(sandbox)) as asking:
        for tried in range(HIGHEST + 1):
            if tried not in skipped:
                found[tried] = asking.reach(tried)
        special = {name: asking.special(name) for name in SPECIAL}
    allowed = _allowed()
    return SweepResult(
        reachable=_those(found, "reachable"),
        denied=_those(found, "denied"),
        killed=_those(found, "killed"),
        skipped=tuple(sorted(skipped)),
        unexpected=tuple(
            tried for tried, reach in found.items() if (reach == "reachable") != (tried in allowed)
        ),
        special=special,
    )


def _require_confined(sandbox: Sandbox) -> None:
    grade = sandbox.grade
    if grade.name != "strong":
        raise UnsafeProbeError(f"a sweep needs a confined worker; this sandbox is {grade.name!r}")
    if os.geteuid() == 0 and "unprivileged user" not in grade.layers:
        raise UnsafeProbeError("a sweep is never run as root")


def _allowed() -> frozenset[int]:
    """Numbers that the filter lets through for some arguments."""
    numbers = (
        number(rule.call, architecture()) for rule in filters.rules() if rule.action == ALLOW
    )
    return frozenset(found for found in numbers if found is not None)


def _those(found: dict[int, Reach], reach: Reach) -> tuple[int, ...]:
    return tuple(tried for tried, what in found.items() if what == reach)


def _fitting(tried: int) -> list[list[int]]:
    """Further arguments for a call that is let through where several of them are right."""
    private_page = [0, 4096, 3, 0x22, -1, 0]  # readable and writable, MAP_PRIVATE | MAP_ANONYMOUS
    nothing_given_back = [0, 0, 4, 0, 0, 0]  # MADV_DONTNEED of no page
    right = {"mmap": private_page, "madvise": nothing_given_back}
    return [given for name, given in right.items() if number(name, architecture()) == tried]


class _Asking:
    """One worker after the other; a new one whenever a call has ended the last."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._worker: Worker | None = None

    def reach(self, tried: int) -> Reach:
        """The fate of one number, as another argument is a private futex's or a clock's."""
        for arguments in (*([one] * 6 for one in (-1, 0, 0x81, 2)), *_fitting(tried)):
            reached: Reach = self._asked("one_call", {"number": tried, "arguments": [*arguments]})
            if reached != "denied":
                break
        return reached

    def special(self, name: str) -> Reach:
        """The fate of one special call."""
        return self._asked("special_call", {"name": name})

    def _asked(self, operation: str, payload: dict[str, Json]) -> Reach:
        if self._worker is None or not self._worker.alive:
            self._worker = self._sandbox.worker("sweep", preloaded=True)
            self._worker.load("")
        worker = self._worker
        try:
            answer = worker.request(operation, payload, _CALL_S)
        except ModuleFault as fault:
            ending = worker.ended_by
            worker.kill()
            if ending is not None and ending.cause == "blocked_call":
                return "killed"
            if fault.kind in ("killed", "timed_out"):
                return "reachable"  # it ended, crashed or held the process
            raise BrokenProbeError(f"the sweep's call failed: {fault}") from fault
        if not isinstance(answer, list) or len(answer) != 2:  # noqa: PLR2004 - result and error
            raise BrokenProbeError(f"the sweep's call answered {answer!r:.80}")
        return "denied" if answer[1] in _FILTERS_ERRORS else "reachable"

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
