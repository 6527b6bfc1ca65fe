"""The games of `gallery/`: each is whole, and one of them is made again to the same bytes."""

from pathlib import Path

import pytest

from scripts.gallery import GALLERY, GAMES, replay

TOLD = ("prompt.md", "rulebook.md", "game.py", "report.html", "rulebook.pdf", "picture.png")


@pytest.mark.parametrize("name", GAMES)
def test_a_game_has_all_that_a_designer_takes_home(name: str) -> None:
    assert [told for told in TOLD if not (GALLERY / name / told).is_file()] == []
    assert f"[{name}]({name}/" in (GALLERY / "README.md").read_text(encoding="utf-8")


def test_a_game_is_made_again_to_the_same_bytes(tmp_path: Path) -> None:
    prompt = replay("tides", tmp_path / "tides")
    assert prompt in (GALLERY / "tides" / "prompt.md").read_text(encoding="utf-8")
    for made in ("game.py", "rulebook.md", "design.json"):
        assert (tmp_path / "tides" / made).read_bytes() == (GALLERY / "tides" / made).read_bytes()
