"""Every search as a player in its worker."""

from typing import cast

import numpy as np
import pytest

from agents.players.specs import PlayerSpecError
from agents.search.algorithms import SEARCHES
from games import library
from games.engine import PlayerFault
from games.information import SeatLog, read_entries
from games.streams import match_words, stream
from games.values import Json
from tests.agents.players.conftest import Seat
from tests.agents.players.test_search import EFFORT, kuhn, tic_tac_toe
from tests.agents.search.test_algorithms import decision
from tests.agents.small_games import DIE, KUHN, THREE, TIC_TAC_TOE

SAMPLING = [name for name in SEARCHES if name != "alphabeta"]


@pytest.mark.parametrize("name", SAMPLING)
def test_the_forced_win_is_found_from_the_log_alone(seat: Seat, name: str) -> None:
    log, legal = tic_tac_toe(["0", "8", "1", "7"], 0)  # x has two in the top row
    passes = "passes=40" if name == "osla" else "simulations=400"
    decided = seat(f"{name}:{passes}", TIC_TAC_TOE).choose(log, legal, np.random.default_rng(0))
    assert decided.action == "2"
    assert decided.effort.row().keys() >= (EFFORT - {"simulations", "exploration"}) | {"calls"}
    if name not in ("ismcts", "moismcts"):
        assert decided.effort.row()["belief"] == "known_state"


@pytest.mark.parametrize("name", [name for name in SAMPLING if name != "uct"])
def test_games_that_hide_information_are_played_by_sampled_states(seat: Seat, name: str) -> None:
    log = kuhn(["deal Q", "deal K", "b"], 1)  # a call with the King wins 2, a fold loses 1
    passes = "passes=20" if name == "osla" else "simulations=60"
    decided = seat(f"{name}:{passes}", KUHN, at=1).choose(log, ["p", "b"], np.random.default_rng(0))
    assert decided.action == "b"
    assert decided.effort.row()["belief"] == "exact"


def test_uct_searches_one_sampled_state_where_it_is_given_a_belief(seat: Seat) -> None:
    log = kuhn(["deal Q", "deal K", "b"], 1)
    player = seat("uct:belief=exact,simulations=50", KUHN, at=1)
    decided = player.choose(log, ["p", "b"], np.random.default_rng(0))
    assert (decided.action, decided.effort.row()["determinizations"]) == ("b", 1)


