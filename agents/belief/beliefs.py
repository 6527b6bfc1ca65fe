"""A seat's belief at one decision: samplers in turn, and an account of what they gave."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from agents.belief.exact import TooManyStatesError, Weighted, posterior
from agents.belief.follow import Follower
from agents.belief.module import ModuleSampler
from agents.belief.replay import ReplaySampler
from agents.search.rollouts import uniforms
from agents.search.rules import Rules
from games.contract import Action, Json, ModuleFault, State
from games.engine import sample_index
from games.information import SeatLog

BeliefName: TypeAlias = Literal["auto", "module", "exact", "replay"]
EXACT_LIMIT = 500  # states; enumerating more takes longer than the search itself
REPLAY_BUDGET = 100_000  # plies examined for one decision
KEPT = 64  # states kept to fall back on where no new one is found

NamedSampler: TypeAlias = tuple[str, Callable[[], State | None]]


class NoDeterminizationError(Exception):
    """No sampler found a full state that fits what the seat knows."""


@dataclass(frozen=True)
class Situation:
    """What a seat knows at its decision.

    Attributes:
        rules: The module's functions.
        namespace: The module's names, for its own inference functions.
        initial: The state before any ply.
        log: The seat's log.
        legal: The seat's legal actions, in the module's order.
    """

    rules: Rules
    namespace: Mapping[str, object]
    initial: State
    log: SeatLog
    legal: tuple[Action, ...]

    @property
    def follower(self) -> Follower:
        """The log with the game it is followed through."""
        return Follower(self.rules, self.log.seat, self.log.entries)


class Belief:
    """Gives determinizations for one decision.

    "auto" asks the module's own functions first; where they give nothing that fits, it enumerates
    all states, and replays the game if those are too many. The other names use one sampler alone.
    A state counts only if its legal actions are the seat's.
    """

    def __init__(
        self, situation: Situation, name: BeliefName, pool: int, generator: np.random.Generator
    ) -> None:
        """Prepare the belief.

        Args:
            situation: What the seat knows.
            name: Which sampler to use.
            pool: Distinct determinizations to draw before they are used again in turn; 0 draws
                a new one for every simulation.
            generator: The only source of randomness.

        Raises:
            ModuleFault: If `name` is "module" and the module defines no `resample_*`.
        """
        self.situation = situation
        self.name = name
        self.pool = pool
        self.draw = uniforms(generator).__next__
        self.kept: list[State] = []
        self.asked = 0
        self.counts: dict[str, int] = {}
        self.failures = 0
        self.own = self._own(generator)
        self.generic: list[NamedSampler] | None = None

    def sample(self) -> State:
        """A full state that the seat cannot tell from the true one.

        Raises:
            NoDeterminizationError: If none was ever found for this decision.
        """
        self.asked += 1
        if self.pool and len(self.kept) >= self.pool:
            return self.kept[self.asked % self.pool]
        for name, sampler in self._samplers():
            state = sampler()
            if state is not None and self._has_legal_actions(state):
                self.counts[name] = self.counts.get(name, 0) + 1
                if len(self.kept) < max(self.pool, KEPT):
                    self.kept.append(state)
                return state
            self.failures += 1
        if not self.kept:
            raise NoDeterminizationError(
                f"no state fits what seat {self.situation.log.seat} saw; tried "
                + (", ".join(name for name, _ in self._samplers()) or "to enumerate too many")
            )
        return self.kept[int(self.draw() * len(self.kept))]

    def effort(self) -> dict[str, Json]:
        """Samplers that gave states, how many in all, and how often one was asked in vain."""
        return {
            "belief": "+".join(self.counts) or "none_found",
            "determinizations": sum(self.counts.values()),
            "belief_failures": self.failures,
        }

    def _samplers(self) -> Iterator[NamedSampler]:
        yield from self.own
        if self.generic is None:
            self.generic = self._from_rules()
        yield from self.generic

    def _own(self, generator: np.random.Generator) -> list[NamedSampler]:
        here = self.situation
        if self.name not in ("auto", "module"):
            return []
        if any(name in here.namespace for name in ("resample_history", "resample_state")):
            own = ModuleSampler(here.rules, here.namespace, here.log, here.initial, generator)
            return [(own.function, own.sample)]
        if self.name == "module":
            raise ModuleFault(
                "missing",
                "resample_state",
                "belief=module needs resample_state() or resample_history(); use belief=auto",
            )
        return []

    def _from_rules(self) -> list[NamedSampler]:
        """Enumeration, or replay where too many states fit; enumerated only when needed."""
        here = self.situation
        replay = ReplaySampler(here.follower, here.initial, self.draw, REPLAY_BUDGET)
        if self.name in ("module", "replay"):
            return [("replay", replay.sample)] if self.name == "replay" else []
        try:
            weighted = posterior(here.follower, here.initial, limit=EXACT_LIMIT)
        except TooManyStatesError:
            return [("replay", replay.sample)] if self.name == "auto" else []
        return [("exact", partial(drawn, weighted, self.draw))]

    def _has_legal_actions(self, state: State) -> bool:
        return sorted(self.situation.rules.legal_actions(state)) == sorted(self.situation.legal)


def drawn(weighted: Weighted, draw: Callable[[], float]) -> State | None:
    """One of the states by its probability; None where there are none."""
    if not weighted:
        return None
    return weighted[sample_index([chance for _, chance in weighted], draw())][0]
