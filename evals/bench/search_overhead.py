"""What a search costs besides the game's own functions.

Two searches with the same seed make exactly the same calls of game functions. So

- *whole* is the processor time of one decision as it is, its tree's end included;
- *game* is that of making exactly those calls again, with the same arguments and in the same order,
  and without a search: a rollout's states are made anew one from another, as the rollout made them.
  The walk over the list of calls is timed without them too, and taken off.

`outside = whole - game`, and its share is `1 - game / whole`. A call's own cost (its frame, its
arguments) counts as the game's. No profiler is involved: one would charge its own cost to whoever
makes the most calls.

Every repeat does the same work, and whatever else the machine does can only add to it. A decision
is therefore timed in blocks of simulations; whole and game take turns; of each block the least time
over the repeats counts, and the blocks' least times are summed. The same from the first and from
the second half of the repeats alone shows how far the figure can be trusted, and the median over
the repeats of their own shares what a busy machine makes of it.
"""

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from evals.bench.search_calls import Call, Step, noting, seconds, steps
from evals.bench.search_engines import Kind, searched
from evals.bench.search_games import Contest, Start, start

Times: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Overhead:
    """Repeated measurements of one decision, in processor seconds.

    Attributes:
        simulations: Of the decision.
        calls: Calls of the game's functions in it.
        whole: `[R, B]` the decision, a block at a time.
        walked: `[R, B]` the calls of each block alone, with the walk over their list.
        passed: `[R, B]` that walk without the calls. The least of either is taken before they are
            subtracted: the least difference would be one whose second term was disturbed.
    """

    simulations: int
    calls: int
    whole: Times
    walked: Times
    passed: Times

    @property
    def share(self) -> float:
        """Share of the decision outside the game's functions, from the least times."""
        return self._share(slice(None))

    @property
    def halves(self) -> tuple[float, float]:
        """`share` from the first half of the repeats, and from the second."""
        half = len(self.whole) // 2
        return self._share(slice(0, half)), self._share(slice(half, None))

    @property
    def paired(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of each repeat's own share."""
        shares = 1 - (self.walked - self.passed).sum(axis=1) / self.whole.sum(axis=1)
        low, middle, high = np.quantile(shares, (0.25, 0.5, 0.75))
        return float(low), float(middle), float(high)

    @property
    def us(self) -> float:
        """Microseconds a simulation, from the least times."""
        return _least(self.whole) / self.simulations * 1e6

    @property
    def outside_us(self) -> float:
        """Microseconds a simulation outside the game's functions, from the least times."""
        return self.us * self.share

    def _share(self, repeats: slice) -> float:
        game = _least(self.walked[repeats]) - _least(self.passed[repeats])
        return 1 - game / _least(self.whole[repeats])

    def as_sample(self) -> dict[str, JsonValue]:
        """For an evaluation's samples."""
        return {
            "simulations": self.simulations,
            "repeats": len(self.whole),
            "calls_a_simulation": round(self.calls / self.simulations, 2),
            "us_a_simulation": round(self.us, 2),
            "us_outside": round(self.outside_us, 2),
            "share_outside": round(self.share, 4),
            "share_in_halves": [round(share, 4) for share in self.halves],
            "share_paired_quartiles": [round(share, 4) for share in self.paired],
        }


def _least(times: Times) -> float:
    """The sum of every block's least time over the repeats."""
    return float(times.min(axis=0).sum())


def overhead(
    kind: Kind, contest: Contest, seed: int, *, repeats: int, block: int | None = None
) -> Overhead:
    """Measure one decision of ours.

    Args:
        kind: The search.
        contest: Where it decides.
        seed: Of the deal and of the search.
        repeats: Times it is measured, at least 2.
        block: Simulations of a block; None times the decision as one.
    """
    here = start(contest, seed)
    programs, calls = _programs(kind, contest, here, seed, block)
    whole, game = list[list[float]](), list[list[tuple[float, float]]]()
    with _settled():
        for _ in range(repeats):
            clock = [time.process_time()]
            for _done in searched(kind, contest, here, here.namespace, seed, block=block):
                clock.append(time.process_time())
            clock.append(time.process_time())
            whole.append(np.diff(clock).tolist())
            game.append([seconds(program, here.namespace) for program in programs])
    walked, passed = np.moveaxis(np.array(game), 2, 0)
    return Overhead(contest.simulations, calls, np.array(whole), walked, passed)


def _programs(
    kind: Kind, contest: Contest, here: Start, seed: int, block: int | None
) -> tuple[list[Sequence[Step]], int]:
    """The calls of every block, and how many there are."""
    calls, count = list[Call](), 0
    programs = list[Sequence[Step]]()
    for _done in searched(
        kind, contest, here, noting(here.namespace, calls.append), seed, block=block
    ):
        programs.append(steps(calls, here.namespace))
        count += len(calls)
        calls.clear()
    programs.append(steps(calls, here.namespace))
    return programs, count + len(calls)


@contextmanager
def _settled() -> Iterator[None]:
    """What was there before is left out of the collector's rounds, as in a player's worker."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def spread(values: Sequence[float]) -> dict[str, JsonValue]:
    """Median, least and largest of repeated values, for an evaluation's samples."""
    return {
        "median": round(median(values), 4),
        "least": round(min(values), 4),
        "largest": round(max(values), 4),
    }
