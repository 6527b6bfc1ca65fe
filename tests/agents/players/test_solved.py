import re

import numpy as np
import pytest

from agents.players.specs import PlayerSpecError
from games import library
from games.engine import PlayerFault
from games.information import SeatLog, Seen
from games.values import ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.players.conftest import Seat
from tests.agents.players.test_matches import matches
from tests.agents.small_games import KUHN, THREE, TIC_TAC_TOE, game
from tools.sandbox import Sandbox


def kuhn(actions: list[str], seat: int) -> SeatLog:
    rules, _, start = game(KUHN)
    return logs_of(rules, start, actions)[seat]


@pytest.mark.parametrize(
    ("card", "bet", "chance"),
    # Kuhn (1950): the second seat's only equilibrium.
    [("J", "p", 1 / 3), ("Q", "p", 0), ("K", "p", 1), ("J", "b", 0), ("Q", "b", 1 / 3)],
)
def test_the_second_seat_at_kuhn_poker_plays_kuhn_s_solution(
    seat: Seat, card: str, bet: str, chance: float
) -> None:
    other = "Q" if card == "K" else "K"
    log = kuhn([f"deal {other}", f"deal {card}", bet], 1)
    player = seat("cfr:iterations=3000", KUHN, at=1)
    decision = player.choose(log, ["p", "b"], np.random.default_rng(0))
    said = float(str(decision.effort.row()["probability"]))
    assert (said if decision.action == "b" else 1 - said) == pytest.approx(chance, abs=0.02)


def test_a_decision_reports_what_was_solved_and_how_well(seat: Seat) -> None:
    log = kuhn(["deal Q", "deal K", "b"], 1)
    player = seat("cfr:iterations=500", KUHN, at=1)
    effort = player.choose(log, ["p", "b"], np.random.default_rng(0)).effort.row()
    assert (effort["algorithm"], effort["iterations"], effort["iterations_done"]) == (
        "cfr",
        500,
        500,
    )
    assert (effort["histories"], effort["information_states"]) == (58, 12)
    assert 0 < float(str(effort["nash_conv"])) < 0.002
    assert effort["equilibrium"] == "guaranteed"
    assert set(str(effort["claimed"]).split("'")) >= {"nash_conv", "histories", "iterations_done"}


def test_actions_are_drawn_by_the_solution_and_the_seed_alone(seat: Seat) -> None:
    log = kuhn(["deal K", "deal Q", "b"], 1)
    players = [seat("cfr", KUHN, at=1) for _ in range(2)]
    drawn = [
        [player.choose(log, ["p", "b"], np.random.default_rng(n)).action for n in range(300)]
        for player in players
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0].count("b") == pytest.approx(100, abs=4 * 8.2)  # 1/3 of 300, within 4 deviations


def test_beyond_two_seats_or_zero_sums_no_equilibrium_is_promised(seat: Seat) -> None:
    rules, _, start = game(THREE, 3)
    player = seat("cfr", THREE, num_players=3)
    log = logs_of(rules, start, [])[0]
    decision = player.choose(log, ["A", "B"], np.random.default_rng(0))
    assert decision.effort.row()["equilibrium"] == "not_guaranteed"
    assert float(str(decision.effort.row()["nash_conv"])) < 0.01


@pytest.mark.parametrize(
    ("spec", "source", "why"),
    [
        ("cfr:histories=1000", TIC_TAC_TOE, "more than 1000 histories.*use ismcts"),
        ("cfr", library.source("connect_four"), r"above \de\+\d+ histories, of 200000.*use ismcts"),
        ("cfr", library.source("gin_rummy"), r"above \de\+\d+ histories, of 200000.*use ismcts"),
        ("cfr:deadline=0.1", TIC_TAC_TOE, "timed_out.*use ismcts.*or raise deadline="),
    ],
)
def test_a_game_too_large_is_refused_with_the_count(
    seat: Seat, spec: str, source: str, why: str
) -> None:
    with pytest.raises(PlayerSpecError, match=f"cfr cannot play this game: .*{why}"):
        seat(spec, source)


def test_raising_the_limit_is_advised_only_where_it_can_help(seat: Seat) -> None:
    # Tic-tac-toe has 549,946 histories; nobody can enumerate connect four.
    for source, helps in ((TIC_TAC_TOE, True), (library.source("connect_four"), False)):
        with pytest.raises(PlayerSpecError, match="cfr cannot play this game") as refused:
            seat("cfr:histories=5000", source)
        advised = r"raise histories= \(it has about [4-8]e\+05 by random plays\)"
        assert bool(re.search(advised, str(refused.value))) == helps
        assert "5000" in str(refused.value)


def test_a_log_that_the_game_cannot_lead_to_is_a_fault_of_the_player(seat: Seat) -> None:
    log = kuhn(["deal Q", "deal K", "b"], 1)
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    with pytest.raises(PlayerFault, match="cfr at seat 1: no play of the game leads to its log"):
        seat("cfr", KUHN, at=1).choose(log, ["p", "b"], np.random.default_rng(0))


def test_a_module_that_fails_while_it_is_enumerated_is_named_with_its_line(seat: Seat) -> None:
    broken = KUHN.replace(
        "    deck, hands = ", '    assert action != "b", "never"\n    deck, hands = '
    )
    with pytest.raises(ModuleFault, match=r"line \d+.*never"):
        seat("cfr", broken)


def test_a_forced_action_is_played_without_a_solution(seat: Seat) -> None:
    decision = seat("cfr", KUHN).choose(kuhn([], 0), ["p"], np.random.default_rng(0))
    assert (decision.action, decision.effort.row()["iterations_done"]) == ("p", 0)


def test_whole_matches_of_leduc_poker_are_played_without_a_forfeit(
    sandbox: Sandbox, seat: Seat
) -> None:
    source = library.source("leduc_poker")
    players = [seat("cfr:iterations=100", source, at=0), seat("random", at=1)]
    played = matches(sandbox, "leduc_poker", players, 20)
    assert {match.ending for match in played} == {"finished"}
