"""The player that solves the whole game first, where it is small enough."""

from collections.abc import Mapping, Sequence

import numpy as np

from agents.players.specs import PlayerSpec, PlayerSpecError
from games.contract import Action, Json, ModuleFault
from games.engine import Decision, PlayerFault, sample_index
from games.information import SeatLog
from games.text import plain_text
from tools.sandbox import Sandbox

PRELOAD = ("agents.solving.operations",)  # what the sandbox must preload for this player


_SIZES = ("histories", "information_states")
_REPLY = ("chances", "nash_conv", "equilibrium")
_EQUILIBRIUM = ("guaranteed", "not_guaranteed")
_TOLERANCE = 1e-6
HELD = 700_000.0  # histories, about as many as a worker's memory holds


class SolvedPlayer:
    """Plays the average behaviour of CFR+ at its own information state.

    The game is enumerated when the player is made and solved at its first decision, both in a
    sandboxed worker; its sandbox must preload `PRELOAD`. The solution is the same for every seed:
    a decision's generator only draws the action.
    """

    def __init__(
        self,
        spec: PlayerSpec,
        *,
        seat: int,
        num_players: int,
        parameters: Mapping[str, Json],
        source: str,
        sandbox: Sandbox,
    ) -> None:
        """Load the module and enumerate the game.

        Raises:
            PlayerSpecError: If the game is too large, with the count reached.
            ModuleFault: If the module does not load, or fails when it is enumerated.
        """
        self.spec = spec
        self.seat = seat
        self.deadline = float(spec.settings["deadline"])
        self.worker = sandbox.worker(f"player-{seat}", preloaded=True)
        try:
            self.worker.load(source)
            self.size = self._enumerated(num_players, parameters)
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
        """
        if len(legal) == 1:
            return Decision(legal[0], self._effort({"iterations_done": 0}))
        reply = self._solution(log)
        chances, distance, sure = (reply.get(name) for name in _REPLY)
        weights = _distribution(chances, legal)
        if weights is None or not isinstance(distance, float) or sure not in _EQUILIBRIUM:
            raise PlayerFault(f"cfr at seat {self.seat} answered {reply!r:.80} to its log")
        drawn = sample_index(weights, float(generator.random()))
        done: dict[str, Json] = {
            "iterations_done": self.spec.settings["iterations"],
            "nash_conv": distance,
            "equilibrium": sure,
            "probability": weights[drawn],
        }
        return Decision(legal[drawn], self._effort(done))

    def _effort(self, done: Mapping[str, Json]) -> dict[str, Json]:
        """What was asked and what was done; what only the worker says is named in `claimed`.

        The module shares its process with the solver: those figures are shown, never relied on.
        """
        asked: dict[str, Json] = {
            "algorithm": self.spec.name,
            "iterations": self.spec.settings["iterations"],
        }
        told = {**self.size, **done}
        return {**asked, **told, "claimed": [*sorted(told)]}

    def _enumerated(self, num_players: int, parameters: Mapping[str, Json]) -> dict[str, Json]:
        payload: dict[str, Json] = {
            "num_players": num_players,
            "parameters": dict(parameters),
            "histories": self.spec.settings["histories"],
        }
        try:
            reply = self.worker.request("enumerate", payload, self.deadline)
        except ModuleFault as fault:
            if fault.kind not in ("timed_out", "out_of_memory"):
                raise
            helps = "raise deadline=" if fault.kind == "timed_out" else ""
            raise _refusal(f"enumerating it ended with: {fault}", helps) from fault
        sizes = reply if isinstance(reply, dict) else {}
        if "too_large" in sizes:
            raise _refusal(plain_text(f"{sizes['too_large']!s:.200}"), _raised(sizes.get("about")))
        if sizes.keys() != set(_SIZES) or not all(type(size) is int for size in sizes.values()):
            raise PlayerSpecError(f"cfr at seat {self.seat}: its worker answered {reply!r:.80}")
        return sizes

    def _solution(self, log: SeatLog) -> dict[str, Json]:
        payload: dict[str, Json] = {
            "seat": self.seat,
            "entries": list(log.entries),
            "iterations": self.spec.settings["iterations"],
        }
        try:
            reply = self.worker.request("solve", payload, self.deadline)
        except ModuleFault as fault:
            helps = "; ask for fewer iterations, or raise deadline="
            advice = helps if fault.kind == "timed_out" else ""
            raise PlayerFault(f"cfr at seat {self.seat}: {fault}{advice}") from fault
        if reply is None:
            raise PlayerFault(f"cfr at seat {self.seat}: no play of the game leads to its log")
        return reply if isinstance(reply, dict) else {}

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def _distribution(chances: Json, legal: Sequence[Action]) -> list[float] | None:
    """The probabilities of the legal actions, in their order; None where they are none."""
    if not isinstance(chances, dict) or chances.keys() != set(legal):
        return None
    weights = [value for action in legal if isinstance(value := chances[action], float)]
    good = len(weights) == len(legal) and min(weights) >= 0 and abs(sum(weights) - 1) < _TOLERANCE
    return weights if good else None


def _raised(about: Json) -> str:
    """What to raise for a game of about so many histories; empty where nothing helps."""
    if not isinstance(about, float) or about > HELD:
        return ""
    return f"raise histories= (it has about {about:.1g} by random plays), and deadline= with it"


def _refusal(why: str, helps: str) -> PlayerSpecError:
    more = f", or {helps}" if helps else ""
    return PlayerSpecError(
        f"cfr cannot play this game: {why}; use ismcts, or a smaller variant of the game{more}"
    )
