"""Probes: attacks as modules that stand alone, run in a sandbox, and what the host then saw."""

import ast
import difflib
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from textwrap import indent
from typing import Literal

from pydantic import BaseModel, Field

from evals.results import EvalError, read_data
from evals.sandbox.stages import Scene, stage
from games.text import syntax_tree
from games.values import Json, ModuleFault
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


GROUPS: list[str] = read_data("sandbox/attacks/prelude.yaml")["groups"]


class UnsafeProbeError(EvalError):
    """A probe that could harm the machine was about to run in an unconfined process."""


class BrokenProbeError(EvalError):
    """A probe itself failed, so it proves nothing."""


class UnknownProbeError(EvalError):
    """No attack has the name that was asked for."""


@dataclass(frozen=True)
class Probe:
    """One attack as it is run.

    Attributes:
        name: Its name.
        group: What it goes for.
        holds: What the sandbox holds when the attack fails.
        source: The module that stands alone; its `main` answers what it saw.
        stage: What the host lays out before and looks at afterwards.
        seen: Where it is seen to breach: "unconfined" in a worker that only resource limits
            hold, "unlimited" in a plain process of the interpreter; the proof that the attack
            can see a breach. "sometimes" in either, where the machine's settings or the user's
            privileges allow it; "never" where the kernel and our protocol stop it anyway.
        confined_only: Whether it could harm the machine in a process that nothing holds back.
        endless: Whether its ways are to run until somebody ends them.
    """

    name: str
    group: str
    holds: str
    source: str = field(repr=False)
    stage: str = "none"
    seen: Literal["unconfined", "unlimited", "sometimes", "never"] = "never"
    confined_only: bool = False
    endless: bool = False


@cache
def probes() -> tuple[Probe, ...]:
    """Every attack, group by group."""
    return tuple(probe for group in GROUPS for probe in _probes_of(group))


def find_probe(name: str) -> Probe:
    """The attack called `name`.

    Raises:
        UnknownProbeError: With the names that come nearest.
    """
    for probe in probes():
        if probe.name == name:
            return probe
    names = [probe.name for probe in probes()]
    near = ", ".join(difflib.get_close_matches(name, names, n=3, cutoff=0.0))
    raise UnknownProbeError(f"no attack is called {name!r}; the nearest are {near}")


def stand_alone(roots: Collection[str], *sources: str) -> str:
    """The definitions that these need from the modules that share them, as one module.

    Args:
        roots: Names of the definitions that are wanted.
        sources: The modules, first what others use; of two definitions the first counts.
    """
    texts: list[tuple[ast.stmt, str]] = []
    places: dict[str, int] = {}
    for source in sources:
        lines, last = source.splitlines(), 0
        for statement in syntax_tree(source).body:
            for name in _defined(statement):
                places.setdefault(name, len(texts))
            texts.append((statement, "\n".join(lines[last : statement.end_lineno])))
            last = statement.end_lineno or 0
    needed: set[int] = set()
    waiting = [*roots]
    while waiting:
        place = places.get(waiting.pop())
        if place is not None and place not in needed:
            needed.add(place)
            names = (node for node in ast.walk(texts[place][0]) if isinstance(node, ast.Name))
            waiting += [name.id for name in names]
    return "\n".join(texts[place][1] for place in sorted(needed)).strip() + "\n"


def _defined(statement: ast.stmt) -> list[str]:
    """Names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in statement.names]
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
    return [node.id for node in stored if isinstance(node.ctx, ast.Store)]


def _probes_of(group: str) -> Iterator[Probe]:
    told = read_data(f"sandbox/attacks/{group}.yaml")
    for name, row in told["attacks"].items():
        about = {"group": group.replace("_", " "), "endless": group == "deadlines", **row}
        ways, base = about.pop("ways"), about.pop("base", "Attack")
        source = _module(row["holds"], told.get("shared", ""), ways, base)
        yield Probe(name=name, source=source, **about)


def _module(holds: str, shared: str, ways: Mapping[str, str], base: str) -> str:
    """An attack as a module that stands alone.

    Args:
        holds: What the sandbox holds when it fails.
        shared: What the attacks of its file share.
        ways: Bodies of functions, by name.
        base: The class that tries them.
    """
    methods = (
        f"    def _{way}(self) -> object:\n{indent(body.rstrip(), ' ' * 8)}"
        for way, body in ways.items()
    )
    trial = f"class Trial({base}):\n" + "\n\n".join(methods)
    prelude = read_data("sandbox/attacks/prelude.yaml")["source"]
    text = stand_alone(("Trial", "BAIT"), prelude, f"\n\n{shared}\n\n{trial}")
    return f'"""{holds}"""\n\n{text}\n\nmain = Trial().main\n'


class ProbeOutcome(BaseModel, frozen=True, extra="forbid"):
    """The result of one probe.

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

    name: str
    property: str
    group: str
    breached: bool
    how: str
    ended_by: tuple[str, ...]
    tried: int = Field(ge=1)
    seconds: float


class _Tally:
    """Running result of the ways of one probe."""

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
    if sandbox.grade.name == "none" and probe.confined_only:
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
    """The number of ways that were tried, or None if the worker did not live to tell."""
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
    match answer:
        case {"breached": bool(breached), "how": str(how), "tried": int(tried)}:
            pass
        case _:
            raise BrokenProbeError(f"{probe.name} answered {answer!r:.200}")
    if own := _OWN_MISTAKE.search(how):
        raise BrokenProbeError(f"a way of {probe.name} failed by itself ({own[1]}): {how}")
    tally.tried += tried
    if breached:
        tally.breaches.append(how)
    elif tried:
        tally.notes.append(how)
    return tried


def _look_at_output(worker: Worker, tally: _Tally) -> None:
    output = worker.output
    if len(output) > worker.limits.output_characters + 100:
        tally.breaches.append(f"the host kept {len(output)} characters of output")
    if not all(character.isprintable() or character in "\n\t" for character in output):
        tally.breaches.append("control characters reached the host")
