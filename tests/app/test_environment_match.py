"""`match` and `tournament` with an environment as the referee."""

from pathlib import Path

import pytest

from games import library
from tests.agents.model.endpoint import message, serving
from tests.app.conftest import Command
from tests.learned import model_file
from tests.tools.predicting.material import TIC_TAC_TOE

FEW = "simulations=20,rollouts=1"


def test_a_learned_model_meets_the_game_itself(command: Command, tmp_path: Path) -> None:
    model_file(tmp_path, "leduc_poker", stem="model")
    done = command("match", "--environment", "openspiel:leduc_poker", "--games", "4", "--json",
                   "--player", f"cwm:run={tmp_path},{FEW}", "--player", f"gt:{FEW}")  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["game"] == "openspiel:leduc_poker"
    assert {*done.json["environment"]} == {"open_spiel"}
    assert [row["forfeits"] for row in done.json["entrants"]] == [0, 0]
    assert done.json["entrants"][0]["used"]["figures"]["surprises"]["total"] == 0
    said = command("match", "--environment", "openspiel:leduc_poker", "--games", "2",
                   "--player", f"cwm:run={tmp_path},{FEW}", "--player", "random")  # fmt: skip
    assert "its model: 0 surprises, 0 failed searches in" in said.out


def test_processes_play_an_environment_the_same(command: Command, tmp_path: Path) -> None:
    asked = ("match", "--environment", "library:kuhn_poker", "--games", "4", "--json",
             "--player", f"gt:{FEW}", "--player", "ismcts:simulations=20")  # fmt: skip
    one = command(*asked, "--journal", tmp_path / "one.jsonl")
    two = command(*asked, "--journal", tmp_path / "two.jsonl",
                  "--jobs", "2", "--executor", "processes")  # fmt: skip
    assert one.code == two.code == 0, two.err
    assert one.json == two.json
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_a_tournament_takes_an_environment(command: Command) -> None:
    done = command("tournament", "--environment", "openspiel:kuhn_poker", "--deals", "2",
                   "--player", f"gt:{FEW}", "--player", "random", "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert done.json["endings"]["finished"] == 4


@pytest.mark.parametrize("name", ["bones", "twin:7:bones"])
def test_a_folder_its_file_and_their_twins_are_environments_wherever_one_is_named(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    bones, rows, rules = tmp_path / "bones", tmp_path / "m.jsonl", tmp_path / "rules.md"
    bones.mkdir()
    (bones / "game.py").write_text(library.source("tic_tac_toe"))
    rulebook = "# Bones\n\nA seat that has a line of `x` wins.\n"
    (bones / "rulebook.md").write_text(rulebook)
    rules.write_text(rulebook)
    monkeypatch.chdir(tmp_path)
    players = ("--player", f"gt:{FEW}", "--player", "random")
    done = command("match", "--environment", name, "--games", "4", "--json", *players)
    assert done.code == 0, done.err
    assert done.json["endings"]["finished"] == 4
    shown = command("games", name).out
    assert ("`x`" in shown) == (not name.startswith("twin"))
    assert "A seat that has a line of" in shown
    assert command("record", name, "--matches", 6, "--out", rows).code == 0
    asked = ("learn", "--rules", rules, "--trajectories", rows, "--environment", name, "--quick")
    with serving(message(f"```python\n{TIC_TAC_TOE}```")) as endpoint:
        monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        told = command(*asked, "--max-calls", 1, "--out", tmp_path / "run", "--json")
    assert told.code in (1, 2), told.err  # OpenSpiel's game, not this one
    assert told.json["branch_fidelity"]["positions"] > 0  # the environment was asked


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "a game or --environment"),
        (("leduc_poker", "--environment", "openspiel:leduc_poker"), "a game or --environment"),
        (("--environment", "openspiel:nowhere"), "no environment 'openspiel:nowhere'"),
        (("--environment", "openspiel:kuhn_poker", "--player", "random"), "2 "),
        (("--environment", "openspiel:kuhn_poker", "--set", "cards=4"), "parameters"),
    ],
)
def test_what_cannot_be_played_is_said(
    command: Command, arguments: tuple[str, ...], told: str
) -> None:
    done = command("match", *arguments, "--player", "random", "--player", "random")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_search_that_needs_a_module_refuses_an_environment_without(command: Command) -> None:
    done = command("match", "--environment", "openspiel:kuhn_poker",
                   "--player", "cfr", "--player", "random")  # fmt: skip
    assert done.code == 2
    assert "Traceback" not in done.err
