"""Random mutation hill climbing over plans of the seat's own plies.

One genome is kept, at first a random one. A mutated copy of it is valued in `trials`
determinizations; where its mean fitness is at least the kept one's, it takes its place. What a
genome is, how other seats play meanwhile and what the fitness is: see `agents.search.genomes`. The
first gene of the kept genome is played.

Reference:
    Mitchell, Holland & Forrest (1993), When Will a Genetic Algorithm Outperform Hill Climbing?
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


def rmhc(
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
    climb = Climb(valuer, determinize, evolution, draw)
    steps = climb.steps()
    meter.run(lambda: next(steps))
    return valuer.result(meter, climb.best, climb.fitness)


class Climb:
    """One hill climbed.

    Attributes:
        best: The genome kept; None until one was valued.
        fitness: Its mean fitness when it was valued.
    """

    def __init__(
        self,
        valuer: Valuer,
        determinize: Callable[[], State],
        settings: EvolutionSettings,
        draw: Draw,
    ) -> None:
        """See `rmhc`."""
        self.valuer = valuer
        self.determinize = determinize
        self.settings = settings
        self.draw = draw
        self.best: Genome | None = None
        self.fitness = 0.0

    def steps(self) -> Iterator[None]:
        """Climb for ever, a valuation a step."""
        settings = self.settings
        while True:
            if self.best is None:
                genome = random_genome(settings.horizon, self.draw)
            else:
                genome = mutated(self.best, settings.mutation, self.draw)
            found = []
            for trial in range(settings.trials):
                found.append(self.valuer.value(self.determinize(), genome))
                if trial + 1 < settings.trials:
                    yield
            fitness = fmean(found)
            if self.best is None or fitness >= self.fitness:
                self.best, self.fitness = genome, fitness
            yield
