"""Trainings of models of observations for evaluations; each goes on where its folder ends."""

from dataclasses import dataclass
from pathlib import Path

from agents.observing.model import ObservationModel, ObservationSettings, read_observation_model
from agents.observing.population import SelfPlayTraining
from agents.players.registry import PlayerRoster
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox


@dataclass(frozen=True)
class ModelOrder:
    """A training that an evaluation needs.

    Attributes:
        game: With all its parameters.
        tokens: To learn from.
        settings: Of the training.
        seed: Of all that is drawn.
    """

    game: GameSetup
    tokens: int
    settings: ObservationSettings
    seed: int


def models_of(order: ModelOrder, sandbox: Sandbox, folder: Path) -> list[ObservationModel]:
    """The models of all iterations, that of random play first.

    Args:
        order: What is trained.
        sandbox: Where the module runs.
        folder: Of this training alone.
    """
    training = SelfPlayTraining(
        *(sandbox, order.game, order.settings, order.tokens, order.seed, folder),
        roster=PlayerRoster(),
    )
    training.train({})
    numbers = range(order.settings.iterations + 1)
    return [read_observation_model(str(folder / f"{number}.model")) for number in numbers]
