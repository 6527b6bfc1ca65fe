"""The module's own inference functions (Code World Models §4.2), each sample verified."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from games.information import SeatLog, own_turns
from games.modules import NAMES_NUMPY, Rules, canonical, reseed
from games.trajectories import MOST_OUTCOMES
from games.values import CHANCE, Action, Json, State, are_texts, require_json

Resampler: TypeAlias = Literal["resample_history", "resample_state"]
Guard: TypeAlias = Callable[[Callable[[], object]], object]
"""Makes one call and returns what it gives; raises `HungError` where it takes too long, and
`DeadlineError` where the decision itself does."""
_LONGEST = 300  # characters of what a module says
_ROOM = 2**20  # bytes of states, as keys, that are kept
TRIES = 10  # Code World Models App. H.6


class HungError(Exception):
    """A module's resampler did not return in time."""


class DeadlineError(BaseException):
    """The decision ran out of time; no `except Exception` of a module may swallow it."""


def unguarded(call: Callable[[], object]) -> object:
    """Make the call, however long it takes."""
    return call()


class ModuleSampler:
    """Samples states by `resample_history` or `resample_state`.

    A sample counts only if it is a state of plain JSON in which the seat would see its newest
    observation and be to move. The functions are the module's: one that raises, hangs or gives
    nonsense costs its player a try.

    Attributes:
        function: The function that is used.
        failures: Samples that were not consistent, or not to be had.
        errors: Those of them where the module's code raised or hung.
        hung: Whether it hung, or took all memory; it is not asked again.
        problem: What the module's code raised last, in its own words; empty for nothing.
        last: The newest state it gave, consistent or not; None before the first.
    """

    def __init__(
        self,
        rules: Rules,
        namespace: Mapping[str, object],
        log: SeatLog,
        initial: State,
        generator: np.random.Generator,
        guard: Guard = unguarded,
    ) -> None:
        """Prepare the sampler; the module must define one of the two functions."""
        self.rules = rules
        self.log = log
        self.initial = initial
        self.generator = generator
        self.guard = guard
        self.failures = self.errors = 0
        self.hung = False
        self.problem = ""
        self.last: State | None = None
        history = "resample_history" in namespace
        self.function: Resampler = "resample_history" if history else "resample_state"
        self.resample = _function(namespace, self.function)
        # A namespace whose functions run elsewhere seeds them there.
        self.reseed: Callable[[list[int]], None] = getattr(namespace, "reseed", None) or partial(
            reseed, numpy=namespace.get(NAMES_NUMPY) is not False
        )
        self.extra = [False] * (history and _takes_ending(self.resample))
        self._fitting: dict[bytes, State] = {}  # what was held against the log need not be again
        self._room = _ROOM
        self.turns: list[Json] = [[seen, action] for seen, action in own_turns(log)]

    def sample(self) -> State | None:
        """A consistent state, or None after `TRIES` inconsistent ones, or once it hung."""
        for _ in range(TRIES):
            if self.hung:
                return None
            self.reseed([int(self.generator.integers(0, 2**32))])
            state = self._tried(self._consistent)
            if isinstance(state, dict):
                return state
            self.failures += 1
        return None

    def playable(self, state: State) -> list[Action] | None:
        """The legal actions in a state of the module's own making; None where it cannot say."""
        legal = self._tried(partial(self.rules.legal_actions, state))
        return legal if are_texts(legal) else None

    def _tried(self, call: Callable[[], object]) -> object:
        try:
            return self.guard(call)
        except (HungError, MemoryError):
            self.hung = True
        except DeadlineError:
            raise
        except BaseException as error:  # noqa: BLE001 - the module's code may raise anything
            self.problem = f"{type(error).__name__}: {error}"[:_LONGEST]
        self.errors += 1
        return None

    def _consistent(self) -> State | None:
        state = self._state(self.resample(self.turns, self.log.seat, *self.extra))
        if state is None:
            return None
        key = _key(state)
        known = self._fitting.get(key)
        if known is None:
            require_json(state, self.function)
            self.last = state
            if not self._fits(state):
                return None
            known = state
            if len(key) <= self._room:
                self._room -= len(key)
                self._fitting[key] = state
        self.last = known
        return known

    def _state(self, sampled: object) -> State | None:
        if self.function == "resample_state":
            return sampled if isinstance(sampled, dict) else None
        if not isinstance(sampled, list):
            return None
        state = self.initial
        for action in sampled:
            legal = self.rules.legal_actions(state)
            # Of so many outcomes no file of matches tells which: that one can be applied has to do.
            many = len(legal) > MOST_OUTCOMES and self.rules.current_player(state) == CHANCE
            if action not in legal and not many:
                return None
            state = self.rules.apply_action(state, action)
        return state

    def _fits(self, state: State) -> bool:
        seat = self.log.seat
        return (
            self.rules.current_player(state) == seat
            and self.rules.observations(state)[seat] == self.log.latest()
        )


def _key(state: State) -> bytes:
    try:
        return canonical(state)
    except ValueError:  # it holds what is no JSON
        return b""


def _function(namespace: Mapping[str, object], name: str) -> Callable[..., object]:
    """A module's function; what is none raises when it is called, which counts against it."""

    def called(*arguments: object) -> object:
        raise TypeError(f"{name} is no function")

    function = namespace[name]
    return function if callable(function) else called


def _takes_ending(resample_history: Callable[..., object]) -> bool:
    """True if the function has the paper's third parameter, `last_is_terminal`."""
    try:
        return len(inspect.signature(resample_history).parameters) > 2  # noqa: PLR2004 - two arguments are the contract's, a third is optional
    except (TypeError, ValueError):  # it is no function: that shows, and counts, when it is called
        return False
