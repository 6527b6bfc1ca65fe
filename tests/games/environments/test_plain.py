"""Games of OpenSpiel without an adapter: texts that tell what follows, and refused games."""

import random
import re

import pyspiel
import pytest

from games.contract import read_actions
from games.environments import EnvironmentNotFoundError
from games.environments.openspiel.adapter import ENCODINGS, NativePosition, of_openspiel
from games.environments.registry import environment_named
from games.environments.served import ServedRules
from games.values import CHANCE, TERMINAL, require_json

SAMPLE = ("chess", "goofspiel", "liars_dice", "2048", "matching_pennies_3p")
CRASHES = ("bridge", "morpion_solitaire")  # the one in a worker, the other wherever it is cloned
LOADABLE = [
    kind.short_name
    for kind in pyspiel.registered_games()
    if kind.default_loadable and kind.short_name not in ENCODINGS
]


# Of games that load: what the sentence says.
REFUSED = {
    "crossword": "its actions are structures",
    "mfg_crowd_modelling": "a mean-field game",
    "mfg_crowd_modelling_2d": "a mean-field game",
    "mfg_dynamic_routing": "a mean-field game",
    "mfg_garnet": "a mean-field game",
    "bridge_uncontested_bidding": "it draws by itself",
    "negotiation": "it draws by itself",
    "stones_and_gems": "it draws by itself",
    "tarok": "it draws by itself",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in SAMPLE else pytest.mark.whole)
        for name in LOADABLE
        if name not in CRASHES
    ],
)
def test_a_match_is_that_of_openspiel(name: str) -> None:
    """Turn, actions, payments and texts are OpenSpiel's own; actions can be told apart."""
    try:
        environment = of_openspiel(name, "")
    except EnvironmentNotFoundError:
        assert name in REFUSED
        return
    done: list[str] = []
    draws, position = random.Random(1), environment.open(environment.num_players, {})
    for _ in range(60):
        assert isinstance(position, NativePosition)
        native = position.native
        require_json(position.state, name)
        require_json([*position.observations], name)
        assert position.player == native.current_player()
        assert (position.player == TERMINAL) == (not position.legal)
        assert [*position.rewards] == native.rewards()
        assert position.state["done"] == done
        if environment.game.get_type().provides_observation_string:
            for seat, seen in enumerate(position.observations):
                assert seen["text"] == native.observation_string(seat).splitlines()
        if not position.legal:
            break
        assert read_actions([*position.legal]) == [*position.legal]
        if position.player == CHANCE:
            assert sum(position.probabilities) == pytest.approx(1)
        action = draws.choice(position.legal)
        done.append(action)
        position = environment.advance(position, action)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *REFUSED.items(),
        ("coin_game(players=9)", "it has 9 players, and a table 8 seats"),
        ("nosuch", "OpenSpiel has no game 'nosuch'"),
        ("kuhn_poke", "did you mean 'kuhn_poker'"),
        ("misere", "Missing parameter game; give its parameters"),
        ("nfg_game", "give its parameters as openspiel:nfg_game(key=value,...)"),
        ("efg_game", "is refused by OpenSpiel"),
        ("go(size=3)", "Unknown parameter 'size'"),
        ("chess(", "is refused by OpenSpiel"),
        ("", "no environment 'openspiel:'; known are"),
    ],
)
def test_what_cannot_be_a_table_is_refused_with_the_reason(name: str, said: str) -> None:
    with pytest.raises(EnvironmentNotFoundError, match=re.escape(said)):
        environment_named(f"openspiel:{name}")


def test_choices_at_the_same_time_are_turns_that_nobody_sees() -> None:
    environment = of_openspiel("matrix_rps", "")
    first = environment.open(2, {})
    seen = {str(environment.advance(first, action).observations[1]) for action in first.legal}
    assert (first.player, len(first.legal), len(seen)) == (0, 3, 1)


def test_a_search_is_told_chances_that_are_not_alike() -> None:
    """Of 2048: a new tile is a 2 nine times of ten."""
    functions = ServedRules(of_openspiel("2048", "")).functions()
    chances = functions["get_chance_probabilities"]
    assert callable(chances)
    told = chances({"h": []})
    assert sum(told) == pytest.approx(1)
    assert max(told) / min(told) == pytest.approx(9)
    assert (
        "get_chance_probabilities" not in ServedRules(of_openspiel("tic_tac_toe", "")).functions()
    )


def test_what_openspiel_tells_of_a_game_stands_for_its_rules() -> None:
    rules = environment_named("openspiel:goofspiel").rules
    assert rules.startswith("# Turn-based Goofspiel\n")
    assert "players: 2." in rules
