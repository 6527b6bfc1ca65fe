"""Handicaps of any game, held against payments and openings worked out by hand."""

from pathlib import Path

import pytest

from games.contract import read_rewards
from games.library import handicapped_source, read_game, rulebook, source
from games.library.handicaps import HANDICAPS, handicapped
from games.library.settings import game_of, impossible
from games.modules import LocalModule
from games.text import syntax_tree
from games.values import IllegalActionError, Json, ModuleFault

WEIGHTED = Path(__file__).parents[2] / "models" / "weighted.py"


def made(text: str, **most: int) -> str:
    return handicapped(text, most, "", (read_game(text), syntax_tree(text)))


def paid_at_the_end(text: str, players: int, actions: str, **settings: Json) -> list[float]:
    module = LocalModule(text, "handicapped")
    state = module.call("initial_state", players, **settings)
    paid = [0.0] * players
    for action in actions.split("; "):
        state = module.call("apply_action", state, action)
        rewards = read_rewards(module.call("get_rewards", state), players)
        paid = [before + now for before, now in zip(paid, rewards, strict=True)]
    assert module.call("get_current_player", state) == -4
    return paid


TIED = "x 1,1; o 2,2; x 1,2; o 1,3; x 3,1; o 2,1; x 2,3; o 3,2; x 3,3"
FIRST_WINS = "x 1,1; o 2,1; x 1,2; o 2,2; x 1,3"


@pytest.mark.parametrize(
    ("actions", "points", "paid"),
    [
        (TIED, 0, [0, 0]),
        (TIED, 1, [-0.5, 0.5]),  # draw odds, and still a sum of nothing
        (FIRST_WINS, 1, [0.5, -0.5]),
        (FIRST_WINS, 2, [0, 0]),
    ],
)
def test_a_point_for_the_later_seat_is_draw_odds(
    actions: str, points: int, paid: list[float]
) -> None:
    text = made(source("tic_tac_toe"), seat_points=2)
    assert paid_at_the_end(text, 2, actions, seat_points=points) == paid


def test_without_values_a_game_is_as_it_was() -> None:
    own, text = source("tic_tac_toe"), made(source("tic_tac_toe"), seat_points=2, barred_opening=9)
    assert paid_at_the_end(text, 2, FIRST_WINS) == paid_at_the_end(own, 2, FIRST_WINS) == [1, -1]


def test_where_no_sum_is_fixed_each_seat_is_paid_for_those_before_it() -> None:
    text = made(WEIGHTED.read_text(encoding="utf-8"), seat_points=3)
    settings: dict[str, Json] = {"nods": 1, "seat_points": 3}
    assert paid_at_the_end(text, 2, "first; nod", **settings) == [1, 3]
    assert paid_at_the_end(text, 2, "second; nod", **settings) == [0, 4]


def test_the_first_decision_may_not_be_what_is_barred_and_later_ones_may() -> None:
    module = LocalModule(made(source("tic_tac_toe"), barred_opening=9, seat_points=2), "barred")
    state = module.call("initial_state", 2, barred_opening=5)
    legal = module.call("get_legal_actions", state)
    assert isinstance(legal, list)
    assert (len(legal), "x 2,2" in legal) == (8, False)
    with pytest.raises(IllegalActionError, match="'x 2,2' is barred from the first decision"):
        module.call("apply_action", state, "x 2,2")
    state = module.call("apply_action", state, "x 1,1")
    assert "o 2,2" in module.call("get_legal_actions", state)  # type: ignore[operator]
    seen = module.call("get_observations", state)[0]  # type: ignore[index]
    assert module.call("resample_state", [[seen, None]], 0) == state


@pytest.mark.parametrize(
    ("text", "number", "said"),
    [
        (source("tic_tac_toe"), 10, "allowed: 0 to 9"),
        (source("tic_tac_toe"), True, "barred_opening is True"),
        (source("poker"), 1, "comes after chance"),
    ],
)
def test_what_cannot_be_barred_is_refused(text: str, number: int, said: str) -> None:
    module = LocalModule(made(text, barred_opening=400), "barred")
    with pytest.raises(ModuleFault, match=said):
        module.call("initial_state", 2, barred_opening=number)


def test_a_rulebook_names_the_action_and_counts_on_from_its_own_rules() -> None:
    own = rulebook("placement")
    text = rulebook("placement", {"barred_opening": 4, "seat_points": 2})
    added = {*text.splitlines()} - {*own.splitlines()}
    assert sorted(line.partition(": ")[0] for line in added) == ["- R15", "- R16"]
    assert sum("“drop 4”" in line for line in added) == 1  # the fourth column
    assert {*own.splitlines()} <= {*text.splitlines()}
    assert rulebook("placement", {"seat_points": 0}) == own


def test_a_family_says_which_handicaps_it_takes() -> None:
    assert game_of("the_crew").handicaps.keys() == {"barred_opening"}  # all seats win together
    assert game_of("placement").handicaps.keys() == HANDICAPS.keys()
    assert impossible("placement", 2, {"barred_opening": 4, "seat_points": 1}) == ""
    assert "allowed: 0 to 7" in impossible("placement", 2, {"barred_opening": 8})
    assert handicapped_source("placement", (), "") == source("placement")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (source("the_crew"), "win together"),
        (made(source("tic_tac_toe"), seat_points=2), "has seat_points already"),
    ],
)
def test_a_game_that_takes_no_points_is_refused(text: str, said: str) -> None:
    with pytest.raises(ModuleFault, match=said):
        made(text, seat_points=2)
