"""Eval: can hostile code do harm, cheat or forge a result, and what does keeping it from that cost?

The attacks run with namespaces, where they are in force, and without. A figure is the median of its
repetitions; each sample holds the least and the greatest beside it, with the grade it was taken
under. On a shared machine a time may miss its bound in one run and keep it in the next.
"""

import dataclasses
import sys
from collections.abc import Iterator

from agents.players.registry import PRELOAD as PLAYERS
from evals.bench.timings import machine
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, Tell, score_over
from evals.sandbox.bench import QUICK, Places, Repeats, bounded_score, sandbox_figures
from evals.sandbox.forgery import GAMES, ForgeOutcome, forge_checks, forge_transitions, tricks
from evals.sandbox.judging import held_unseen, judged_unseen, leaks_between_workers
from evals.sandbox.probes import LIMITS, BrokenProbeError, probes, run_probe
from evals.sandbox.sweep import PRELOAD, TARGET, SweepResult, sweep
from tools.sandbox import Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend
from tools.transitions import ReplayProtocol


def run(options: EvalOptions) -> EvalResult:
    """Attack the sandbox, forge results in it, and measure it.

    Quick: with namespaces alone, nothing is judged unseen, and figures have few repetitions.

    Raises:
        EvalError: If this is no Linux.
        SandboxUnavailableError: If its sandbox cannot start.
    """
    if sys.platform != "linux":
        raise EvalError(f"this evaluation is of the backend 'linux'; this is {sys.platform}")
    backend, without = LinuxBackend(), LinuxBackend(namespaces=False)
    scores, samples = _harm(backend, *([] if options.quick else [without]), tell=options.tell)
    scores += leaks_between_workers(backend, options.seed)
    with (
        Sandbox(backend) as strong,
        Sandbox(without) as bare,
        Sandbox(ProcessBackend()) as unconfined,
    ):
        places = Places(backend, strong, bare, unconfined)
        repeats = QUICK if options.quick else Repeats()
        timings, unmeasured = sandbox_figures(places, repeats, options.seed, options.tell)
        about = machine()
        samples += [{**timing.as_sample(), **about} for timing in timings]
        return EvalResult(
            scores=(*scores, *map(bounded_score, timings)),
            samples=tuple(samples),
            effective={
                **about,
                "sandbox": strong.grade.model_dump(mode="json"),
                "repeats": dataclasses.asdict(repeats),
            },
            unscored=dict(unmeasured),
        )


def _harm(
    backend: LinuxBackend, *without: LinuxBackend, tell: Tell
) -> tuple[list[Score], list[Row]]:
    """Attacks with namespaces and without, a sweep over the system calls, and forgeries."""
    scores: list[Score] = []
    samples: list[Row] = []
    for where in (backend, *without):
        with Sandbox(where, limits=LIMITS) as sandbox:
            if where in without or "namespaces" in sandbox.grade.layers or not without:
                rows = attacked(sandbox, tell)
                is_bare = "namespaces" not in sandbox.grade.layers
                scores.append(breaches(rows, "without" if is_bare else "with"))
                samples += rows
    with Sandbox(backend, preload=(PRELOAD,)) as sandbox:
        swept = sweep(sandbox)
    scores += reached(swept)
    samples.append({"name": "system call sweep", **swept.model_dump(mode="json")})
    with Sandbox(backend) as sandbox:
        forged = list(forgeries(sandbox, tell))
    scores.append(forged_passes(forged))
    if without:
        with Sandbox(backend, preload=PLAYERS) as sandbox:
            unseen = [*judged_unseen(sandbox)]
        scores.append(held_unseen(unseen))
        samples += unseen
    samples += [outcome.model_dump(mode="json") for outcome in forged]
    return scores, samples


def attacked(sandbox: Sandbox, tell: Tell) -> list[Row]:
    """Run every probe; `breached` is None where one could not be judged."""
    grade: Row = {"grade": sandbox.grade.name, "layers": list(sandbox.grade.layers)}
    rows: list[Row] = []
    for probe in probes():
        try:
            outcome = run_probe(probe, sandbox)
            rows.append({**outcome.model_dump(mode="json"), **grade})
        except BrokenProbeError as error:
            rows.append({"name": probe.name, "breached": None, "how": str(error), **grade})
        if rows[-1]["breached"] is not False:
            tell(f"{probe.name}: {rows[-1]['breached']}, {rows[-1]['how']}")
    return rows


def breaches(rows: list[Row], namespaces: str) -> Score:
    """The number of probes that breached the sandbox.

    Raises:
        NothingScoredError: If none could be judged.
    """
    breached = [row["breached"] for row in rows]
    return score_over(breached, f"breaches {namespaces} namespaces", sum, at_most=0)


def reached(swept: SweepResult) -> tuple[Score, Score]:
    """The number of system calls that get through, and of those that do harm."""
    got, judged = len(swept.reachable), len(swept.denied) + len(swept.killed)
    harmful = [name for name, reach in swept.special.items() if reach == "reachable"]
    return (
        Score(
            "reachable system calls",
            got,
            got + judged,
            at_most=TARGET,
            unscored=len(swept.unexpected),
        ),
        Score("harmful calls that get through", len(harmful), len(swept.special), at_most=0),
    )


def forgeries(sandbox: Sandbox, tell: Tell) -> Iterator[ForgeOutcome]:
    """Every trick against every way in which the host judges a module."""
    for trick in tricks():
        found = [forge_checks(trick, sandbox)]
        protocols: tuple[ReplayProtocol, ...] = ("forward", "columns")
        for game in GAMES:
            found += [forge_transitions(trick, sandbox, game, way) for way in protocols]
        for outcome in found:
            if outcome.passed:
                tell(f"{trick.name}: {outcome.passed} of {outcome.judged} forged, {outcome}")
        yield from found


def forged_passes(outcomes: list[ForgeOutcome]) -> Score:
    """Wrong answers that the host accepted, from modules that compute nothing right."""
    passed = sum(outcome.passed for outcome in outcomes)
    judged = sum(outcome.judged for outcome in outcomes)
    return Score("forged passes beyond honest repeats", passed, judged, at_most=0)
