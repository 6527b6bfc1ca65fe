"""Wishes of a conversation: what is searched, where it lies, and what is told."""

import re
from pathlib import Path

import pytest

from app.making import invent
from graph.run.folder import RunFolder
from tools.balancing.wishes import Wish

WEIGHTED = Path(__file__).parents[1] / "models" / "weighted.py"


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A folder with the module, whose first seat wins as many matches in 100 as `bias` says."""
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    folder = RunFolder(tmp_path / "weighted")
    folder.make()
    folder.write_text("game.py", WEIGHTED.read_text())
    folder.write_text("players/nod.py", "def score(observation, action):\n    return 0.0\n")
    return folder


@pytest.mark.slow
def test_a_wish_for_a_fairer_game_is_answered_with_settings_and_the_command(
    game: RunFolder, tmp_path: Path
) -> None:
    told = invent(Wish(target="first seat 50±15 %"), game, 3, lambda _: None)
    assert "reached with bias=" in told
    assert "first seat 50±15 %: met" in told
    (page,) = tmp_path.glob("balanced/*/balance.html")
    assert str(page) in told


def test_a_wish_that_names_no_seat_of_the_game_is_told_so(game: RunFolder) -> None:
    assert "seats are 1 to 2" in invent(Wish(target="player 5 50±5 %"), game, 3, lambda _: None)


def test_where_no_setting_can_be_searched_a_rule_has_to_change(game: RunFolder) -> None:
    fixed = re.sub(r'"(range|choices)": \[.*?\], ', "", WEIGHTED.read_text())
    game.write_text("game.py", fixed)
    assert invent(Wish(target="first seat 50±15 %"), game, 3, lambda _: None) == ""
    assert "declares no parameter" in invent(Wish(variants=2), game, 3, lambda _: None)
