"""Rolling horizon evolution (Perez et al. 2013) and random mutation hill climbing: plans evolved.

Both improve plans of the seat's own plies:

- Rolling horizon evolution values every genome of a first, random population in `trials`
  determinizations. Then a generation takes over the `elite` best as they are, and fills up with
  children: two parents, each the fittest of `tournament` genomes drawn with replacement; every gene
  from either with equal probability (uniform crossover); mutation. The first gene of the fittest
  genome valued so far in the newest two generations is played.
- Random mutation hill climbing keeps one genome, at first a random one. A mutated copy of it is
  valued in `trials` determinizations; where its mean fitness is at least the kept one's, it takes
  its place. The first gene of the kept genome is played.

A genome is `[L]` whole numbers, one an own ply, nothing for anybody else's. Playing it in a state,
the seat's next ply takes the gene `g` to the legal action `g mod number of legal actions`, so every
gene stands for a legal action wherever it is met. The actions of an own ply stand in the order in
which they were first met there: a module may list the same ones otherwise in another
determinization. In between the other seats play by the opponent
model and chance by its probabilities; so turns may alternate, or not, in any way. Play ends with
the match, after the last gene, or is cut after `limit` plies; then the leaf says what is still to
come.

The fitness is `sum_k discount^k p_k + discount^K v`, where `p_k` is what was paid to the seat
between its own `k`th ply, from 0, and the next, and `v` the worth of the last state after `K` own
plies. With a discount of 1 it is the seat's return.

Reference:
    Perez, Samothrakis, Lucas & Rohlfshagen (2013), Rolling Horizon Evolution versus Tree Search for
    Navigation in Single-Player Real-Time Games; Gaina, Lucas & Perez-Liebana (2017), Rolling
    Horizon Evolution Enhancements in General Video Game Playing.
    Mitchell, Holland & Forrest (1993), When Will a Genetic Algorithm Outperform Hill Climbing?
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from agents.search.leaves import (
    Draw,
    EnsemblePolicy,
    Leaves,
    RolloutPolicy,
    UniformPolicy,
    drawing,
    one_of_best,
    sampled,
)
from agents.search.meter import Meter
from agents.search.settings import (
    LARGEST,
    MANY,
    BudgetSettings,
    Count,
    LeafSettings,
    SearchResult,
    SearchView,
)
from agents.search.statistics import ActionTable
from games.modules import Rules, require_seat
from games.values import CHANCE, TERMINAL, Action, State

Genome: TypeAlias = tuple[int, ...]
Trial: TypeAlias = Callable[[Genome], float]
"""The fitness of a genome in one more determinization."""
GENES = 2_000_000  # of a population, some 40 bytes each
SPAN = 2**30  # genes are below it, so that every action of a ply is about as likely


class PlanSettings(LeafSettings, BudgetSettings):
    """Settings of the searches over plans; `rollout_limit` also ends the playing of a plan."""

    horizon: int = Field(
        default=10,
        ge=1,
        le=MANY,
        description="Own plies that are planned; a plan is cut where a rollout to the end "
        "would be.",
    )
    discount: float = Field(
        default=1.0, ge=0.001, le=1, description="Worth of a payment an own ply later."
    )
    opponent: Literal["uniform", "greedy", "heuristic"] = Field(
        default="uniform",
        description="How the other seats are taken to play: uniform, greedy for what pays at "
        "once, or by the game's heuristics.",
    )
    mutation: float = Field(
        default=0.3, ge=0.001, le=1, description="Probability that a gene changes."
    )
    trials: Count = Field(default=1, description="Hidden states a plan is valued in.")

    @model_validator(mode="after")
    def _can_value(self) -> Self:
        if self.budget == "simulations" and self.trials > self.simulations:
            raise ValueError(
                f"trials is {self.trials} with simulations={self.simulations}; required: no "
                "more, so that a plan is valued at all"
            )
        return self


class RheaSettings(PlanSettings):
    """Settings of rolling horizon evolution."""

    population: int = Field(default=10, ge=2, le=LARGEST, description="Plans kept.")
    elite: int = Field(default=1, ge=0, le=LARGEST, description="Best plans taken over unchanged.")
    tournament: int = Field(default=2, ge=1, le=MANY, description="Plans drawn for each parent.")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.population * self.horizon > GENES:
            raise ValueError(
                f"population is {self.population} with horizon={self.horizon}; required: at most "
                f"{GENES:,} genes in all, so that two generations fit the memory"
            )
        if self.elite >= self.population:
            raise ValueError(f"elite is {self.elite}; required: from 0 to below the population")
        return self


class RmhcSettings(PlanSettings):
    """Settings of random mutation hill climbing."""


def decide(
    view: SearchView, settings: PlanSettings, generator: np.random.Generator
) -> SearchResult:
    """Value plans until the budget is spent: a plan in a determinization is a simulation.

    Raises:
        ValueError: If the settings ask for heuristics or a clock that is not given, or the seat is
            not to move in a determinization.
        ModuleFault: If `leaf` is "value" and the module has no `value_function`.
    """
    kind = RollingHorizon if isinstance(settings, RheaSettings) else HillClimb
    plans = kind(settings, drawing(generator))
    meter = Meter(view.rules, settings, view.clock, counting=True)
    valuer = PlanValuer(meter.rules, view, settings, generator, plans.draw)
    steps = plans.steps(lambda genome: valuer.value(view.determinize(), genome))
    meter.run(lambda: next(steps))
    fitness, best = plans.fittest()
    return valuer.result(meter, best, fitness)


class Evolution(ABC):
    """One decision's genomes, and how better ones are come by.

    Attributes:
        parents: `(fitness, genome)` of the genomes that new ones are made from.
        children: Those of the next generation that were valued.
    """

    def __init__(self, settings: PlanSettings, draw: Draw) -> None:
        """Prepare a decision; `draw` gives uniform numbers in [0, 1)."""
        self.settings = settings
        self.draw = draw
        self.parents: list[tuple[float, Genome]] = []
        self.children: list[tuple[float, Genome]] = []

    @abstractmethod
    def steps(self, trial: Trial) -> Iterator[None]:
        """Search for ever, a valuation a step."""

    def fittest(self) -> tuple[float, Genome | None]:
        """The fitness of the genome to follow, and that genome; None before one was valued."""
        valued = [*self.parents, *self.children]
        return max(valued, key=lambda pair: pair[0], default=(0.0, None))

    def fitness(self, genome: Genome, trial: Trial) -> Generator[None, None, float]:
        """The mean value of a genome in `trials` determinizations, a step between any two."""
        found = []
        for number in range(self.settings.trials):
            if number:
                yield
            found.append(trial(genome))
        return fmean(found)


class RollingHorizon(Evolution):
    """Generations of genomes."""

    settings: RheaSettings

    def steps(self, trial: Trial) -> Iterator[None]:
        """Breed for ever, a valuation a step."""
        settings = self.settings
        while True:
            ranked = sorted(self.parents, key=lambda pair: -pair[0])
            self.children = ranked[: settings.elite]
            while len(self.children) < settings.population:
                genome = self._child() if ranked else random_genome(settings.horizon, self.draw)
                fitness = yield from self.fitness(genome, trial)
                self.children.append((fitness, genome))
                yield
            self.parents, self.children = self.children, []

    def _child(self) -> Genome:
        first, second = self._parent(), self._parent()
        pairs = zip(first, second, strict=True)
        crossed = tuple(a if self.draw() < 0.5 else b for a, b in pairs)  # noqa: PLR2004 - either
        return mutated(crossed, self.settings.mutation, self.draw)

    def _parent(self) -> Genome:
        count = len(self.parents)
        drawn = [self.parents[int(self.draw() * count)] for _ in range(self.settings.tournament)]
        return max(drawn, key=lambda pair: pair[0])[1]


class HillClimb(Evolution):
    """Random mutation hill climbing: the one parent is the best genome so far."""

    def steps(self, trial: Trial) -> Iterator[None]:
        """Climb for ever, a valuation a step."""
        settings = self.settings
        while True:
            if self.parents:
                genome = mutated(self.parents[0][1], settings.mutation, self.draw)
            else:
                genome = random_genome(settings.horizon, self.draw)
            fitness = yield from self.fitness(genome, trial)
            if not self.parents or fitness >= self.parents[0][0]:
                self.parents = [(fitness, genome)]
            yield


class GreedyPolicy(RolloutPolicy):
    """Every seat takes its largest reward at once; of equals one at random."""

    def __init__(self, rules: Rules, draw: Draw) -> None:
        """`draw` gives uniform numbers in [0, 1)."""
        self.rules = rules
        self.draw = draw

    def choose(self, state: State, player: int, legal: Sequence[Action]) -> Action:
        """See `RolloutPolicy`."""
        rules = self.rules
        gains = [rules.rewards(rules.apply_action(state, action))[player] for action in legal]
        return legal[one_of_best(gains, self.draw)]


class PlanValuer(ActionTable):
    """Plays genomes, and keeps what each first action was worth: its mean fitness.

    Attributes:
        cut: Genomes not played to their end, or the match's, within the limit.
        orders: By own ply, its legal actions as they were first met.
    """

    def __init__(
        self,
        rules: Rules,
        view: SearchView,
        settings: PlanSettings,
        generator: np.random.Generator,
        draw: Draw,
    ) -> None:
        """Prepare to play genomes of the seat of a view.

        Raises:
            ValueError: If there is no heuristic to follow.
            ModuleFault: As `Leaves`.
        """
        super().__init__()
        self.rules = rules
        self.seat = view.seat
        self.leaves = Leaves(rules, settings, generator, view.heuristics)
        self.others: RolloutPolicy = UniformPolicy(draw)
        if settings.opponent == "heuristic":
            self.others = EnsemblePolicy(rules, view.heuristics, settings.ensemble, draw)
        elif settings.opponent == "greedy":
            self.others = GreedyPolicy(rules, draw)
        self.draw = draw
        self.discount = settings.discount
        self.limit = settings.rollout_limit
        self.cut = 0
        self.orders: dict[int, list[Action]] = {}

    def value(self, state: State, genome: Genome) -> float:
        """The fitness of a genome in one determinization.

        Raises:
            ValueError: If the seat is not to move there.
        """
        require_seat(self.rules, state, self.seat)
        if not self.place:
            for action in self.rules.legal_actions(state):
                self.hold(action)
        fitness = self._played(state, genome)
        self.note(genome[0] % len(self.place), fitness)
        return fitness

    def _played(self, state: State, genome: Genome) -> float:
        rules, seat = self.rules, self.seat
        fitness, own, rewards = 0.0, 0, [0.0] * rules.num_players
        for _ in range(self.limit):
            player = rules.current_player(state)
            if player == TERMINAL:
                return fitness
            if player == seat and own == len(genome):
                break
            legal = rules.legal_actions(state)
            if player == CHANCE:
                action = sampled(rules, state, legal, self.draw())
            elif player == seat:
                action, own = self._meant(genome[own], own, legal), own + 1
            else:
                action = self.others.choose(state, player, legal)
            state = rules.apply_action(state, action)
            rewards = rules.rewards(state)
            fitness += self.discount ** (own - 1) * rewards[seat]
        player = rules.current_player(state)
        if player == TERMINAL:
            return fitness
        self.cut += not (player == seat and own == len(genome))
        return fitness + self.discount**own * self.leaves.returns(state, rewards)[seat]

    def _meant(self, gene: int, own: int, legal: list[Action]) -> Action:
        """The action that a gene stands for at an own ply."""
        first = self.orders.setdefault(own, legal)
        if legal != first and sorted(legal) == sorted(first):
            legal = first
        return legal[gene % len(legal)]

    def result(self, meter: Meter, best: Genome | None, fitness: float) -> SearchResult:
        """The result; the first gene of the `best` genome is played, 0 if none was valued."""
        first = 0 if best is None else best[0] % len(self.place)
        found = self.tabled(meter, self.cut + self.leaves.rollouts.cut, [*self.place][first])
        return found if best is None else replace(found, figures={"fitness": fitness})


def random_genome(length: int, draw: Draw) -> Genome:
    """`[length]` genes, each uniform."""
    return tuple(int(draw() * SPAN) for _ in range(length))


def mutated(genome: Genome, probability: float, draw: Draw) -> Genome:
    """A copy with every gene drawn anew with a probability, and at least one."""
    sure = int(draw() * len(genome))
    return tuple(
        int(draw() * SPAN) if index == sure or draw() < probability else gene
        for index, gene in enumerate(genome)
    )
