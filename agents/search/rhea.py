"""Rolling horizon evolution: a population of plans of the seat's own plies, bred at a decision.

Every genome of the first, random population is valued in `trials` determinizations. Then a
generation takes over the `elite` best as they are, and fills up with children: two parents, each
the fittest of `tournament` genomes drawn with replacement; every gene from either with equal
probability (uniform crossover); mutation. What a genome is, how other seats play meanwhile and
what the fitness is: see `agents.search.genomes`. The first gene of the fittest genome valued so far
in the newest two generations is played.

Reference:
    Perez, Samothrakis, Lucas & Rohlfshagen (2013), Rolling Horizon Evolution versus Tree Search for
    Navigation in Single-Player Real-Time Games.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

import numpy as np

from agents.search.genomes import (
    EvolutionSettings,
    Genome,
    Valuer,
    mutated,
    random_genome,
    seated,
)
from agents.search.meter import Clock, Meter
from agents.search.policies import Draw, Score, drawing
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import State


def rhea(
    rules: Rules,
    seat: int,
    determinize: Callable[[], State],
    settings: SearchSettings,
    generator: np.random.Generator,
    *,
    evolution: EvolutionSettings,
    heuristics: Sequence[Score] = (),
    clock: Clock | None = None,
) -> SearchResult:
    """Search from what one seat knows; see `agents.search.flatmc.flatmc` for the other arguments.

    Args:
        rules: The module's functions.
        seat: The seat that decides.
        determinize: Called once a simulation, which is one genome valued in one determinization.
        settings: What to do; `rollout_limit` also ends the playing of a genome.
        generator: The only source of randomness of the search itself.
        evolution: What to do with genomes.
        heuristics: The game's heuristics, for leaf="heuristic" and opponent="heuristic".
        clock: Seconds, where the budget is time.

    Raises:
        ValueError: If the settings ask for heuristics or a clock that is not given, or the
            seat is not to move in a determinization.
        ModuleFault: As `flatmc`.
    """
    meter = Meter(rules, settings, clock, counting=True)
    draw = drawing(generator)
    valuer = seated(meter.rules, seat, settings, evolution, generator, draw, heuristics)
    breeding = Breeding(valuer, determinize, evolution, draw)
    steps = breeding.steps()
    meter.run(lambda: next(steps))
    fitness, best = max(breeding.valued, key=lambda pair: pair[0], default=(0.0, None))
    return valuer.result(meter, best, fitness)


class Breeding:
    """Generations of genomes.

    Attributes:
        parents: `(fitness, genome)` of the generation that is bred from.
        children: Those of the next one that were valued.
    """

    def __init__(
        self,
        valuer: Valuer,
        determinize: Callable[[], State],
        settings: EvolutionSettings,
        draw: Draw,
    ) -> None:
        """See `rhea`."""
        self.valuer = valuer
        self.determinize = determinize
        self.settings = settings
        self.draw = draw
        self.parents: list[tuple[float, Genome]] = []
        self.children: list[tuple[float, Genome]] = []

    @property
    def valued(self) -> list[tuple[float, Genome]]:
        """The newest two generations."""
        return [*self.parents, *self.children]

    def steps(self) -> Iterator[None]:
        """Breed for ever, a valuation a step."""
        settings = self.settings
        while True:
            ranked = sorted(self.parents, key=lambda pair: -pair[0])
            self.children = ranked[: settings.elite]
            while len(self.children) < settings.population:
                genome = self._child() if ranked else random_genome(settings.horizon, self.draw)
                found = []
                for trial in range(settings.trials):
                    found.append(self.valuer.value(self.determinize(), genome))
                    if trial + 1 < settings.trials:
                        yield
                self.children.append((fmean(found), genome))
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
