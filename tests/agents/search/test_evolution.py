"""Rolling horizon evolution and random mutation hill climbing."""

from dataclasses import replace

import numpy as np
import pytest

from agents.search.algorithms import SEARCHES
from agents.search.evolution import (
    PlanSettings,
    PlanValuer,
    RheaSettings,
    mutated,
    random_genome,
)
from agents.search.leaves import drawing
from agents.search.settings import SearchResult, SearchView
from games.modules import Rules, bind, load_namespace
from games.values import Action, State
from tests.agents.small_games import DIE, SOON, TIC_TAC_TOE, game

BOTH = ["rhea", "rmhc"]


def decided(name: str, view: SearchView, seed: int = 0, **settings: object) -> SearchResult:
    search = SEARCHES[name]
    values = {key: value for key, value in settings.items() if key in search.settings.model_fields}
    asked = search.settings.model_validate(values)
    return search.decide(view, asked, np.random.default_rng(seed))


# Seat 0 wants "1" at each of its four plies, a point for each; seat 1 moves in between, twice after
# the first ply of seat 0, and what it does changes nothing. Legal actions of seat 0: 0, 1, 2.
CLIMB = """
TURNS = (0, 1, 1, 0, 1, 0, 0, -4)
def get_current_player(state): return TURNS[len(state["path"])]
def get_legal_actions(state): return {0: ["0", "1", "2"], 1: ["x", "y"]}.get(
    get_current_player(state), [])
def apply_action(state, action):
    if action not in get_legal_actions(state): raise ValueError(action)
    return {"path": state["path"] + action}
def get_rewards(state): return [1.0 if state["path"].endswith("1") else 0.0, 0.0]
def get_observations(state): return [state, state]
"""


def climb() -> Rules:
    return bind(load_namespace(CLIMB), 2)


def valuer(rules: Rules, settings: PlanSettings, seat: int = 0) -> PlanValuer:
    generator = np.random.default_rng(0)
    view = SearchView(rules, seat, dict)
    return PlanValuer(rules, view, settings, generator, drawing(generator))


def test_a_genome_is_of_the_own_plies_only_and_its_fitness_their_discounted_payments() -> None:
    plain = valuer(climb(), PlanSettings(horizon=4))
    assert plain.value({"path": ""}, (1, 0, 1, 1)) == 3.0
    assert plain.value({"path": ""}, (1, 1, 1, 1)) == 4.0
    halved = valuer(climb(), PlanSettings(horizon=4, discount=0.5))
    assert halved.value({"path": ""}, (1, 0, 1, 1)) == 1 + 0.25 + 0.125


def test_a_gene_means_one_action_however_a_determinization_lists_them() -> None:
    plain = climb()

    def listed(state: State) -> list[Action]:
        actions = plain.legal_actions(state)
        return actions[1:] + actions[:1] if state["is_turned"] else actions

    rules = replace(
        plain,
        legal_actions=listed,
        apply_action=lambda state, action: {**state, **plain.apply_action(state, action)},
    )
    plans = valuer(rules, PlanSettings(horizon=4))
    for is_turned in (False, True):
        root: State = {"path": "", "is_turned": is_turned}
        assert plans.value(root, (1, 0, 1, 1)) == 3.0
        assert plans.value(root, (0, 2, 1, 1)) == 2.0
    assert [*plans.place] == ["0", "1", "2"]
    assert plans.means == [2.0, 3.0, 0.0]


def test_an_illegal_gene_stands_for_a_legal_action() -> None:
    plain = valuer(climb(), PlanSettings(horizon=4))
    assert plain.value({"path": ""}, (4, 301, 1, 2**29)) == 3.0  # all 1 modulo 3 but 2^29: 2


@pytest.mark.parametrize(
    ("limit", "horizon", "cut", "fitness"),
    [
        (7, 4, 0, 4.0),
        (6, 4, 1, 3.0),
        (5, 2, 0, 2.0),
        (4, 2, 1, 2.0),
        (3, 2, 1, 1.0),
        (1, 1, 1, 1.0),
    ],
)
def test_a_plan_cut_short_by_the_limit_is_counted(
    limit: int, horizon: int, cut: int, fitness: float
) -> None:
    # Seat 0 moves at plies 0, 3, 5 and 6 of 7, and its plan ends where it would move once more.
    plain = climb()
    rules = replace(plain, value=lambda state, at: plain.rewards(state)[at])  # nothing to come
    one = valuer(rules, PlanSettings(horizon=horizon, rollout_limit=limit, leaf="value"))
    assert one.value({"path": ""}, (1,) * horizon) == fitness
    assert one.cut == cut


