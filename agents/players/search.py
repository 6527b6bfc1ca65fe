"""The player that searches, beside its own copy of the module, in its own worker."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import Field

from agents.belief.belief import BeliefName, FallbackProtocol
from agents.players.hosted import HostedSearch
from agents.players.specs import PlayerSpecError, Seating
from agents.search.algorithms import SEARCHES, Algorithm, Hidden
from agents.search.settings import DAY, MANY, PlayerSettings, When
from agents.worker.protocol import (
    UNSEARCHED,
    ChooseRequest,
    Chosen,
    HeuristicsRequest,
    PerfectInformationRequest,
    Refused,
    SearchedRoot,
    are_figures,
    decoded_decision,
)
from games.engine import Decision, Effort, PlayerFault
from games.environments.served import preload_of, served_source
from games.information import SeatLog, entry_rows
from games.modules import HEURISTIC
from games.streams import match_words
from games.text import plain_text
from games.values import Action, IllegalActionError, Json, ModuleFault
from tools.guest.protocol import MessageError, decoded
from tools.playtest.jobs import PlayerSpec
from tools.sandbox import Worker

PRELOAD = ("agents.worker.session",)  # what the sandbox must preload for this player

_RESAMPLERS = frozenset({"resample_history", "resample_state"})
_VALUE = "value_function"
_BELIEFS = get_args(BeliefName)
_SAMPLERS = (
    "Where hidden states come from: the game's own sampler, exact enumeration, a population "
    "that the game's zones constrain, or replaying the game, which auto tries in this order; or "
    "the sampler that is named."
)
_WORDS = {2: "two"}
_FORCED: dict[str, Json] = {
    **UNSEARCHED,
    **{"belief": "not_needed", "determinizations": 0, "belief_failures": 0},
}
_LONGEST_REASON = 400


class BeliefSettings(PlayerSettings):
    """The source of hidden states."""

    belief: str = Field(default="auto", description=_SAMPLERS)
    determinizations: Annotated[int, When("belief", _BELIEFS)] = Field(
        default=0,
        ge=0,
        le=MANY,
        description="Hidden states drawn for a decision and used in turn; 0 draws a new one "
        "whenever one is needed.",
    )
    protocol: Annotated[FallbackProtocol, When("belief", _BELIEFS)] = Field(
        default="ours",
        description="What is played where no sampler explains what was seen: a random legal "
        "action, or one that is legal in the newest state of the game's own sampler (paper).",
    )


class _SampledSettings(BeliefSettings):
    """The belief of a search whose hidden states are sampled."""

    belief: BeliefName = Field(default="auto", description=_SAMPLERS)


class _OnRequestSettings(BeliefSettings):
    """The belief of a search that samples hidden states where it is asked to."""

    belief: Literal["none", BeliefName] = Field(default="none", description=_SAMPLERS)


class DeadlineSettings(PlayerSettings):
    """The time of a decision."""

    deadline: float = Field(
        default=60.0, ge=0.1, le=DAY, description="Seconds to decide before the seat forfeits."
    )


_OF_HIDDEN: dict[Hidden, tuple[type[PlayerSettings], ...]] = {
    "refused": (DeadlineSettings,),
    "on_request": (_OnRequestSettings, DeadlineSettings),
    "sampled": (_SampledSettings, DeadlineSettings),
    "always_sampled": (_SampledSettings, DeadlineSettings),
}


def settings_of(search: Algorithm[Any]) -> tuple[type[PlayerSettings], ...]:
    """The models of a searching player: the search's own, its belief, its deadline."""
    return (search.settings, *_OF_HIDDEN[search.hidden])


def refuse_together(spec: PlayerSpec) -> None:
    """Hold settings of several models against each other.

    Raises:
        ValueError: If they do not go together.
    """
    settings = spec.settings
    seconds, deadline = settings.get("seconds", 0.0), settings["deadline"]
    if float(seconds) >= float(deadline):
        raise ValueError(
            f"seconds is {seconds} with deadline={deadline}; required: fewer, so that the search "
            "has ended by then"
        )
    if settings.get("reuse") == "yes" and settings.get("belief") != "none":
        raise ValueError("reuse=yes needs belief=none, as its tree is of one state")


