"""The commands as a person types them."""

import os
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from games import library
from tests.app.conftest import Command


def test_help_lists_every_command(command: Command) -> None:
    done = command("--help")
    assert done.code == 0
    for name in ("new", "resume", "play", "match", "check", "index", "search", "games", "players",
                 "eval", "sandbox", "tournament", "runs", "trace", "doctor"):  # fmt: skip
        assert f"\n  {name} " in done.out


def test_the_version_is_the_distribution_s(command: Command) -> None:
    assert command("--version").out == f"rulewright {version('rulewright')}\n"
    assert command("-h").out == command("--help").out


def test_one_game_or_player_is_shown_by_its_name(command: Command) -> None:
    (game,) = command("games", "poker", "--json").json["games"]
    assert (game["name"], game["players"]) == ("poker", [2, 8])
    (player,) = command("players", "osla", "--json").json["players"]
    assert player["name"] == "osla"
    for wrong in (("games", "pokr"), ("players", "oslo")):
        refused = command(*wrong)
        assert refused.code == 2
        assert wrong[1] in refused.err
        assert "Traceback" not in refused.err


def test_the_rules_of_an_environment_are_printed_as_learn_takes_them(command: Command) -> None:
    rules = (files("games.environments") / "rules" / "kuhn_poker.md").read_text(encoding="utf-8")
    assert command("games", "openspiel:kuhn_poker").out == rules
    told = command("games", "library:whist", "--json").json
    assert (told["environment"], told["players"]) == ("library:whist", 4)
    assert told["rules"] == library.rulebook("whist", {}, 4)
    chosen = command("games", "library:goofspiel", "--players", "3", "--set", "cards=4").out
    assert chosen.rstrip() == library.rulebook("goofspiel", {"cards": 4}, 3).rstrip()
    assert "name one" in command("games", "goofspiel", "--players", "3").err
    refused = command("games", "openspiel:chess960")
    assert refused.code == 2
    assert "kuhn_poker" in refused.err


def test_runs_are_listed_damaged_ones_too(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path))
    assert "no run under" in command("runs").out
    folder = tmp_path / "broken"
    (folder / ".state").mkdir(parents=True)
    (folder / ".state" / "request.json").write_text('"no request"')
    (row,) = command("runs", "--json").json["runs"]
    assert (row["name"], row["end"]) == ("broken", "unreadable")
    for text in ('{"title": 5}', '{"title": ["a"]}'):  # of a run that names none
        (folder / ".state" / "request.json").write_text('{"prompt": "x"}')
        (folder / "design.json").write_text(text)
        (folder / "run.json").write_text('{"end": ["made"]}')
        assert command("runs").code == 0
    (folder / ".state" / "request.json").unlink()  # of a chat: its thread is kept by the server
    (folder / "run.json").write_text('{"end": "gave_up", "prompt": "whist for two"}')
    (row,) = command("runs", "--json").json["runs"]
    assert (row["end"], row["prompt"], row["chat"]) == ("gave_up", "whist for two", True)
    assert "rulewright resume" not in command("runs").out
    (folder / ".state" / "request.json").touch()
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(folder / ".state" / "request.json"))
    refused = command("runs")
    assert refused.code == 2
    assert "no folder; set RULEWRIGHT_RUNS" in refused.err


