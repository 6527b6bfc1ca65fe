"""Models that the repository holds: recorded modellers replayed, and sources written by hand.

A recording of `learned.yaml` gives the model of its run. Of a game without one, `models/GAME.py`
was written by hand and is completed to a module by its environment.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.model.settings import ModelSettings
from evals.cwm.synthesis import MODEL, LearningTask, learned, recording_of, tasks
from tools.learned import learned_module
from tools.playtest.jobs import GameSetup
from tools.sources import environment_game

_FOLDER = Path(__file__).parent / "models"
_CLOSED = "_closed"


@dataclass(frozen=True)
class HeldModel:
    """One model.

    Attributes:
        label: Where it comes from.
        text: The module.
        file: Where it was written for a player to read.
    """

    label: str
    text: str
    file: Path


def games_with_models() -> list[str]:
    """Games of which there is a model, by their names in the paper's tables."""
    return sorted({*_recorded(), *(file.stem for file in _FOLDER.glob("*.py"))})


def referee_of(game: str) -> GameSetup:
    """The environment of a game."""
    names = _recorded().get(game)
    name = tasks()[names[0]].environment if names else f"openspiel:{game}"
    return environment_game(name)


def held_models(game: str, folder: Path) -> Sequence[HeldModel]:
    """The models of a game, written as whole modules into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in _recorded().get(game, ()):
        model = ModelSettings(model=MODEL, replay=recording_of(name))
        with tempfile.TemporaryDirectory() as base:
            run = learned(tasks()[name], Path(base), model).result.folder
            text = (run.path / "model.py").read_text(encoding="utf-8")
        found.append(_written(f"{name}, answered by hand", text, folder / f"{name}.py"))
    if found:
        return found
    setup = referee_of(game)
    text = learned_module(
        (_FOLDER / f"{game}.py").read_text(encoding="utf-8"),
        name=game,
        num_players=setup.num_players,
        initial_state=setup.opened().open(setup.num_players, setup.parameters).state,
        parameters=setup.parameters,
    )
    return [_written("written by hand", text, folder / f"{game}.py")]


def _recorded() -> dict[str, list[str]]:
    """Recorded tasks by game; a closed deck is a game of its own."""
    found: dict[str, list[str]] = {}
    for name, task in tasks().items():
        if recording_of(name).exists():
            found.setdefault(_game_of(task), []).append(name)
    return found


def _game_of(task: LearningTask) -> str:
    name = task.environment.rpartition(":")[2]
    return name if task.seat is None else f"{name}{_CLOSED}"


def published_name(game: str) -> str:
    """The game's name in the paper's tables."""
    return game.removesuffix(_CLOSED)


def _written(label: str, text: str, file: Path) -> HeldModel:
    file.write_text(text, encoding="utf-8")
    return HeldModel(label, text, file)
