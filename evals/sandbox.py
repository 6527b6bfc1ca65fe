"""Eval: can hostile code do harm or forge a result, and what does keeping it from that cost?

The attacks run with namespaces, where they are in force, and without. A figure is the median of its
repetitions; each sample holds the least and the greatest beside it, with the grade it was taken
under. On a shared machine a time may miss its bound in one run and keep it in the next.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import cast

from pydantic import JsonValue

from evals.bench.sandbox import Places, Repeats, measure, score
from evals.bench.timings import Timing, Unmeasured, machine
from evals.probes.catalogue import probes
from evals.probes.forgery import GAMES, ForgeOutcome, forge_checks, forge_transitions, tricks
from evals.probes.running import LIMITS, BrokenProbeError, run_probe
from evals.probes.sweeping import PRELOAD, TARGET, SweepResult, sweep
from evals.results import EvalError, EvalResult, NothingScoredError, Score
from tools.sandbox import Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend
from tools.transitions import Protocol

Tell = Callable[[str], None]
Sample = dict[str, JsonValue]


def run(seed: int, tell: Tell) -> EvalResult:
    """Attack the sandbox, forge results in it, and measure it.

    Raises:
        EvalError: If this is no Linux.
        SandboxUnavailableError: If its sandbox cannot start.
    """
    if sys.platform != "linux":
        raise EvalError(f"this evaluation is of the backend 'linux'; this is {sys.platform}")
    scores: list[Score] = []
    samples: list[Sample] = []
    backend, without = LinuxBackend(), LinuxBackend(namespaces=False)
    for where in (backend, without):
        with Sandbox(where, limits=LIMITS) as sandbox:
            if where is without or "namespaces" in sandbox.grade.layers:
                rows = attacked(sandbox, tell)
                scores.append(breaches(rows, "without" if where is without else "with"))
                samples += rows
    with Sandbox(backend, preload=(PRELOAD,)) as sandbox:
        swept = sweep(sandbox)
    scores += reached(swept)
    samples.append({"name": "system call sweep", **swept.model_dump(mode="json")})
    with Sandbox(backend) as sandbox:
        forged = [outcome.model_dump(mode="json") for outcome in forgeries(sandbox, tell)]
    scores.append(forged_passes(forged))
    samples += forged
    with (
        Sandbox(backend) as strong,
        Sandbox(without) as bare,
        Sandbox(ProcessBackend()) as unconfined,
    ):
        places = Places(backend, strong, bare, unconfined)
        timings, unmeasured = measure(places, Repeats(), seed, tell)
        grade = strong.grade
    about = machine()
    return result(
        scores,
        samples + [{**timing.as_sample(), **about, "seed": seed} for timing in timings],
        timings,
        unmeasured,
        {
            "seed": seed,
            **about,
            "sandbox": grade.model_dump(mode="json"),
            "repeats": dataclasses.asdict(Repeats()),
        },
    )


def attacked(sandbox: Sandbox, tell: Tell) -> list[Sample]:
    """Run every probe; `breached` is None where one could not be judged."""
    grade: Sample = {"grade": sandbox.grade.name, "layers": list(sandbox.grade.layers)}
    rows: list[Sample] = []
    for probe in probes():
        try:
            outcome = run_probe(probe, sandbox)
            rows.append({**outcome.model_dump(mode="json"), **grade})
        except BrokenProbeError as error:
            rows.append({"name": probe.name, "breached": None, "how": str(error), **grade})
        if rows[-1]["breached"] is not False:
            tell(f"{probe.name}: {rows[-1]['breached']}, {rows[-1]['how']}")
    return rows


def breaches(rows: list[Sample], namespaces: str) -> Score:
    """How many probes breached the sandbox.

    Raises:
        NothingScoredError: If none could be judged.
    """
    judged = [row["breached"] for row in rows if row["breached"] is not None]
    if not judged:
        raise NothingScoredError(f"none of {len(rows)} probes could be judged")
    return Score(
        name=f"breaches {namespaces} namespaces",
        value=judged.count(True),
        at_most=0,
        scored=len(judged),
        unscored=len(rows) - len(judged),
    )


def reached(swept: SweepResult) -> tuple[Score, Score]:
    """How many system calls get through, and how many whose arguments make them harmful."""
    judged = len(swept.reachable) + len(swept.denied) + len(swept.killed)
    harmful = [name for name, reach in swept.special.items() if reach == "reachable"]
    return (
        Score(
            name="reachable system calls",
            value=len(swept.reachable),
            at_most=TARGET,
            scored=judged,
            unscored=len(swept.unexpected),
        ),
        Score(
            name="harmful calls that get through",
            value=len(harmful),
            at_most=0,
            scored=len(swept.special),
        ),
    )


def forgeries(sandbox: Sandbox, tell: Tell) -> Iterator[ForgeOutcome]:
    """Every trick against every way in which the host judges a module."""
    for trick in tricks():
        found = [forge_checks(trick, sandbox)]
        protocols: tuple[Protocol, ...] = ("forward", "columns")
        for game in GAMES:
            found += [forge_transitions(trick, sandbox, game, way) for way in protocols]
        for outcome in found:
            if outcome.passed:
                tell(f"{trick.name}: {outcome.passed} of {outcome.judged} forged, {outcome}")
        yield from found


def forged_passes(rows: list[Sample]) -> Score:
    """What the host took for right of modules that compute nothing right."""
    return Score(
        name="forged passes beyond honest repeats",
        value=sum(cast("int", row["passed"]) for row in rows),
        at_most=0,
        scored=sum(cast("int", row["judged"]) for row in rows),
    )


def result(
    scores: list[Score],
    samples: list[Sample],
    timings: list[Timing],
    unmeasured: list[Unmeasured],
    effective: dict[str, JsonValue],
) -> EvalResult:
    """Everything in one result; what could not be measured is named and fails it."""
    return EvalResult(
        name="sandbox",
        scores=(*scores, *map(score, timings)),
        samples=tuple(samples),
        effective=effective,
        unscored={one.name: one.reason for one in unmeasured},
    )
