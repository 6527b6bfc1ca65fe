"""A resampler that hangs, in a real worker."""

from collections.abc import Iterator

import numpy as np
import pytest

from agents.players.registry import PRELOAD, make_player, parse_spec
from agents.players.specs import Seating
from games.values import ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.small_games import KUHN, game
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

HANGING = """
def resample_state(obs_action_history, player_id):
    while True:
        pass
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as started:
        yield started


def test_a_hanging_resampler_costs_a_share_of_the_time_and_no_forfeit(sandbox: Sandbox) -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K", "b"])[1]
    player = make_player(
        parse_spec("ismcts:simulations=50,deadline=2"),
        Seating(1, GameSetup("game", KUHN + HANGING, 2), sandbox),
    )
    try:
        decision = player.choose(log, ["p", "b"], np.random.default_rng(0))
        assert decision.action == "b"  # with the king
        assert (decision.effort.row()["belief"], decision.effort.row()["belief_errors"]) == (
            "exact",
            1,
        )
        again = player.choose(log, ["p", "b"], np.random.default_rng(0)).effort.row()
        assert (again["belief"], again["belief_errors"]) == ("exact", 0)
    finally:
        player.close()


def test_the_deadline_itself_still_holds(sandbox: Sandbox) -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K", "b"])[1]
    source = KUHN + HANGING + "\ndef value_function(state, player_id):\n    while True: pass\n"
    player = make_player(
        parse_spec("ismcts:simulations=50,deadline=1,leaf=value"),
        Seating(1, GameSetup("game", source, 2), sandbox),
    )
    try:
        with pytest.raises(ModuleFault, match="value_function: timed_out"):
            player.choose(log, ["p", "b"], np.random.default_rng(0))
    finally:
        player.close()
