"""PPO's parts against values worked out by hand, and training as a whole."""

import dataclasses
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.encoding.paths import fitted_encoder
from agents.learning.matches import Matches
from agents.learning.policy import (
    Codec,
    drawn_actions,
    forward,
    initial_weights,
    log_chances,
    shapes,
)
from agents.learning.ppo import Adam, Rollout, gae, train
from agents.learning.settings import LearningError, PpoSettings
from games.streams import stream
from games.values import ModuleFault
from tests.agents.learning.conftest import QUICK, Trained, setup
from tests.agents.small_games import PENNIES
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

UNVERIFIED = "training is an extra: not verified without torch"


@pytest.fixture(scope="module", autouse=True)
def torch() -> ModuleType:
    """Loaded where these tests run, not wherever tests are collected: it takes seconds."""
    found: ModuleType = pytest.importorskip("torch", reason=UNVERIFIED)
    return found


def array(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(numbers, np.float32)


def test_advantages_are_those_worked_out_by_hand() -> None:
    # gamma 0.5, lambda 0.5: delta_1 = 1 + 0.5*0 - 2 = -1; delta_0 = 0 + 0.5*2 - 1 = 0,
    # so A_1 = -1 and A_0 = 0 + 0.25 * -1.
    found = gae(array(0, 1), array(1, 2), 0.0, 0.5, 0.5)
    assert found.tolist() == [-0.25, -1.0]


def test_with_lambda_one_an_advantage_is_the_return_less_the_estimate() -> None:
    rewards, values = array(1, 0, 3), array(0.5, -1, 2)
    found = gae(rewards, values, 4.0, 1.0, 1.0)
    assert np.allclose(found + values, [8, 7, 7])  # 1+0+3+4, 0+3+4, 3+4


def test_an_unfinished_chain_learns_from_all_but_its_last_decision() -> None:
    codec = Codec(fitted_encoder([{}]), ("a",), recurrent=False)
    rollout = Rollout(5, codec, 1)
    rollout.values[:] = [1, 2, 3, 4, 5]
    rollout.rewards[:] = [0, 1, 0, 1, 9]
    rollout.chains = [([0, 2, 4], False), ([1, 3], True)]
    kept, advantages, returns = rollout.targets(1.0, 0.0)
    assert kept == [[0, 2], [1, 3]]
    # lambda 0: r + v' - v. 0: 0+3-1, 2: 0+5-3, 1: 1+4-2, 3: 1+0-4
    assert advantages.tolist() == [2, 3, 2, -3, 0]
    assert returns.tolist()[:4] == [3, 5, 5, 1]


def test_adams_first_steps_are_those_of_its_paper(torch: ModuleType) -> None:
    # m/(1-b1) = g and v/(1-b2) = g^2 at the first step: it moves by the rate against the sign.
    # A second equal gradient leaves both averages as they are: the same step again.
    weight = torch.tensor([1.0, -2.0], requires_grad=True)
    adam = Adam(0.1)
    for expected in ([0.9, -1.9], [0.8, -1.8]):
        weight.grad = torch.tensor([4.0, -0.5])
        adam.descend({"w": weight})
        assert torch.allclose(weight, torch.tensor(expected), atol=1e-6)
        assert weight.grad is None


@pytest.mark.parametrize("recurrent", [False, True])
def test_numpy_and_torch_give_the_same_decision(torch: ModuleType, recurrent: bool) -> None:
    generator = stream(1, "test")
    weights = initial_weights(shapes(6, 3, 4, recurrent=recurrent), generator)
    inputs, hidden = (generator.normal(size=(5, n)).astype(np.float32) for n in (6, 4))
    ours = forward(weights, inputs, hidden, np)
    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}
    theirs = forward(tensors, torch.from_numpy(inputs), torch.from_numpy(hidden), torch)
    assert all(np.allclose(a, b.numpy(), atol=1e-6) for a, b in zip(ours, theirs, strict=True))


