"""What a belief costs: calls of the module's functions, counted and bounded."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from agents.search.rules import Rules

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class BeliefCallsError(Exception):
    """A sampler has used all the module calls that it was allowed for one decision."""


@dataclass
class CallCount:
    """Counts module calls.

    Attributes:
        limit: Calls allowed in all; raised for every decision by what the decision may use.
        calls: Calls made so far.
    """

    limit: float = float("inf")
    calls: int = 0

    def allow(self, more: float) -> None:
        """Let `more` calls be made from now on."""
        self.limit = self.calls + more

    def counted(self, function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        """The same function, which raises `BeliefCallsError` once the limit is reached."""

        def call(*args: Given.args, **named: Given.kwargs) -> Returned:
            if self.calls >= self.limit:
                raise BeliefCallsError(f"{self.calls} module calls are spent")
            self.calls += 1
            return function(*args, **named)

        return call


def counted_rules(rules: Rules, count: CallCount) -> Rules:
    """The rules with every call counted."""
    chances = rules.chance_probabilities
    return replace(
        rules,
        current_player=count.counted(rules.current_player),
        legal_actions=count.counted(rules.legal_actions),
        apply_action=count.counted(rules.apply_action),
        observations=count.counted(rules.observations),
        events=count.counted(rules.events),
        chance_probabilities=None if chances is None else count.counted(chances),
    )
