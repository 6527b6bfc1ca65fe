"""The transformer against differences, against itself token by token, and by hand."""

import dataclasses

import numpy as np
import pytest

from agents.learning.adam import AdamW, dropper
from agents.observing.gradients import Batch, Descent, losses_and_gradients
from agents.observing.transformer import (
    Cache,
    Reals,
    Shape,
    Transformer,
    first_weights,
    gelu,
    softmax,
)

SMALL = Shape(vocabulary=11, outcomes=5, context=9, layers=2, heads=2, width=8)


def batch(sequences: list[list[int]], outcomes: list[int]) -> Batch:
    ends = [np.full(len(one) - 1, end) for one, end in zip(sequences, outcomes, strict=True)]
    return Batch.of(sequences, [np.array(one[1:]) for one in sequences], ends)


SEQUENCES = [[0, 3, 4, 5, 6, 1, 2], [0, 7, 8, 9], [0, 10, 1, 2, 3, 4, 5, 6, 7], [0, 3, 4]]
ENDS = [1, -1, 4, 2]  # how the second match ended is not known
BATCH = batch(SEQUENCES, ENDS)


def model(seed: int = 0, shape: Shape = SMALL) -> Transformer:
    generator = np.random.default_rng(seed)
    weights = {
        name: array.astype(np.float64) + 0.3 * generator.standard_normal(array.shape)
        for name, array in first_weights(shape, generator).items()
    }
    return Transformer(shape, weights)


def loss(of: Transformer, action_share: float) -> float:
    """The weighted sum by its definition, from the means that are told."""
    found, _ = losses_and_gradients(of, BATCH)
    assert found.outcome is not None
    assert found.next is not None
    assert found.action is not None
    if not action_share:
        return float(0.9 * found.next + 0.1 * found.outcome)
    others = found.next * found.tokens - found.action * found.actions
    others /= found.tokens - found.actions
    return (0.9 - action_share) * others + action_share * found.action + 0.1 * found.outcome