def test_alphabeta_plays_tic_tac_toe_and_refuses_what_it_cannot(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    decided = seat("alphabeta", TIC_TAC_TOE, at=1).choose(log, legal, np.random.default_rng(0))
    assert decided.action == "4"  # only the centre holds
    with pytest.raises(PlayerSpecError, match="alphabeta cannot play.*perfect information"):
        seat("alphabeta", KUHN)
    with pytest.raises(PlayerSpecError, match=r"alphabeta cannot play.*more than 10 positions"):
        seat("alphabeta:calls=10", TIC_TAC_TOE, at=1).choose(log, legal, np.random.default_rng(0))


@pytest.mark.parametrize(("source", "players"), [(THREE, 3), (DIE, 1)])
def test_alphabeta_refuses_other_numbers_of_seats(seat: Seat, source: str, players: int) -> None:
    with pytest.raises(PlayerSpecError, match=f"it has {players} seats; required: two"):
        seat("alphabeta", source, num_players=players)


VALUED = (
    "def value_function(state, player_id):\n    return 1.0 if state['board'][7] == 'x' else 0.0\n"
)


def test_one_step_ahead_asks_the_value_function_where_there_is_one(seat: Seat) -> None:
    log, legal = tic_tac_toe([], 0)
    source = f"{TIC_TAC_TOE}\n\n{VALUED}"
    decided = seat("osla", source).choose(log, legal, np.random.default_rng(0))
    assert (decided.action, decided.effort.row()["leaf"]) == ("7", "value")
    assert "rollouts" not in decided.effort.row()  # nothing was rolled out
    decided = seat("osla", TIC_TAC_TOE).choose(log, legal, np.random.default_rng(0))
    assert (decided.effort.row()["leaf"], decided.effort.row()["rollouts"]) == ("rollout", 4)


CENTRE = "def score(observation, action):\n    return 1.0 if action == '4' else 0.0\n"


@pytest.mark.parametrize(
    "spec", ["uct:leaf=heuristic,depth=2,simulations=30", "rmhc:opponent=heuristic,simulations=30"]
)
def test_heuristics_of_the_game_are_followed_or_missed_by_name(seat: Seat, spec: str) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    player = seat(spec, TIC_TAC_TOE, at=1, heuristics={"centre": CENTRE})
    decided = player.choose(log, legal, np.random.default_rng(0))
    assert decided.effort.row()["simulations_done"] == 30
    with pytest.raises(PlayerSpecError, match="needs a heuristic of this game; it has none"):
        seat(spec, TIC_TAC_TOE, at=1)


def test_a_heuristic_that_fails_in_the_search_is_the_players_fault(seat: Seat) -> None:
    log, legal = tic_tac_toe(["0"], 1)
    broken = {"broken": "def score(observation, action):\n    return 'much'\n"}
    player = seat("osla:leaf=heuristic", TIC_TAC_TOE, at=1, heuristics=broken)
    with pytest.raises(PlayerFault, match=r"heuristic .broken. returned .much."):
        player.choose(log, legal, np.random.default_rng(0))


def test_a_reused_tree_gives_the_same_bytes_in_a_worker_that_begins_in_mid_match(
    seat: Seat,
) -> None:
    spec = "uct:reuse=yes,simulations=100"
    continuing = seat(spec, TIC_TAC_TOE)
    actions: list[str] = []
    log, _ = tic_tac_toe(actions, 0)
    for reply in ("first", "first", None):
        grown, legal = tic_tac_toe(actions, 0)
        log.entries[:] = grown.entries
        generator = stream(5, "player", match=2, seat=0, ply=len(actions))
        decided = continuing.choose(log, legal, generator)
        again = stream(5, "player", match=2, seat=0, ply=len(actions))
        assert seat(spec, TIC_TAC_TOE).choose(grown, legal, again) == decided
        assert ("inherited" in decided.effort.row()) == bool(actions)
        if reply is not None:
            left = [square for square in legal if square != decided.action]
            actions += [decided.action, left[0]]


def test_the_words_of_a_match_are_those_of_its_seat_purpose_and_seed_at_every_ply() -> None:
    first, later = (stream(5, "player", match=2, seat=0, ply=ply) for ply in (0, 9))
    later.random(100)
    assert match_words(first) == match_words(later)
    others = [
        stream(6, "player", match=2, seat=0),
        stream(5, "chance", match=2, seat=0),
        stream(5, "player", match=3, seat=0),
        stream(5, "player", match=2, seat=1),
    ]
    assert match_words(first) not in [match_words(other) for other in others]
    assert match_words(stream(2**40, "player")) == match_words(stream(2**40, "player", ply=3))
    with pytest.raises(ValueError, match=r"required: one that stream\(\) made"):
        match_words(np.random.default_rng(0))


@pytest.mark.parametrize("name", SAMPLING)
def test_battleship_is_played_by_all_that_sample_hidden_states(seat: Seat, name: str) -> None:
    _, asked = decision("battleship")
    entries, legal, at = asked["entries"], asked["legal"], asked["seat"]
    parameters = cast("dict[str, Json]", asked["parameters"])
    source = library.source("battleship")
    if name == "uct":
        with pytest.raises(PlayerSpecError, match="use ismcts"):
            seat(name, source, parameters=parameters)
        return
    few = "" if name == "osla" else ":simulations=20"
    player = seat(f"{name}{few}", source, at=cast("int", at), parameters=parameters)
    log = SeatLog(cast("int", at), read_entries(cast("list[dict[str, Json]]", entries)))
    shot = player.choose(log, cast("list[str]", legal), np.random.default_rng(0))
    assert shot.action in cast("list[str]", legal)
    assert shot.effort.row()["belief"] == "resample_state"
