from math import exp

import numpy as np
import pytest

from agents.search.leaves import (
    EnsemblePolicy,
    Leaves,
    MastPolicy,
    PolicyRollouts,
    UniformPolicy,
    drawing,
    mean_ranks,
)
from agents.search.settings import GraphSettings, LeafChoice
from agents.search.uct import tree_search
from games.modules import bind, load_namespace
from games.values import Action, Observation
from tests.agents.small_games import DIE, SOON, TIC_TAC_TOE, game, known


def mast(epsilon: float | None = None, temperature: float = 1.0, seed: int = 0) -> MastPolicy:
    draw = drawing(np.random.default_rng(seed))
    return MastPolicy(2, draw, epsilon=epsilon, temperature=temperature)


def test_mast_keeps_the_mean_return_of_a_seat_and_action_from_its_ply_on() -> None:
    table = mast()
    # Seat 0 plays a, is paid 1 at once; seat 1 plays b; seat 0 plays a again; then (2, 5).
    table.learn([(0, "a", [1.0, 0.0]), (1, "b", None), (0, "a", None)], [2.0, 5.0])
    # a from the first ply on: 1 + 2 = 3, from the third on: 2; b: 5.
    assert table.table == {(0, "a"): (2, 2.5), (1, "b"): (1, 5.0)}
    table.learn([(-1, "chance", [0.0, 9.0]), (1, "b", None)], [0.0, 1.0])
    assert table.table[1, "b"] == (2, 3.0)
    assert (-1, "chance") not in table.table


def test_gibbs_draws_by_the_boltzmann_distribution_of_normalised_means() -> None:
    table = mast(temperature=0.5)
    for action, value in [("a", 0.0), ("b", 10.0), ("c", 5.0)]:
        table.learn([(0, action, None)], [value, 0.0])
    state: dict[str, object] = {}
    drawn = [table.choose(state, 0, ["a", "b", "c"]) for _ in range(20_000)]  # type: ignore[arg-type]
    weights = np.array([exp(0.0), exp(2.0), exp(1.0)])  # q = 0, 1, 0.5 over temperature 0.5
    shares = [drawn.count(action) / len(drawn) for action in "abc"]
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.012)  # 3.5 deviations


def gibbs(means: list[float], temperature: float, uniform: float) -> int:
    """The index drawn at seat 0 of a table whose returns went from 0 to 1 before."""
    table = MastPolicy(1, lambda: uniform, epsilon=None, temperature=temperature)
    table.learn([(0, "worst", None)], [0.0])
    table.learn([(0, "best", None)], [1.0])
    legal = [f"a{index}" for index in range(len(means))]
    for action, mean in zip(legal, means, strict=True):
        table.learn([(0, action, None)], [mean])
    return legal.index(table.choose({}, 0, legal))


@pytest.mark.parametrize("means", [[0.2, 0.1, 0.0], [0.0, 0.2, 0.1], [0.1, 0.0, 0.2]])
@pytest.mark.parametrize("temperature", [0.001, 0.0011, 0.005])
def test_the_colder_gibbs_the_surer_its_best_action_however_small_its_mean(
    means: list[float], temperature: float
) -> None:
    # Boltzmann's limit: the next one is exp(-0.1 / 0.005) = 2e-9 as likely, or less.
    best = means.index(max(means))
    drawn = [gibbs(means, temperature, (number + 0.5) / 1000) for number in range(1000)]
    assert drawn == [best] * 1000


def test_gibbs_draws_by_its_formula_as_written_wherever_that_does_not_underflow() -> None:
    generator = np.random.default_rng(0)
    compared = underflown = 0
    for _ in range(3000):
        means = generator.random(int(generator.integers(2, 6))).tolist()
        temperature, uniform = 10 ** generator.uniform(-3, 1), generator.random()
        weights = [exp((mean - 1.0) / temperature) for mean in means]
        if sum(weights) < 2.2250738585072014e-308:  # the smallest number of all its digits
            underflown += 1
            continue
        left, expected = uniform * sum(weights), len(weights) - 1
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                expected = index
                break
        assert gibbs(means, temperature, uniform) == expected
        compared += 1
    assert compared > 2000 > underflown > 0


def test_greedy_mast_draws_uniformly_at_its_epsilon() -> None:
    table = mast(epsilon=0.3)
    for action, value in [("a", 0.0), ("b", 10.0), ("c", 5.0)]:
        table.learn([(0, action, None)], [value, 0.0])
    drawn = [table.choose({}, 0, ["a", "b", "c"]) for _ in range(20_000)]
    shares = [drawn.count(action) / len(drawn) for action in "abc"]
    np.testing.assert_allclose(shares, [0.1, 0.8, 0.1], atol=0.011)


