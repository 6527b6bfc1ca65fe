"""Random mutation hill climbing over plans of the seat's own plies.

One genome is kept, at first a random one. A mutated copy of it is valued in `trials`
determinizations; where its mean fitness is at least the kept one's, it takes its place. What a
genome is, how other seats play meanwhile and what the fitness is: see `agents.search.genomes`. The
first gene of the kept genome is played.

Reference:
    Mitchell, Holland & Forrest (1993), When Will a Genetic Algorithm Outperform Hill Climbing?
"""

from collections.abc import Callable, Iterator

from agents.search.evolution import Evolution
from agents.search.genomes import EvolutionSettings, Genome, Valuer, mutated, random_genome
from agents.search.policies import Draw
from games.contract import State


class Climb(Evolution):
    """One hill climbed.

    Attributes:
        best: The genome kept; None until one was valued.
        height: Its mean fitness when it was valued.
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
        self.best: Genome | None = None
        self.height = 0.0

    def fittest(self) -> tuple[float, Genome | None]:
        """See `Evolution.fittest`."""
        return self.height, self.best

    def steps(self) -> Iterator[None]:
        """Climb for ever, a valuation a step."""
        settings = self.settings
        while True:
            if self.best is None:
                genome = random_genome(settings.horizon, self.draw)
            else:
                genome = mutated(self.best, settings.mutation, self.draw)
            fitness = yield from self.fitness(genome)
            if self.best is None or fitness >= self.height:
                self.best, self.height = genome, fitness
            yield


rmhc = Climb.decide
"""Random mutation hill climbing; see `Evolution.decide` for arguments and errors."""