@pytest.mark.parametrize("action_share", [0, 0.3])
@pytest.mark.parametrize("name", SMALL.arrays())
def test_a_gradient_is_the_slope_of_the_loss(name: str, action_share: float) -> None:
    of = model()
    _, gradients = losses_and_gradients(of, BATCH, action_share=action_share)
    weight, slope = of.weights[name].reshape(-1), gradients[name].reshape(-1)
    for place in np.random.default_rng(1).choice(weight.size, min(5, weight.size), replace=False):
        kept, ends = weight[place], []
        for step in (1e-5, -1e-5):
            weight[place] = kept + step
            ends.append(loss(of, action_share))
        weight[place] = kept
        assert slope[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


def test_own_actions_are_those_that_follow_a_turn() -> None:
    # Two tokens 1 (MOVE) stand in the sequences before another token.
    found, _ = losses_and_gradients(model(), BATCH)
    assert found.actions == sum(one[:-1].count(1) for one in SEQUENCES) == 2


def test_tokens_added_one_by_one_give_what_they_give_at_once() -> None:
    of, rows = model(), np.arange(2)
    tokens, lengths = np.array([[0, 3, 4, 5], [0, 7, 0, 0]]), np.array([4, 2])
    once, slowly = Cache(SMALL, 2), Cache(SMALL, 2)
    last = of.add(once, rows, tokens, lengths)
    for step in range(4):
        here = np.flatnonzero(lengths > step)
        found = of.add(slowly, here, tokens[here, step : step + 1], np.ones(len(here), np.int64))
        if step == 1:
            assert np.allclose(found[1], last[1], atol=1e-5)
    assert np.allclose(found[0], last[0], atol=1e-5)


def test_the_loss_is_that_of_the_probabilities_that_a_cache_gives() -> None:
    """Cross-entropy by its definition, from the probabilities token by token."""
    of, sequence = model(), [0, 3, 4, 5, 6, 1, 2]
    cache, said = Cache(SMALL, 1), []
    for token, after in zip(sequence, sequence[1:], strict=False):
        last = of.add(cache, np.array([0]), np.array([[token]]), np.array([1]))
        said.append(-np.log(of.next(last)[0, after]))
    found, _ = losses_and_gradients(of, batch([sequence], [1]))
    assert found.next == pytest.approx(np.mean(said), abs=1e-5)


def test_sequences_of_one_row_do_not_see_each_other() -> None:
    of = model()
    assert BATCH.tokens.shape == (3, 8)  # the first and the last have room in one row
    found, gradients = losses_and_gradients(of, BATCH)
    alone = [
        losses_and_gradients(of, batch([one], [end]), outcome_share=0)
        for one, end in zip(SEQUENCES, ENDS, strict=True)
    ]
    counts = [len(one) - 1 for one in SEQUENCES]
    assert found.tokens == sum(counts)
    mean = np.average([one.next for one, _ in alone], weights=counts)
    assert found.next == pytest.approx(mean, abs=1e-6)
    expected = np.average([each["next"] for _, each in alone], axis=0, weights=counts)
    assert np.allclose(gradients["next"], 0.9 * expected, atol=1e-7)


def test_where_no_outcome_is_known_there_is_no_loss_of_one() -> None:
    found, gradients = losses_and_gradients(model(), batch(SEQUENCES, [-1] * 4))
    assert (found.outcome, found.known) == (None, 0)
    assert not gradients["outcome"].any()


def test_where_no_token_is_learned_there_is_no_loss_of_one() -> None:
    nothing = [np.full(len(one) - 1, -1) for one in SEQUENCES]
    ends = [np.full(len(one) - 1, 1) for one in SEQUENCES]
    found, gradients = losses_and_gradients(model(), Batch.of(SEQUENCES, nothing, ends))
    assert (found.next, found.tokens) == (None, 0)
    assert found.known == sum(map(len, nothing))
    assert not gradients["next"].any()


def test_first_weights_keep_the_spread_of_what_goes_through() -> None:
    """LeCun et al. (1998): of inputs of spread 1 a matrix makes outputs of spread 1."""
    shape = Shape(vocabulary=50, outcomes=5, context=20, layers=2, heads=2, width=64)
    generator = np.random.default_rng(0)
    weights = first_weights(shape, generator)
    for name in ("0.qkv", "1.wide", "next.hidden", "outcome.hidden"):
        made = generator.standard_normal((500, 64)) @ weights[name]
        assert made.std() == pytest.approx(1, abs=0.1), name
    towards = generator.standard_normal((500, 64)) @ weights["1.out"]
    assert towards.std() == pytest.approx(1 / 2, abs=0.05)  # one over the root of two a layer


def test_a_look_ahead_leaves_the_cache_as_it_is() -> None:
    of, cache = model(), Cache(SMALL, 2)
    of.add(cache, np.arange(2), np.array([[0, 3], [0, 7]]), np.array([2, 1]))
    peeked = of.peek(cache, np.array([1, 1, 0]), np.array([4, 5, 6]))
    assert cache.length.tolist() == [2, 1]
    added = of.add(cache, np.arange(2), np.array([[6], [5]]), np.ones(2, np.int64))
    assert np.allclose(peeked[[2, 1]], added, atol=1e-6)


def test_no_token_sees_one_that_comes_later() -> None:
    of = model()
    ends = []
    for later in (1, 9):
        cache = Cache(SMALL, 1)
        tokens = np.array([[0, 3, later]])
        of.add(cache, np.array([0]), tokens, np.array([3]))
        ends.append(cache.keys[:, 0, :, :2].copy())
    assert np.array_equal(ends[0], ends[1])


def test_more_tokens_than_the_context_holds_are_refused() -> None:
    of, cache = model(), Cache(SMALL, 1)
    of.add(cache, np.array([0]), np.zeros((1, 9), np.int64), np.array([9]))
    with pytest.raises(ValueError, match="context holds, which is 9"):
        of.add(cache, np.array([0]), np.zeros((1, 1), np.int64), np.array([1]))


def test_gelu_has_the_values_of_its_paper() -> None:
    # x Phi(x), which the tanh form comes near: Phi(1) = 0.8413, Phi(2) = 0.9772.
    values: Reals = gelu(np.array([-1.0, 0.0, 1.0, 2.0]))
    assert np.allclose(values, [-0.1587, 0.0, 0.8413, 1.9545], atol=1e-3)


def test_adamw_moves_by_its_rate_and_decays_matrices_alone() -> None:
    # The first step of Adam is the rate against the slope's sign; decay takes rate * decay * w.
    weights = {"a": np.array([[2.0]], np.float32), "a.bias": np.array([2.0], np.float32)}
    AdamW(0, {}, {}, decay=0.5).descend(
        weights, {"a": np.array([[3.0]]), "a.bias": np.array([-3.0])}, 0.1
    )
    assert weights["a"][0, 0] == pytest.approx(2 * (1 - 0.05) - 0.1, abs=1e-5)
    assert weights["a.bias"][0] == pytest.approx(2.1, abs=1e-5)


def test_dropout_keeps_the_mean() -> None:
    drop = dropper(0.25, np.random.default_rng(0))
    assert drop is not None
    mask = drop((200, 200))
    assert np.allclose(np.unique(mask), [0, 4 / 3])
    assert mask.mean() == pytest.approx(1, abs=0.02)
    assert dropper(0.0, np.random.default_rng(0)) is None


@pytest.mark.parametrize("shift", [0, 1])
def test_what_takes_nothing_of_the_token_before_never_does(shift: int) -> None:
    of = Transformer(SMALL, first_weights(SMALL, np.random.default_rng(0), shift=shift))
    descent = Descent.of(
        of, np.random.default_rng(0), outcome_share=0.5, action_share=0.0, dropout=0.0
    )
    descent.step(BATCH, 0.01)
    after = descent.result().weights
    assert bool((after["before"] != of.weights["before"]).any()) == bool(shift)
    assert (after["tokens"] != of.weights["tokens"]).any()


def test_a_sequence_that_repeats_is_learned() -> None:
    shape = dataclasses.replace(SMALL, context=12, outcomes=2)
    generator = np.random.default_rng(0)
    of = Transformer(shape, first_weights(shape, generator))
    weights, adam = dict(of.weights), AdamW(0, {}, {})
    both = batch([[0, *[3, 4, 5] * 3], [0, *[6, 7, 8] * 3]], [0, 1])
    for _ in range(150):
        found, gradients = losses_and_gradients(of, both)
        adam.descend(weights, gradients, 0.01)
    # One of two beginnings has to be guessed, which costs ln 2 of nine tokens; nothing else does.
    assert found.next == pytest.approx(np.log(2) / 9, abs=0.05)
    assert softmax(np.zeros((1, 4))).tolist() == [[0.25] * 4]


def test_a_token_learns_with_those_that_share_its_features() -> None:
    """A step on one token moves another of the same feature, and leaves a stranger."""
    of = model()
    kin = np.zeros((SMALL.vocabulary, 2), np.float32)
    kin[[1, 4], 0] = kin[7, 1] = 1
    seen = batch([[1, 1, 1]], [0])
    moved = []
    for shared in (None, kin):
        descent = Descent.of(
            *(of, np.random.default_rng(0)),
            outcome_share=0.5,
            action_share=0.0,
            dropout=0.0,
            kin=shared,
        )
        descent.step(seen, 0.01)
        after = descent.result().weights["tokens"] / (1 - 0.01 * 0.01)  # weights decay a little
        moved.append(np.abs(after - of.weights["tokens"]).max(-1) > 1e-4)
    alone, together = moved
    assert alone.tolist() == [token == 1 for token in range(SMALL.vocabulary)]
    assert together.tolist() == [token in (1, 4) for token in range(SMALL.vocabulary)]
