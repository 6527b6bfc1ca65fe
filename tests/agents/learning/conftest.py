from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agents.learning.matches import PRELOAD, Matches
from agents.learning.policy import Policy
from agents.learning.settings import PpoSettings
from games import library
from tests.tools.predicting.material import ARRAYS, KUHN
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox
from tools.sources import learned_module

Trained = Callable[..., Policy]
QUICK = PpoSettings(
    environments=25, horizon=20, learning_rate=0.003, entropy_start=0.05, minibatches=4, units=32,
    explore=800,
)  # fmt: skip


@pytest.fixture(scope="package")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as started:
        yield started


def setup(name: str) -> GameSetup:
    return GameSetup(name, library.source(name), 2)


def arrayed() -> GameSetup:
    """A learned model of Kuhn poker that turns observations into arrays itself."""
    start: dict[str, Any] = {"betting": [], "cards": [None, None], "current_player": "chance"}
    source = learned_module(
        KUHN + ARRAYS, name="kuhn", num_players=2, initial_state=start, parameters={}
    )
    return GameSetup("kuhn", source, 2)


@pytest.fixture(scope="package")
def trained(sandbox: Sandbox) -> Trained:
    """Trains a policy once a package, however many tests look at it."""
    pytest.importorskip("torch", reason="training is an extra: not verified without torch")
    from agents.learning.ppo import train

    kept: dict[tuple[str, int, int], Policy] = {}

    def get(name: str, steps: int, seed: int = 0, *, anew: bool = False) -> Policy:
        if anew or (name, steps, seed) not in kept:
            with Matches(sandbox, setup(name), QUICK, seed) as matches:
                kept[name, steps, seed] = train(matches, steps, seed, {})
        return kept[name, steps, seed]

    return get
