"""The player that searches, beside its own copy of the module, in its own worker."""

from collections.abc import Mapping, Sequence

import numpy as np

from agents.players.specs import PlayerSpec, PlayerSpecError
from agents.search.algorithms import USES
from agents.search.heuristics import HEURISTIC
from games.contract import Action, IllegalActionError, Json, ModuleFault
from games.engine import Decision, PlayerFault
from games.information import SeatLog
from games.streams import match_words
from games.text import plain_text
from tools.sandbox import Sandbox

PRELOAD = ("agents.search.operations",)  # what the sandbox must preload for this player

_NEVER_HIDDEN = ("uct", "alphabeta")  # search one state, which the log must determine
_ALWAYS_SAMPLED = ("ismcts", "moismcts")  # see what others hold as what it may be
_RESAMPLERS = frozenset({"resample_history", "resample_state"})
_VALUE = "value_function"
_BELIEF = ("belief", "determinizations", "protocol")
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
        heuristics: Mapping[str, str],
    ) -> None:
        """Load the module and, where it is needed, hold it against perfect information.

        Raises:
            PlayerSpecError: If the algorithm is asked to play a game that hides information from
                it, to follow heuristics where there are none, or to ask a sampler or a value
                function that it has not; or alpha-beta to play a game not for two.
            ModuleFault: If the module or a heuristic does not load, or fails when it is tried.
        """
        self.spec = spec
        self.seat = seat
        self.table: dict[str, Json] = {"num_players": num_players, "parameters": dict(parameters)}
        self.deadline = float(spec.settings["deadline"])
        self.asked: dict[str, Json] = {
            name: value for name, value in spec.settings.items() if name in USES[spec.name]
        }
        self.belief: dict[str, Json] = {}
        if spec.settings.get("belief", "none") != "none":
            self.belief = {name: spec.settings[name] for name in _BELIEF}
        self.log: SeatLog | None = None
        self.sent = 0  # entries of that log which the worker holds
        self.is_known = False
        self.worker = sandbox.worker(f"player-{seat}", preloaded=True)
        try:
            self.worker.load(source)
            self._prepare(heuristics)
        except BaseException:
            self.close()
            raise

    def _prepare(self, heuristics: Mapping[str, str]) -> None:
        """Have the worker hold what it needs besides the module."""
        settings = self.spec.settings
        if settings.get("leaf") == "auto":
            self._value_leaves()
        self._require_functions()
        if "heuristic" in (settings.get("leaf"), settings.get("opponent")):
            if not heuristics:
                raise PlayerSpecError(
                    f"{self.spec} needs a heuristic of this game; it has none, use another leaf "
                    "and opponent"
                )
            sources: dict[str, Json] = dict(heuristics)
            self._request("hold_heuristics", {"sources": sources})
        if self.spec.name in _ALWAYS_SAMPLED or settings.get("belief", "auto") not in (
            "auto",
            "none",
        ):
            return
        payload: dict[str, Json] = {**self.table, "words": [0]}
        hidden = self._request("perfect_information", payload)
        if not self.belief:
            self._refuse(hidden)
        self.is_known = hidden is None

    def _require_functions(self) -> None:
        """Refuse a game that lacks what the settings ask of it."""
        name, settings, defined = self.spec.name, self.spec.settings, self.worker.names
        if settings.get("belief") == "module" and not defined & _RESAMPLERS:
            raise PlayerSpecError(
                f"{name} with belief=module needs resample_state() or resample_history(), which "
                "this game does not define; use belief=auto"
            )
        if settings.get("leaf") == "value" and _VALUE not in defined:
            raise PlayerSpecError(
                f"{name} with leaf=value needs value_function(), which this game does not define; "
                "use leaf=rollout or leaf=auto"
            )
        if name != "alphabeta":
            return
        if self.table["num_players"] != 2:  # noqa: PLR2004 - minimax is of two
            raise PlayerSpecError(
                f"alphabeta cannot play this game: it has {self.table['num_players']} seats; "
                "required: two; use uct"
            )
        if settings["depth"] and _VALUE not in defined:
            raise PlayerSpecError(
                f"alphabeta with depth={settings['depth']} needs value_function(), which this game "
                "does not define; use depth=0"
            )

    def _value_leaves(self) -> None:
        """Settle what leaf=auto asks for, so that a decision reports what it was."""
        if _VALUE in self.worker.names:
            self.asked["leaf"] = "value"
            for name in ("rollouts", "rollout_limit"):
                self.asked.pop(name, None)
        else:
            self.asked["leaf"] = "rollout"

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a search.

        A failing of the module's own functions is laid to the module, whose fault ends the match:
        the seat would else forfeit for it. So is a worker that ran out of memory or was killed, as
        nobody's win. To the player is laid what it was asked to do: a search with more simulations
        than fit its deadline, and a heuristic that fails.

        Raises:
            ModuleFault: If the module failed in the search: raised, hung in one call, broke the
                contract, or ended the worker.
            PlayerFault: If a heuristic failed, or the search was not done at its deadline.
            PlayerSpecError: If UCT meets a decision where its log leaves several states.
        """
        if len(legal) == 1:
            return Decision(legal[0], self._effort(_forced(), claimed=False))
        if log is not self.log:
            self.log, self.sent = log, 0
        payload: dict[str, Json] = {
            **self.table,
            **self.belief,
            "algorithm": self.spec.name,
            "seat": self.seat,
            "held": self.sent,
            "entries": list(log.entries[self.sent :]),
            "legal": list(legal),
            "words": generator.integers(0, 2**32, size=4).tolist(),
            "search": self.asked,
            "is_known": self.is_known,
        }
        if self.spec.settings.get("reuse") == "yes":
            payload["match_words"] = [*match_words(generator)]
        try:
            reply = self._request("choose", payload)
        except ModuleFault as fault:
            if fault.function == HEURISTIC:
                raise PlayerFault(f"{self.spec.name} at seat {self.seat}: {fault}") from fault
            raise
        self.sent = len(log.entries)
        return self._decision(reply)

    def _request(self, op: str, payload: Mapping[str, Json]) -> Json:
        """Have the worker do something within the deadline.

        Raises:
            ModuleFault: If the module failed, if only by refusing an action that it calls legal.
        """
        try:
            return self.worker.request(op, payload, self.deadline)
        except IllegalActionError as error:
            raise ModuleFault(
                "raised", "apply_action", f"refused a legal action: {error}"
            ) from error

    def _decision(self, reply: Json) -> Decision:
        if isinstance(reply, dict):
            self._refuse(reply.get("hidden"))
            if isinstance(why := reply.get("unsuitable"), str):
                raise PlayerSpecError(
                    f"{self.spec.name} cannot play seat {self.seat} of this game: {_reason(why)}"
                )
            if isinstance(why := reply.get("late"), str):
                raise PlayerFault(
                    f"{self.spec.name} at seat {self.seat}: {_reason(why)}; ask for fewer "
                    "simulations, or for less in each, or raise deadline="
                )
            action, effort = reply.get("action"), reply.get("effort")
            if isinstance(action, str) and isinstance(effort, dict) and _plain(effort):
                return Decision(action, self._effort(effort, claimed=True))
        raise PlayerFault(f"{self.spec.name} at seat {self.seat} answered {reply!r:.80}")

    def _effort(self, done: Mapping[str, Json], *, claimed: bool) -> dict[str, Json]:
        """What was asked and what was done; `claimed` names what only the worker says of itself.

        The module shares its process with the search, so those figures are shown, never relied on.
        """
        asked = {**self.asked, "algorithm": self.spec.name}
        own = {name: value for name, value in done.items() if name not in asked}
        return {**asked, **own, "claimed": [*sorted(own)] if claimed else []}

    def _refuse(self, hidden: Json) -> None:
        if hidden is not None:
            raise PlayerSpecError(
                f"{self.spec.name} cannot play seat {self.seat} of this game: it needs perfect "
                f"information, and {_reason(hidden)}; use ismcts"
            )

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def _reason(text: Json) -> str:
    """Why a worker says that it cannot play, as a person may be shown it."""
    return plain_text(str(text))[:_LONGEST_REASON]


def _plain(effort: Mapping[str, Json]) -> bool:
    """Whether the figures are few numbers and short words, as an honest worker's are."""
    return len(effort) <= _MOST_FIGURES and all(
        isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _LONGEST_WORD)
        for value in effort.values()
    )


def _forced() -> dict[str, Json]:
    return {
        "simulations_done": 0,
        "calls": 0,
        "nodes": 0,
        "cut_rollouts": 0,
        "belief": "not_needed",
        "determinizations": 0,
        "belief_failures": 0,
    }
