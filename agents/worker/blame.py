"""Fault attribution: whether the module, its sampler, the time or nobody is to blame for a failing.

Search calls the raw functions (`games.modules.Rules`). A module whose values break the contract
makes the search itself choke on them; the same work done once more with functions that are held
against the contract ends at the first such value, named as the module's.

A worker's alarm rings on the way to the deadline of a request. A `Watch` notes each time which call
of the module is going on. A call that was seen at `LONG` of them and has not returned at the
deadline hangs: the module's failing. Where many calls took the time, each of them short, the search
was given more to do than fits its deadline.
"""

import types
from collections.abc import Callable, Mapping
from functools import partial
from traceback import walk_tb
from typing import Literal, Self, TypeAlias, TypeVar

from agents.belief.belief import Belief
from agents.belief.evidence import MODULE_ERRORS
from agents.belief.module import DeadlineError, HungError
from games.contract import Game
from games.modules import LocalModule, Module, Rules, bind
from games.values import TERMINAL, Action, ModuleFault, State
from tools.guest.faults import ALARM, MODULE_FILE, TICKS

Done = TypeVar("Done")
Culprit: TypeAlias = Literal["module", "sampler", "nobody"]
SHARE = 4  # a resampler's call may take the time left over this
MOST = 0.5  # of a decision's time that such calls may take together
LONG = 4  # rings at which a call that hangs has been seen before the last one


def attributed(
    namespace: Mapping[str, object],
    num_players: int,
    work: Callable[[Rules], Done],
    once_more: Callable[[Rules], Done],
) -> Done:
    """Do something with the module's raw functions; where it chokes, find out whose fault it is.

    Args:
        namespace: The module's names.
        num_players: Seats at the table.
        work: What is to be done.
        once_more: The same from the beginning, where `work` choked outside of the module's code.

    Raises:
        ModuleFault: If a value of the module breaks the contract.
        Exception: What the module raised, or what was raised in spite of values that are right.
    """
    try:
        return work(bind(namespace, num_players))
    except MODULE_ERRORS as error:
        if passes_module(error):
            raise
        return once_more(contracted(namespace, num_players))


def culprit_of(error: BaseException, belief: Belief, *, hangs: bool) -> Culprit:
    """The culprit of an error that ended a search of a belief's determinizations.

    In states that the belief "random" filled, which need not be any of the game's, the module may
    choke and hang: nobody's. In a state that the module's own sampler gave, the sampler's: the
    belief asks it no more from then on.

    Args:
        error: What ended the search.
        belief: Gave the determinizations.
        hangs: Whether one call of the module took the time.
    """
    is_late = isinstance(error, DeadlineError)
    if belief.name == "random":
        spoilt = hangs if is_late else isinstance(error, MODULE_ERRORS) or passes_module(error)
        if spoilt:
            return "nobody"
    if is_late or isinstance(error, ModuleFault) or not belief.distrust_module():
        return "module"
    return "sampler"


def passes_module(error: BaseException) -> bool:
    """True where an error came out of the module's own code."""
    return any(at.f_code.co_filename == MODULE_FILE for at, _ in walk_tb(error.__traceback__))


class _Loaded(LocalModule):
    """A module that is loaded already."""

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self.source = ""
        self.namespace = dict(namespace)


def contracted(namespace: Mapping[str, object], num_players: int) -> Rules:
    """The functions of a loaded module; each raises `ModuleFault` where it breaks the contract."""
    raw, game = bind(namespace, num_players), Game(_Loaded(namespace))

    def player(state: State) -> int:
        to_move = game.current_player(state)
        if to_move >= num_players:
            raise ModuleFault(
                "bad_value",
                "get_current_player",
                f"returned {to_move}; required: a seat below {num_players}, of so many players",
            )
        return to_move

    def legal(state: State) -> list[Action]:
        actions = game.legal_actions(state)
        if not actions and game.current_player(state) != TERMINAL:
            raise ModuleFault(
                "bad_value", "get_legal_actions", "returned no action before the game has ended"
            )
        return actions

    def chances(state: State) -> list[float]:
        return game.chance_probabilities(state, legal(state))

    return Rules(
        num_players=num_players,
        current_player=player,
        legal_actions=legal,
        apply_action=game.apply_action,
        rewards=lambda state: game.rewards(state, num_players),
        observations=lambda state: game.observations(state, num_players),
        events=raw.events
        if "get_events" not in namespace
        else lambda state, action: game.events(state, action, num_players),
        chance_probabilities=None if raw.chance_probabilities is None else chances,
        value=None if raw.value is None else partial(_value, game.module),
        key=raw.key,
    )