@pytest.mark.parametrize("asked", ["--help", "new --help", "match --help"])
def test_help_imports_nothing_heavy(asked: str) -> None:
    code = (
        "import sys, rulewright; sys.argv[:1] = ['rulewright']; rulewright.main();"
        "heavy = {'numpy', 'chromadb', 'langgraph', 'pydantic', 'importlib.metadata', 'secrets'};"
        "print('HEAVY', sorted(heavy & set(sys.modules)))"
    )
    unset = {name: value for name, value in os.environ.items() if "RULEWRIGHT_" not in name}
    command = [sys.executable, "-c", code, *asked.split()]
    done = subprocess.run(command, env=unset, capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout


def test_games_lists_the_library(command: Command) -> None:
    rows = command("games", "--json").json["games"]
    assert [row["name"] for row in rows] == list(library.names())
    assert all(row["summary"] for row in rows)


def test_games_tells_the_settings_that_no_family_declares_and_each_takes(command: Command) -> None:
    shown = command("games", "placement").out
    for name, range_ in (("seat_points", "[0, 1000]"), ("barred_opening", "[0, 400]")):
        assert f"of new and balance: {name} = 0  {range_}" in shown  # as docs/balance.md says
    assert "seat_points" not in command("games", "the_crew").out  # who win together


def test_players_lists_settings(command: Command) -> None:
    rows = {row["name"]: row for row in command("players", "--json").json["players"]}
    assert {"random", "greedy", "uct", "ismcts"} <= rows.keys()
    simulations = rows["uct"]["parameters"]["simulations"]
    assert (simulations["default"], simulations["least"], simulations["choices"]) == (1000, 1, [])
    assert rows["uct"]["parameters"]["deadline"]["most"] == 86_400
    assert rows["uct"]["parameters"]["budget"]["least"] is None


def test_a_match_is_the_same_twice(command: Command) -> None:
    arguments = ["match", "tic_tac_toe", "--player", "random", "--player",
                 "uct:simulations=10", "--games", "4", "--seed", "5", "--json"]  # fmt: skip
    first, second = command(*arguments), command(*arguments)
    assert first.code == 0
    assert first.out == second.out
    assert first.json["finished"] == 4


def test_matches_are_the_same_side_by_side_and_go_on_from_their_journal(
    command: Command, tmp_path: Path
) -> None:
    arguments = ["match", "leduc_poker", "--player", "random", "--player",
                 "ismcts:simulations=10", "--seed", "5", "--json"]  # fmt: skip
    journal = tmp_path / "matches.jsonl"
    whole = command(*arguments, "--games", "6")
    assert command(*arguments, "--games", "6", "--jobs", "2").out == whole.out
    assert command(*arguments, "--games", "2", "--journal", journal).json["finished"] == 2
    begun = journal.read_bytes()
    assert command(*arguments, "--games", "6", "--journal", journal).out == whole.out
    assert journal.read_bytes().startswith(begun)
    other = command(*arguments, "--seed", "6", "--games", "6", "--journal", journal)
    assert (other.code, "Traceback" in other.err, str(journal) in other.err) == (2, False, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--player", "randum", "--player", "random"], "known players: random"),
        (["--player", "uct:sims=3", "--player", "random"], "known settings: "),
        (["--player", "uct:simulations=-3", "--player", "random"], "number >= 1"),
        (["--player", "random"], "takes 2 players"),
        (["--player", "random", "--player", "random", "--set", "sise=4"], "size"),
    ],
)
def test_a_wrong_player_or_setting_lists_the_known_ones(
    command: Command, arguments: list[str], words: str
) -> None:
    done = command("match", "tic_tac_toe", *arguments)
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err


def test_uct_is_refused_where_hands_are_hidden(command: Command) -> None:
    done = command("match", "kuhn_poker", "--player", "uct", "--player", "random")
    assert (done.code, "ismcts" in done.err) == (2, True)


def test_index_then_search_finds_by_meaning(command: Command) -> None:
    built = command("index", "--json").json
    assert built["counts"]["games"] == len(library.exemplars())
    again = command("index", "--json").json
    assert again["snapshot"] == built["snapshot"]
    found = command("search", "you must follow the suit that was led", "--json").json
    assert any(hit["id"].startswith("trick_taking") for hit in found["hits"])


def test_a_search_of_an_unknown_kind_lists_the_kinds(command: Command) -> None:
    done = command("search", "anything", "--kind", "cards")
    assert (done.code, "snippets" in done.err) == (2, True)


def test_an_unknown_eval_lists_the_evals(command: Command) -> None:
    done = command("eval", "run", "nothing")
    assert (done.code, "smoke" in done.err) == (2, True)


def test_resume_of_nothing_is_an_error(command: Command) -> None:
    done = command("resume", "nothing")
    assert (done.code, "not the folder of a run" in done.err) == (2, True)


def test_doctor_says_what_works(command: Command) -> None:
    done = command("doctor", "--json")
    assert done.json["parts"]["sandbox"]["works"]
    assert done.json["parts"]["embeddings"]["identity"].startswith("minilm")


def test_an_unknown_setting_in_the_environment_lists_the_known_ones(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RULEWRIGHT_MODLE", "x")
    done = command("new", "tic tac toe", "--out", tmp_path / "run")
    assert (done.code, "RULEWRIGHT_MODEL" in done.err) == (2, True)


def test_a_parameter_without_bounds_shows_none(command: Command) -> None:
    shown = command("games", "battleship").out
    assert "rows = 10  [2, 10]  Rows" in shown
    assert "ships = '5,4,3,3,2'  Lengths" in shown


@pytest.mark.parametrize(
    ("part", "variables"),
    [
        ("store", {"RULEWRIGHT_STORE_HOST": "127.0.0.1", "RULEWRIGHT_STORE_PORT": "9"}),
        ("database", {"RULEWRIGHT_DATABASE": "postgresql://nobody@127.0.0.1:9/none"}),
        (
            "model",
            {
                "RULEWRIGHT_MODEL": "m",
                "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
                "OPENAI_API_KEY": "k123456789",
            },
        ),
        *(
            ("model", {"RULEWRIGHT_MODEL": "m", "OPENAI_API_KEY": "k", name: "no:proxy:\u201c"})
            for name in ("ALL_PROXY", "SSL_CERT_FILE", "OPENAI_API_KEY")
        ),
    ],
)
def test_doctor_tries_the_services_that_are_set(
    command: Command, monkeypatch: pytest.MonkeyPatch, part: str, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)  # port 9 is closed
    done = command("doctor", "--json")
    assert (done.code, done.json["parts"][part]["works"]) == (1, False)
    assert all(row["works"] for name, row in done.json["parts"].items() if name != part)
