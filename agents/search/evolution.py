"""What the searches over genomes share: how one is run, and how a genome's fitness is sampled."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from statistics import fmean

import numpy as np

from agents.search.genomes import EvolutionSettings, Genome, Valuer, seated
from agents.search.meter import Clock, Meter
from agents.search.policies import Draw, Score, drawing
from agents.search.rules import Rules
from agents.search.settings import SearchResult, SearchSettings
from games.contract import State


class Evolution(ABC):
    """One decision's genomes, and how better ones are come by."""

    def __init__(
        self,
        valuer: Valuer,
        determinize: Callable[[], State],
        settings: EvolutionSettings,
        draw: Draw,
    ) -> None:
        """Prepare a decision.

        Args:
            valuer: Plays genomes.
            determinize: As `decide`.
            settings: What to do.
            draw: Uniform numbers in [0, 1).
        """
        self.valuer = valuer
        self.determinize = determinize
        self.settings = settings
        self.draw = draw

    @abstractmethod
    def steps(self) -> Iterator[None]:
        """Search for ever, a valuation a step."""

    @abstractmethod
    def fittest(self) -> tuple[float, Genome | None]:
        """The fitness of the genome to follow, and that genome; None before one was valued."""

    def fitness(self, genome: Genome) -> Generator[None, None, float]:
        """The mean value of a genome in `trials` determinizations, a step between any two."""
        found = []
        for trial in range(self.settings.trials):
            if trial:
                yield
            found.append(self.valuer.value(self.determinize(), genome))
        return fmean(found)

    @classmethod
    def decide(
        cls,
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
        """Search from what one seat knows; `agents.search.flatmc.flatmc` says the other arguments.

        Args:
            rules: The module's functions.
            seat: The seat that decides.
            determinize: Called once a simulation: one genome valued in one determinization.
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
        search = cls(valuer, determinize, evolution, draw)
        steps = search.steps()
        meter.run(lambda: next(steps))
        fitness, best = search.fittest()
        return valuer.result(meter, best, fitness)
