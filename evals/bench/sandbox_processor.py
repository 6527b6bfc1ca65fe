"""Benchmark: does the lockdown make computing dearer, and what does the fast copier save?

*Penalty*: the same work in a locked-down worker and in one of the backend "process", which differs
in nothing but the lockdown; the two take turns, and each round gives one ratio. What is compared is
processor time as the kernel's scheduler counted it for the worker, read by the host: neither the
worker's word nor other processes' share of the machine is in it. Both workers are held to one and
the same processor.

*Copier*: random playouts of library games whose `apply_action` first copies the state by
`copy.deepcopy`, as generated modules do. A call with a memo of its own is the original's by the
copier's contract, so one worker plays with `deepcopy(state)`, the other with `deepcopy(state, {})`.
Wall time, in turn.
"""

import os
import time
from collections.abc import Callable, Mapping
from functools import partial

from pydantic import JsonValue

from evals.bench.processes import UnreadableError, descendants, processor_s
from evals.bench.sandbox_calls import conditions_of
from evals.bench.timings import Timing, Unmeasured, interleaved, seconds
from evals.results import EvalError
from games import library
from tools.sandbox import Sandbox, Worker

_CALL_S = 60.0
_SETTLE_S = 0.002  # a worker that has answered is asleep by then, and its time is counted
_SPIN = """
def work(rounds):
    total = 0
    for number in range(rounds):
        total = (total * 31 + number) % 1000003
    return total
"""
_PLAYOUTS = """
import random as _random


def work(matches):
    plies = 0
    draw = _random.Random(7)
    for _ in range(matches):
        state = initial_state(GAME["min_players"])
        while get_current_player(state) != -4 and plies < 200 * matches:
            state = apply_action(state, draw.choice(get_legal_actions(state)))
            plies += 1
    return plies
"""
_COPYING = """
import copy as _copy

_apply = apply_action


def apply_action(state, action):
    return _apply(_copy.deepcopy(state{memo}), action)
"""
_GAMES = {"tic_tac_toe": 600, "trick_taking": 8, "rummy": 6}


def penalties(
    confined: Sandbox, unconfined: Sandbox, rounds: int
) -> tuple[list[Timing], list[Unmeasured]]:
    """Percent more processor time than without lockdown, for a loop and for playouts."""
    works = {
        "pure Python": (_SPIN, 400_000),
        "playouts": (library.source("tic_tac_toe") + _PLAYOUTS, 800),
    }
    timings, unmeasured = [], []
    for key, (source, amount) in works.items():
        name = f"processor penalty, {key}, %"
        try:
            pairs = _paired(confined, unconfined, source, amount, rounds)
        except UnreadableError as error:
            unmeasured.append(Unmeasured(name, f"the kernel does not tell: {error}"))
            continue
        ratios = [(one / other - 1) * 100 for one, other in zip(*pairs.values(), strict=True)]
        conditions: dict[str, JsonValue] = {
            **conditions_of(confined),
            "against": unconfined.grade.backend,
            "seconds_a_round": round(min(pairs["unconfined"]), 4),
        }
        timings.append(Timing(name, tuple(ratios), conditions))
    return timings, unmeasured


def _paired(
    confined: Sandbox, unconfined: Sandbox, source: str, amount: int, rounds: int
) -> dict[str, tuple[float, ...]]:
    with _located(confined, source) as first, _located(unconfined, source) as second:
        # Two processors of one machine are seldom equally fast at the same moment.
        processor = max(os.sched_getaffinity(0))
        for pid in (first.pid, second.pid):
            os.sched_setaffinity(pid, {processor})
        measures = {
            "confined": partial(first.spent, amount),
            "unconfined": partial(second.spent, amount),
        }
        for measure in measures.values():
            measure()
        return interleaved(measures, rounds)


class _located:  # noqa: N801 - used as a context manager
    """A worker together with its process as the kernel names it."""

    def __init__(self, sandbox: Sandbox, source: str) -> None:
        sandbox.worker("before", source).kill()  # its pool is there from now on
        self.worker, self.pid = new_worker(sandbox, source)

    def spent(self, amount: int) -> float:
        """Processor seconds of one piece of work."""
        time.sleep(_SETTLE_S)
        before = processor_s(self.pid)
        self.worker.call("work", [amount], deadline_s=_CALL_S)
        time.sleep(_SETTLE_S)
        return processor_s(self.pid) - before

    def __enter__(self) -> "_located":
        return self

    def __exit__(self, *_: object) -> None:
        self.worker.kill()


def new_worker(sandbox: Sandbox, source: str, *, preloaded: bool = False) -> tuple[Worker, int]:
    """A worker that holds `source`, and its process id; nothing else may be started meanwhile.

    Raises:
        UnreadableError: If the kernel does not show exactly one new process.
    """
    known = descendants(os.getpid())
    worker = sandbox.worker("measured", source, preloaded=preloaded)
    fresh = [pid for pid in descendants(os.getpid()) if pid not in known]
    if len(fresh) != 1:
        worker.kill()
        raise UnreadableError(f"{len(fresh)} new processes appeared with one worker")
    try:
        worker.load(source)
    except BaseException:
        worker.kill()
        raise
    return worker, fresh[0]


def copier_gains(sandbox: Sandbox, rounds: int) -> list[Timing]:
    """How many times the original's playouts the fast copier allows, game by game."""
    return [_gain(sandbox, game, matches, rounds) for game, matches in _GAMES.items()]


def _gain(sandbox: Sandbox, game: str, matches: int, rounds: int) -> Timing:
    plies: set[object] = set()
    workers = {
        name: _copying(sandbox, game, memo) for name, memo in (("fast", ""), ("original", ", {}"))
    }

    def play(worker: Worker) -> None:
        plies.add(worker.call("work", [matches], deadline_s=_CALL_S))

    measures: Mapping[str, Callable[[], float]] = {
        name: partial(seconds, partial(play, worker)) for name, worker in workers.items()
    }
    try:
        found = interleaved(measures, rounds)
    finally:
        for worker in workers.values():
            worker.kill()
    if len(plies) != 1:
        raise EvalError(f"the two copiers played different matches of {game}: {plies} plies")
    (count,) = plies
    return Timing(
        f"playouts with the fast copier, {game}, times the original's",
        tuple(slow / fast for fast, slow in zip(*found.values(), strict=True)),
        {
            **conditions_of(sandbox),
            "plies": str(count),
            "us_a_ply_fast": round(min(found["fast"]) / int(str(count)) * 1e6, 2),
            "us_a_ply_original": round(min(found["original"]) / int(str(count)) * 1e6, 2),
        },
    )


def _copying(sandbox: Sandbox, game: str, memo: str) -> Worker:
    source = library.source(game) + _COPYING.format(memo=memo) + _PLAYOUTS
    worker = sandbox.worker("playouts", source)
    worker.load(source)
    return worker
