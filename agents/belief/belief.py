"""A seat's belief at one decision: samplers in turn, and an account of what they gave."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias

import numpy as np

from agents.belief.constraint import constraint_strategy
from agents.belief.exact import KeptPlaces, ReplaySampler, TooManyStatesError, Weighted, posterior
from agents.belief.filter import CALLS, extinct, generic_filter
from agents.belief.follow import (
    BeliefCallsError,
    CallCount,
    Entries,
    Follower,
    Guide,
    OpponentModel,
    counted_rules,
    uniform_opponent,
)
from agents.belief.module import Guard, ModuleSampler, unguarded
from agents.belief.population import Population, effective_size, systematic_draws
from agents.belief.zones import RandomSampler, heated, zones_of
from games.engine import sample_index
from games.information import LogEntry, SeatLog, seat_turns
from games.modules import Rules
from games.streams import stream, uniforms
from games.values import Action, Json, ModuleFault, State, canonical_key

SIZE = 512  # particles that may be the whole posterior
SKELETONS = 16  # states kept for what is known of them, where the rest is filled at random


class Strategy(Protocol):
    """Brings a population from one decision of a seat to the next."""

    def advance(self, before: Population) -> Population:
        """See `ParticleFilter.advance`."""


@dataclass
class PopulationTracker:
    """A population of one seat's log, brought up to date when the log has grown.

    It is a function of the log, the size and the seed alone: its random numbers are keyed by the
    log's content. Brought up to date decision by decision, or built at once after a resume, it is
    the same.

    Attributes:
        rules: The module's functions.
        seat: The seat whose log is followed.
        initial: The state before any ply.
        strategy_of: Makes what brings the population of a log up to date.
        size: Particles kept, at least 1.
        seed: Another population for the same log, where one is wanted.
        opponents: How the other seats are taken to play.
        spent: Module calls for the entries of the newest decision.
        guide: The log.
        population: That at the last decision that was read; no particles where none was found.
    """

    rules: Rules
    seat: int
    initial: State
    strategy_of: Callable[[Guide, State, int], Strategy] = generic_filter
    size: int = SIZE
    seed: int = 0
    opponents: OpponentModel = uniform_opponent
    spent: int = field(default=0, init=False)
    entries: list[LogEntry] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Know of no log."""
        self._begin()

    def update(self, entries: Entries) -> None:
        """Read what is new in the log; start over if it is another log than before.

        Args:
            entries: The whole log at a decision of the seat, oldest entry first.
        """
        if entries[: len(self.entries)] != self.entries:
            self._begin()
        for end in [turn.end for turn in seat_turns(entries) if turn.end > len(self.entries)]:
            for entry in entries[len(self.entries) : end]:
                self.content.update(canonical_key(entry.row()).encode())
            self.entries = list(entries[:end])
            self._read()

    def _begin(self) -> None:
        """Know of no log."""
        self.entries = []
        self.content = sha256()
        self.guide = Guide(self.rules, self.seat, [], np.random.default_rng(0), self.opponents)
        self.strategy = self.strategy_of(self.guide, self.initial, self.size)
        self.population = Population([], is_whole=True)
        self.dead = 0  # decisions in a row at which nothing was found

    def _read(self) -> None:
        """Bring the population to the decision at which the log now ends."""
        words = int.from_bytes(self.content.digest()[:8], "little")
        key = stream(words, "belief", match=self.seed, seat=self.seat, ply=len(self.entries))
        self.guide.read_to(self.entries, key)
        cost = self.guide.cost
        cost.tried = cost.fitted = 0
        before = cost.calls
        cost.allow(CALLS)
        if self.population.particles or self.dead.bit_count() < 2:  # noqa: PLR2004 - 0, 1, 2, 4, 8
            try:
                self.population = self.strategy.advance(self.population)
            except BeliefCallsError:
                self.population = extinct(self.population)
        if not self.population.particles:
            self.population = replace(self.population, is_whole=False)
        self.dead = 0 if self.population.particles else self.dead + 1
        cost.allow(float("inf"))
        self.spent = cost.calls - before


