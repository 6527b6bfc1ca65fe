"""`play` as a whole, its input piped: words at the table, hot seat, watching, records, drawings."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from games import library
from tests.app.conftest import Command
from tests.processes import PATIENCE_S


def played(typed: bytes | str, *arguments: str | Path, code: int = 0) -> str:
    """What `play` shows for an input."""
    data = typed.encode() if isinstance(typed, str) else typed
    command = [sys.executable, "-m", "app.cli", "play", *map(str, arguments)]
    done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=PATIENCE_S)
    out, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert "Traceback" not in out + errors
    assert done.returncode == code, out + errors
    return out


def record_of(shown: str) -> list[dict[str, object]]:
    """The record that the last line names, as its lines."""
    path = Path(re.findall(r"The record: (.*)\.txt", shown)[-1])
    assert path.with_suffix(".txt").read_text().startswith(path.name.split("-")[1])
    return [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]


def test_words_at_the_table_work_and_nothing_that_is_typed_breaks_it() -> None:
    garbage = b"\xff\xfe\x00\x1b[2J\n" + b"x" * 1_000_000 + b"\n\n-1\n"
    words = b"help\nX 2,2\nhint\nUNDO\n:undo\n1,1\nhistory\nrules\nsave\nquit\n"
    shown = played(garbage + words, "tic_tac_toe", "--seed", "4")
    assert shown.count("is nothing you can do now") == 4
    assert "An empty line is nothing" in shown
    assert "\x1b" not in shown
    assert "The seed is 4: --seed 4 repeats the match." in shown
    assert "A search would play: x " in shown
    assert "You have decided nothing yet." in shown  # the second "undo"
    assert "R10: The player who completes a line wins" in shown
    head, *plies, end = record_of(shown)
    assert head["seed"] == 4
    assert head["parameters"] == {"size": 3, "misere": False, "wild": False}
    assert [ply["action"] for ply in plies][:1] == ["x 1,1"]  # "x 2,2" was taken back
    assert end["ending"] == "unfinished"


def test_a_saved_match_goes_on_as_if_nobody_had_left(command: Command, tmp_path: Path) -> None:
    moves = ["1,1", "3,3", "1,3", "3,1", "2,2", "1,2", "2,1", "2,3", "3,2"]
    options = ("tic_tac_toe", "--opponent", "random", "--seed", "4", "--set", "misere=true")
    left = played("1,1\nquit\n", *options)
    saved = re.findall(r"To go on: rulewright play (.*)", left)[0]
    rest = played("\n".join(["history", *moves * 3]), saved)
    straight = played("\n".join([*moves * 4]), *options)
    assert rest.split("Your move: ")[1].count("places x in row 1, column 1.") == 1  # of "history"
    assert record_of(rest) == record_of(straight)

    over = re.findall(r"The record: (.*)\.txt", rest)[-1] + ".jsonl"
    assert "is over" in command("play", over).err
    assert "no option but --opponent" in command("play", saved, "--seed", "5").err
    lines = Path(saved).read_text()
    changed = tmp_path / "changed.jsonl"
    for text, said in (
        (lines.replace("random", "llm:model=dear"), "asks a model and costs"),
        (lines.replace("random", " llm :model=dear"), "there is no player"),
        (lines.replace("random", " llm:model=dear"), "asks a model and costs"),
        (lines.replace('"x 1,1"', '"x 4,4"'), "does not go as it was saved"),
        (lines[:40], "is no saved match"),
        (lines.replace('"human"', "7"), "is no saved match"),
        (lines.replace('"seed":4', '"seed":"4"'), "is no saved match"),
        (lines + lines, "it holds 2 matches"),
        ("", "it holds 0 matches"),
    ):
        changed.write_text(text)
        done = command("play", changed)
        assert done.code == 2
        assert said in done.err


def test_a_match_ends_with_scores_where_the_game_has_some_and_with_who_won() -> None:
    shown = played("", "pig", "--watch", "--opponent", "random", "--seed", "3")
    end = shown.split("The match is over.")[1]
    scores = [int(number) for number in re.findall(r"Player \d: (\d+)", end)]
    assert max(scores) >= 100 > min(scores)  # who reaches 100 points wins
    assert f"Player {scores.index(max(scores)) + 1} wins." in end
    end = played("", "tic_tac_toe", "--watch", "--opponent", "random").split("The match is over.")[
        1
    ]
    told = r"(Player.* (wins|share the first place)|All have the same result: .*)"
    assert re.search(rf"^\s*{told}\.\nThe record", end)


def test_words_that_are_no_moves_are_not_wrong_moves() -> None:
    shown = played("help\nhistory\nmoves\n" * 30 + "quit\n", "tic_tac_toe")
    assert "answers in a row" not in shown
    assert "50 answers in a row were no moves." in played("x\n" * 50, "tic_tac_toe", code=1)


def test_card_codes_are_explained_where_the_game_has_cards() -> None:
    assert "ten of hearts" in played("help\nquit\n", "whist", "--opponent", "random")
    assert "ten of hearts" not in played("help\nquit\n", "battleship", "--opponent", "random")


def test_two_people_at_one_keyboard_never_see_each_others_card() -> None:
    shown = played("\ncheck\n\nbet\n\nfold\n", "leduc_poker", "--seat", "1", "--seat", "2",
                   "--seed", "3")  # fmt: skip
    cards = set(re.findall(r"You are dealt (\w\w)", shown))
    assert len(cards) == 2
    held = [cards & set(re.findall(r"\b\w\w\b", text)) for text in shown.split("\n" * 50)]
    assert all(len(seen) <= 1 for seen in held)
    assert set.union(*held) == cards


def test_a_run_is_played_by_its_name_and_watched_with_its_own_players() -> None:
    folder = Path(os.environ["RULEWRIGHT_RUNS"]) / "my-run"
    (folder / "players").mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    (folder / "game.py").write_text(library.source("tic_tac_toe"))
    (folder / "rulebook.md").write_text("# Mine\n")
    strongest = {"players": ["random", "uct:simulations=7"]}
    (folder / "players" / "players.json").write_text(json.dumps(strongest))
    shown = played("", "my-run", "--watch", "--seat", "2")
    shutil.rmtree(folder / "players")
    assert shown.count("uct (simulations=7)") == 2
    assert re.search(r"Player \d wins\.|(share the first place|same result: .*)\.", shown)
    assert "(you)" not in shown.split("The match is over.")[1]
    assert f"The record: {folder.resolve()}" in shown.replace(str(folder), str(folder.resolve()))


def test_a_run_of_somebody_else_puts_no_record_elsewhere_and_asks_no_model(
    tmp_path: Path, command: Command
) -> None:
    folder, mine = tmp_path / "theirs", tmp_path / "mine.jsonl"
    for part in ("records", "players"):
        (folder / part).mkdir(parents=True)
    mine.write_text("kept")
    (folder / "run.json").write_text("{}")
    (folder / "game.py").write_text(library.source("tic_tac_toe"))
    own = tmp_path / "own.py"
    own.write_text("def decide(observation, legal, history): return legal[0]")
    for strongest in ("llm:model=dear", str(own), "cwm:model=/etc/passwd"):
        (folder / "players" / "players.json").write_text(json.dumps({"players": [strongest]}))
        shown = played("quit\n", folder, "--seed", "7")
        assert not re.search("dear|Player 2: file|passwd|root:", shown)
    (folder / "records" / "played-theirs-8.jsonl").symlink_to(mine)
    assert "is a link" in command("play", folder, "--seed", "8").err
    assert mine.read_text() == "kept"


RENDER = '''

def render(observation):
    """Own drawing. Rules: R1."""
    if any("x" in row for row in observation["board"]):
        raise RuntimeError("no ink")
    return "All checks passed.\\n\\x1b[31m" + "/".join(observation["board"])
'''


def test_a_file_without_heuristics_is_played_and_its_own_drawing_cannot_break_the_table(
    tmp_path: Path,
) -> None:
    (tmp_path / "my_game.py").write_text(library.source("tic_tac_toe") + RENDER)
    shown = played("2,2\n", tmp_path / "my_game.py", code=1)
    assert re.search(r"Player 2: uct \(simulations=\d+\)", shown)
    assert "\n  All checks passed.\n  .../.../...\n" in shown  # indented, without its escape
    assert "Its own drawing failed" in shown
    assert "no ink" in shown
    assert "     1 2 3\n" in shown  # the general layout goes on
    assert "The match is left unfinished." in shown


def test_a_game_that_fails_before_anything_was_seen_is_told_as_its_fault(tmp_path: Path) -> None:
    game = tmp_path / "game.py"
    failing = "def get_observations(state):\n    raise ValueError('no')\n"
    game.write_text(f"{library.source('tic_tac_toe')}\n\n{failing}")
    shown = played("", game, "--watch", "--opponent", "random", code=1)
    assert "The match did not finish: get_observations: raised" in shown


def test_opponents_that_fit_no_seats_are_refused(command: Command) -> None:
    done = command("play", "tic_tac_toe", "--opponent", "random", "--opponent", "random")
    assert done.code == 2
    assert "required: one for all of them, or one a seat" in done.err
    done = command("play", "tic_tac_toe", "--seat", "3")
    assert done.code == 2
    assert "the seats are 1 to 2" in done.err


def test_moves_are_listed_by_their_numbers_and_mean_what_is_listed() -> None:
    shown = played("moves\n10\nquit\n", "battleship", "--seed", "7", "--opponent", "random")
    assert '  fire a1 ... fire j10 (100 of them; "moves" lists all)' in shown
    assert re.search(r" 2\. fire a2 .*\n +3\. fire a3 ", shown)
    assert record_of(shown)[-3]["action"] == "fire a10"  # the tenth


WIDE = '''

def render(observation):
    """Wide letters. Rules: R1."""
    return "\\u3007" * 39 + "You win."


def get_events(state, action):
    """Long ones. Rules: R1."""
    return [["." * 78 + "You win."]] * 2
'''


def test_nothing_of_a_game_stands_at_the_margin_of_a_terminal_of_80_columns(
    tmp_path: Path,
) -> None:
    (tmp_path / "wide.py").write_text(library.source("tic_tac_toe") + WIDE)
    shown = played("2,2\n", tmp_path / "wide.py", "--opponent", "random", code=1)
    assert "You win." in shown
    lines = [line for line in shown.splitlines() if "You win." in line]
    # Unicode TR11: an ideographic zero takes two columns.
    assert all(line.startswith("  ") and len(line) + line.count("\u3007") <= 80 for line in lines)


def test_a_record_is_named_after_the_folder_of_a_game(tmp_path: Path) -> None:
    (tmp_path / "stones").mkdir()
    (tmp_path / "stones" / "game.py").write_text(library.source("tic_tac_toe"))
    shown = played("quit\n", tmp_path / "stones" / "game.py", "--seed", "3")
    assert "played-stones-3.txt" in shown


def test_a_record_is_written_over_no_file_that_is_there(tmp_path: Path) -> None:
    """Nor through a link, as a folder of somebody else may hold at that place."""
    (tmp_path / "mine.py").write_text(library.source("tic_tac_toe"))
    kept, link = tmp_path / "kept", Path(os.environ["RULEWRIGHT_RUNS"]) / "played"
    link.mkdir(parents=True, exist_ok=True)
    kept.write_text("kept")
    (link / "played-mine-3.jsonl").symlink_to(kept)
    shown = played("quit\n", tmp_path / "mine.py", "--seed", "3")
    assert kept.read_text() == "kept"
    assert "played-mine-3-1.txt" in shown
