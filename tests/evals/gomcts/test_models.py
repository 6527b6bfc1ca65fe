"""The trained models that lie here: each can be read, and does what its table says."""

from pathlib import Path

import pytest

import evals.gomcts
from agents.observing.model import read_observation_model
from evals.gomcts.equilibrium import EnumeratedGame

MODELS = Path(evals.gomcts.__file__).parent / "models"


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.model")), ids=lambda path: path.stem)
def test_a_model_says_how_it_was_trained_and_is_small(path: Path) -> None:
    model = read_observation_model(str(path))
    assert path.name in (MODELS / "README.md").read_text()
    assert f"--tokens {model.about['tokens']}" in (MODELS / "README.md").read_text()
    assert path.stat().st_size < 2 * 2**20


def test_leduc_is_played_far_nearer_to_equilibrium_than_by_chance() -> None:
    """NashConv of random play is 4.747, and of exact fictitious play 1.55 after 20 iterations."""
    game = EnumeratedGame("leduc_poker")
    model = read_observation_model(str(MODELS / "leduc_poker.model"))
    assert game.distance(game.behaviours(model)) < 2