def test_an_action_never_played_counts_as_the_best() -> None:
    table = mast(epsilon=0.0)
    table.learn([(0, "a", None)], [0.0, 0.0])
    table.learn([(0, "b", None)], [1.0, 0.0])
    assert {table.choose({}, 0, ["a", "b", "new"]) for _ in range(50)} == {"b", "new"}


@pytest.mark.parametrize("policy", ["mast", "gibbs"])
def test_search_with_mast_learns_from_tree_and_rollouts_and_finds_the_win(policy: str) -> None:
    rules, _, _ = game(TIC_TAC_TOE)
    root: Observation = {"board": "xx.oo....", "turn": 0, "won": -1}
    settings = GraphSettings(simulations=300, policy="mast" if policy == "mast" else "gibbs")
    assert tree_search(known(rules, root), settings, np.random.default_rng(0)).best == "2"


def test_a_truncated_rollout_adds_the_value_function_where_it_was_cut() -> None:
    rules, _, root = game(SOON, 1)
    # Values count what entering a state paid: 3 after "quick", which paid 2 of it; 4 after "slow".
    settings = GraphSettings(leaf="truncated", depth=1)
    leaves = Leaves(rules, settings, np.random.default_rng(0))
    worth = {leaves.returns(root, None)[0] for _ in range(30)}
    assert worth == {3.0, 4.0}
    assert leaves.rollouts.cut == leaves.rollouts.calls == 30


ENDLESS = """
def get_current_player(state): return 0
def get_legal_actions(state): return ["on"]
def apply_action(state, action): return {"plies": state["plies"] + 1}
def get_rewards(state): return [1.0]
def get_observations(state): return [state]
"""


@pytest.mark.parametrize("leaf", ["truncated", "heuristic"])
@pytest.mark.parametrize("depth", [3, 1000, 2500])
def test_a_truncated_rollout_is_as_deep_as_asked(leaf: LeafChoice, depth: int) -> None:
    rules = bind(load_namespace(ENDLESS), 1)  # pays 1 a ply, for ever
    settings = GraphSettings(leaf=leaf, depth=depth)
    leaves = Leaves(rules, settings, np.random.default_rng(0), [lambda _seen, _action: 0.0])
    assert leaves.returns({"plies": 0}, None) == [float(depth)]


def test_without_a_value_function_a_truncated_rollout_keeps_what_it_was_paid() -> None:
    rules, _, root = game(DIE, 1)
    settings = GraphSettings(leaf="truncated", depth=1)
    leaves = Leaves(rules, settings, np.random.default_rng(0))
    assert {leaves.returns(root, None)[0] for _ in range(30)} == {1.0, 0.0}


def test_policy_rollouts_draw_chance_by_its_probabilities() -> None:
    rules, _, _ = game(DIE, 1)
    draw = drawing(np.random.default_rng(0))
    rollouts = PolicyRollouts(rules, UniformPolicy(draw), draw, 10)
    paid = [rollouts.play({"at": "die"})[0] for _ in range(8000)]
    assert np.mean(paid) == pytest.approx(0.5, abs=0.09)  # 8 with probability 1/16: 4 deviations
    assert rollouts.trace[0][0] == -1


def first(observation: Observation, action: Action) -> float:
    del observation
    return -float(action)


def last(observation: Observation, action: Action) -> float:
    del observation
    return 1000.0 * float(action)


def test_an_ensemble_agrees_by_mean_rank_or_by_mean_score() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    draw = drawing(np.random.default_rng(0))
    legal = rules.legal_actions(root)
    by_score = EnsemblePolicy(rules, [first, first, last], "score", draw)
    by_rank = EnsemblePolicy(rules, [first, first, last], "rank", draw)
    assert by_score.choose(root, 0, legal) == "8"  # the largest numbers win
    assert by_rank.choose(root, 0, legal) == "0"  # two against one


def test_heuristic_leaves_play_on_by_the_heuristics() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    settings = GraphSettings(leaf="heuristic", depth=9)
    leaves = Leaves(rules, settings, np.random.default_rng(0), [first])
    # 0 1 2 3 4 5 6 in turn: x completes its diagonal 2 4 6 with the seventh mark.
    assert leaves.returns(root, None) == [1.0, -1.0]
    assert leaves.trace[-1][1] == "6"


def test_heuristic_leaves_without_heuristics_are_refused() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    with pytest.raises(ValueError, match="needs a heuristic"):
        tree_search(known(rules, root), GraphSettings(leaf="heuristic"), np.random.default_rng(0))


def test_mean_ranks_ignore_the_scale_of_a_heuristic() -> None:
    table = [[0.0, 1.0, 2.0], [5.0, 5.0, 100.0]]
    scaled = [[0.0, 100.0, 200.0], [0.05, 0.05, 1.0]]
    assert mean_ranks(table) == mean_ranks(scaled) == [0.25, 0.75, 2.0]
