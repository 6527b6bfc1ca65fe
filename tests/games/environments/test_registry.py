"""Twins: the same game under other names, move for move."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games.environments import EnvironmentNotFoundError
from games.environments.registry import TwinEnvironment, environment_named
from games.table import Position
from games.values import Json

QUADRANTO = environment_named("own:quadranto")
GAMES = (
    *("openspiel:leduc_poker", "openspiel:bargaining", "openspiel:skat"),
    *("own:hand_of_war", "own:uno"),
)


def twin(name: str, seed: int = 3) -> TwinEnvironment:
    environment = environment_named(f"twin:{seed}:{name}")
    assert isinstance(environment, TwinEnvironment)
    return environment


@pytest.mark.parametrize("name", GAMES)
def test_a_twin_plays_move_for_move_as_the_original(name: str) -> None:
    environment, original, draws = twin(name), environment_named(name), random.Random(1)
    position = environment.open(environment.num_players, environment.parameters)
    other = original.open(original.num_players, original.parameters)
    while True:
        assert alike(environment, position, other)
        if not position.legal:
            return
        action = draws.choice(position.legal)
        position = environment.advance(position, action)
        other = original.advance(other, environment.restored(action))


def alike(environment: TwinEnvironment, position: Position, other: Position) -> bool:
    legal = [environment.restored(action) for action in position.legal]
    assert sorted(legal) == sorted(other.legal)
    chances = dict(zip(other.legal, other.probabilities, strict=False))
    assert position.probabilities == tuple(chances[action] for action in legal if chances)
    assert (position.player, position.rewards) == (other.player, other.rewards)
    shown = parts([position.state, *position.observations], environment)
    assert shown == [other.state, *other.observations]
    return True


def parts(value: Json, environment: TwinEnvironment) -> Json:
    """A value under the names of the original."""
    if isinstance(value, dict):
        items = value.items()
        return {environment.restored(key): parts(item, environment) for key, item in items}
    if isinstance(value, list):
        return [parts(item, environment) for item in value]
    return environment.restored(value) if isinstance(value, str) else value


@settings(max_examples=60, deadline=None)
@given(text=st.text(), seed=st.integers(0, 20))
def test_no_two_names_become_one(text: str, seed: int) -> None:
    environment = TwinEnvironment(QUADRANTO, seed)
    assert environment.restored(environment.renamed(text)) == text
    letters = re.findall("[A-Za-z]", text)
    assert all(environment.renamed(letter) != letter for letter in letters)


def test_every_literal_name_of_the_rules_is_the_twins() -> None:
    environment, original = (
        twin("openspiel:leduc_poker"),
        environment_named("openspiel:leduc_poker"),
    )
    literal = re.findall("`([^`]*)`", environment.rules)
    assert literal == [environment.renamed(one) for one in re.findall("`([^`]*)`", original.rules)]
    assert "Leduc" not in environment.rules
    start = environment.open(2, environment.parameters)
    assert {"public_card", "Raise"} <= {environment.restored(one) for one in literal}
    assert {*literal} & start.state.keys()


def test_legal_actions_come_in_an_order_of_their_own_and_seeds_in_names_of_theirs() -> None:
    name = "openspiel:leduc_poker"
    original = environment_named(name).open(2, environment_named(name).parameters)
    orders, names = set(), set()
    for seed in range(4):
        environment = twin(name, seed)
        position = environment.open(2, environment.parameters)
        orders.add(tuple(environment.restored(action) for action in position.legal))
        names.add(tuple(sorted(position.state)))
    assert len(orders) > 2
    assert original.legal not in orders or len(orders) > 1
    assert len(names) == 4


def test_a_twin_of_nothing_is_refused() -> None:
    wrong = ("twin:openspiel:kuhn_poker", "twin:x:own:quadranto", "twin:1:nothing", "twin:")
    for text in (*wrong, f"twin:{'9' * 5000}:own:quadranto", "twin:1:" * 3000 + "own:quadranto"):
        with pytest.raises(EnvironmentNotFoundError, match=r"SEED|known"):
            environment_named(text)
