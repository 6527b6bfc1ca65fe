import numpy as np
import pytest

from agents.players.specs import PlayerSpecError
from games.engine import PlayerFault
from games.information import SeatLog, Seen
from games.values import Json, ModuleFault
from tests.agents.belief.logs import logs_of
from tests.agents.players.conftest import Seat
from tests.agents.small_games import KUHN, PENNIES, TIC_TAC_TOE, game

EFFORT = {
    "algorithm",
    "simulations",
    "simulations_done",
    "exploration",
    "determinizations",
    "belief",
    "belief_failures",
}


def tic_tac_toe(actions: list[str], seat: int) -> tuple[SeatLog, list[str]]:
    rules, _, start = game(TIC_TAC_TOE)
    state = start
    for action in actions:
        state = rules.apply_action(state, action)
    return logs_of(rules, start, actions)[seat], rules.legal_actions(state)


def kuhn(actions: list[str], seat: int) -> SeatLog:
    rules, _, start = game(KUHN)
    return logs_of(rules, start, actions)[seat]


def test_uct_blocks_from_its_log_alone(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0", "8", "1"], 1)  # x has two in the top row
    decision = seat("uct:simulations=400", TIC_TAC_TOE, at=1).choose(
        log, legal, np.random.default_rng(0)
    )
    assert decision.action == "2"
    assert decision.effort.row().keys() >= EFFORT
    assert decision.effort.row()["simulations_done"] == decision.effort.row()["simulations"] == 400


@pytest.mark.parametrize(("card", "expected"), [("K", "b"), ("J", "p")])
def test_ismcts_calls_with_the_king_and_folds_the_jack(
    seat: Seat, card: str, expected: str
) -> None:
    log = kuhn(["deal Q", f"deal {card}", "b"], 1)
    decision = seat("ismcts:simulations=200", KUHN, at=1).choose(
        log, ["p", "b"], np.random.default_rng(0)
    )
    assert decision.action == expected
    assert decision.effort.row().keys() >= EFFORT
    assert decision.effort.row()["determinizations"] == 200
    assert decision.effort.row()["belief"] == "exact"


@pytest.mark.parametrize("spec", ["uct:simulations=100", "ismcts:simulations=100"])
def test_the_same_seed_gives_the_same_decision_in_another_worker(seat: Seat, spec: str) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    first, second = (
        seat(spec, TIC_TAC_TOE, at=1).choose(log, legal, np.random.default_rng(3)) for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("source", [KUHN, PENNIES])
def test_uct_refuses_games_that_hide_information(seat: Seat, source: str) -> None:
    with pytest.raises(PlayerSpecError, match="perfect information.*use ismcts"):
        seat("uct", source)


def test_uct_refuses_a_decision_that_hides_information(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    with pytest.raises(PlayerSpecError, match="0 full states fit what seat 1 saw.*use ismcts"):
        seat("uct", TIC_TAC_TOE, at=1).choose(log, legal, np.random.default_rng(0))


def test_without_a_determinization_it_plays_at_random_and_says_so(seat: Seat) -> None:
    log = kuhn(["deal Q", "deal K", "b"], 1)
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    player = seat("ismcts:simulations=50", KUHN, at=1)
    chosen = {player.choose(log, ["p", "b"], np.random.default_rng(n)).action for n in range(12)}
    effort = player.choose(log, ["p", "b"], np.random.default_rng(0)).effort.row()
    assert chosen == {"p", "b"}
    assert effort["belief"] == "none_found"
    assert effort["simulations_done"] == 0


def test_a_forced_action_is_played_without_a_search(seat: Seat) -> None:
    log, _ = tic_tac_toe(["0"], 1)
    decision = seat("uct", TIC_TAC_TOE, at=1).choose(log, ["4"], np.random.default_rng(0))
    assert decision.action == "4"
    assert decision.effort.row()["belief"] == "not_needed"
    assert decision.effort.row().keys() >= EFFORT


def test_a_module_that_fails_in_the_search_is_reported_with_its_line(seat: Seat) -> None:
    broken = TIC_TAC_TOE.replace(
        "    square, mark", "    assert state['board'].count('.') > 2, 'never'\n    square, mark"
    )
    log, legal = tic_tac_toe(["0", "1", "2", "4", "3", "5"], 0)
    player = seat("ismcts:simulations=50", broken)
    with pytest.raises(ModuleFault, match=r"choose: raised.*line \d+.*never"):
        player.choose(log, legal, np.random.default_rng(0))


def test_a_module_that_loops_is_named_with_its_function_and_line_at_the_deadline(
    seat: Seat,
) -> None:
    looping = TIC_TAC_TOE.replace(
        "    square, mark", "    while state['board'].count('.') < 3: pass\n    square, mark"
    )
    log, legal = tic_tac_toe(["0", "1", "2", "4", "3", "5"], 0)
    player = seat("ismcts:simulations=50,deadline=0.3", looping)
    with pytest.raises(ModuleFault, match=r"apply_action: timed_out.*line \d+") as found:
        player.choose(log, legal, np.random.default_rng(0))
    assert looping.splitlines()[(found.value.line or 0) - 1].strip().startswith("while")


def test_a_search_that_is_asked_too_much_for_its_deadline_is_the_players_fault(
    seat: Seat,
) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    player = seat("ismcts:simulations=100000000,deadline=0.4", TIC_TAC_TOE, at=1)
    with pytest.raises(PlayerFault, match=r"no decision within 0.4 s; ask for fewer simulations"):
        player.choose(log, legal, np.random.default_rng(0))


TOO_MUCH = (
    "rhea:horizon=100000,population=20,simulations=1000000000",
    "rmhc:horizon=100000,simulations=1000000000",
    "rhea:tournament=100000,population=2,simulations=1000000000",
    "pimc:worlds=100000,simulations=1000000000",
    "pimc:worlds=100000,budget=time,seconds=0.4",
)


@pytest.mark.parametrize("spec", TOO_MUCH)
def test_plans_and_worlds_of_the_largest_sizes_forfeit_the_seat_and_never_blame_the_module(
    seat: Seat, spec: str
) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    player = seat(f"{spec},deadline=0.5", TIC_TAC_TOE, at=1)
    with pytest.raises(PlayerFault, match=r"no decision within 0.5 s; .* raise deadline="):
        player.choose(log, legal, np.random.default_rng(0))


LARGEST = (
    "uct:exploration=1e9",
    "uct:rollout_limit=1000000000",
    "uct:leaf=truncated,depth=1000000000",
    "uct:widening=1e9",
    "uct:rave=grave,bias=1e9,reference=1000000000",
    "uct:solver=yes,win=1e9",
    "uct:policy=gibbs,temperature=1e9",
    "uct:deadline=86400",
    "ismcts:determinizations=100000",
    "pimc:worlds=100000",
    "rhea:population=200000",
    "rmhc:horizon=100000",
)


@pytest.mark.parametrize("spec", LARGEST)
def test_a_search_is_done_with_its_settings_at_their_largest(seat: Seat, spec: str) -> None:
    log, legal = tic_tac_toe(["0", "8", "1"], 1)
    player = seat(f"{spec},simulations=20", TIC_TAC_TOE, at=1)
    decided = player.choose(log, legal, np.random.default_rng(0))
    assert decided.action in legal
    assert decided.effort.row()["simulations_done"] == 20


@pytest.mark.parametrize("name", ["uct", "pimc"])
def test_a_win_that_is_said_to_pay_less_than_it_does_is_told_as_the_setting_it_is(
    seat: Seat, name: str
) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    player = seat(f"{name}:simulations=50,solver=yes,win=0.5", TIC_TAC_TOE, at=1)
    with pytest.raises(PlayerSpecError, match=r"paid 1.0, with win=0.5; required: the largest"):
        player.choose(log, legal, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("ismcts:leaf=value", "needs value_function.*; use leaf=rollout or leaf=auto"),
        ("uct:leaf=value", "needs value_function.*; use leaf=rollout or leaf=auto"),
        ("alphabeta:depth=3", "alphabeta with depth=3 needs value_function.*; use depth=0"),
    ],
)
def test_what_needs_a_value_function_is_refused_where_there_is_none(
    seat: Seat, spec: str, told: str
) -> None:
    with pytest.raises(PlayerSpecError, match=told):
        seat(spec, TIC_TAC_TOE)
    seat(spec, TIC_TAC_TOE + "\n\ndef value_function(state, player_id):\n    return 0.0\n")


def test_a_module_that_does_not_load_is_the_modules_fault(seat: Seat) -> None:
    with pytest.raises(ModuleFault, match="unreadable"):
        seat("ismcts", "def :")


def test_parameters_reach_the_search(seat: Seat) -> None:
    sized = TIC_TAC_TOE.replace("(num_players):", "(num_players, first=0):").replace(
        '"turn": 0', '"turn": first'
    )
    parameters: dict[str, Json] = {"first": 1}
    start: dict[str, Json] = {"board": ".........", "turn": 1}
    log = SeatLog(1, [Seen(start)])
    legal = [str(square) for square in range(9)]
    player = seat("uct:simulations=20", sized, at=1, parameters=parameters)
    assert (
        player.choose(log, legal, np.random.default_rng(0)).effort.row()["simulations_done"] == 20
    )


def test_figures_that_only_the_worker_knows_are_marked_as_claimed(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0", "8", "1"], 1)
    player = seat("uct:simulations=40", TIC_TAC_TOE, at=1)
    searched = player.choose(log, legal, np.random.default_rng(0)).effort.row()
    claimed = searched["claimed"]
    assert isinstance(claimed, list)
    assert {"simulations_done", "nodes", "belief"} <= {*map(str, claimed)}
    assert {"algorithm", "simulations", "exploration"}.isdisjoint(map(str, claimed))
    assert player.choose(log, legal[:1], np.random.default_rng(0)).effort.row()["claimed"] == []


FORGING = (
    TIC_TAC_TOE
    + """
import inspect
_search = inspect.sys.modules["agents.worker.session"]
_search.OPERATIONS["choose"].__code__ = (
    lambda namespace, payload: {"action": payload["legal"][0], "effort": %s}
).__code__
"""
)


def test_a_worker_cannot_change_what_was_asked_of_it(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0", "8", "1"], 1)
    forging = FORGING % {"simulations_done": 7}
    effort = seat("uct:simulations=40", forging, at=1).choose(
        log, legal, np.random.default_rng(0)
    ).effort.row()  # fmt: skip
    assert (effort["algorithm"], effort["simulations"]) == ("uct", 40)
    assert (effort["simulations_done"], effort["claimed"]) == (7, ["simulations_done"])


@pytest.mark.parametrize(
    "effort",
    [
        "{'nodes': [1]}",
        "{'nodes': 'many'}",
        "{'algorithm': 'oracle'}",  # what was asked of it
        "{'wins': 7}",
        "{'belief': 'x' * 99}",
        "{'n': None}",
        "{'nodes': 10**400}",  # no float is as large
        "{'nodes': 1.7e308}",  # two of them have no sum
        "{'simulations_done': -5}",
        "{'\\x1b[2J': 1}",
        "{'n' * 99: 1}",
    ],
)
def test_figures_of_another_form_are_the_players_fault(seat: Seat, effort: str) -> None:
    log, legal = tic_tac_toe(["0", "8", "1"], 1)
    player = seat("uct:simulations=40", FORGING % effort, at=1)
    with pytest.raises(PlayerFault, match="answered"):
        player.choose(log, legal, np.random.default_rng(0))


def test_a_reason_that_a_worker_gives_is_bounded_and_plain(seat: Seat) -> None:
    forging = FORGING.replace('"choose"', '"perfect_information"').replace(
        '{"action": payload["legal"][0], "effort": %s}', "'\\x1b[2J' + 'so ' * 10**5"
    )
    with pytest.raises(PlayerSpecError, match="and so so") as refused:
        seat("uct:simulations=40", forging)
    assert len(str(refused.value)) < 600
