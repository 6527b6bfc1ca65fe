"""The player that solves the whole game first, where it is small enough."""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import Field

from agents.players.specs import PlayerSpecError, Seating
from agents.search.settings import DAY, Count, PlayerSettings
from agents.worker.protocol import (
    EnumerateRequest,
    Solution,
    SolveRequest,
    TooLarge,
    are_figures,
    decoded_size,
)
from games.engine import Decision, Effort, PlayerFault, sample_index
from games.information import SeatLog, entry_rows
from games.text import plain_text
from games.values import Action, Json, ModuleFault
from tools.guest.protocol import MessageError, decoded
from tools.playtest.jobs import PlayerSpec

_TOLERANCE = 1e-6
HELD = 700_000.0  # histories, about as many as a worker's memory holds


class CfrSettings(PlayerSettings):
    """Settings of CFR+ over the whole game."""

    iterations: Count = Field(default=1000, description="Iterations of CFR+ over the whole game.")
    histories: Count = Field(
        default=200_000, description="Histories to enumerate at the most; a larger game is refused."
    )
    deadline: float = Field(
        default=60.0,
        ge=0.1,
        le=DAY,
        description="Seconds that enumerating the game may take, and solving it at the first "
        "decision.",
    )


class SolvedPlayer:
    """Plays the average behaviour of CFR+ at its own information state.

    The game is enumerated when the player is made and solved at its first decision, both in a
    sandboxed worker; its sandbox must preload that of `specs.PRELOAD`. The solution is the same for
    every seed: a decision's generator only draws the action.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Load the module and enumerate the game.

        Raises:
            PlayerSpecError: If the game is too large, with the count reached; or is no module.
            ModuleFault: If the module does not load, or fails when it is enumerated.
        """
        game = at.game
        if game.environment and not game.source:
            raise PlayerSpecError(f"cfr needs a game that is a module; {game.name} is none, use gt")
        self.spec = spec
        self.settings = spec.part(CfrSettings)
        self.seat = at.seat
        self.deadline = self.settings.deadline
        self.worker = at.sandbox.worker(f"player-{at.seat}", preloaded=True)
        try:
            self.worker.load(game.source)
            self.size = self._enumerated(game.num_players, game.parameters)
        except BaseException:
            self.close()
            raise

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a solution.

        Raises:
            PlayerFault: If the log is none that the game can lead to, or solving it ran past the
                deadline.
            ModuleFault: If the module ended the worker.
        """
        if len(legal) == 1:
            return Decision(legal[0], self._effort({"iterations_done": 0}))
        solution = self._solution(log)
        weights = _distribution(solution.chances, legal)
        if weights is None:
            raise PlayerFault(f"cfr at seat {self.seat} answered {solution!r:.80} to its log")
        drawn = sample_index(weights, float(generator.random()))
        done: dict[str, Json] = {
            "iterations_done": self.settings.iterations,
            "nash_conv": solution.nash_conv,
            "equilibrium": solution.equilibrium,
            "probability": weights[drawn],
        }
        return Decision(legal[drawn], self._effort(done))

    def _effort(self, done: Mapping[str, Json]) -> Effort:
        """The settings and the work done; `claimed` names what only the worker says of itself.

        The module shares its process with the solver: those figures are shown, never relied on.
        """
        told = {**self.size, **done}
        asked: dict[str, Json] = {"iterations": self.settings.iterations}
        return Effort(self.spec.player, more={**asked, **told, "claimed": [*sorted(told)]})

    def _enumerated(self, num_players: int, parameters: Mapping[str, Json]) -> dict[str, Json]:
        request = EnumerateRequest(num_players, dict(parameters), self.settings.histories)
        try:
            reply = self.worker.request("enumerate", request._asdict(), self.deadline)
        except ModuleFault as fault:
            if fault.kind not in ("timed_out", "out_of_memory"):
                raise
            helps = "raise deadline=" if fault.kind == "timed_out" else ""
            raise _refusal(f"enumerating it ended with: {fault}", helps) from fault
        try:
            size = decoded_size(reply)
        except MessageError as error:
            raise PlayerSpecError(
                f"cfr at seat {self.seat}: its worker answered {reply!r:.80}"
            ) from error
        if isinstance(size, TooLarge):
            raise _refusal(plain_text(size.too_large[:200]), _raised(size.about))
        if not are_figures(size._asdict()):
            raise PlayerSpecError(f"cfr at seat {self.seat}: its worker answered {reply!r:.80}")
        return size._asdict()

    def _solution(self, log: SeatLog) -> Solution:
        request = SolveRequest(self.seat, entry_rows(log.entries), self.settings.iterations)
        try:
            reply = self.worker.request("solve", request._asdict(), self.deadline)
        except ModuleFault as fault:
            if fault.kind != "timed_out":
                raise
            advice = "; ask for fewer iterations, or raise deadline="
            raise PlayerFault(f"cfr at seat {self.seat}: {fault}{advice}") from fault
        if reply is None:
            raise PlayerFault(f"cfr at seat {self.seat}: no play of the game leads to its log")
        try:
            solution = decoded(Solution, reply)
        except MessageError as error:
            raise PlayerFault(
                f"cfr at seat {self.seat} answered {reply!r:.80} to its log"
            ) from error
        if not are_figures({"nash_conv": solution.nash_conv}):
            raise PlayerFault(f"cfr at seat {self.seat} answered {reply!r:.80} to its log")
        return solution

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def _distribution(chances: Mapping[str, float], legal: Sequence[Action]) -> list[float] | None:
    """The probabilities of the legal actions, in their order; None where they are none."""
    if chances.keys() != set(legal):
        return None
    weights = [chances[action] for action in legal]
    good = min(weights) >= 0 and abs(sum(weights) - 1) < _TOLERANCE
    return weights if good else None


def _raised(about: float) -> str:
    """The settings to raise for a game of about so many histories; "" where nothing helps."""
    if about > HELD:
        return ""
    return f"raise histories= (it has about {about:.1g} by random plays), and deadline= with it"


def _refusal(why: str, helps: str) -> PlayerSpecError:
    more = f", or {helps}" if helps else ""
    return PlayerSpecError(
        f"cfr cannot play this game: {why}; use ismcts, or a smaller variant of the game{more}"
    )
