"""The player that searches: UCT or ISMCTS beside its own copy of the module, in its own worker."""

from collections.abc import Mapping, Sequence

import numpy as np

from agents.players.specs import PlayerSpec, PlayerSpecError
from games.contract import Action, Json, ModuleFault
from games.engine import Decision, PlayerFault
from games.information import SeatLog
from games.text import plain_text
from tools.sandbox import Sandbox

PRELOAD = ("agents.search.operations",)  # what the sandbox must preload for this player

_SEARCH = ("simulations", "exploration", "rollouts", "rollout_limit", "leaf")
_BELIEF = ("belief", "determinizations")
_MOST_FIGURES, _LONGEST_WORD, _LONGEST_REASON = 32, 40, 400


class SearchPlayer:
    """Decides by tree search in a sandboxed worker; its sandbox must preload `PRELOAD`.

    The worker is sent the seat's own log, in instalments, and legal actions, never a state.
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
        """Load the module and, for UCT, hold it against perfect information.

        Raises:
            PlayerSpecError: If UCT is asked to play a game that hides information.
            ModuleFault: If the module does not load, or fails when it is tried.
        """
        self.spec = spec
        self.seat = seat
        self.table: dict[str, Json] = {"num_players": num_players, "parameters": dict(parameters)}
        self.deadline = float(spec.settings["deadline"])
        self.log: SeatLog | None = None
        self.sent = 0  # entries of that log which the worker holds
        self.worker = sandbox.worker(f"player-{seat}", preloaded=True)
        try:
            self.worker.load(source)
            if spec.name == "uct":
                payload: dict[str, Json] = {**self.table, "words": [0]}
                self._refuse(self.worker.request("perfect_information", payload, self.deadline))
        except BaseException:
            self.close()
            raise

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a search.

        Raises:
            PlayerFault: If the module failed during the search, or it ran past its deadline.
            PlayerSpecError: If UCT meets a decision where its log leaves several states.
        """
        if len(legal) == 1:
            return Decision(legal[0], self._effort(_forced(), claimed=False))
        if log is not self.log:
            self.log, self.sent = log, 0
        settings = self.spec.settings
        payload: dict[str, Json] = {
            **self.table,
            "algorithm": self.spec.name,
            "seat": self.seat,
            "held": self.sent,
            "entries": list(log.entries[self.sent :]),
            "legal": list(legal),
            "words": generator.integers(0, 2**32, size=4).tolist(),
            "search": {name: settings[name] for name in _SEARCH},
            **{name: settings[name] for name in _BELIEF if name in settings},
        }
        try:
            reply = self.worker.request("choose", payload, self.deadline)
        except ModuleFault as fault:
            raise PlayerFault(f"{self.spec.name} at seat {self.seat}: {fault}") from fault
        self.sent = len(log.entries)
        return self._decision(reply)

    def _decision(self, reply: Json) -> Decision:
        if isinstance(reply, dict):
            self._refuse(reply.get("hidden"))
            action, effort = reply.get("action"), reply.get("effort")
            if isinstance(action, str) and isinstance(effort, dict) and _plain(effort):
                return Decision(action, self._effort(effort, claimed=True))
        raise PlayerFault(f"{self.spec.name} at seat {self.seat} answered {reply!r:.80}")

    def _effort(self, done: Mapping[str, Json], *, claimed: bool) -> dict[str, Json]:
        """What was asked and what was done; `claimed` names what only the worker says of itself.

        The module shares its process with the search, so those figures are shown, never relied on.
        """
        settings = self.spec.settings
        asked: dict[str, Json] = {name: settings[name] for name in _SEARCH}
        asked["algorithm"] = self.spec.name
        own = {name: value for name, value in done.items() if name not in asked}
        return {**asked, **own, "claimed": [*sorted(own)] if claimed else []}

    def _refuse(self, hidden: Json) -> None:
        if hidden is not None:
            raise PlayerSpecError(
                f"uct cannot play seat {self.seat} of this game: it needs perfect information, and "
                f"{plain_text(str(hidden))[:_LONGEST_REASON]}; use ismcts"
            )

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def _plain(effort: Mapping[str, Json]) -> bool:
    """Whether the figures are few numbers and short words, as an honest worker's are."""
    return len(effort) <= _MOST_FIGURES and all(
        isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _LONGEST_WORD)
        for value in effort.values()
    )


def _forced() -> dict[str, Json]:
    return {
        "simulations_done": 0,
        "nodes": 0,
        "cut_rollouts": 0,
        "belief": "not_needed",
        "determinizations": 0,
        "belief_failures": 0,
    }
