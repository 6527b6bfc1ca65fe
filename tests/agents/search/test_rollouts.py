from dataclasses import replace

import numpy as np
import pytest

from agents.search.rollouts import TRIAL, WINDOW, Integers, Rollouts
from games.modules import Rules, canonical
from games.values import Action, State
from tests.agents.small_games import DIE, KUHN, TIC_TAC_TOE, game


def counted(rules: Rules) -> tuple[Rules, list[Action]]:
    """The rules, noting every action applied."""
    made: list[Action] = []

    def apply_action(state: State, action: Action) -> State:
        made.append(action)
        return rules.apply_action(state, action)

    return replace(rules, apply_action=apply_action), made


@pytest.mark.parametrize("interns", [False, True])
@pytest.mark.parametrize(("source", "players"), [(TIC_TAC_TOE, 2), (KUHN, 2), (DIE, 1)])
def test_the_calls_reported_are_the_calls_made(source: str, players: int, interns: bool) -> None:
    rules, _, root = game(source, players)
    noting, made = counted(rules)
    rollouts = Rollouts(noting, np.random.default_rng(0), 1000, interns=interns)
    for _ in range(3 * TRIAL):
        rollouts.play(root)
    assert rollouts.calls == len(made)


def test_the_calls_of_cut_rollouts_are_counted_too() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    rollouts = Rollouts(rules, np.random.default_rng(0), 3, interns=False)
    for _ in range(2000):
        rollouts.play(root)
    assert (rollouts.calls, rollouts.cut) == (6000, 2000)


@pytest.mark.parametrize("limit", [4, 1000])
def test_a_table_of_states_changes_no_rollout(limit: int) -> None:
    rules, _, root = game(TIC_TAC_TOE)
    plain = Rollouts(rules, np.random.default_rng(3), limit, interns=False)
    interning = Rollouts(rules, np.random.default_rng(3), limit)
    for _ in range(3 * TRIAL):
        assert plain.play(root) == interning.play(root)
    assert plain.cut == interning.cut
    # 5,478 positions can be reached from the empty board: far fewer calls than plies.
    assert interning.calls < plain.calls * 0.7


def test_a_table_is_kept_only_where_states_repeat() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    ticks = iter(range(10**9))
    unlike = replace(
        rules, apply_action=lambda s, a: {**rules.apply_action(s, a), "tick": next(ticks)}
    )
    rollouts = Rollouts(unlike, np.random.default_rng(0), 1000)
    for played in range(TRIAL + WINDOW + 10):
        rollouts.play(root)
        assert (rollouts.noted is not None) == (TRIAL <= played < TRIAL + WINDOW)
    assert rollouts.table is None


def test_a_table_that_stops_to_pay_is_given_up() -> None:
    rules, _, root = game(TIC_TAC_TOE)
    clock = [0, 0]

    def apply_action(state: State, action: Action) -> State:
        clock[0] += clock[1]
        return {**rules.apply_action(state, action), "tick": clock[0]}

    rollouts = Rollouts(replace(rules, apply_action=apply_action), np.random.default_rng(0), 1000)
    for _ in range(4 * TRIAL):
        rollouts.play(root)
    assert rollouts.table is not None
    clock[1] = 1  # from now on no new state is like another
    for number in range(2 * TRIAL):
        rollouts.play({**root, "tick": -number})
    assert rollouts.table is None


def test_keys_tell_types_and_values_apart() -> None:
    states: list[State] = [{"a": 1}, {"a": 1.0}, {"a": True}, {"a": [1]}, {"a": "1"}, {"a": None}]
    assert len({canonical(state) for state in states}) == len(states)
    one: list[object] = []
    assert canonical({"a": [], "b": []}) == canonical({"a": one, "b": one})  # type: ignore[dict-item]


def test_the_numbers_used_are_counted_over_blocks() -> None:
    integers = Integers(np.random.default_rng(0))
    assert integers.used == 0
    for _ in range(10_000):
        next(integers.numbers)
    assert integers.used == 10_000