class SearchPlayer:
    """Decides by tree search in a sandboxed worker; its sandbox must preload `PRELOAD`.

    The worker is sent the seat's own log, in instalments, and legal actions, never a state.
    """

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Load the module and, where it is needed, hold it against perfect information.

        Raises:
            PlayerSpecError: If the algorithm is asked to play a game that hides information from
                it, to follow heuristics where there are none, or to ask a sampler or a value
                function that it has not; or alpha-beta to play a game not for two.
            ModuleFault: If the module or a heuristic does not load, or fails when it is tried.
        """
        self.spec = spec
        self.search: Algorithm[Any] = SEARCHES[spec.player]
        self.seat = at.seat
        game = at.game
        self.num_players, self.parameters = game.num_players, dict(game.parameters)
        self.deadline = spec.part(DeadlineSettings).deadline
        self.asked: dict[str, Json] = {**spec.of(self.search.settings)}
        self.belief: dict[str, Json] = {}
        if spec.settings.get("belief", "none") != "none":
            self.belief = {**spec.of(BeliefSettings)}
        self.log: SeatLog | None = None
        self.sent = 0  # entries of that log which the worker holds
        self.is_known = False
        role = f"player-{at.seat}"
        served = game.opened() if game.environment and not game.source else None
        more = () if served is None else preload_of(served)
        self.worker: Worker | HostedSearch = (
            HostedSearch(at.sandbox, role)
            if at.host_search and served is None
            else at.sandbox.worker(role, preloaded=True, more=more)
        )
        try:
            self.worker.load(game.source if served is None else served_source(served))
            self._prepare(game.heuristics)
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
                    f"{self.spec.name} needs a heuristic of this game; it has none, use another "
                    "leaf and opponent"
                )
            self._request("hold_heuristics", HeuristicsRequest(dict(heuristics))._asdict())
        is_named = settings.get("belief", "auto") not in ("auto", "none")
        if self.search.hidden == "always_sampled" or is_named:
            return
        request = PerfectInformationRequest(self.num_players, self.parameters, [0])
        hidden = self._request("perfect_information", request._asdict())
        if hidden is not None and not self.belief:
            raise self._unsuited(hidden)
        self.is_known = hidden is None

    def _require_functions(self) -> None:
        """Refuse a game that lacks what the settings ask of it."""
        name, settings, defined = self.spec.player, self.spec.settings, self.worker.names
        if settings.get("belief") == "module" and not defined & _RESAMPLERS:
            raise PlayerSpecError(
                f"{name} with belief=module needs resample_state() or resample_history(), which "
                "this game does not define; use belief=auto"
            )
        seats = self.search.seats
        if seats and self.num_players != seats:
            raise PlayerSpecError(
                f"{name} cannot play this game: it has {self.num_players} seats; required: "
                f"{_WORDS.get(seats, seats)}; use uct"
            )
        needed = self.spec.part(self.search.settings).value_needed()
        if needed is not None and _VALUE not in defined:
            raise PlayerSpecError(
                f"{name} with {needed[0]} needs value_function(), which this game does not define; "
                f"use {needed[1]}"
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
        self,
        log: SeatLog,
        legal: Sequence[Action],
        generator: np.random.Generator,
        *,
        searches: bool = True,
    ) -> Decision:
        """See `games.engine.Player.choose`; a forced action is played without a search.

        Where `legal` is empty, what is legal is not known but from the module. Without `searches`,
        the action is one that is legal in a state that fits the log.

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
            return Decision(legal[0], self._effort(_FORCED, claimed=False))
        if log is not self.log:
            self.log, self.sent = log, 0
        reuses = self.spec.settings.get("reuse") == "yes"
        request = ChooseRequest(
            self.num_players,
            self.parameters,
            self.spec.player,
            self.asked,
            self.seat,
            entry_rows(log.entries[self.sent :]),
            list(legal),
            words=generator.integers(0, 2**32, size=4).tolist(),
            held=self.sent,
            is_known=self.is_known,
            match_words=[*match_words(generator)] if reuses else None,
            searches=searches,
        )
        try:
            reply = self._request("choose", {**request._asdict(), **self.belief})
        except ModuleFault as fault:
            if fault.function == HEURISTIC:
                raise PlayerFault(f"{self.spec.player} at seat {self.seat}: {fault}") from fault
            raise
        self.sent = len(log.entries)
        return self._decision(reply)

    def searched_root(self) -> SearchedRoot:
        """The newest search's root; nothing in it where nothing was searched.

        Raises:
            PlayerFault: If the worker tells anything else.
        """
        try:
            return decoded(SearchedRoot, self._request("searched_root", {}))
        except MessageError as error:
            raise PlayerFault(f"{self.spec.player} told of no search: {error}") from error

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
        here = f"{self.spec.player} at seat {self.seat}"
        try:
            found = decoded_decision(reply)
        except MessageError as error:
            raise PlayerFault(f"{here} answered {reply!r:.80}") from error
        match found:
            case Chosen(action, effort) if are_figures(effort):
                try:
                    return Decision(action, self._effort(effort, claimed=True))
                except ValueError as error:
                    raise PlayerFault(f"{here} answered {reply!r:.80}") from error
            case Chosen():
                raise PlayerFault(f"{here} answered {reply!r:.80}")
            case Refused("hidden", why):
                raise self._unsuited(why)
            case Refused("no_action", why):
                raise PlayerFault(f"{here}: {_reason(why)}")
            case Refused("unsuitable", why):
                raise PlayerSpecError(
                    f"{self.spec.player} cannot play seat {self.seat} of this game: {_reason(why)}"
                )
            case Refused(_, why):  # late
                raise PlayerFault(
                    f"{here}: {_reason(why)}; ask for fewer simulations, or for less in each, or "
                    "raise deadline="
                )

    def _effort(self, done: Mapping[str, Json], *, claimed: bool) -> Effort:
        """The settings and the work done; `claimed` names what only the worker says of itself.

        The module shares its process with the search, so those figures are shown, never relied on.
        """
        asked = {**self.asked, "algorithm": self.spec.player}
        own = {name: value for name, value in done.items() if name not in asked}
        return Effort.of({**asked, **own, "claimed": [*sorted(own)] if claimed else []})

    def _unsuited(self, hidden: Json) -> PlayerSpecError:
        return PlayerSpecError(
            f"{self.spec.player} cannot play seat {self.seat} of this game: it needs perfect "
            f"information, and {_reason(hidden)}; use ismcts"
        )

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def _reason(text: Json) -> str:
    """The reason that a worker gives, as a person may be shown it."""
    return plain_text(str(text))[:_LONGEST_REASON]
