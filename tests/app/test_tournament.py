"""`rulewright tournament` as a person types it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.app.conftest import Command

RAY = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
FIELD = ("tournament", "tic_tac_toe", "--player", "random", "--player", "uct:simulations=10",
         "--deals", "2", "--seed", "5")  # fmt: skip


def test_a_tournament_of_processes_is_the_same_and_goes_on_from_its_journal(
    command: Command, tmp_path: Path
) -> None:
    journal = tmp_path / "journal.jsonl"
    first = command(*FIELD, "--json", "--journal", journal)
    data = journal.read_bytes()
    assert first.code == 0
    assert first.json["matches"] == 4
    assert first.json["standings"][1]["effective"]["settings"]["simulations"] == 10
    journal.write_bytes(data[:-100])
    second = command(*FIELD, "--json", "--journal", journal, "--jobs", "2")
    assert second.out == first.out
    assert journal.read_bytes() == data


def test_a_result_says_where_the_search_sat_and_which_versions_made_it(command: Command) -> None:
    here, there = (command(*FIELD, *more, "--json").json for more in (["--host-search"], []))
    assert (here["host_search"], there["host_search"]) == (True, False)
    assert {"python", "numpy", "rulewright"} <= there["versions"].keys()
    assert here["standings"][0]["win_rate"] == there["standings"][0]["win_rate"]  # the same moves


@pytest.mark.parametrize("executor", ["threads", "processes", pytest.param("ray", marks=RAY)])
def test_whatever_plays_them_results_and_journals_are_the_same_bytes(
    command: Command, tmp_path: Path, executor: str
) -> None:
    for name in ("match", "tournament"):
        amount = ("--deals" if name == "tournament" else "--games", "2")
        asked = (name, *FIELD[1:6], "--seed", "5", *amount, "--json", "--journal")
        one, two = tmp_path / f"{name}-one.jsonl", tmp_path / f"{name}-two.jsonl"
        alone = command(*asked, one)
        beside = command(*asked, two, "--jobs", "2", "--executor", executor)
        assert (beside.code, beside.out) == (0, alone.out)
        assert two.read_bytes() == one.read_bytes()


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_it_says_what_to_install(command: Command) -> None:
    done = command(*FIELD, "--executor", "ray")
    assert done.code == 2
    assert "pip install 'rulewright[ray]'" in done.err


def test_its_tables_are_told_in_words(command: Command) -> None:
    done = command(*FIELD, "--until", "0.1,0.9", "--prior-draws", "1")
    assert done.code == 0
    for words in ("tic_tac_toe: ", "(all combinations)", "win rate 0.", "Elo ", "alpha-rank",
                  "1. random", "2. uct:", "1 against 2: ",
                  "answer: "):  # fmt: skip
        assert words in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--player", "randum"], "known players: random"),
        (["--player", "uct:sims=3"], "known settings: "),
        (["--player", "random"], "entered more than once"),
        (["--player", "greedy", "--set", "sise=4"], "known parameters: size"),
        (["--player", "greedy", "--set", "sise"], "NAME=VALUE"),
        (["--player", "greedy", "--seats", "3"], "takes 2 players, not 3"),
        (["--player", "greedy", "--seats", "9"], "required: 2 to 8"),
        (["--player", "greedy", "--until", "0.6,0.4"], "the smaller first"),
        (["--player", "greedy", "--seats", "1"], "required: 2 to 8"),
        (["--player", "greedy", "--until", "nan,nan"], "the smaller first"),
        (["--player", "greedy", "--until", "inf"], "the smaller first"),
        (["--player", "greedy", "--until", "0.4,inf"], "the smaller first"),
        (["--player", "greedy", "--until", "1e-320,1e-319"], "from 0.001 to 0.999"),
        (["--player", "greedy", "--prior-draws", "nan"], "--prior-draws"),
        (["--player", "greedy", "--prior-draws", "inf"], "a number from 0 to 1000000"),
        (["--player", "greedy", "--prior-draws", "1e308"], "a number from 0 to 1000000"),
        (["--player", "greedy", "--prior-draws", "1000001"], "a number from 0 to 1000000"),
        (["--player", "greedy", "--executor", "fibres"], "known: threads, processes, ray"),
        (["--player", "greedy", "--executor", "ray:"], "known: threads, processes, ray"),
        ([], "at least two different entrants, not 1"),
    ],
)
def test_what_cannot_be_played_is_said_in_one_line(
    command: Command, arguments: list[str], words: str
) -> None:
    done = command("tournament", "tic_tac_toe", "--player", "random", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
