"""A game of one's own: what `init` writes works, and the pages about it are true."""

import errno
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.app.conftest import Command
from tools.sources import find_game

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL)


def test_what_init_writes_passes_check_and_is_played_by_its_own_player(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "my_game"
    done = command("init", folder)
    assert (done.code, done.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == {
        "game.py", "rulebook.md", "player.py", "heuristics",
    }  # fmt: skip
    assert '"name": "my_game"' in (folder / "game.py").read_text("utf-8")
    checked = command("check", folder)
    assert checked.code == 0, checked.out
    players = ("--player", folder / "player.py", "--player", "greedy")
    match = command("match", folder, *players, "--games", "2", "--seed", "3", "--json")
    assert (match.code, match.json["finished"]) == (0, 2)
    assert match.json["entrants"][0]["player"].startswith(f"file:path={folder}/player.py,sha256=")
    assert set(match.json["heuristics"]) == {"leave_fours"}


def test_what_init_says_to_try_can_be_pasted(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "two words" / "my_game"
    tries = [shlex.split(line) for line in command("init", folder).out.splitlines()[1:4]]
    assert [words[2] for words in tries] == [str(folder)] * 3


@pytest.mark.parametrize("name", ["My Game", "2048", "-x", "..", "a" * 41, "über"])
def test_init_refuses_a_name_that_is_none(command: Command, tmp_path: Path, name: str) -> None:
    done = command("init", "--", tmp_path / name if name != ".." else "..")
    assert done.code == 2
    assert "such as my_game" in done.err
    assert not list(tmp_path.iterdir())


def test_init_leaves_alone_what_is_there(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "game.py").write_text("precious", encoding="utf-8")
    done = command("init", tmp_path / "mine")
    assert (done.code, "left as it is" in done.err) == (2, True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["game.py"]
    assert (tmp_path / "mine" / "game.py").read_text("utf-8") == "precious"


def test_heuristics_are_found_beside_a_game_file(tmp_path: Path) -> None:
    for file in ("any.py", "any_heuristics/one.py", "game.py", "heuristics/two.py", "x/three.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(file, encoding="utf-8")
    assert find_game(str(tmp_path / "any.py")).heuristics == {"one": "any_heuristics/one.py"}
    assert find_game(str(tmp_path)).heuristics == {"two": "heuristics/two.py"}


def test_the_page_shows_the_game_that_init_writes() -> None:
    assert blocks("module.md")[0] == (ROOT / "games/skeleton/game.py").read_text("utf-8")


def test_the_page_names_every_function_of_the_contract() -> None:
    from games.values import OPTIONAL_FUNCTIONS, REQUIRED_FUNCTIONS

    page = (ROOT / "docs/module.md").read_text("utf-8")
    listed = set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE))
    assert listed >= {*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS}


def test_the_lines_for_langgraph_print_what_their_page_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = blocks("langgraph.md")
    exec(compile(code, "langgraph.md", "exec"), {})
    page = (ROOT / "docs/langgraph.md").read_text("utf-8")
    said = page.partition("It prints:\n\n```\n")[2].partition("```")[0]
    assert capsys.readouterr().out == said


def test_init_on_a_full_disk_leaves_nothing_and_says_why_once(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object, **_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    done = command("init", tmp_path / "mine")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert "[(" not in done.err
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("words", ["match", "tournament"])
@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("player.py", "def choose(legal):\n    return legal[0]\n", "no function decide()"),
        ("player.py", "decide = 3\n", "no function decide()"),
        ("heuristics/mine.py", "def score(:\n", "cannot read 'def score(:'"),
        ("heuristics/mine.py", "def rate(seen, action):\n    return 1\n", "no function score()"),
    ],
)
def test_a_player_or_heuristic_that_is_none_ends_the_command_by_its_files_name(
    command: Command, tmp_path: Path, words: str, file: str, text: str, told: str
) -> None:
    game = tmp_path / "mine"
    assert command("init", game).code == 0
    (game / file).write_text(text, encoding="utf-8")
    done = command(words, game, "--player", game / "player.py", "--player", "greedy")
    assert (done.code, Path(file).name in done.err, told in done.err) == (2, True, True)


@pytest.mark.parametrize(
    ("body", "fail_on", "code"),
    [
        ("raise ValueError", "", 0),
        ("raise ValueError", "void", 0),
        ("raise ValueError", "forfeit,void", 1),
        ("return legal[0]", "forfeit,void", 0),
        ("return legal[0]", "lost", 2),
    ],
)
def test_fail_on_makes_forfeits_a_failure(
    command: Command, tmp_path: Path, body: str, fail_on: str, code: int
) -> None:
    player = tmp_path / "mine.py"
    player.write_text(f"def decide(seen, legal, history):\n    {body}\n", encoding="utf-8")
    players = ("--player", player, "--player", "random", "--fail-on", fail_on)
    assert command("match", "tic_tac_toe", *players, "--games", "2").code == code
    assert command("tournament", "tic_tac_toe", *players, "--deals", "1").code == code


def test_fail_on_void_counts_matches_without_an_end(command: Command) -> None:
    players = ("--player", "random", "--player", "random", "--games", "24", "--json")
    cut = command("match", "tic_tac_toe", *players, "--max-plies", "8", "--fail-on", "void")
    unfinished = cut.json["endings"]["unfinished"]
    assert (unfinished > 0, cut.code) == (True, 1)
    assert f"failed: {unfinished} void" in cut.err
