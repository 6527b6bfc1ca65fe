"""Models that the repository holds: what the runs of recorded modellers came to."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agents.model.settings import ModelSettings
from evals.cwm.synthesis import MODEL, LearningTask, learned, recording_of, tasks
from tools.playtest.jobs import GameSetup
from tools.sources import environment_game

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
    return sorted(_recorded())


def referee_of(game: str) -> GameSetup:
    """The environment of a game."""
    return environment_game(tasks()[_recorded()[game][0]].environment)


def held_models(game: str, folder: Path, *, tensors: bool = False) -> Sequence[HeldModel]:
    """The models of a game, written as whole modules into a folder.

    Args:
        game: Its name.
        folder: Where they are written.
        tensors: Whether those alone are given that turn observations into arrays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in _recorded(tensors=tensors).get(game, ()):
        text, file = _learned_source(name), folder / f"{name}.py"
        file.write_text(text, encoding="utf-8")
        found.append(HeldModel(f"{name}, answered by hand", text, file))
    return found


@cache
def _learned_source(name: str) -> str:
    """What a recorded synthesis comes to; the replay gives the same in every call."""
    model = ModelSettings(model=MODEL, replay=recording_of(name))
    with tempfile.TemporaryDirectory() as base:
        run = learned(tasks()[name], Path(base), model).result.folder
        return (run.path / "model.py").read_text(encoding="utf-8")


def _recorded(*, tensors: bool = False) -> dict[str, list[str]]:
    """Recorded tasks by game, those with tensors or the others; a closed deck is its own game."""
    found: dict[str, list[str]] = {}
    for name, task in tasks().items():
        if recording_of(name).exists() and bool(task.base) == tensors:
            found.setdefault(_game_of(task), []).append(name)
    return found


def _game_of(task: LearningTask) -> str:
    name = task.environment.rpartition(":")[2]
    return name if task.seat is None else f"{name}{_CLOSED}"


def published_name(game: str) -> str:
    """The game's name in the paper's tables."""
    return game.removesuffix(_CLOSED)
