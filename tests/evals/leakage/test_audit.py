from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from agents.players.registry import PLAYERS, PRELOAD, parse_spec
from evals.leakage.audit import AuditSize, audit_result, line_up, planted, tried
from evals.leakage.twins import DecisionRecord, OtherStates, TwinSetup
from evals.results import NothingScoredError
from games import library
from games.contract import Game
from games.modules import LocalModule
from games.values import Json
from tools.sandbox import Sandbox

LEDUC = TwinSetup("leduc_poker", 2)
SEA = TwinSetup("battleship", 2, {"rows": 4, "columns": 4, "ships": "3,2"})
FLAGS = TwinSetup("capture_the_flag", 2, {"rows": 5, "columns": 4}, max_plies=60)
AMOUNT = AuditSize(positions=8, matches=8, planted=8, total=16)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as started:
        yield started


def told(line: str) -> None:
    assert line


@pytest.mark.parametrize("setup", [LEDUC, SEA, FLAGS], ids=lambda setup: setup.name)
def test_no_decision_changes_with_what_is_hidden(setup: TwinSetup, sandbox: Sandbox) -> None:
    specs = [
        parse_spec(text)
        for text in (
            "random",
            "greedy",
            "ismcts:simulations=6",
            "ismcts:simulations=6,belief=module",
        )
    ]
    for row in tried(setup, specs, sandbox, 5, AMOUNT, told):
        assert (row["changed"], row["told"], row["unjudged"]) == (0, 0, 0), row
        assert isinstance(row["positions"], int)
        assert row["positions"] >= AMOUNT.positions


@pytest.mark.parametrize("setup", [LEDUC, SEA, FLAGS], ids=lambda setup: setup.name)
def test_every_planted_leak_changes_decisions(setup: TwinSetup, sandbox: Sandbox) -> None:
    rows = list(planted(setup, sandbox, 5, replace(AMOUNT, planted=32), told))
    assert len(rows) == 3
    assert all(row["changed"] for row in rows), rows
    # Only the module that leaks tells the seat something else; the peekers' logs are honest.
    assert [bool(row["told"]) for row in rows] == [False, False, True]


def test_a_player_that_needs_perfect_information_is_refused_with_its_reason(
    sandbox: Sandbox,
) -> None:
    (row,) = tried(LEDUC, [parse_spec("uct:simulations=6")], sandbox, 5, AMOUNT, told)
    assert "perfect information" in str(row["refused"])


def test_another_state_differs_only_in_what_the_seat_may_not_see() -> None:
    game = Game(LocalModule(library.source("leduc_poker")))
    state = game.initial_state(2, {})
    while game.current_player(state) < 0:
        state = game.apply_action(state, game.legal_actions(state)[0])
    seen = game.observations(state, 2)[0]
    asked = DecisionRecord("", tuple(game.legal_actions(state)), "", ((seen, None),))
    others = OtherStates(game, 0, np.random.default_rng(1))
    for _ in range(20):
        other = others.draw(asked, state)
        assert other is not None
        assert game.observations(other, 2)[0] == seen
        assert other["hands"] != state["hands"] or other["deck"] != state["deck"]


def _row(**fields: Json) -> dict[str, Json]:
    honest: dict[str, Json] = {
        "game": "leduc_poker", "player": "random", "planted": False, "positions": 10,
        "changed": 0, "told": 0, "forced": 0, "alone": 0, "unjudged": 0, "matches": 1,
        "reasons": [],
    }  # fmt: skip
    return {**honest, **fields}


def _games(**fields: Json) -> list[dict[str, Json]]:
    from evals.leakage.audit import SETUPS

    rows = [_row(game=setup.name) for setup in SETUPS]
    return [_row(**fields), *rows[1:], _row(planted=True, changed=3, player="planted")]


def test_a_result_without_a_leak_passes() -> None:
    assert audit_result(_games(), {}, 60).passed


@pytest.mark.parametrize(
    "fields", [{"changed": 1}, {"told": 1}, {"unjudged": 1}, {"positions": 9}, {"positions": 0}]
)
def test_one_changed_told_unjudged_or_missing_decision_fails(fields: dict[str, Json]) -> None:
    assert not audit_result(_games(**fields), {}, 60).passed


def test_a_planted_leak_that_is_not_flagged_fails() -> None:
    rows = [*_games(), _row(planted=True, changed=0, told=9, player="planted")]
    assert not audit_result(rows, {}, 60).passed


def test_nothing_compared_is_no_result() -> None:
    with pytest.raises(NothingScoredError, match="none of 1"):
        audit_result([_row(positions=0)], {}, 1)


def test_every_player_is_tried_that_needs_no_more_than_a_game() -> None:
    names = [spec.player for spec in line_up()]
    assert {"random", "greedy", "uct", "ismcts"} <= set(names)
    assert set(names) == set(PLAYERS) - {"llm", "ppo", "cwm", "gt", "argmaxval", "gomcts"}
    assert names.count("ismcts") > 3
