import pytest

from agents.players.registry import PLAYERS, PRELOAD, PlayerRoster, parse_spec
from agents.players.specs import PlayerSpecError
from evals.leakage.omniscient import OPERATIONS, choose_omniscient
from games.values import Json
from tests.agents.belief.posteriors import library_game
from tests.agents.small_games import KUHN, game


def test_no_spec_of_a_player_can_cheat() -> None:
    for name, kind in PLAYERS.items():
        if any(parameter.name == "belief" for parameter in kind.parameters):
            with pytest.raises(PlayerSpecError, match="belief is 'cheat' .*known values"):
                parse_spec(f"{name}:belief=cheat")
    with pytest.raises(PlayerSpecError, match="no player 'cheat'"):
        parse_spec("cheat")


def test_no_player_preloads_what_makes_a_worker_omniscient() -> None:
    preloaded = {*PRELOAD, *PlayerRoster().preload}
    assert not any("omniscient" in name or "cheat" in name for name in preloaded)


def test_the_true_state_needs_a_reason() -> None:
    _, namespace, start = library_game("poker")
    payload: dict[str, Json] = {
        **{"algorithm": "uct", "search": {}, "seat": 0, "num_players": 2},
        **{"words": [0], "state": start, "reason": "  "},
    }
    with pytest.raises(ValueError, match="reason is empty"):
        choose_omniscient(namespace, payload)


@pytest.mark.parametrize(("theirs", "expected"), [("K", "p"), ("J", "b")])
def test_who_sees_the_other_card_calls_only_where_it_wins(theirs: str, expected: str) -> None:
    rules, namespace, state = game(KUHN)
    for action in (f"deal {theirs}", "deal Q", "b"):
        state = rules.apply_action(state, action)
    payload: dict[str, Json] = {
        **{"algorithm": "uct", "search": {"simulations": 50}, "seat": 1, "num_players": 2},
        **{"words": [0], "state": state, "reason": "a test"},
    }
    reply = OPERATIONS["choose_omniscient"](namespace, payload)
    assert isinstance(reply, dict)
    assert reply["action"] == expected
    assert isinstance(reply["effort"], dict)
    assert reply["effort"]["belief"] == "cheat"


def test_an_unknown_algorithm_is_refused() -> None:
    _, namespace, start = library_game("poker")
    payload: dict[str, Json] = {
        **{"algorithm": "oracle", "search": {}, "seat": 0, "num_players": 2},
        **{"words": [0], "state": start, "reason": "a test"},
    }
    with pytest.raises(ValueError, match="no algorithm 'oracle'"):
        choose_omniscient(namespace, payload)
