"""Compensation of seats, held against payments worked out by hand and the checks of a module."""

from pathlib import Path

import pytest

from games.checks.run import CheckSettings
from games.contract import read_rewards
from games.library import rulebook, source
from games.modules import LocalModule
from games.values import ModuleFault
from tools.balancing.compensation import compensated
from tools.checking import check_source
from tools.sandbox import Sandbox

WEIGHTED = Path(__file__).parents[2] / "models" / "weighted.py"


def paid_at_the_end(text: str, players: int, actions: str, **settings: int) -> list[float]:
    module = LocalModule(text, "compensated")
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
    made, _ = compensated(source("tic_tac_toe"), 2)
    assert paid_at_the_end(made, 2, actions, seat_points=points) == paid


def test_without_points_a_game_is_as_it_was() -> None:
    made, rules = compensated(source("tic_tac_toe"), 2, rulebook("tic_tac_toe"))
    own = source("tic_tac_toe")
    assert paid_at_the_end(made, 2, FIRST_WINS) == paid_at_the_end(own, 2, FIRST_WINS) == [1, -1]
    assert rules.startswith(rulebook("tic_tac_toe").rstrip())
    assert "seat_points, 0 to 2" in rules


def test_where_no_sum_is_fixed_each_seat_is_paid_for_those_before_it() -> None:
    made, _ = compensated(WEIGHTED.read_text(encoding="utf-8"), 3)
    settings = {"nods": 1, "seat_points": 3}
    assert paid_at_the_end(made, 2, "first; nod", **settings) == [1, 3]
    assert paid_at_the_end(made, 2, "second; nod", **settings) == [0, 4]


def test_a_compensated_game_keeps_every_promise(sandbox: Sandbox) -> None:
    made, _ = compensated(source("poker"), 2)
    found = check_source(
        sandbox,
        made,
        settings=CheckSettings(seed=1, matches=6, samples=16),
        num_players=2,
        parameters={"seat_points": 1},
        records=0,
    ).findings
    assert {one.outcome for one in found} == {"passed"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (source("the_crew"), "win together"),
        (compensated(source("tic_tac_toe"), 2)[0], "has seat_points already"),
        ("GAME = dict(name='x')", "dict literal"),
        ("GAME = {", "never closed"),
    ],
)
def test_what_cannot_be_compensated_is_said(text: str, said: str) -> None:
    with pytest.raises(ModuleFault, match=said):
        compensated(text, 2)
