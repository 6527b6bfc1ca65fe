"""`balance`: a designer's targets, answers, pages, stops and mistakes."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started
from tests.processes import wait_for

WEIGHTED = Path(__file__).parents[1] / "models" / "weighted.py"
FAIR = ("--target", "first seat 50±15 %, turns under 8", "--free", "bias", "--budget", "1500",
        "--player", "random")  # fmt: skip


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """A folder with the module: no run, and no heuristics."""
    (tmp_path / "weighted.py").write_text(WEIGHTED.read_text())
    return tmp_path / "weighted.py"


def test_targets_that_can_be_reached_are_reached_told_and_shown(
    command: Command, game: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    result = command("balance", game, *FAIR, "--seed", 3, "--out", folder, "--json")
    assert result.code == 0, result.err
    found = result.json
    assert 35 <= found["settings"]["bias"] <= 65  # percent of the first seat's wins
    assert list(found["changed"]) == ["bias"]
    assert [row["answer"] for row in found["figures"]] == ["met", "met"]
    assert found["matches"] <= 1500
    assert found["not_searched"]["label"] == "it declares neither a range nor choices"
    page = (folder / "balance.html").read_text()
    assert "<svg" in page
    assert "<script" not in page
    assert f"bias={found['settings']['bias']}" in page
    told = command("balance", game, *FAIR, "--seed", 3, "--out", folder)  # nothing is played again
    assert told.code == 0
    assert f"reached with bias={found['settings']['bias']}" in told.out
    assert f"--set bias={found['settings']['bias']}" in told.out
    assert "label (it declares neither a range nor choices)" in told.out


def test_a_search_that_was_killed_goes_on_to_the_same_bytes(
    drawn: Command, started: Started, game: Path, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert drawn("balance", game, *FAIR, "--seed", 4, "--out", whole).code == 0
    host = started("balance", game, *FAIR, "--seed", 4, "--out", cut)
    journal = cut / "journal.jsonl"
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 2)
    host.send_signal(signal.SIGKILL)
    host.wait()
    assert drawn("balance", game, *FAIR, "--out", cut, "--jobs", 1).code == 0  # its own seed
    for name in ("journal.jsonl", "balance.json", "balance.html"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes()


def test_points_for_later_seats_take_a_planted_advantage_away(command: Command, game: Path) -> None:
    """The first seat wins 90 %, by a point: a point more for the second makes these ties."""
    asked = ("--target", "first seat 45±4 %", "--player", "random", "--budget", 1500, "--seed", 2)
    start = ("balance", game, "--set", "bias=90", *asked)
    result = command(*start, "--free", "seat_points", "--seat-points", 3, "--json")
    assert result.code == 0, result.err
    assert result.json["changed"] == {"seat_points": 1}
    folder = Path(result.json["page"]).parent
    assert "seat_points" in (folder / "game.py").read_text(encoding="utf-8")
    assert f"rulewright match {folder} " in result.json["use"]


def test_what_is_not_reached_ends_with_1_and_says_what_moves_it(
    command: Command, game: Path
) -> None:
    result = command(
        *("balance", game, "--target", "35 to 40 turns", "--free", "nods", "--budget", 2000),
        *("--player", "random", "--seed", 1),
    )
    assert result.code == 1
    assert "not shown to be reached; nearest with nods=" in result.out
    assert "35 to 40 turns: missed, by 5.00" in result.out  # at most 30 nods
    assert "moves turns: nods=" in result.out
    assert "  nearest: rulewright match" in result.out
    assert "use it" not in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "make it fun"), "is no target"),
        (("--target", "seat 9 50±2 %"), "names a seat there is not"),
        (("--target", "first seat 90±2 %, second seat 90±2 %"), "add up to 100 %"),
        (("--target", "first seat 60±2%, first seat 40±2%"), "contradict each other"),
        (("--target", "ties under 5 %", "--free", "label"), "cannot be searched"),
        (("--target", "ties under 5 %", "--free", "bais"), "did you mean 'bias'"),
        (("--target", "ties under 5 %", "--apply", "--json"), "--apply takes no --json"),
        (("--target", "ties under 5 %", "--budget", "3"), "--budget"),
        (
            ("--target", "ties under 5 %", "--set", "nods=40", "--free", "nods"),
            "nods can be 1 to 30; not 40",
        ),
    ],
)
def test_a_mistake_is_said_in_a_sentence(
    command: Command, game: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = command("balance", game, *arguments, "--player", "random", "--seed", 0)
    assert result.code == 2
    assert said in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_settings_that_never_end_are_no_result(command: Command, game: Path) -> None:
    result = command(
        *("balance", game, "--set", "endless=true", "--free", "nods", "--target", "turns under 9"),
        *("--player", "random", "--budget", 500, "--max-plies", 40, "--seed", 0, "--json"),
    )
    assert result.code == 1
    assert (result.json["reached"], result.json["settings"]) == (False, None)
    assert "no end after 40 plies" in result.json["why"][0]


def test_matches_without_an_end_are_told_and_count_for_the_turns(
    command: Command, game: Path, tmp_path: Path
) -> None:
    source = game.read_text().replace(
        '"default": 80, "range": [5, 95]', '"default": 98, "range": [5, 98]'
    )
    game.write_text(source.replace('(not state["endless"])', '(state["winner"] == 0)'))
    result = command(
        *("balance", game, "--target", "turns under 9, first seat over 50 %", "--seed", 2),
        *("--player", "random", "--budget", 1000, "--max-plies", 41, "--out", tmp_path / "out"),
    )
    assert result.code == 0, result.err
    found = json.loads((tmp_path / "out" / "balance.json").read_text())
    cut, all_ = found["cut"], found["confirmed_matches"]
    assert 0 < cut == found["void"] < all_ // 20
    # Who wins takes 4 decisions; the other never ends, and the coin is one of the 41 plies.
    assert found["figures"][0]["value"] == pytest.approx((4 * (all_ - cut) + 40 * cut) / all_)
    page = (tmp_path / "out" / "balance.html").read_text()
    for told in (result.out, page):
        assert f"{cut} of {all_} matches came to no result" in told
        assert "had no end after 41 plies" in told


def test_another_seed_in_the_same_folder_is_other_work(
    command: Command, game: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    identity = {"journal": 4, "identity": {"balance": 1, "seed": 1}}
    (folder / "journal.jsonl").write_text(json.dumps(identity) + "\n")
    result = command("balance", game, *FAIR, "--seed", 2, "--out", folder)
    assert result.code == 2
    assert "belongs to other work" in result.err


TRICK = "y'; touch PWNED; echo 'z"


@pytest.mark.parametrize("is_run", [False, True])
def test_a_shell_reads_the_printed_command_as_words(
    command: Command, tmp_path: Path, is_run: bool
) -> None:
    folder = tmp_path / "it's a $(game)"
    folder.mkdir()
    source = WEIGHTED.read_text().replace('"blue"]', json.dumps(TRICK) + "]")
    source = source.replace('"left": nods,', '"left": nods if colour == "red" else 12,')
    (folder / "game.py").write_text(source)
    if is_run:
        (folder / "run.json").write_text("{}")
        (folder / "design.json").write_text("[" * 100_000)  # a stranger's, deeper than Python reads
    place = folder if is_run else folder / "game.py"
    result = command(
        *("balance", place, "--target", "11 to 13 turns", "--free", "colour", "--budget", 500),
        *("--player", "random", "--seed", 1),
    )
    assert result.code == 0, result.err
    (line,) = [one for one in result.out.splitlines() if "use it: " in one]
    heard = subprocess.run(
        ["/bin/sh", "-c", "printf '%s\\n' " + line.partition("use it: ")[2]],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    ).stdout
    random = ["--player", "random"] * 2
    words = ["match", place, *random, "--set", f"colour={TRICK}"]
    words = ["revise", folder, f"colour={TRICK}"] if is_run else words
    assert heard.splitlines() == ["rulewright", *map(str, words)]
    assert not (tmp_path / "PWNED").exists()


def test_apply_makes_the_revision_of_the_run(command: Command, tmp_path: Path) -> None:
    run = tmp_path / "a player's run"
    made = command("new", "tic-tac-toe", "--quick", "--seed", 7, "--out", run, "--json")
    assert made.json["parameters"]["misere"] is False
    result = command(
        *("balance", run, "--target", "last seat over 52 %", "--free", "seat_points"),
        *("--seat-points", 2, "--budget", 1000, "--player", "random", "--seed", 1, "--apply"),
    )
    assert result.code == 0, result.err
    revision = run / "revisions" / "1"
    design = json.loads((revision / "design.json").read_text())
    changed = design["parameters"].items() - made.json["parameters"].items()
    # A full line of the first seat is a tie then, and a full board a win of the second.
    assert changed == {("seat_points", 2)}
    assert "reached with seat_points=2" in result.out
