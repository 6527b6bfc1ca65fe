"""Budget of one decision: simulations, calls of the model, or time; and what was used."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import inf

from agents.search.settings import BudgetSettings, Clock
from games.modules import Rules
from games.values import Action, State


class CallsSpentError(Exception):
    """The next call of the model would exceed the budget; the simulation in progress is void."""


class Meter:
    """Runs simulations until the budget is spent.

    A budget of calls is exact: the simulation that would exceed it is broken off and counts for
    nothing. A simulation that needs no call is possible in a small, known tree; so such a budget
    also ends after as many simulations as it has calls.

    Attributes:
        rules: The module's functions, which count themselves where calls are the budget.
        made: Calls of `apply_action` counted so.
        done: Simulations completed.
        seconds: Seconds used, where the budget is time.
    """

    def __init__(
        self,
        rules: Rules,
        settings: BudgetSettings,
        clock: Clock | None = None,
        *,
        counting: bool = False,
    ) -> None:
        """Prepare a decision.

        Args:
            rules: The module's functions.
            settings: With the budget.
            clock: Seconds, from any zero; needed where the budget is time.
            counting: Count the calls under any budget.

        Raises:
            ValueError: If the budget is time and there is no clock.
        """
        if settings.budget == "time" and clock is None:
            raise ValueError("the budget is time; required: a clock")
        self.settings = settings
        self.clock = clock if settings.budget == "time" else None
        self.made = 0
        self.done = 0
        self.seconds: float | None = None
        self.limit = settings.calls if settings.budget == "calls" else 0
        self.counts = counting or bool(self.limit)
        self._apply = rules.apply_action
        self.rules = replace(rules, apply_action=self._counted) if self.counts else rules

    def _counted(self, state: State, action: Action) -> State:
        if self.made == self.limit and self.limit:
            raise CallsSpentError
        self.made += 1
        return self._apply(state, action)

    def run(self, simulate: Callable[[], object], *, at_most: int | None = None) -> None:
        """Simulate until the budget is spent, or `at_most` times."""
        clock, limit = self.clock, self.limit
        end = inf if at_most is None else self.done + at_most
        begun = clock() - (self.seconds or 0.0) if clock else 0.0
        if clock is None:
            end = min(end, limit or self.settings.simulations)
        if clock is None and not limit:  # the common way: two comparisons a simulation fewer
            for _ in range(int(end) - self.done):
                simulate()
                self.done += 1
            return
        with suppress(CallsSpentError):
            while self.done < end and (not limit or self.made < limit):
                simulate()
                self.done += 1
                if clock:
                    self.seconds = clock() - begun
                    if self.seconds >= self.settings.seconds:
                        return
