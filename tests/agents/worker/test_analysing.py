"""Exact values, beliefs and ways to positions, against what is known of the games from outside."""

from functools import cache
from typing import Any

import pytest

from agents.worker.analysing import hypotheses, reach_state, solve_line
from games import library
from games.information import entry_rows
from games.modules import bind, first_state, load_namespace
from games.values import Action, Json, State
from tests.agents.belief.logs import logs_of
from tools.guest.operations import Operation


@cache
def rows(name: str, *actions: Action) -> dict[str, Any]:
    return answer(solve_line, name, actions=[*actions])


def answer(operation: Operation, name: str, **asked: Json) -> dict[str, Any]:
    request = {"num_players": 2, "parameters": {}, **asked}
    found = operation(load_namespace(library.source(name)), request)
    assert isinstance(found, dict)
    return found


def drawing(*actions: Action) -> set[str]:
    """The replies that draw; all others lose."""
    found = rows("tic_tac_toe", *actions)
    values = found["values"][-1]
    assert found["by"] == "alphabeta"
    assert set(values.values()) <= {0.0, -1.0}
    return {name.partition(" ")[2] for name, value in values.items() if value == 0.0}


def test_tic_tac_toe_is_a_draw_whatever_x_begins_with() -> None:
    found = rows("tic_tac_toe")
    assert found["returns"] == [0.0, 0.0]
    assert set(found["values"][0].values()) == {0.0}


@pytest.mark.parametrize(
    ("first", "replies"),
    [
        ("x 2,2", {"1,1", "1,3", "3,1", "3,3"}),
        ("x 1,1", {"2,2"}),
        ("x 1,2", {"2,2", "1,1", "1,3", "3,2"}),
    ],
    ids=["the centre: corners", "a corner: the centre", "an edge: see any table of the game"],
)
def test_replies_of_o_that_draw_are_those_of_every_table(first: str, replies: set[str]) -> None:
    assert drawing(first) == replies


def test_kuhn_poker_is_worth_an_eighteenth_to_the_second_player() -> None:
    found = rows("kuhn_poker")
    assert found["by"] == "cfr+"
    assert found["returns"] == pytest.approx([-1 / 18, 1 / 18], abs=found["nash_conv"])


@pytest.mark.parametrize(("card", "call"), [("JS", -2.0), ("KS", 2.0)])
def test_facing_a_bet_the_lowest_card_loses_a_call_and_the_highest_wins_it(
    card: str, call: float
) -> None:
    last = rows("kuhn_poker", "deal QS", f"deal {card}", "bet")["values"][-1]
    assert last == pytest.approx({"call": call, "fold": -1.0})


def test_leduc_poker_has_its_published_value() -> None:
    found = rows("leduc_poker")
    assert found["returns"][0] == pytest.approx(-0.0856, abs=5e-4)


def test_a_game_too_large_is_not_called_solved() -> None:
    found = rows("connect_four")
    assert (found["by"], found["values"], found["returns"]) == ("none", [{}], [])
    assert "histories" in found["why"]


def belief(seat: int, *actions: Action, is_turn: bool) -> dict[str, Any]:
    namespace = load_namespace(library.source("kuhn_poker"))
    log = logs_of(bind(namespace, 2), first_state(namespace, 2), actions)[seat]
    entries: list[Json] = [*entry_rows(log.entries)]
    return answer(hypotheses, "kuhn_poker", seat=seat, entries=entries, is_turn=is_turn)


@pytest.mark.parametrize(("seat", "is_turn"), [(0, True), (1, False)])
def test_of_three_cards_the_two_unseen_are_as_likely(seat: int, *, is_turn: bool) -> None:
    found = belief(seat, "deal QS", "deal KS", is_turn=is_turn)
    other = {zone["zone"]: zone for zone in found["zones"]}[f"hands.{1 - seat}"]
    own = ["QS", "KS"][seat]
    assert found["by"] == "exact"
    assert sorted(other["contents"]) == sorted([[[c], 0.5] for c in {"JS", "QS", "KS"} - {own}])


def board(cells: str, player: int) -> State:
    namespace = load_namespace(library.source("tic_tac_toe"))
    return {**first_state(namespace, 2), "board": cells, "player": player}


@pytest.mark.parametrize(
    ("cells", "told", "plies"),
    [("xo.......", "yes", 2), ("xxo......", "no", 0)],
    ids=["one mark each", "two of x and one of o, with x to move"],
)
def test_a_position_is_reached_where_marks_alternate(cells: str, told: str, plies: int) -> None:
    found = answer(reach_state, "tic_tac_toe", state=board(cells, 0))
    assert (found["answer"], len(found["actions"])) == (told, plies)


def test_what_the_calls_do_not_settle_is_unknown() -> None:
    found = answer(reach_state, "tic_tac_toe", state=board("xxo......", 0), calls=50)
    assert found == {"answer": "unknown", "actions": []}
