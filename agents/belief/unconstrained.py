"""Random determinization: hidden zones filled at random, whatever was seen of them.

The lower bound of Lechat (2026), Improving Imperfect-Information Reasoning in Ludii, section 3.4.1.
Only what the rules themselves ask for is respected: the counts, the components that there are, and
how chance deals them. Hits, misses and voids are not, so most states contradict the log. It is here
to be compared with: what the other samplers gain over it is the worth of all that the log says.
"""

from collections.abc import Callable

from agents.belief.zones import Zones
from agents.search.rules import Rules
from games.contract import CHANCE, TERMINAL, State
from games.engine import sample_index

MAX_PLIES = 500


class RandomSampler:
    """Fills the hidden zones of a state at random."""

    def __init__(
        self,
        rules: Rules,
        zones: Zones,
        seat: int,
        initial: State,
        known: Callable[[], State | None],
        draw: Callable[[], float],
    ) -> None:
        """Prepare the sampler.

        Args:
            rules: The module's functions.
            zones: Its declared zones.
            seat: The seat that may not see them.
            initial: The state before any ply.
            known: Gives a state that is right in all that the seat sees; None where there is none.
            draw: Gives the next uniform number in [0, 1).
        """
        self.rules = rules
        self.zones = zones
        self.seat = seat
        self.initial = initial
        self.known = known
        self.draw = draw

    def sample(self) -> State | None:
        """A state with random hidden zones; None where none could be filled."""
        state = self.known()
        if state is None:
            return None
        hidden = self.zones.hidden(state, self.seat)
        piles = [zone for zone in hidden if self.zones.contents(state, zone)]
        conserved = [zone for zone in piles if self.zones.is_conserved(zone)]
        state = self._shuffled(state, conserved)
        dealt = [zone for zone in piles if zone not in conserved]
        return self._dealt(state, dealt) if dealt else state

    def _shuffled(self, state: State, piles: list[str]) -> State:
        """The state with the components of some piles dealt among them at random."""
        contents = {zone: self.zones.contents(state, zone) for zone in piles}
        for kind in dict.fromkeys(self.zones.kind(zone) for zone in piles):
            same = [zone for zone in piles if self.zones.kind(zone) == kind]
            pool = [component for zone in same for component in contents[zone]]
            keys = {index: self.draw() for index in range(len(pool))}
            order = iter(sorted(keys, key=keys.__getitem__))
            for zone in same:
                contents[zone] = [pool[next(order)] for _ in contents[zone]]
        for zone, pile in contents.items():
            state = self.zones.holding(state, zone, pile)
        return state

    def _dealt(self, state: State, zones: list[str]) -> State | None:
        """The state with other zones as the game's own chance would fill them from the start."""
        wanted = {zone: len(self.zones.contents(state, zone)) for zone in zones}
        fresh = self.initial
        for _ in range(MAX_PLIES):
            filled = {zone: self.zones.contents(fresh, zone) for zone in zones}
            if all(len(filled[zone]) == size for zone, size in wanted.items()):
                for zone, contents in filled.items():
                    state = self.zones.holding(state, zone, contents)
                return state
            player = self.rules.current_player(fresh)
            if player == TERMINAL:
                return None
            fresh = self._played(fresh, at_chance=player == CHANCE)
        return None

    def _played(self, state: State, *, at_chance: bool) -> State:
        legal = self.rules.legal_actions(state)
        chances = self.rules.chance_probabilities if at_chance else None
        if chances is None:
            index = int(self.draw() * len(legal))
        else:
            index = sample_index(chances(state), self.draw())
        return self.rules.apply_action(state, legal[index])
