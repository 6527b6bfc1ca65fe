"""The player that follows heuristics, each in a worker of its own."""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from agents.players.specs import PlayerSpecError, Seating
from agents.search.leaves import mean_ranks
from agents.search.settings import PlayerSettings
from games.engine import Decision, Effort, PlayerFault
from games.information import SeatLog
from games.lockstep import SeatView
from games.values import Action, Json, ModuleFault, is_number
from tools.guest.framing import encode
from tools.playtest.jobs import PlayerSpec
from tools.sandbox import Worker

ENSEMBLE = "ensemble"  # all heuristics, by mean rank
SCORES = "scores"  # all of them, by mean score
_ACTIONS = 1_000  # that are scored in one call, of several positions


class GreedySettings(PlayerSettings):
    """Settings of the greedy player."""

    heuristic: str = Field(
        default=ENSEMBLE,
        description="Name of one heuristic; several joined by '+' for their mean rank or by "
        "'&' for their mean score (Cardiverse, Eq. 1); 'ensemble' or 'scores' for all of them.",
    )


class GreedyPlayer:
    """Plays the action that is best by the mean over heuristics; of equals one at random."""

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Load the heuristics.

        Raises:
            PlayerSpecError: If there is no such heuristic.
            ModuleFault: If a heuristic does not load.
        """
        heuristic, heuristics = spec.part(GreedySettings).heuristic, at.game.heuristics
        self.by_score = heuristic == SCORES or "&" in heuristic
        names = heuristics_named(heuristic, heuristics)
        if not names or not set(names) <= heuristics.keys():
            known = ", ".join(sorted(heuristics)) or "none, so greedy cannot play it"
            raise PlayerSpecError(f"no heuristic {heuristic!r}; this game's heuristics: {known}")
        self.names = names
        self.effort = Effort("greedy", more={"heuristics": [*names]})
        self.workers: list[Worker] = []
        try:
            for name in names:
                worker = at.sandbox.worker(f"player-{at.seat}-{name}", heuristics[name])
                self.workers.append(worker)
                worker.load(heuristics[name])
        except BaseException:
            self.close()
            raise

    reads: Literal["newest"] = "newest"

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a score.

        Raises:
            PlayerFault: If a heuristic failed.
        """
        return self.choose_many([SeatView(log, legal, lambda: generator)])[0]

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `games.lockstep.LockstepPlayer.choose_many`."""
        open_ = [view for view in views if len(view.legal) > 1]
        tables = (table for part in _parts(open_) for table in self._tables(part))
        chosen = iter([self._best(view, table) for view, table in zip(open_, tables, strict=True)])
        return [
            Decision(next(chosen) if len(view.legal) > 1 else view.legal[0], self.effort)
            for view in views
        ]

    def _tables(self, views: Sequence[SeatView]) -> Iterator[Sequence[list[float]]]:
        """A table a position: a row a heuristic, a column an action."""
        positions: list[Json] = [[view.log.latest(), [*view.legal]] for view in views]
        request = encode({"positions": positions})
        counts = [len(view.legal) for view in views]
        scores = [self._scores(request, counts, index) for index in range(len(self.workers))]
        return zip(*scores, strict=True)

    def _best(self, view: SeatView, table: Sequence[list[float]]) -> Action:
        """The best action of a position; `table` has a row a heuristic, a column an action."""
        if len(table) == 1:  # ranks then order the actions as scores do
            means = table[0]
        else:
            means = np.mean(table, axis=0).tolist() if self.by_score else mean_ranks(table)
        top = max(means)
        best = [index for index, mean in enumerate(means) if mean == top]
        return view.legal[best[int(view.generator().integers(len(best))) if len(best) > 1 else 0]]

    def _scores(self, request: bytes, counts: Sequence[int], index: int) -> list[list[float]]:
        """By position, one score an action."""
        worker = self.workers[index]
        try:
            scores = worker.request("scores", request, worker.limits.call_s)
        except ModuleFault as fault:
            raise PlayerFault(f"heuristic {self.names[index]!r}: {fault}") from fault
        told = [*map(_numbers, scores)] if isinstance(scores, list) else []
        if [*map(len, told)] != [*counts]:
            raise PlayerFault(
                f"heuristic {self.names[index]!r} answered {scores!r:.80}; required: "
                f"{', '.join(map(str, counts[:3]))} scores"
            )
        return told

    def close(self) -> None:
        """Be done with the workers."""
        for worker in self.workers:
            worker.release()


def _parts(views: Sequence[SeatView]) -> Iterator[list[SeatView]]:
    """The positions in lists that are short enough for one call's time, each of one at least."""
    part: list[SeatView] = []
    actions = 0
    for view in views:
        if part and actions + len(view.legal) > _ACTIONS:
            yield part
            part, actions = [], 0
        part.append(view)
        actions += len(view.legal)
    if part:
        yield part


def heuristics_named(heuristic: str, heuristics: Collection[str]) -> list[str]:
    """The names in a setting; those of all heuristics where it asks for all.

    >>> heuristics_named("b&a", ["a", "b", "c"]), heuristics_named("ensemble", ["b", "a"])
    (['b', 'a'], ['a', 'b'])
    """
    every = heuristic in (ENSEMBLE, SCORES)
    return sorted(heuristics) if every else heuristic.replace("&", "+").split("+")


def _numbers(scores: Json) -> list[float]:
    """The scores of a position; none where one of them is no number."""
    found = scores if isinstance(scores, list) else []
    numbers = [float(score) for score in found if is_number(score)]
    return numbers if len(numbers) == len(found) else []
