"""Any game of OpenSpiel, and a class of four methods, where environments are taken."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from games.environments.reading import read_trajectories
from games.trajectories import OpenTrajectory
from tests.agents.model.endpoint import message, serving
from tests.app.conftest import Command

SAMPLE = ("nim", "goofspiel", "liars_dice")
TWENTY = (
    *SAMPLE,
    *("chess", "go(board_size=5)", "othello", "checkers", "hex(board_size=4)", "breakthrough"),
    *("mancala", "dots_and_boxes", "blotto", "matrix_rps", "oshi_zumo", "pig", "coin_game"),
    *("hanabi", "cribbage", "euchre", "dark_hex(num_rows=3,num_cols=3)"),
)
NAMES = [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.whole) for name in TWENTY]
# A model that knows the recorded matches by heart.
BY_HEART = """
import json

KNOWN = json.loads({known!r})
AFTER = json.loads({after!r})


def _key(state):
    return json.dumps(state, sort_keys=True)


def get_current_player(state):
    return KNOWN[_key(state)][0]


def get_player_name(player_id):
    return {{-1: "chance", -4: "terminal"}}.get(player_id, str(player_id))


def get_legal_actions(state):
    return list(KNOWN[_key(state)][1])


def get_rewards(state):
    return list(KNOWN[_key(state)][2])


def get_chance_probabilities(state):
    legal, odds = KNOWN[_key(state)][1::3]
    return list(odds) or [1 / len(legal)] * len(legal)


def get_observations(state):
    return json.loads(json.dumps(KNOWN[_key(state)][3]))


def apply_action(state, action):
    return json.loads(AFTER[_key(state) + action])
"""


def by_heart(file: Path) -> str:
    known, after = {}, {}
    for match in read_trajectories(file)[1]:
        assert isinstance(match, OpenTrajectory)
        keys = [json.dumps(here.state, sort_keys=True) for here in match.positions]
        for key, here in zip(keys, match.positions, strict=True):
            told = [here.player, here.legal, here.rewards, here.observations, here.odds]
            known[key] = told
        for key, action, then in zip(keys, match.actions, keys[1:], strict=False):
            after[key + action] = then
    return BY_HEART.format(known=json.dumps(known), after=json.dumps(after))


def test_there_are_twenty() -> None:
    assert len({*TWENTY}) == 20


@pytest.mark.parametrize("name", NAMES)
def test_a_game_of_openspiel_is_recorded_learned_played_and_matched(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    game, file, rules = f"openspiel:{name}", tmp_path / "m.jsonl", tmp_path / "rules.md"
    long = ("--max-plies", 25)
    done = command("record", game, "--matches", 2, "--out", file, *long)
    assert done.code == 0, done.err
    header, found = read_trajectories(file)
    assert header.environment == game
    assert len([*found]) == 2

    rules.write_text(command("games", game).out)
    monkeypatch.setenv("RULEWRIGHT_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = ("--rules", rules, "--trajectories", file, "--environment", game, "--quick")
    with serving(message(f"```python\n{by_heart(file)}```")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        told = command("learn", *asked, "--max-calls", 1, "--out", tmp_path / "run", "--json")
    assert told.code in (0, 1), told.err
    assert told.json["accuracy"] == 1.0

    typed = io.StringIO("1\n" * 3)
    monkeypatch.setattr(sys, "stdin", typed)
    played = command("play", game, "--opponent", "random", "--seed", 1)
    assert played.code in (0, 1), played.err
    assert "Your move: " in played.out
    assert re.search(r"The match is over|The input has ended", played.out)

    seats = ["--player", "random"] * header.num_players
    met = command("match", "--environment", game, *seats, "--max-plies", 3000, "--json")
    assert met.code == 0, met.err
    assert met.json["endings"]["finished"] == len(met.json["matches"])