@dataclass
class BeliefMemory:
    """Memory of one seat's belief between the decisions of a match.

    Attributes:
        namespace: The module that it is about.
        populations: What reads the log decision by decision, by the belief's name.
        hung: Whether the module's resampler hung, or a search broke off in a state that it gave;
            it is not asked again.
        places: Where replays of the log came by.
        too_many: By seat a first state, the beginning of a log that too many states fit, and the
            module calls that it took to see it.
    """

    namespace: Mapping[str, object] = field(default_factory=dict)
    populations: dict[str, PopulationTracker] = field(default_factory=dict)
    hung: bool = False
    places: KeptPlaces = field(default_factory=KeptPlaces)
    too_many: dict[int, tuple[State, list[LogEntry], int]] = field(default_factory=dict)

    def about(self, namespace: Mapping[str, object]) -> "BeliefMemory":
        """This memory, emptied first if it was about another module."""
        if namespace is not self.namespace:
            self.namespace, self.populations, self.hung = namespace, {}, False
            self.places, self.too_many = KeptPlaces(), {}
        return self

    def population(self, name: str, rules: Rules, seat: int, initial: State) -> PopulationTracker:
        """The population that a belief draws from; a new one for another seat or first state.

        Args:
            name: "particle", "constraint", "heatmap" or "random".
            rules: The module's functions.
            seat: The seat whose log is read.
            initial: The state before any ply.
        """
        population = self.populations.get(name)
        if population is None or (population.seat, population.initial) != (seat, initial):
            constraint = partial(constraint_strategy, zones=zones_of(self.namespace))
            strategy = generic_filter if name == "particle" else constraint
            size = SKELETONS if name == "random" else SIZE
            population = PopulationTracker(rules, seat, initial, strategy, size=size)
            self.populations[name] = population
        return population


BeliefName: TypeAlias = Literal[
    "auto", "module", "exact", "replay", "particle", "constraint", "heatmap", "random"
]
FallbackProtocol: TypeAlias = Literal["ours", "paper"]
EXACT_LIMIT = 500  # states; enumerating more takes longer than the search itself
REPLAY_BUDGET = 100_000  # module calls for one decision: about a second
KEPT = 64  # states kept to fall back on where no new one is found

NamedSampler: TypeAlias = tuple[str, Callable[[], State | None]]


class NoDeterminizationError(Exception):
    """No sampler found a full state that fits what the seat knows."""


