"""Compensation of seats: a game at hand with handicaps, held against the checks of a module."""

from pathlib import Path

import pytest

from games import library
from games.checks.run import CheckSettings
from games.values import Json, ModuleFault
from tools.balancing.compensation import compensated, words_of_change, write_compensated
from tools.checking import check_source
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox
from tools.sources import find_game


def setup_of(text: str, **parameters: Json) -> GameSetup:
    return GameSetup("game", text, 2, parameters, {})


@pytest.mark.parametrize(
    ("name", "handicaps"),
    [("poker", {"seat_points": 1}), ("connect_four", {"seat_points": 1, "barred_opening": 4})],
)
def test_a_compensated_game_keeps_every_promise(
    sandbox: Sandbox, name: str, handicaps: dict[str, Json]
) -> None:
    made, _ = compensated(setup_of(library.source(name)), dict.fromkeys(handicaps, 7))
    found = check_source(
        sandbox,
        made.source,
        settings=CheckSettings(seed=1, matches=6, samples=16),
        num_players=2,
        parameters=handicaps,
        records=0,
    ).findings
    assert {one.outcome for one in found} == {"passed"}


def test_a_compensated_game_lies_where_a_game_is_found_with_its_rules(tmp_path: Path) -> None:
    rules = library.rulebook("tic_tac_toe")
    game = setup_of(library.source("tic_tac_toe"), size=3)
    made, told = compensated(game, {"seat_points": 2, "barred_opening": 9}, rules)
    assert made.parameters == {"size": 3, "seat_points": 0, "barred_opening": 0}
    assert {*rules.splitlines()} <= {*told.splitlines()}
    assert "seat_points points" in told
    write_compensated(made, told, tmp_path)
    assert find_game(str(tmp_path)).source == made.source
    assert compensated(game, {}, rules) == (game, rules)


def test_a_change_is_said_as_settings_of_a_family_and_else_as_rules() -> None:
    changed: dict[str, Json] = {"size": 4, "barred_opening": 5}
    assert words_of_change(changed, "tic_tac_toe") == "size=4, barred_opening=5"
    assert "first decision of a match may not be action number 5" in words_of_change(changed, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [("GAME = dict(name='x')", "dict literal"), ("GAME = {", "never closed")],
)
def test_what_cannot_be_compensated_is_said(text: str, said: str) -> None:
    with pytest.raises(ModuleFault, match=said):
        compensated(setup_of(text), {"seat_points": 2})
