"""What a seat's belief keeps between the decisions of a match."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.belief.constraint import ConstraintSampler
from agents.belief.particle import SIZE, ParticleSampler
from agents.belief.zones import zones_of
from agents.search.rules import Rules
from games.contract import State

SKELETONS = 16  # states kept for what is known of them, where the rest is filled at random


@dataclass
class Memory:
    """What one seat's belief keeps between the decisions of a match.

    Attributes:
        namespace: The module that it is about.
        populations: Samplers that read the log decision by decision, by the belief's name.
        hung: Whether the module's resampler hung, or a search broke off in a state that it gave;
            it is not asked again.
    """

    namespace: Mapping[str, object] = field(default_factory=dict)
    populations: dict[str, ParticleSampler] = field(default_factory=dict)
    hung: bool = False

    def about(self, namespace: Mapping[str, object]) -> "Memory":
        """This memory, emptied first if it was about another module."""
        if namespace is not self.namespace:
            self.namespace, self.populations, self.hung = namespace, {}, False
        return self

    def population(self, name: str, rules: Rules, seat: int, initial: State) -> ParticleSampler:
        """The population that a belief draws from; a new one for another seat or first state.

        Args:
            name: "particle", "constraint", "heatmap" or "random".
            rules: The module's functions.
            seat: The seat whose log is read.
            initial: The state before any ply.
        """
        population = self.populations.get(name)
        if population is None or (population.seat, population.initial) != (seat, initial):
            population = self._new(name, rules, seat, initial)
            self.populations[name] = population
        return population

    def _new(self, name: str, rules: Rules, seat: int, initial: State) -> ParticleSampler:
        if name == "particle":
            return ParticleSampler(rules, seat, initial)
        size = SKELETONS if name == "random" else SIZE
        return ConstraintSampler(rules, seat, initial, zones_of(self.namespace), size=size)
