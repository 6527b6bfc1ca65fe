"""The player that follows heuristics, each in a worker of its own."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from agents.players.specs import PlayerSpecError, Seating
from agents.search.leaves import mean_ranks
from agents.search.settings import PlayerSettings
from games.engine import Decision, Effort, PlayerFault
from games.information import SeatLog
from games.values import Action, ModuleFault, is_number
from tools.guest.framing import encode
from tools.playtest.jobs import PlayerSpec
from tools.sandbox import Worker

ENSEMBLE = "ensemble"  # all heuristics, by mean rank
SCORES = "scores"  # all of them, by mean score


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
        named = heuristic.replace("&", "+").split("+")
        names = sorted(heuristics) if heuristic in (ENSEMBLE, SCORES) else named
        if not names or not set(names) <= heuristics.keys():
            known = ", ".join(sorted(heuristics)) or "none, so greedy cannot play it"
            raise PlayerSpecError(f"no heuristic {heuristic!r}; this game's heuristics: {known}")
        self.names = names
        self.workers: list[Worker] = []
        try:
            for name in names:
                worker = at.sandbox.worker(f"player-{at.seat}-{name}", heuristics[name])
                self.workers.append(worker)
                worker.load(heuristics[name])
        except BaseException:
            self.close()
            raise

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a score.

        Raises:
            PlayerFault: If a heuristic failed.
        """
        told = Effort("greedy", more={"heuristics": list(self.names)})
        if len(legal) == 1:
            return Decision(legal[0], told)
        request = encode({"observation": log.latest(), "legal": list(legal)})
        table = [self._scores(request, len(legal), index) for index in range(len(self.workers))]
        alone = len(table) == 1  # ranks then order the actions as scores do
        means = np.mean(table, axis=0) if self.by_score or alone else mean_ranks(table)
        best = np.flatnonzero(means == means.max())
        action = legal[int(best[generator.integers(len(best))])]
        return Decision(action, told)

    def _scores(self, request: bytes, count: int, index: int) -> list[float]:
        worker = self.workers[index]
        try:
            scores = worker.request("score", request, worker.limits.call_s)
        except ModuleFault as fault:
            raise PlayerFault(f"heuristic {self.names[index]!r}: {fault}") from fault
        numbers = (
            [score for score in scores if is_number(score)] if isinstance(scores, list) else []
        )
        if not isinstance(scores, list) or not len(numbers) == len(scores) == count:
            raise PlayerFault(
                f"heuristic {self.names[index]!r} answered {scores!r:.80}; required: {count} scores"
            )
        return [float(number) for number in numbers]

    def close(self) -> None:
        """Be done with the workers."""
        for worker in self.workers:
            worker.release()
