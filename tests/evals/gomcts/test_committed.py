"""The trained models that lie in the repository: each can still be read, and plays its game."""

from pathlib import Path

import pytest

from agents.observing.model import read_observation_model
from agents.players.registry import PRELOAD, PlayerRoster
from tools.playtest.jobs import GameSetup
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox
from tools.sources import find_game

FOLDER = Path(__file__).parents[3] / "evals/gomcts/models"
GALLERY = Path(__file__).parents[3] / "gallery"
MODELS = sorted(FOLDER.glob("*.model"))


def test_they_are_listed_and_take_eight_megabytes_together() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert MODELS
    assert all(f"| `{path.name}` |" in listed for path in MODELS)
    assert sum(path.stat().st_size for path in MODELS) <= 8 * 2**20


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_of_the_repository_plays_its_game(path: Path) -> None:
    about = read_observation_model(str(path)).about
    made = GALLERY / path.stem
    source = find_game(str(made) if made.exists() else path.stem).source
    game = GameSetup(path.stem, source, about["num_players"], parameters=about["parameters"])
    specs = [f"gomcts:model={path},runs=2", *["random"] * (about["num_players"] - 1)]
    with Sandbox(preload=PRELOAD) as sandbox:
        played = play_series(
            game,
            specs,
            PlayerRoster(),
            SeriesSettings(game.num_players, 5, record=False),
            sandbox=sandbox,
        )
    assert {entry.ending for entry in played.entries.values()} == {"finished"}
    for match, entry in played.entries.items():  # each match the model has another seat
        asked = [one.figures["passes"].most for one in entry.used if "passes" in one.figures]
        assert len(asked) == 1, match
        assert asked[0] > 0, match
