"""`analyse`: positions, edits, blunders, and what a seat is shown, of matches that are known."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from games import library
from games.contract import Game
from games.engine import Effort, Match, Ply
from games.modules import LocalModule
from games.records import MatchRecord, json_line
from games.table import GameTable
from games.values import TERMINAL
from tests.app.conftest import Command

# O's first reply, an edge, loses with best play: tests/agents/worker/test_analysing.py.
EDGE = ("x 2,2", "o 1,2", "x 1,1", "o 3,3", "x 1,3", "o 3,1", "x 3,2", "o 2,3", "x 2,1")
Recorded = Callable[..., Path]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    def write(name: str, *actions: str, file: str = "match") -> Path:
        """A record of these plies; by the seat of a ply its first legal action where one is ""."""
        game = Game(LocalModule(library.source(name)))
        table, plies = GameTable(game), list[Ply]()
        about = game.info.get("parameters")
        assert isinstance(about, dict)
        parameters = {key: dict(one)["default"] for key, one in about.items()}  # type: ignore[arg-type]
        here = table.open(2, parameters)
        for wanted in actions:
            action = wanted or here.legal[0]
            seen = here.observations[here.player] if here.player >= 0 else None
            after = table.advance(here, action)
            told = (here.player, seen, here.legal, action, after.rewards, after.events)
            plies.append(Ply(*told, Effort("scripted"), {}))
            here = after
        returns = tuple(sum(ply.rewards[seat] for ply in plies) for seat in range(2))
        is_over = here.player == TERMINAL
        match = Match("finished" if is_over else "unfinished", returns, tuple(plies))
        path = tmp_path / f"{file}.jsonl"
        path.write_text(json_line(MatchRecord(name, parameters, ("a", "b"), 1, 0, match)))
        return path

    return write


def edit(folder: Path, text: str) -> Path:
    path = folder / "edit.json"
    path.write_text(text)
    return path


def test_a_position_is_shown_with_exact_values_and_who_is_ahead_since_when(
    command: Command, recorded: Recorded
) -> None:
    path = recorded("tic_tac_toe", *EDGE)
    told = command("analyse", path, "--ply", 3, "--json").json
    first, second = told["seats"]
    assert (first["observation"]["board"], told["table"]["to_move"]) == ([".o.", ".x.", "..."], 1)
    assert max(row["value"] for row in first["values"]) == 1.0
    assert (second["legal"], first["belief"]["zones"]) == ([], [])
    assert (told["solved"]["by"], first["by"]) == ("alphabeta", "alphabeta")
    assert (told["standing"]["ahead"], told["standing"]["since"]) == (1, 3)
    assert told["sandbox"]["name"]


def test_the_reply_that_loses_is_the_blunder(command: Command, recorded: Recorded) -> None:
    told = command("analyse", recorded("tic_tac_toe", *EDGE), "--blunders", "--json").json
    worst = told["blunders"][0]
    assert (worst["ply"], worst["seat"], worst["chosen"], worst["loss"]) == (2, 2, "o 1,2", 1.0)
    assert [row["loss"] for row in told["blunders"]] == sorted(
        (row["loss"] for row in told["blunders"]), reverse=True
    )
    own = command("analyse", recorded("tic_tac_toe", *EDGE), "--blunders", "--seat", 1, "--json")
    assert {row["seat"] for row in own.json["blunders"]} == {1}


def test_a_seat_is_shown_the_same_whatever_only_others_know(
    command: Command, recorded: Recorded
) -> None:
    """Two Kuhn deals that the first seat cannot tell apart."""
    shown: list[Any] = []
    for other in ("JS", "KS"):
        path = recorded("kuhn_poker", "deal QS", f"deal {other}")
        told = command("analyse", path, "--seat", 1, "--seed", 1, "--json").json
        assert not told.keys() & {"table", "standing"}
        shown.append(told)
    assert shown[0] == shown[1]


def test_where_nothing_is_solved_searches_tell_visits(command: Command, recorded: Recorded) -> None:
    path = recorded("connect_four", "drop 4")
    call = ("analyse", path, "--simulations", 60, "--seed", 3, "--json")
    told = command(*call).json
    mover = told["seats"][1]
    assert told["solved"]["by"] == "none"
    assert sum(row["visits"] for row in mover["values"]) == 60
    assert "simulations=60" in mover["by"]
    assert command(*call).json == told


def test_an_edit_that_play_reaches_is_analysed_with_the_logs_of_that_play(
    command: Command, recorded: Recorded, tmp_path: Path
) -> None:
    """With the king, the first seat is paid by the jack or the queen: nobody takes from it."""
    change = edit(tmp_path, '{"hands.0": ["KS"], "hands.1": ["JS"], "deck": ["QS"]}')
    path = recorded("kuhn_poker", "deal QS", "deal JS")
    told = command("analyse", path, "--edit", change, "--json").json
    assert told["edited"]["play"] == ["deal KS", "deal JS"]
    zones = {zone["zone"]: zone["contents"] for zone in told["seats"][0]["belief"]["zones"]}
    assert sorted(zones["hands.1"]) == [[["JS"], 0.5], [["QS"], 0.5]]
    assert max(row["value"] for row in told["seats"][0]["values"]) >= 1


def test_two_cards_change_places_in_the_recorded_play_itself(
    command: Command, recorded: Recorded, tmp_path: Path
) -> None:
    """In a game far too large to look for plays; the order in a hand does not count."""
    path = recorded("gin_rummy", *[""] * 22)
    call = ("analyse", path, "--simulations", 5, "--json")
    state = command(*call).json["table"]["state"]
    held, pile = state["hands"][1], state["deck"]
    change = {"hands.1": [*held[1:], pile[0]], "deck": [held[0], *pile[1:]]}
    told = command(*call, "--edit", edit(tmp_path, json.dumps(change))).json
    assert (told["edited"]["reached"], len(told["edited"]["play"])) == ("yes", 22)
    assert sorted(told["table"]["state"]["hands"][1]) == sorted(change["hands.1"])
    assert told["table"]["state"]["hands"][0] == state["hands"][0]


def test_a_position_that_no_play_reaches_is_said_and_analysed(
    command: Command, recorded: Recorded, tmp_path: Path
) -> None:
    path = recorded("tic_tac_toe", "x 2,2", "o 1,2")
    change = edit(tmp_path, '{"board": "xx......."}')  # o has not moved, and x is to move
    shown = command("analyse", path, "--edit", change)
    assert shown.code == 0
    assert "No play reaches the edited position" in shown.out
    assert "x 1,3: 1.000" in shown.out


def test_a_position_is_played_on(
    command: Command,
    recorded: Recorded,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RULEWRIGHT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("sys.stdin", StringIO("x 2,1\n"))
    path = recorded("tic_tac_toe", *EDGE)
    shown = command("analyse", path, "--ply", 9, "--play")
    assert shown.code == 0
    assert "The match is over." in shown.out
    kept = next((tmp_path / "runs" / "played").glob("*.jsonl")).read_text()
    assert [json.loads(line).get("action") for line in kept.splitlines()][1:10] == [*EDGE]
    own = command("analyse", "tic_tac_toe", "--blunders", "--json").json
    assert (own["blunders"][0]["chosen"], own["players"][0]) == ("o 1,2", "human")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--match", 2], "--match is 2"),
        (["--ply", 12], "plies 1 to 9, and 10 for its end"),
        (["--seat", 3], "the seats are 1 to 2"),
        (["--play", "--json"], "--play takes no --json"),
        (["--blunders", "--play"], "--blunders neither --play"),
        (["--edit", "NOT THERE"], "is no JSON"),
    ],
    ids=str,
)
def test_what_there_is_not_is_refused_in_a_sentence(
    command: Command, recorded: Recorded, options: list[object], said: str
) -> None:
    refused = command("analyse", recorded("tic_tac_toe", *EDGE), *options)
    assert (refused.code, said in " ".join(refused.err.split())) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"board', "is no JSON"),
        ('{"board": "' + "x" * (1 << 20) + '"}', "is no JSON (to 1 MiB)"),
        ("[]", "holds no changes"),
        ('{"rules.size": 4}', "is no zone of this game"),
        ('{"board.0": "x"}', "is no place of this position"),
        ('{"board": 7}', "does not take the edited position"),
        ('{"board": 1e999}', "no value for 'board'"),
    ],
    ids=["cut", "too long", "a list", "no zone", "no place", "no board", "no number"],
)
def test_an_edit_that_is_none_is_refused(
    command: Command, recorded: Recorded, tmp_path: Path, text: str, said: str
) -> None:
    path = recorded("tic_tac_toe", "x 2,2")
    refused = command("analyse", path, "--edit", edit(tmp_path, text))
    assert (refused.code, said in " ".join(refused.err.split())) == (2, True)


def test_an_edit_that_brings_a_second_king_is_refused(
    command: Command, recorded: Recorded, tmp_path: Path
) -> None:
    path = recorded("kuhn_poker", "deal QS", "deal KS")
    refused = command("analyse", path, "--edit", edit(tmp_path, '{"hands.0": ["KS"]}'))
    assert refused.code == 2
    assert "does not conserve the cards: missing ['QS'], extra ['KS']" in refused.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"action":"x 1,1"', '"action":"x 1,2"', "does not play as it was recorded: ply 3"),
        ('"player":0', '"player":"x"', "is no record of matches"),
        ('"parameters":{', '"parameters":[{', "is no record of matches"),
        ('"players":["a","b"]', '"players":["a","b","c"]', "takes 2 players, not 3"),
        ('"size":3,"wild"', '"size":9,"wild"', "size is 9"),
        ('"ending"', '"end"', "is no record of matches"),
    ],
    ids=["an action", "a seat", "no JSON", "a third player", "a parameter", "no result"],
)
def test_a_damaged_record_is_refused(
    command: Command, recorded: Recorded, old: str, new: str, said: str
) -> None:
    path = recorded("tic_tac_toe", *EDGE)
    path.write_text(path.read_text().replace(old, new))
    refused = command("analyse", path)
    assert (refused.code, said in " ".join(refused.err.split())) == (2, True)


def test_a_record_of_another_game_is_refused(command: Command, recorded: Recorded) -> None:
    other = recorded("connect_four", "drop 4")
    refused = command("analyse", "tic_tac_toe", "--record", other)
    assert refused.code == 2
    assert "has no parameter" in refused.err