def test_the_memory_is_the_gated_unit_of_torch(torch: ModuleType) -> None:
    weights = initial_weights(shapes(6, 3, 4, recurrent=True), stream(2, "test"))
    cell = torch.nn.GRUCell(4, 4)
    for theirs, name in (("ih", "inward"), ("hh", "onward")):
        bias = stream(3, name).normal(size=12).astype(np.float32)
        weights[f"{name}.bias"] = bias
        getattr(cell, f"weight_{theirs}").data = torch.from_numpy(weights[name].T.copy())
        getattr(cell, f"bias_{theirs}").data = torch.from_numpy(bias)
    inputs, hidden = np.ones((1, 6), np.float32), np.full((1, 4), 0.5, np.float32)
    body = np.tanh(inputs @ weights["first"] + weights["first.bias"])
    with torch.no_grad():
        expected = cell(torch.from_numpy(body), torch.from_numpy(hidden)).numpy()
    assert np.allclose(forward(weights, inputs, hidden, np)[2], expected, atol=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 6), st.floats(-1e4, 1e4))
def test_an_illegal_action_is_never_drawn_however_much_it_is_preferred(
    seed: int, actions: int, logit: float
) -> None:
    generator = np.random.default_rng(seed)
    legal = generator.random((20, actions)) < 0.5
    legal[np.arange(20), generator.integers(actions, size=20)] = True
    logits = np.where(legal, -logit, logit)
    chances = log_chances(logits, legal)
    assert np.allclose(np.where(legal, np.exp(chances), 0).sum(-1), 1)
    assert (np.exp(chances)[~legal] == 0).all()
    assert legal[np.arange(20), drawn_actions(chances, legal, generator)].all()


@pytest.mark.parametrize("name", ["tic_tac_toe", "kuhn_poker"])
def test_the_same_seed_gives_the_same_bytes_and_another_others(trained: Trained, name: str) -> None:
    first, again, other = (
        trained(name, 600, seed, anew=anew).saved() for seed, anew in ((1, 0), (1, 1), (2, 0))
    )
    assert first == again != other


def test_memory_is_used_where_something_is_hidden(trained: Trained) -> None:
    assert not trained("tic_tac_toe", 600, 1).codec.recurrent
    assert trained("kuhn_poker", 600, 1).codec.recurrent


def test_what_is_restored_of_what_was_explored_is_said(trained: Trained) -> None:
    explored = trained("kuhn_poker", 600, 1).about["explored"]
    assert explored["not_restored"] == 0 < explored["decisions"]


def test_the_paper_plays_one_seat_against_uniform_play(sandbox: Sandbox) -> None:
    chosen = QUICK.model_copy(update={"opponents": "uniform", "explore": 100})
    with Matches(sandbox, setup("kuhn_poker"), chosen, 0) as matches:
        policy = train(matches, 100, 0, {})
    assert policy.about["settings"]["opponents"] == "uniform"


def test_the_defaults_are_those_of_table_19() -> None:
    known = PpoSettings().model_dump()
    paper = {"environments": 50, "horizon": 100, "gamma": 0.99, "lam": 0.95, "clip": 0.2,
             "value_weight": 0.5, "entropy_start": 0.1, "entropy_end": 0.01, "epochs": 4,
             "learning_rate": 0.0003, "gradient": 0.5, "minibatches": 10, "units": 256}  # fmt: skip
    assert {name: known[name] for name in paper} == paper


def test_no_steps_and_one_seat_are_refused(sandbox: Sandbox) -> None:
    with Matches(sandbox, setup("kuhn_poker"), QUICK, 0) as matches:
        with pytest.raises(LearningError, match="steps is 0; required: at least 1"):
            train(matches, 0, 0, {})
        matches.game = dataclasses.replace(matches.game, num_players=1)
        with pytest.raises(LearningError, match="has 1 seat; required: at least 2"):
            train(matches, 10, 0, {})


def test_a_module_that_fails_or_breaks_the_contract_is_named(sandbox: Sandbox) -> None:
    for old, new, complaint in (
        ("def get_rewards(state):", "def get_rewards(state):\n    return 1 / 0\n", "ZeroDivision"),
        ("def get_rewards(state):", "def get_rewards(state):\n    return [0.0]\n", "2 finite"),
    ):
        game = GameSetup("pennies", PENNIES.replace(old, new), 2)
        with Matches(sandbox, game, QUICK, 0) as matches, pytest.raises(ModuleFault) as fault:
            train(matches, 100, 0, {})
        assert complaint in str(fault.value)
