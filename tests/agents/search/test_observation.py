"""GO-MCTS over hand-made models, whose best action is known."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from agents.search.observation import (
    History,
    ImaginedStanding,
    ObservationSearch,
    ObservationSearchSettings,
)
from games.values import Action

Row = dict[Action, tuple[float, str]]


class TwoSteps:
    """Two turns: an action's number is added to the history; the end is worth what a table says.

    `worth` gives the value of a history, and what it says of a first action alone is what the
    outcome head says before any search.
    """

    def __init__(
        self,
        worth: Callable[[History], float],
        *,
        depth: int = 2,
        impossible: Callable[[History], bool] = lambda _: False,
    ) -> None:
        self.worth, self.depth, self.impossible = worth, depth, impossible
        self.logs: list[History] = []
        self.generator = np.random.default_rng(0)
        self.asked = 0

    def begin(self, count: int) -> None:
        self.logs = [()] * count

    def act(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[ImaginedStanding]:
        self.asked += len(numbers)
        found = []
        for number, action in zip(numbers, actions, strict=True):
            self.logs[number] = (*self.logs[number], int(action))
            at = self.logs[number]
            kind = "end" if len(at) == self.depth else "turn"
            found.append(ImaginedStanding("impossible" if self.impossible(at) else kind, at))  # type: ignore[arg-type]
        return found

    def choices(self, numbers: Sequence[int]) -> list[dict[Action, float]]:
        return [{"0": 0.5, "1": 0.5} for _ in numbers]

    def outcomes(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[float]:
        pairs = zip(numbers, actions, strict=True)
        return [self.worth((*self.logs[number], int(action))) for number, action in pairs]

    def values(self, numbers: Sequence[int]) -> list[float]:
        return [self.worth(self.logs[number]) for number in numbers]

    def drawn(self, number: int, choices: dict[Action, float]) -> Action:
        del number
        return [*choices][int(self.generator.integers(len(choices)))]


ROOT = {"0": 0.5, "1": 0.5}


def settings(**given: float) -> ObservationSearchSettings:
    return ObservationSearchSettings.model_validate({"runs": 200, "steps": 0, **given})


def misled(history: History) -> float:
    """The first action 0 looks better, and is worse: 1 then 0 pays most."""
    return {(0,): 0.5, (1,): 0.0, (1, 0): 1.0}.get(history, 0.0 if len(history) > 1 else 0.0)


@pytest.mark.parametrize("together", [1, 16])
def test_a_search_finds_what_a_value_alone_does_not(together: int) -> None:
    found = ObservationSearch(TwoSteps(misled), settings(together=together)).search(ROOT)
    assert found.best == "1"
    assert found.values["1"] > 0.8  # the best of both second actions, explored at times
    assert found.runs == 200


def test_a_prior_counts_as_one_visit() -> None:
    found = ObservationSearch(TwoSteps(misled), settings(runs=0)).search(ROOT)
    assert found.visits == {"0": 1.0, "1": 1.0}
    assert found.values == {"0": 0.5, "1": 0.0}


def test_visits_add_up_to_the_runs_and_the_priors() -> None:
    found = ObservationSearch(TwoSteps(misled), settings(runs=64)).search(ROOT)
    assert sum(found.visits.values()) == 64 + 2


def test_impossible_histories_cost_mu_and_count_no_visit() -> None:
    one = TwoSteps(lambda _: 0.5, impossible=lambda history: history[0] == 0)
    found = ObservationSearch(one, settings(runs=50, mu=0.01, together=1)).search(ROOT)
    assert found.visits["0"] == 1.0
    assert found.values["0"] == pytest.approx(0.5 - 0.01 * found.impossible)
    assert found.best == "1"


def test_an_unlikely_action_is_not_tried_and_the_likeliest_always_is() -> None:
    rare = {"0": 0.97, "1": 0.03}
    found = ObservationSearch(TwoSteps(misled), settings()).search(rare)
    assert found.visits.keys() == {"0"}
    assert found.runs == 0  # there is nothing to choose
    many = {str(number): 1 / 30 for number in range(30)}
    assert [*ObservationSearch(TwoSteps(misled), settings()).search(many).visits] == ["0"]


def test_a_rollout_takes_so_many_own_decisions() -> None:
    """From a leaf at depth 1 with two steps, values are taken at depth 3 at the latest."""
    deep = TwoSteps(lambda history: float(len(history)), depth=9)
    ObservationSearch(deep, settings(runs=1, steps=2)).search(ROOT)
    assert deep.asked == 3


def test_the_same_draws_give_the_same_search() -> None:
    one, other = (ObservationSearch(TwoSteps(misled), settings()).search(ROOT) for _ in range(2))
    assert one == other