def _value(module: Module, state: State, seat: int) -> float:
    worth = module.call("value_function", state, seat)
    if isinstance(worth, bool) or not isinstance(worth, int | float):
        raise ModuleFault("bad_value", "value_function", f"returned {worth!r:.80}, no number")
    return worth


class LateError(Exception):
    """The decision ran out of time, and no one call of the module took it."""


class Watch:
    """Watches over one decision; a context manager.

    Where no alarm is set there is nothing to watch: calls may then take for ever.

    Raises:
        ModuleFault: With kind "timed_out" on leaving it, if a call of the module hung.
        LateError: On leaving it, if the time ran out without one.
    """

    def __init__(self) -> None:
        """Begin with the time that the alarm is set to."""
        self.seconds = ALARM.seconds
        self.until = TICKS  # rings, after which the time of what goes on is up
        self.call: types.FrameType | None = None  # the module's call that went on at the last ring
        self.seen = 0  # rings at which it went on
        self.resampling = 0  # rings at which the module's resampler went on

    def patient(self, call: Callable[[], object]) -> object:
        """Make a call of the module's resampler within a share of the time left.

        Raises:
            HungError: If the call did not return in time, or those before it took `MOST` of all
                the time already.
        """
        if not self.seconds:
            return call()
        begun = ALARM.rung
        if self.resampling > TICKS * MOST:
            raise HungError(f"such calls have taken {self._told(self.resampling)}")
        self.until = begun + max((TICKS - begun) // SHARE, 1)
        try:
            return call()
        except DeadlineError as error:
            if ALARM.rung == TICKS:
                raise
            share = self._told(self.until - begun)
            raise HungError(f"the call did not return within {share}") from error
        finally:
            self.until = TICKS
            self.resampling += ALARM.rung - begun

    @property
    def hangs(self) -> bool:
        """True where the module's call at the last ring had gone on for long."""
        return self.call is not None and self.seen > LONG

    def end(self) -> None:
        """Hear the alarm no more."""
        self.until = TICKS + 1

    def __enter__(self) -> Self:
        """Hear the alarm whenever it rings."""
        if self.seconds:
            ALARM.listener = self._ring
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        """Let the alarm be, and say whose time it was that ran out."""
        ALARM.listener = None
        call, hangs, self.call = self.call, self.hangs, None
        if isinstance(error, DeadlineError) and self.seconds:
            if hangs and call is not None:
                raise ModuleFault(
                    "timed_out",
                    call.f_code.co_name,
                    f"one call did not return in {self._told(self.seen)} that the decision had",
                ) from error
            raise LateError(f"no decision within {self.seconds:.3g} s") from error

    def _told(self, rings: int) -> str:
        return f"{rings * self.seconds / TICKS:.3g} s of the {self.seconds:.3g} s"

    def _ring(self, frame: types.FrameType | None) -> None:
        if frame is not None and frame.f_code is Watch.__exit__.__code__:
            return  # the decision is ending already, and says so itself
        going_on = _outermost(frame)
        self.seen = self.seen + 1 if going_on is self.call else 1
        self.call = going_on
        if ALARM.rung >= self.until:
            raise DeadlineError


def _outermost(frame: types.FrameType | None) -> types.FrameType | None:
    """The module's frame that ours called; None where our own code is at work."""
    found = None
    while frame is not None:
        if frame.f_code.co_filename == MODULE_FILE:
            found = frame
        frame = frame.f_back
    return found
