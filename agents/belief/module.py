"""The module's own inference functions (Code World Models §4.2), each sample verified."""

import inspect
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, cast

import numpy as np

from agents.search.rules import Rules
from games.contract import Json, State
from games.information import SeatLog, own_turns
from tools.guest.seeding import reseed

Resampler: TypeAlias = Literal["resample_history", "resample_state"]
TRIES = 10  # Code World Models App. H.6


class ModuleSampler:
    """Samples states by `resample_history` or `resample_state`.

    A sample counts only if the seat would see its newest observation in it and be to move.

    Attributes:
        function: The function that is used.
        failures: Samples that were not consistent.
    """

    def __init__(
        self,
        rules: Rules,
        namespace: Mapping[str, object],
        log: SeatLog,
        initial: State,
        generator: np.random.Generator,
    ) -> None:
        """Prepare the sampler; the module must define one of the two functions."""
        self.rules = rules
        self.log = log
        self.initial = initial
        self.generator = generator
        self.failures = 0
        history = "resample_history" in namespace
        self.function: Resampler = "resample_history" if history else "resample_state"
        self.resample = cast("Callable[..., object]", namespace[self.function])
        self.extra = [False] * (history and len(inspect.signature(self.resample).parameters) > 2)  # noqa: PLR2004 - last_is_terminal is its third
        self.turns: list[Json] = [[seen, action] for seen, action in own_turns(log)]

    def sample(self) -> State | None:
        """A consistent state, or None after `TRIES` inconsistent ones."""
        for _ in range(TRIES):
            reseed([int(self.generator.integers(0, 2**32))])
            state = self._state(self.resample(self.turns, self.log.seat, *self.extra))
            if state is not None and self._fits(state):
                return state
            self.failures += 1
        return None

    def _state(self, sampled: object) -> State | None:
        if self.function == "resample_state":
            return cast("State", sampled) if isinstance(sampled, dict) else None
        if not isinstance(sampled, list):
            return None
        state = self.initial
        for action in sampled:
            if action not in self.rules.legal_actions(state):
                return None
            state = self.rules.apply_action(state, action)
        return state

    def _fits(self, state: State) -> bool:
        seat = self.log.seat
        return (
            self.rules.current_player(state) == seat
            and self.rules.observations(state)[seat] == self.log.latest()
        )