@dataclass(frozen=True)
class DecisionPoint:
    """A seat's knowledge at its decision.

    Attributes:
        rules: The module's functions.
        namespace: The module's names, for its own inference functions.
        initial: The state before any ply.
        log: The seat's log.
        legal: The seat's legal actions, in the module's order; none where they are hidden.
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
    all states. If those are too many it draws from the population of "constraint", and replays the
    game where that one died out. Where the population of "particle" dies
    out, that of "constraint" is asked; after it, and after "heatmap", which draws from the same
    one, the module's own functions and then replays. The other names use one sampler alone. A state
    counts only if its legal actions are the seat's. There is no name for the true state.
    """

    def __init__(
        self,
        situation: DecisionPoint,
        name: BeliefName,
        pool: int,
        generator: np.random.Generator,
        *,
        memory: BeliefMemory | None = None,
        guard: Guard = unguarded,
        errors: int = 0,
    ) -> None:
        """Prepare the belief.

        Args:
            situation: What the seat knows.
            name: Which sampler to use.
            pool: Distinct determinizations to draw before they are used again in turn; 0 draws
                a new one for every simulation.
            generator: The only source of randomness.
            memory: What was kept since the seat's last decision; None keeps nothing.
            guard: Makes the calls of the module's own resampler.
            errors: Its failings that are known of already; they are reported with the others.

        Raises:
            ModuleFault: If `name` is "module" and the module defines no `resample_*`.
        """
        self.cost, self.replayed = CallCount(), CallCount()
        self.uncounted = situation.rules
        self.situation = replace(situation, rules=counted_rules(situation.rules, self.cost))
        self.name = name
        self.pool = pool
        self.generator = generator
        self.memory = (memory or BeliefMemory()).about(situation.namespace)
        self.draw = uniforms(generator).__next__
        self.kept: list[State] = []
        self.asked = 0
        self.counts: dict[str, int] = {}
        self.failures = 0
        self.tracker: PopulationTracker | None = None
        self.effective = 0.0
        self.module: ModuleSampler | None = None
        self.guard = guard
        self.errors = errors
        self.own = self._own()
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
            said = self.module.problem if self.module else ""
            raise NoDeterminizationError(
                f"no state fits what seat {self.situation.log.seat} saw; tried "
                + (", ".join(name for name, _ in self._samplers()) or "to enumerate too many")
                + (f"; {self.module.function} raised {said}" if self.module and said else "")
            )
        return self.kept[int(self.draw() * len(self.kept))]

    def effort(self) -> dict[str, Json]:
        """The effort of the samplers: what they gave, how good it was and what it cost.

        `belief` names the samplers that gave states, `determinizations` says how many in all, and
        `belief_failures` how often one was asked in vain; `belief_errors` counts calls of the
        module's own function that raised, hung or gave no JSON, and searches that broke off in a
        state that it gave. `belief_consistency` is the share of the
        states tried that reproduced what the seat saw; `belief_diversity` the effective number of
        distinct states, of a population or of the first 64 given; `belief_calls` the module calls,
        of a population those since the seat's last decision. All are the same after a resume.
        """
        return {
            "belief": "+".join(self.counts) or "none_found",
            "determinizations": sum(self.counts.values()),
            "belief_failures": self.failures,
            "belief_errors": self.module_errors,
            "belief_consistency": round(self._consistency(), 4),
            "belief_diversity": round(self._diversity(), 2),
            "belief_calls": self.cost.calls + self.replayed.skipped,
        }

    @property
    def module_errors(self) -> int:
        """Failings of the module's own sampler, those known of before included."""
        return self.errors + (0 if self.module is None else self.module.errors)

    def distrust_module(self) -> bool:
        """Ask the module's own sampler no more in this match; whether it gave any state here."""
        self.memory.hung = True
        return self.module is not None and self.module.function in self.counts

    def fallback(self, protocol: FallbackProtocol) -> tuple[Action, str]:
        """An action where there is nothing to search, and how it was come by.

        Args:
            protocol: "ours" draws one of the seat's legal actions uniformly. "paper" draws one that
                is legal in the newest state that the module's resampler gave, consistent or not
                (Code World Models App. H.6), and so may be illegal; without one it is as "ours".

        Raises:
            NoDeterminizationError: If legal actions are hidden, and no such state is there.
        """
        module, legal, how = self.module, self.situation.legal, "random_legal"
        if protocol == "paper" and module is not None and module.last is not None:
            there = module.playable(module.last)
            if there:
                legal, how = tuple(there), "random_in_model"
        if not legal:
            raise NoDeterminizationError("no state of the module fits what the seat saw")
        return legal[int(self.generator.integers(len(legal)))], how

    def _consistency(self) -> float:
        fitted = sum(self.counts.values())
        tried = fitted + (self.failures if self.module is None else self.module.failures)
        if self.tracker is not None and self.tracker.guide.cost.tried:
            tried, fitted = self.tracker.guide.cost.tried, self.tracker.guide.cost.fitted
        return fitted / tried if tried else 0.0

    def _diversity(self) -> float:
        if self.tracker is not None and self.tracker.population.particles:
            return self.effective
        same = Counter(map(canonical_key, self.kept))
        return effective_size(np.array([*same.values()], dtype=float))

    def _samplers(self) -> Iterator[NamedSampler]:
        yield from self.own
        if self.generic is None:
            self.generic = self._from_rules()
        yield from self.generic

    def _own(self) -> list[NamedSampler]:
        """The module's own sampler, where it is to be asked first."""
        if self.name not in ("auto", "module"):
            return []
        own = self._resamplers()
        if self.name == "module" and not own:
            raise ModuleFault(
                "missing",
                "resample_state",
                "belief=module needs resample_state() or resample_history(); use belief=auto",
            )
        return own

    def _resamplers(self) -> list[NamedSampler]:
        """The module's own sampler, where it has one."""
        here = self.situation
        if not any(name in here.namespace for name in ("resample_history", "resample_state")):
            return []
        own = ModuleSampler(
            here.rules, here.namespace, here.log, here.initial, self.generator, self.guard
        )
        own.hung = self.memory.hung
        self.module = own
        return [(own.function, partial(self._from_module, own))]

    def _from_module(self, own: ModuleSampler) -> State | None:
        """The state that the module's own sampler gives; None where the module cannot follow it."""
        state = own.sample()
        self.memory.hung = own.hung
        return None if state is None or own.playable(state) is None else state

    def _from_rules(self) -> list[NamedSampler]:
        """Samplers that need only the rules: a population, enumeration, or replay."""
        here = self.situation
        replay = ReplaySampler(
            here.follower, here.initial, self.draw, REPLAY_BUDGET, self.memory.places
        )
        self.replayed = replay.cost
        if self.name in ("module", "replay"):
            return [("replay", replay.sample)] if self.name == "replay" else []
        if self.name == "random":
            return self._unconstrained()
        if self.name in ("particle", "constraint", "heatmap"):
            has_next = self.name == "particle" and zones_of(here.namespace) is not None
            names = [self.name, "constraint"] if has_next else [self.name]
            populations = [(name, self._population(name)) for name in names]
            return [*populations, *self._resamplers(), ("replay", replay.sample)]
        weighted = self._enumerated()
        if weighted is not None:
            return [("exact", partial(_drawn, weighted, self.draw))]
        if self.name == "exact":
            return []
        return [("constraint", self._population("constraint")), ("replay", replay.sample)]

    def _enumerated(self) -> Weighted | None:
        """The exact posterior; None where it has too many states, at the cost of seeing it."""
        here, seat = self.situation, self.situation.log.seat
        initial, entries, calls = self.memory.too_many.get(seat, ({}, [], 0))
        if calls and (initial, here.log.entries[: len(entries)]) == (here.initial, entries):
            self.cost.skip(calls)
            return None
        before = self.cost.calls
        try:
            return posterior(here.follower, here.initial, limit=EXACT_LIMIT)
        except TooManyStatesError as error:
            if error.lasts:
                calls = self.cost.calls - before
                self.memory.too_many[seat] = here.initial, [*here.log.entries], calls
            return None

    def _population(self, name: str) -> Callable[[], State | None]:
        """Draws from a population that is brought up to date when it is first asked."""
        populated = cache(partial(self._populated, name))
        return lambda: populated()()

    def _populated(self, name: str) -> Callable[[], State | None]:
        """Draws from the population of this seat's log, brought up to date."""
        here, seat = self.situation, self.situation.log.seat
        tracker = self.memory.population(name, self.uncounted, seat, here.initial)
        tracker.update(here.log.entries)
        self.cost.calls += tracker.spent
        self.tracker = tracker
        states = [particle.place.state for particle in tracker.population.particles]
        weights = tracker.population.weights
        if name == "heatmap" and (zones := zones_of(here.namespace)) is not None and states:
            weights = heated(zones, seat, states, weights.tolist())
        self.effective = effective_size(weights)
        return partial(next, systematic_draws(states, weights, self.generator), None)

    def _unconstrained(self) -> list[NamedSampler]:
        """Hidden zones filled at random, in a state that is right in all the rest."""
        here, zones = self.situation, zones_of(self.situation.namespace)
        if zones is None:
            return []
        known, seat = self._populated(self.name), here.log.seat
        self.tracker = None  # it says nothing of the states that are given
        filled = RandomSampler(here.rules, zones, seat, here.initial, known, self.draw)
        return [("random", filled.sample)]

    def _has_legal_actions(self, state: State) -> bool:
        legal = self.situation.rules.legal_actions(state)
        return sorted(legal) == sorted(self.situation.legal or legal)


def _drawn(weighted: Weighted, draw: Callable[[], float]) -> State | None:
    """One of the states by its probability; None where there are none."""
    if not weighted:
        return None
    return weighted[sample_index([chance for _, chance in weighted], draw())][0]