def test_after_the_last_gene_the_leaf_decides() -> None:
    rules, _, root = game(SOON, 1)
    one = valuer(rules, PlanSettings(horizon=1, discount=0.5, leaf="value"))
    # "quick" pays 2 at once; the value function says 3 in all, so 1 is to come, at half its worth.
    assert one.value(root, (0,)) == 2.5
    assert one.value(root, (1,)) == 2.0


@pytest.mark.parametrize("name", BOTH)
def test_the_best_plan_is_found_across_other_seats_plies(name: str) -> None:
    view = SearchView(climb(), 0, lambda: {"path": ""})
    found = decided(name, view, simulations=400, horizon=4)
    assert found.best == "1"
    assert found.figures["fitness"] == 4.0
    assert sum(found.visits) == found.simulations == 400


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BOTH)
def test_the_winning_move_at_tic_tac_toe_is_found(name: str, seed: int) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx.oo....", "turn": 0, "won": -1}
    view = SearchView(rules, 0, lambda: root)
    found = decided(name, view, seed, simulations=200, horizon=3, opponent="greedy", trials=3)
    assert found.best == "2"


@pytest.mark.parametrize("name", BOTH)
def test_a_greedy_opponent_must_be_blocked(name: str) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: State = {"board": "xx..o....", "turn": 1, "won": -1}
    view = SearchView(rules, 1, lambda: root)
    found = decided(name, view, simulations=600, horizon=3, opponent="greedy", trials=5)
    assert found.best == "2"


@pytest.mark.parametrize("name", BOTH)
def test_chance_is_averaged_over_trials(name: str) -> None:
    rules, _, root = game(DIE, 1)
    view = SearchView(rules, 0, lambda: root)
    found = decided(name, view, simulations=4000, horizon=1, trials=100, population=4)
    assert found.best == "safe"  # 1 for sure, against 0.5 on average and 8 now and then


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("opponent", ["uniform", "greedy", "heuristic"])
def test_budgets_are_kept(name: str, opponent: str) -> None:
    namespace = load_namespace(TIC_TAC_TOE)
    made: list[Action] = []
    apply = namespace["apply_action"]
    assert callable(apply)

    def apply_action(state: State, action: Action) -> State:
        made.append(action)
        result: State = apply(state, action)
        return result

    rules = bind({**namespace, "apply_action": apply_action}, 2)
    root: State = {"board": ".........", "turn": 0, "won": -1}
    view = SearchView(rules, 0, lambda: root, heuristics=(lambda _, a: float(a),))
    found = decided(name, view, budget="calls", calls=777, opponent=opponent)
    assert len(made) == found.calls == 777
    assert decided(name, view, simulations=37, opponent=opponent).simulations == 37


@pytest.mark.parametrize("name", BOTH)
def test_a_budget_that_values_no_genome_still_gives_a_legal_action(name: str) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    found = decided(name, SearchView(rules, 0, lambda: root), budget="calls", calls=1)
    assert found.best in found.actions
    assert (found.simulations, found.calls) == (0, 1)


def test_a_mutation_changes_at_least_one_gene_and_no_length() -> None:
    draw = drawing(np.random.default_rng(0))
    genome = random_genome(8, draw)
    changed = [
        sum(a != b for a, b in zip(genome, mutated(genome, 1e-9, draw), strict=True))
        for _ in range(50)
    ]
    assert set(changed) == {1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"horizon": 0},
        {"population": 1},
        {"elite": 10},
        {"tournament": 0},
        {"trials": 0},
        {"trials": 1001},
        {"discount": 0.0},
        {"mutation": 1.5},
        {"opponent": "psychic"},
    ],
)
def test_settings_that_cannot_be_followed_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RheaSettings.model_validate(wrong)
