"""The generic sampler: play the game again so that a seat sees what it saw.

Chance and the other seats choose at random among the plies that reproduce the seat's next log
entry. Where none does, the walk goes back to a random earlier choice and on from there, within a
budget. It needs nothing of the module but its rules, and knows nothing of how likely a hidden
choice makes what was seen *later*: its support is right, its distribution only near the posterior.
"""

from collections.abc import Callable
from dataclasses import replace

from agents.belief.counting import BeliefCallsError, CallCount, counted_rules
from agents.belief.follow import Follower, Place, Step
from games.contract import State


class ReplaySampler:
    """Samples full states that reproduce one seat's log.

    Attributes:
        cost: Module calls made, and how many may be, over all samples.
    """

    def __init__(
        self, follower: Follower, initial: State, draw: Callable[[], float], budget: int
    ) -> None:
        """Prepare the sampler.

        Args:
            follower: The seat's log and the game.
            initial: The state before any ply.
            draw: Gives the next uniform number in [0, 1).
            budget: Module calls before giving up, over all samples.
        """
        self.cost = CallCount(limit=budget)
        self.follower = replace(follower, rules=counted_rules(follower.rules, self.cost))
        self.initial = initial
        self.draw = draw

    def sample(self) -> State | None:
        """A state at the seat's decision; None where the budget ran out or nothing fits."""
        try:
            return self._replayed()
        except BeliefCallsError:
            return None

    def _replayed(self) -> State | None:
        start = self.follower.start(self.initial)
        if start is None:
            return None
        choices: list[list[Step]] = []
        place: Place = start
        while True:
            if self.follower.is_present(place):
                return place.state
            steps = self.follower.steps(place)
            if not steps:
                if not choices:
                    return None
                del choices[int(self.draw() * len(choices)) + 1 :]
                steps = choices.pop()
            if len(steps) > 1:
                choices.append(steps)
            place = self._pick(steps).place

    def _pick(self, steps: list[Step]) -> Step:
        reached, target = 0.0, self.draw() * sum(step.weight for step in steps)
        for step in steps:
            reached += step.weight
            if target < reached:
                return step
        return steps[-1]
