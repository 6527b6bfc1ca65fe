"""`record`: files of trajectories, the same for the same seed, refused where they cannot be."""

import json
from pathlib import Path

import pytest

from games.environments.reading import read_trajectories
from games.trajectories import OpenTrajectory, SeenTrajectory
from tests.app.conftest import Command
from tests.games.checks.test_checks import SOUND


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "matches.jsonl"


@pytest.mark.parametrize("policy", ["random", "search", "mixed"])
@pytest.mark.parametrize("environment", ["openspiel:leduc_poker", "library:kuhn_poker"])
def test_the_same_seed_records_the_same_bytes_and_another_others(
    command: Command, tmp_path: Path, environment: str, policy: str
) -> None:
    bytes_of = []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        file = tmp_path / name
        options = ("--policy", policy, "--simulations", 10, "--seed", seed, "--json")
        done = command("record", environment, "--matches", 4, "--out", file, *options)
        assert done.code == 0, done.err
        bytes_of.append(file.read_bytes().replace(b'"seed":4', b'"seed":3'))
    assert bytes_of[0] == bytes_of[1] != bytes_of[2]


def test_a_file_says_what_made_it(command: Command, out: Path) -> None:
    done = command(
        "record",
        "openspiel:kuhn_poker",
        "--matches",
        6,
        "--policy",
        "mixed",
        "--out",
        out,
        "--json",
    )
    header, found = read_trajectories(out)
    matches = [match for match in found if isinstance(match, OpenTrajectory)]
    assert (header.environment, header.matches, len(matches)) == ("openspiel:kuhn_poker", 6, 6)
    assert "true state" in header.policy
    assert {"open_spiel", "rulewright"} <= header.versions.keys()
    distinct = {
        (json.dumps(here.state), action)
        for match in matches
        for here, action in zip(match.positions, match.actions, strict=False)
    }
    assert done.json["distinct_transitions"] == len(distinct)
    assert done.json["plies"] == sum(len(match.actions) for match in matches)
    assert sum(done.json["mean_returns"]) == 0


@pytest.mark.parametrize("environment", ["openspiel:kuhn_poker", "library:kuhn_poker"])
def test_a_search_of_the_true_state_pays_no_bet_with_the_lower_card(
    command: Command, out: Path, environment: str
) -> None:
    """To call with the lower card loses 2, to give up loses 1; who sees both cards never calls."""
    search = ("--policy", "search", "--simulations", 200)
    assert command("record", environment, "--matches", 12, "--out", out, *search).code == 0
    for match in read_trajectories(out)[1]:
        assert isinstance(match, OpenTrajectory)
        dealt = [action.split()[-1][0] for action in match.actions[:2]]
        lower = int("JQK".index(dealt[1]) < "JQK".index(dealt[0]))
        assert match.positions[-1].rewards[lower] >= -1


@pytest.mark.parametrize("environment", ["own:quadranto", "twin:7:own:hand_of_war"])
def test_reference_games_and_twins_are_recorded(
    command: Command, out: Path, environment: str
) -> None:
    mixed = ("--policy", "mixed", "--simulations", 3, "--json")
    done = command("record", environment, "--matches", 3, "--out", out, *mixed)
    assert (done.code, done.json["environment"]) == (0, environment), done.err
    assert len([*read_trajectories(out)[1]]) == 3


def test_a_closed_deck_holds_one_seat(command: Command, out: Path) -> None:
    deck = ("--closed-deck", "--seat", 1)
    assert command("record", "library:kuhn_poker", "--matches", 5, "--out", out, *deck).code == 0
    header, found = read_trajectories(out)
    assert (header.deck, header.seat) == ("closed", 1)
    assert all(isinstance(match, SeenTrajectory) for match in found)
    assert "state" not in out.read_text()


def test_a_module_file_is_recorded_in_the_sandbox(command: Command, tmp_path: Path) -> None:
    module, out = tmp_path / "game.py", tmp_path / "matches.jsonl"
    module.write_text(SOUND)
    done = command(
        "record", module, "--matches", 2, "--policy", "mixed", "--simulations", 5, "--out", out
    )
    assert done.code == 0, done.err
    header, found = read_trajectories(out)
    assert header.environment == str(module)
    assert len([*found]) == 2


def test_a_match_at_its_limit_is_kept_as_truncated(command: Command, out: Path) -> None:
    limit = ("--max-plies", 3, "--json")
    done = command("record", "openspiel:leduc_poker", "--matches", 2, "--out", out, *limit)
    assert done.json["truncated"] == 2
    assert all(match.truncated for match in read_trajectories(out)[1])


def test_a_state_that_hides_what_follows_is_not_recorded(command: Command, tmp_path: Path) -> None:
    """The module counts in a global: the same state shows a growing number."""
    module, out = tmp_path / "game.py", tmp_path / "matches.jsonl"
    counting = (
        "CALLS = []\n\n\ndef get_observations(state):\n    CALLS.append(1)\n"
        '    return [{"calls": len(CALLS)}] * 2\n\n\n'
    )
    name = "def get_observations(state):"
    changed = counting + SOUND.replace(name, "def unused(state):")
    assert changed != SOUND
    module.write_text(changed)
    done = command("record", module, "--matches", 3, "--out", out)
    assert done.code == 2
    assert "a state must tell all" in done.err
    assert [*tmp_path.iterdir()] == [module]


def test_a_module_that_fails_leaves_no_file(command: Command, tmp_path: Path) -> None:
    module, out = tmp_path / "game.py", tmp_path / "matches.jsonl"
    module.write_text(SOUND.replace("    total = float(", "    raise KeyError\n    total = float("))
    done = command("record", module, "--matches", 3, "--out", out)
    assert done.code == 2
    assert "match 0 ended" in done.err
    assert [*tmp_path.iterdir()] == [module]


def test_a_file_that_is_there_stays_unless_forced(command: Command, out: Path) -> None:
    out.write_text("mine")
    asked = ("record", "openspiel:kuhn_poker", "--matches", 1, "--out", out)
    done = command(*asked)
    assert (done.code, out.read_text()) == (2, "mine")
    assert "--force" in done.err
    assert command(*asked, "--force").code == 0
    assert len(out.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("openspiel:nothing",), "leduc_poker"),
        (("library:nothing",), "there are"),
        (("nothing",), "nothing"),
        (("openspiel:kuhn_poker", "--policy", "clever"), "random, search, mixed"),
        (("openspiel:kuhn_poker", "--closed-deck"), "go together"),
        (("openspiel:kuhn_poker", "--seat", 0), "go together"),
        (("openspiel:kuhn_poker", "--closed-deck", "--seat", 2), "0 to 1"),
        (("openspiel:kuhn_poker", "--set", "cards=9"), "own parameters"),
        (("library:kuhn_poker", "--set", "cards=9"), "no parameter cards"),
        (("library:kuhn_poker", "--players", 8), "players"),
        (("openspiel:kuhn_poker", "--matches", 0), "--matches"),
    ],
)
def test_what_cannot_be_recorded_is_said_in_a_sentence(
    command: Command, out: Path, arguments: tuple[object, ...], said: str
) -> None:
    matches = () if "--matches" in arguments else ("--matches", 2)
    done = command("record", *arguments, *matches, "--out", out)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not out.exists()


def test_a_folder_that_is_not_there_is_named(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "none" / "matches.jsonl"
    done = command("record", "openspiel:kuhn_poker", "--matches", 1, "--out", out)
    assert done.code == 2
    assert "make it first" in done.err
