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

from collections.abc import Callable, Iterator

from agents.search.evolution import Evolution
from agents.search.genomes import EvolutionSettings, Genome, Valuer, mutated, random_genome
from agents.search.policies import Draw
from games.contract import State


class Breeding(Evolution):
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
        """See `Evolution`."""
        super().__init__(valuer, determinize, settings, draw)
        self.parents: list[tuple[float, Genome]] = []
        self.children: list[tuple[float, Genome]] = []

    def fittest(self) -> tuple[float, Genome | None]:
        """See `Evolution.fittest`; of the newest two generations."""
        valued = [*self.parents, *self.children]
        return max(valued, key=lambda pair: pair[0], default=(0.0, None))

    def steps(self) -> Iterator[None]:
        """Breed for ever, a valuation a step."""
        settings = self.settings
        while True:
            ranked = sorted(self.parents, key=lambda pair: -pair[0])
            self.children = ranked[: settings.elite]
            while len(self.children) < settings.population:
                genome = self._child() if ranked else random_genome(settings.horizon, self.draw)
                fitness = yield from self.fitness(genome)
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


rhea = Breeding.decide
"""Rolling horizon evolution; see `Evolution.decide` for arguments and errors."""
