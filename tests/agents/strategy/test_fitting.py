"""Heuristics fitted to lessons, on games whose good play is known."""

import json
from collections.abc import Iterator

import pytest
from pydantic import JsonValue

from agents.encoding.features import Look, parsed
from agents.players.registry import PRELOAD
from agents.protocols import Heuristic
from agents.strategy.contest import fault_of, taught_heuristics
from games import library
from games.modules import load_namespace
from games.values import ModuleFault
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

READING = {"seat": "you", "players": 2, "still": [], "flip": True, "blank": "."}
LINES: dict[str, JsonValue] = {"you": 0, "mark": "x", "board": ["xx.", "oo.", "..."]}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


@pytest.fixture(scope="module")
def taught(sandbox: Sandbox) -> list[Heuristic]:
    setup = GameSetup("tic_tac_toe", library.source("tic_tac_toe"), 2)
    return taught_heuristics(setup, sandbox, seed=1, plies=3000, shared=False)


@pytest.mark.parametrize(
    ("action", "shape", "arguments"),
    [
        ("play 7C", "play #", [("7C", "7", "C", 7)]),
        ("play TH", "play #", [("TH", "T", "H", 10)]),
        ("c4xd5", "# x #", [("c4", "c", "4", 3), ("d5", "d", "5", 4)]),
        ("ask 2 J", "ask # #", [("2", "2", "", 2), ("J", "J", "", 11)]),
        ("roll", "roll", []),
    ],
)
def test_actions_are_read_by_their_form(
    action: str, shape: str, arguments: list[tuple[str, str, str, int]]
) -> None:
    assert parsed(action) == (shape, tuple(arguments))


def test_a_line_is_seen_whoever_owns_it() -> None:
    named = dict(Look(LINES, READING).of("x 1,3")[1])
    assert named["x # , # line own:2"] == 1
    assert dict(Look(LINES, READING).of("x 2,3")[1])["x # , # line other:2"] == 1


def test_lists_by_seat_are_turned_to_the_observer() -> None:
    seen = {"you": 1, "scores": [3, 8]}
    assert dict(Look(seen, READING).context)["scores/0-"] == 5


def test_the_place_of_a_note_tells_of_its_neighbours() -> None:
    seen = {"you": 0, "shots": [["b3 hit", "b4 miss"], []]}
    named = dict(Look(seen, READING).of("fire b2")[1])
    assert named["fire #|0 by shots/0 hit:1"] == 1


def test_fitted_heuristics_complete_a_line_before_anything_else(taught: list[Heuristic]) -> None:
    legal = ["x 1,3", "x 2,3", "x 3,1", "x 3,2", "x 3,3"]
    for heuristic in (one for one in taught if one.name != "fitted_outcome"):  # which is noisy
        score = load_namespace(heuristic.source)["score"]
        seen = {**LINES, "to_move": 0, "line_by": None, "rules": {}}
        assert max(legal, key=lambda action: score(seen, action)) == "x 1,3", heuristic.name


def test_fitted_heuristics_stand_by_themselves(taught: list[Heuristic], sandbox: Sandbox) -> None:
    sample: dict[str, JsonValue] = {
        "observation": LINES,
        "legal": ["x 1,3", "o 9,9", "", "?!", "pass"],
    }
    assert [fault_of(heuristic, [sample], sandbox) for heuristic in taught] == [None] * len(taught)
    assert {heuristic.name for heuristic in taught} == {
        "fitted_ahead",
        "fitted_outcome",
        "fitted_searched",
    }


def test_the_same_seed_teaches_the_same(taught: list[Heuristic], sandbox: Sandbox) -> None:
    setup = GameSetup("tic_tac_toe", library.source("tic_tac_toe"), 2)
    again = taught_heuristics(setup, sandbox, seed=1, plies=3000, shared=False)
    assert json.dumps([one.source for one in again]) == json.dumps([one.source for one in taught])


def test_a_module_that_fails_teaches_nothing(sandbox: Sandbox) -> None:
    source = library.source("tic_tac_toe").replace("def get_rewards(", "def get_reward(")
    with pytest.raises(ModuleFault):
        taught_heuristics(GameSetup("broken", source, 2), sandbox, seed=1, plies=10, shared=False)
