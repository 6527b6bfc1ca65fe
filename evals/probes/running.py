"""Run probes in a sandbox, and say what the host and the attacker saw."""

import re
import time
from collections.abc import Mapping
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from evals.probes.catalogue import Probe
from evals.probes.stages import Scene, stage
from evals.results import EvalError
from games.contract import Json, ModuleFault
from tools.sandbox import Limits, Sandbox, SandboxUnavailableError, Worker

# Little room and short graces: what eats memory or holds the host up is to be seen soon.
LIMITS = Limits(memory_bytes=384 * 2**20, grace_s=0.3)

_CALL_S = 10.0
_ENDLESS_S = 0.3
_OVERDUE_S = 10.0  # a busy machine may be seconds late
_MOST_WAYS = 16
# What a sandbox refuses is refused with other errors than these.
_OWN_MISTAKE = re.compile(
    r": ((?:Name|UnboundLocal|Attribute|Type|Key|Index|Assertion|ZeroDivision|Syntax)Error)\b"
)
_BAIT = "BAIT: dict[str, Any] = {}\n"


class UnsafeProbeError(EvalError):
    """A probe that could harm the machine was about to run in an unconfined process."""


class BrokenProbeError(EvalError):
    """A probe itself failed, so it proves nothing."""


class ProbeOutcome(BaseModel):
    """What became of one probe.

    Attributes:
        name: The probe.
        property: What the sandbox was to hold.
        group: What it went for.
        breached: Whether the harm was seen, from inside or by the host.
        how: What was seen, or by what each way failed.
        ended_by: How workers ended before their time, one entry a worker.
        tried: Ways that were tried.
        seconds: Time all of it took.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    property: str
    group: str
    breached: bool
    how: str
    ended_by: tuple[str, ...]
    tried: int = Field(ge=1)
    seconds: float


class _Tally:
    """What the ways of one probe came to so far."""

    def __init__(self) -> None:
        self.breaches: list[str] = []
        self.notes: list[str] = []
        self.ended_by: list[str] = []
        self.tried = 0


def run_probe(probe: Probe, sandbox: Sandbox) -> ProbeOutcome:
    """Run every way of a probe, each in a worker of its own where one ends its worker.

    Raises:
        UnsafeProbeError: If the probe could harm the machine and nothing would hold it back.
        BrokenProbeError: If the probe does not load or answers nonsense.
    """
    if sandbox.grade.name == "none" and not probe.safe_without_isolation:
        raise UnsafeProbeError(f"{probe.name} may only run in a sandbox that confines it")
    started = time.monotonic()
    tally = _Tally()
    with stage(probe.stage)(sandbox) as scene:
        if probe.endless or _try(probe, sandbox, scene, tally, 0, _MOST_WAYS) is None:
            _try_one_by_one(probe, sandbox, scene, tally)
        if harm := scene.harm():
            tally.breaches.append(harm)
    if not tally.tried and not tally.breaches:
        raise BrokenProbeError(f"{probe.name} tried nothing")
    return ProbeOutcome(
        name=probe.name,
        property=probe.holds,
        group=probe.group,
        breached=bool(tally.breaches),
        how="; ".join(tally.breaches or tally.notes),
        ended_by=tuple(tally.ended_by),
        tried=max(tally.tried, 1),  # a breach may be seen before a way has answered
        seconds=round(time.monotonic() - started, 3),
    )


def with_bait(source: str, bait: Mapping[str, Json]) -> str:
    """A probe's source with what its attacker is to know."""
    if source.count(_BAIT) != 1:
        raise BrokenProbeError(f"a probe must hold the line {_BAIT!r} once")
    return source.replace(_BAIT, f"BAIT: dict[str, Any] = {dict(bait)!r}\n")


def _try_one_by_one(probe: Probe, sandbox: Sandbox, scene: Scene, tally: _Tally) -> None:
    tally.tried = 0
    for index in range(_MOST_WAYS):
        if tally.breaches or _try(probe, sandbox, scene, tally, index, index + 1) == 0:
            return


def _try(
    probe: Probe, sandbox: Sandbox, scene: Scene, tally: _Tally, first: int, last: int
) -> int | None:
    """How many ways were tried, or None where the worker did not live to tell."""
    seconds = _ENDLESS_S if probe.endless else _CALL_S
    source = with_bait(probe.source, scene.bait)
    started = time.monotonic()
    with sandbox.worker("probe") as worker:
        try:
            _load(worker, probe, source)
            started = time.monotonic()
            answer = worker.call("main", [first, last], deadline_s=seconds)
        except ModuleFault as fault:
            tally.ended_by.append(f"{fault.kind}: {fault.message}")
            tally.notes.append(f"way {first}: {fault}")
            tally.tried += 1
            answer = None
        except SandboxUnavailableError as error:
            tally.breaches.append(f"the sandbox's own process was ended: {error}")
            return 0
        late = time.monotonic() - started - seconds - worker.limits.grace_s
        if late > _OVERDUE_S:
            tally.breaches.append(f"held the host up for {late:.1f} s past its deadline")
        _look_at_output(worker, tally)
    if answer is None:
        return None
    return _count(probe, answer, tally)


def _load(worker: Worker, probe: Probe, source: str) -> None:
    try:
        worker.load(source)
    except ModuleFault as fault:
        raise BrokenProbeError(f"{probe.name} does not load: {fault}") from fault


def _count(probe: Probe, answer: Json, tally: _Tally) -> int:
    if not isinstance(answer, dict) or not {"breached", "how", "tried"} <= answer.keys():
        raise BrokenProbeError(f"{probe.name} answered {answer!r:.200}")
    if own := _OWN_MISTAKE.search(str(answer["how"])):
        raise BrokenProbeError(
            f"a way of {probe.name} failed by itself ({own[1]}): {answer['how']}"
        )
    tried = cast("int", answer["tried"])
    tally.tried += tried
    if answer["breached"] is True:
        tally.breaches.append(str(answer["how"]))
    elif tried:
        tally.notes.append(str(answer["how"]))
    return tried


def _look_at_output(worker: Worker, tally: _Tally) -> None:
    output = worker.output
    if len(output) > worker.limits.output_characters + 100:
        tally.breaches.append(f"the host kept {len(output)} characters of output")
    if not all(character.isprintable() or character in "\n\t" for character in output):
        tally.breaches.append("control characters reached the host")
