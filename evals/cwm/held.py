"""Models that the repository holds: learned sources, completed to modules by their environments.

`models/GAME.py` was written by hand; `models/GAME-LABEL.py` is one of several syntheses.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.learned import learned_module
from tools.playtest.jobs import GameSetup
from tools.sources import environment_game

_FOLDER = Path(__file__).parent / "models"
_OWN = ("quadranto", "hand_of_war", "army5x5a")


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
    return sorted({file.stem.partition("-")[0] for file in _FOLDER.glob("*.py")})


def referee_of(game: str) -> GameSetup:
    """The environment of a game."""
    return environment_game(f"{'own' if game in _OWN else 'openspiel'}:{game}")


def held_models(game: str, folder: Path) -> Sequence[HeldModel]:
    """The models of a game, written as whole modules into a folder."""
    setup, found = referee_of(game), list[HeldModel]()
    start = setup.opened().open(setup.num_players, setup.parameters).state
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(_FOLDER.glob("*.py")):
        name, _, label = source.stem.partition("-")
        if name != game:
            continue
        text = learned_module(
            source.read_text(encoding="utf-8"),
            name=game,
            num_players=setup.num_players,
            initial_state=start,
            parameters=setup.parameters,
        )
        file = folder / source.name
        file.write_text(text, encoding="utf-8")
        found.append(HeldModel(label or "by hand", text, file))
    return found
