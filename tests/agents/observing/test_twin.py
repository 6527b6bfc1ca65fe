"""The torch twin against the numpy transformer, whose gradients are held against differences."""

import sys

import numpy as np
import pytest

from agents.learning.adam import AdamW
from agents.learning.settings import LearningError
from agents.observing.gradients import Descent, losses_and_gradients
from agents.observing.transformer import Cache, Transformer
from agents.observing.twin import TorchTwin
from tests.agents.observing.test_transformer import BATCH, ENDS, SEQUENCES, SMALL, batch, model


@pytest.fixture(autouse=True)
def _torch() -> None:
    """Torch is loaded by the process that runs these tests, and by no other that collects them."""
    pytest.importorskip("torch", reason="the twin is an extra: not verified without torch")


def test_logits_are_those_of_the_probabilities_token_by_token() -> None:
    of, sequence = model(), SEQUENCES[0]
    ahead, end = TorchTwin(of).logits(batch([sequence], [1]))
    cache = Cache(SMALL, 1)
    for place, token in enumerate(sequence[:-1]):
        last = of.add(cache, np.array([0]), np.array([[token]]), np.array([1]))
        for found, expected in ((ahead, of.next(last)), (end, of.outcomes(last))):
            logits = found[0, place].detach().numpy()
            chances = np.exp(logits) / np.exp(logits).sum()
            assert np.allclose(chances, expected[0], atol=1e-5)


def test_steps_are_those_of_numpy() -> None:
    of = model()
    twin, adam = TorchTwin(of), AdamW(0, {}, {})
    weights = {name: array.copy() for name, array in of.weights.items()}
    for _ in range(3):
        expected, gradients = losses_and_gradients(Transformer(SMALL, weights), BATCH)
        found = twin.step(BATCH, 0.01)
        assert found.next == pytest.approx(expected.next, abs=1e-6)
        assert found.outcome == pytest.approx(expected.outcome, abs=1e-6)
        assert (found.tokens, found.known) == (expected.tokens, expected.known)
        adam.descend(weights, gradients, 0.01)
    after = twin.transformer()
    assert after.weights.keys() == SMALL.arrays().keys()
    for name, array in after.weights.items():
        assert np.allclose(array, weights[name], atol=1e-5), name
        assert not np.shares_memory(array, of.weights[name])


def test_where_no_outcome_is_known_there_is_no_loss_of_one() -> None:
    found = TorchTwin(model()).step(batch(SEQUENCES, [-1] * len(ENDS)), 0.01)
    assert (found.outcome, found.known) == (None, 0)


def test_what_is_dropped_follows_from_the_seed() -> None:
    one, same, other = (TorchTwin(model(), seed=seed) for seed in (1, 1, 2))
    told = [twin.step(BATCH, 0.01, dropout=0.5).next for twin in (one, same, other)]
    assert told[0] == told[1] != told[2]


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(LearningError, match="torch has no device 'nowhere' here"):
        TorchTwin(model(), "nowhere")


def test_without_torch_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LearningError, match=r"pip install 'rulewright\[learn\]'"):
        TorchTwin(model())


def test_numpy_and_the_twin_take_the_same_steps() -> None:
    found = []
    for device in ("numpy", "cpu"):
        descent = Descent.of(
            *(model(), np.random.default_rng(0)),
            outcome_share=0.5,
            action_share=0.2,
            dropout=0.0,
            device=device,
        )
        losses = [descent.step(BATCH, 0.01).next for _ in range(3)]
        found.append((losses, descent.result().weights))
    (one, weights), (other, others) = found
    assert one == pytest.approx(other, abs=1e-6)
    assert all(np.allclose(array, others[name], atol=1e-5) for name, array in weights.items())
