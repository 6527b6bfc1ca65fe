"""Benchmark of the sandbox: the figures of one worker, and what is demanded of every figure.

*Cold start*: a new `Sandbox`, its zygote, its self-test, a worker, its module and one answer. *Warm
worker*: a fork of a running zygote and its first answer. Files are in the page cache: the first
cold start of all is not counted.

*Round trip*: `Worker.request("ping")` with a payload that comes back, a game state in kind (lists
of card names) and of an exact size in bytes of JSON. Workers with and without namespaces are asked
in turn, in blocks, wherever the scheduler puts them; then once more with everything held to one
processor, which spares the waking of another.

*Bounds*: starts, round trips, transitions and the arena are held against a plain Python process
that does the same in the same rounds, as the time alone tells how fast a machine is.

*Penalty*: the same work in a locked-down worker and in one of the backend "process", which differs
in nothing but the lockdown; the two take turns, and each round gives one ratio. What is compared is
processor time as the kernel's scheduler counted it for the worker, read by the host: neither the
worker's word nor other processes' share of the machine is in it. Both workers are held to one and
the same processor.

*Memory*: PSS, from `/proc/PID/smaps_rollup`: a page that n processes share counts one nth. The
worker stands alone beside its zygote, which is its dearest case, holds a game and has answered a
call. A kernel that shows this to root alone gives no figure to anybody else.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TypeAlias

from pydantic import JsonValue

from evals.bench.plain import TIMES, PlainProcess, beside_plain, start_plain
from evals.bench.timings import (
    Timing,
    UnreadableError,
    descendants,
    interleaved,
    on_one_processor,
    processor_s,
    proportional_mb,
    seconds,
)
from evals.results import Row, Score, Tell, read_data, score_over
from evals.sandbox.bench_play import PLAYOUTS, arena_rate, conditions_of, copier_gains, transitions
from games import library
from tools.guest.framing import encode
from tools.sandbox import Sandbox, Worker
from tools.sandbox.backends import Backend

# Names of timings whose median is bounded from above; the others are shown.
AT_MOST: dict[str, float] = read_data("sandbox/at_most.yaml")
_KITS = {"without numpy": "", "with numpy": "import numpy\n"}
_PLAIN = "plain"
_PAYLOADS = (100, 2_300, 23_000)
_TRANSITIONS = 1000
_BLOCK = 25
_BLOCKS_A_WORKER = 4
_CALL_S = 60.0
_SETTLE_S = 0.002  # a worker that has answered is asleep by then, and its time is counted
_ANSWER = "def answer():\n    return 1\n"
_SPIN: str = read_data("data/sources.yaml")["spin"]

Lacking: TypeAlias = tuple[str, str]
"""The name of a figure that could not be measured here, and why: no value stands for it."""


@dataclass(frozen=True)
class Repeats:
    """The number of measurements of each figure.

    Attributes:
        cold: Cold starts of either kit.
        warm: Warm workers of either kit.
        blocks: Blocks of round trips a payload.
        replays: Passes over the transitions.
        arena: Rounds of the arena.
        matches: Matches a round of the arena.
        penalty: Pairs of the processor penalty.
        playouts: Pairs of the copier's playouts.
        memory: Workers weighed of either kit.
    """

    cold: int = 9
    warm: int = 60
    blocks: int = 40
    replays: int = 9
    arena: int = 15
    matches: int = 30
    penalty: int = 80
    playouts: int = 15
    memory: int = 3


QUICK = Repeats(3, 20, 10, 3, 3, 10, 20, 3, 1)


@dataclass(frozen=True)
class Places:
    """Where the workers of the benchmark run.

    Attributes:
        backend: The backend of cold starts, its default layers in force.
        strong: A sandbox of that backend.
        bare: The same without namespaces.
        unconfined: A sandbox with resource limits alone.
    """

    backend: Backend
    strong: Sandbox
    bare: Sandbox
    unconfined: Sandbox


def sandbox_figures(
    places: Places, repeats: Repeats, seed: int, tell: Tell
) -> tuple[list[Timing], list[Lacking]]:
    """Take every figure; what cannot be measured here says why."""
    timings: list[Timing] = []
    unmeasured: list[Lacking] = []
    for figure in itertools.chain(
        _cold_starts(places.backend, repeats.cold),
        _warm_workers(places.strong, repeats.warm),
        _round_trips(places, repeats.blocks),
        transitions(places.strong, _TRANSITIONS, seed, repeats.replays),
        arena_rate(places.strong, repeats.matches, seed, repeats.arena),
        _penalties(places.strong, places.unconfined, repeats.penalty),
        copier_gains(places.strong, repeats.playouts),
        _worker_memory(places.strong, repeats.memory),
    ):
        if isinstance(figure, tuple):
            unmeasured.append(figure)
        else:
            timings.append(figure)
            tell(figure.as_text())
    return timings, unmeasured


def bounded_score(timing: Timing) -> Score:
    """The median of a timing, with the bound it is held to."""
    return score_over(timing.values, timing.name, median, at_most=AT_MOST.get(timing.name))


def _cold_starts(backend: Backend, rounds: int) -> Iterator[Timing]:
    """Milliseconds of a cold start, with either kit."""
    grades: Row = {}

    def start(kit: str) -> None:
        source = _KITS[kit] + _ANSWER
        with Sandbox(backend) as sandbox, sandbox.loaded("cold", source) as worker:
            worker.call("answer")
            grades.update(conditions_of(sandbox))

    yield from _beside_starts("cold start", start, rounds, grades)


def _warm_workers(sandbox: Sandbox, rounds: int) -> Iterator[Timing]:
    """Milliseconds of a fork and its first answer, with either kit."""
    numbers = itertools.count()

    def start(kit: str) -> None:
        with sandbox.worker("warm", _KITS[kit]) as worker:
            worker.request("ping", {"number": next(numbers)}, 5)

    yield from _beside_starts("warm worker", start, rounds, conditions_of(sandbox))


def _beside_starts(
    name: str, start: Callable[[str], None], rounds: int, conditions: Row
) -> Iterator[Timing]:
    """Either kit and a plain start of it in turn, after one start of each that does not count."""
    measures: dict[tuple[str, bool], Callable[[], float]] = {}
    for kit, source in _KITS.items():
        measures[kit, False] = partial(seconds, partial(start, kit))
        measures[kit, True] = partial(seconds, partial(start_plain, source + _ANSWER))
    for measure in measures.values():
        measure()
    found = interleaved(measures, rounds)
    for kit in _KITS:
        ours, plain = found[kit, False], found[kit, True]
        yield Timing(f"{name} {kit}, ms", tuple(value * 1e3 for value in ours), conditions)
        yield beside_plain(f"{name} {kit}", ours, plain, conditions)


def payload(size: int) -> Row:
    """A payload like a card game's state, `size` bytes long as JSON.

    Raises:
        ValueError: If `size` is under 32.
    """
    if size < 32:  # noqa: PLR2004 - the sentence below has it
        raise ValueError(f"a payload of {size} bytes holds no state; required: at least 32")
    cards = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
    hands: list[JsonValue] = []
    made: Row = {"turn": 0, "hands": hands, "pad": ""}
    while len(encode(made)) + 40 < size:
        start = 7 * len(hands) % 52
        hands.append([*cards[start : start + 6]])
    made["pad"] = "x" * (size - len(encode(made)))
    return made


def _round_trips(places: Places, rounds: int) -> Iterator[Timing | Lacking]:
    """Microseconds of one question and its answer, for every payload size and sandbox."""
    sandboxes = {"with namespaces": places.strong, "without namespaces": places.bare}
    if "namespaces" not in places.strong.grade.layers:
        del sandboxes["with namespaces"]
        why = f"namespaces are not in force: {places.strong.grade.reason}"
        yield f"round trip of 100 B with namespaces, {TIMES}", why
    for size in _PAYLOADS:
        free = _asked(sandboxes, size, rounds)
        with on_one_processor():
            held = _asked(sandboxes, size, rounds)
        for found, where in ((free, ""), (held, " on one processor")):
            plain = found.pop(_PLAIN)
            for key, values in found.items():
                name = f"round trip of {size} B {key}{where}"
                conditions = {**conditions_of(sandboxes[key]), "payload_bytes": size}
                yield Timing(f"{name}, us", tuple(values), conditions)
                yield beside_plain(name, values, plain, conditions)


def _asked(sandboxes: Mapping[str, Sandbox], size: int, rounds: int) -> dict[str, list[float]]:
    """Round trips of fresh workers, again and again: a worker mostly stays where it was put."""
    taken: dict[str, list[float]] = {key: [] for key in [*sandboxes, _PLAIN]}
    asked = payload(size)
    for _ in range(max(rounds // _BLOCKS_A_WORKER, 1)):
        with contextlib.ExitStack() as stack:
            blocks = {}
            for key, sandbox in sandboxes.items():
                worker = stack.enter_context(sandbox.worker("round trip", ""))
                blocks[key] = partial(_block, partial(worker.request, "ping", asked, 5))
            plain = stack.enter_context(PlainProcess())
            blocks[_PLAIN] = partial(_block, partial(plain.ask, "echo", [asked]))
            for block in blocks.values():
                block()
            for key, values in interleaved(blocks, min(rounds, _BLOCKS_A_WORKER)).items():
                taken[key] += values
    return taken


def _block(ask: Callable[[], object]) -> list[float]:
    return [seconds(ask) * 1e6 for _ in range(_BLOCK)]


def _penalties(confined: Sandbox, unconfined: Sandbox, rounds: int) -> Iterator[Timing | Lacking]:
    """Percent more processor time than without lockdown, for a loop and for playouts."""
    works = {
        "pure Python": (_SPIN, 400_000),
        "playouts": (library.source("tic_tac_toe") + PLAYOUTS, 800),
    }
    for key, (source, amount) in works.items():
        name = f"processor penalty, {key}, %"
        try:
            pairs = _paired(confined, unconfined, source, amount, rounds)
        except UnreadableError as error:
            yield name, f"the kernel does not tell: {error}"
            continue
        ratios = [(one / other - 1) * 100 for one, other in zip(*pairs.values(), strict=True)]
        conditions: Row = {
            **conditions_of(confined),
            "against": unconfined.grade.backend,
            "seconds_a_round": round(min(pairs["unconfined"]), 4),
        }
        yield Timing(name, tuple(ratios), conditions)


def _paired(
    confined: Sandbox, unconfined: Sandbox, source: str, amount: int, rounds: int
) -> dict[str, tuple[float, ...]]:
    with (
        _processor_time(confined, source, amount) as first,
        _processor_time(unconfined, source, amount) as second,
    ):
        first()
        second()
        return interleaved({"confined": first, "unconfined": second}, rounds)


@contextlib.contextmanager
def _processor_time(sandbox: Sandbox, source: str, amount: int) -> Iterator[Callable[[], float]]:
    """Gives processor seconds of one piece of work, in a worker that is held to one processor."""
    sandbox.worker("before", source).kill()  # its pool is there from now on
    with new_worker(sandbox, source) as (worker, pid):

        def spent() -> float:
            time.sleep(_SETTLE_S)
            before = processor_s(pid)
            worker.call("work", [amount], deadline_s=_CALL_S)
            time.sleep(_SETTLE_S)
            return processor_s(pid) - before

        # Two processors of one machine are seldom equally fast at the same moment.
        os.sched_setaffinity(pid, {max(os.sched_getaffinity(0))})
        yield spent


@contextlib.contextmanager
def new_worker(sandbox: Sandbox, source: str) -> Iterator[tuple[Worker, int]]:
    """A worker that holds `source`, and its process id; nothing else may be started meanwhile.

    Raises:
        UnreadableError: If the kernel does not show exactly one new process.
    """
    known = descendants(os.getpid())
    with sandbox.worker("measured", source) as worker:
        fresh = descendants(os.getpid()).keys() - known.keys()
        if len(fresh) != 1:
            raise UnreadableError(f"{len(fresh)} new processes appeared with one worker")
        worker.load(source)
        yield worker, fresh.pop()


def _worker_memory(sandbox: Sandbox, repeats: int) -> Iterator[Timing | Lacking]:
    """PSS in MB of a worker of either kit."""

    def weighed(source: str) -> float:
        with new_worker(sandbox, source) as (worker, pid):
            worker.call("initial_state", [2])
            return proportional_mb(pid)

    for kit, extra in _KITS.items():
        name = f"worker PSS {kit}, MB"
        source = library.source("tic_tac_toe") + extra
        sandbox.worker("before", source).kill()
        try:
            values = tuple(weighed(source) for _ in range(repeats))
        except UnreadableError as error:
            yield name, f"the kernel does not tell this user: {error}"
        else:
            yield Timing(name, values, conditions_of(sandbox))
