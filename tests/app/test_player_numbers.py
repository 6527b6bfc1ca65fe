"""Games for some numbers of players and not for those between: each command says which."""

from pathlib import Path

import pytest

from tests.app.conftest import Command

MODULE = (Path(__file__).parents[2] / "docs" / "module.md").read_text(encoding="utf-8")
BOUNDS = '    "min_players": 2,\n    "max_players": 4,\n'


@pytest.fixture
def gapped(tmp_path: Path) -> str:
    """The docs' example, for two or four (partners sit opposite each other)."""
    source = MODULE.split("```python\n")[1].split("```")[0]
    assert source.count(BOUNDS) == source.count("(2, 3, 4)") == 1
    source = source.replace(BOUNDS, '    "players": [2, 4],\n')
    source = source.replace("not in (2, 3, 4) or", "not in (2, 4) or")
    (tmp_path / "game.py").write_text(source, encoding="utf-8")
    return str(tmp_path / "game.py")


THREE = ["--player", "random"] * 3
REFUSED = {
    "check": ["check", "GAME", "--players", "3"],
    "match": ["match", "GAME", *THREE, "--games", "3"],
    "tournament": ["tournament", "GAME", "--player", "random", "--player", "uct:simulations=2"]
    + ["--seats", "3"],
    "play": ["play", "GAME", "--players", "3"],
    "record": ["record", "GAME", "--players", "3", "--matches", "1", "--out", "OUT"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_number_between_is_refused_with_the_numbers_there_are(
    command: Command, gapped: str, tmp_path: Path, name: str
) -> None:
    stand = {"GAME": gapped, "OUT": str(tmp_path / "out.jsonl")}
    done = command(*[stand.get(word, word) for word in REFUSED[name]])
    assert done.code != 0
    assert "takes 2 or 4 players" in done.out + done.err


def test_each_number_that_is_named_is_played(command: Command, gapped: str) -> None:
    checked = command("check", gapped, "--players", "4")
    assert checked.code == 0, checked.out
    four = command("match", gapped, *["--player", "random"] * 4, "--games", "2")
    assert four.code == 0, four.err
    assert command("check", gapped, "--json").code == 0  # two, where none is given
