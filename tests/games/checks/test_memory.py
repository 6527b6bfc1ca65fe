"""A module that remembers what it was asked cannot answer a check out of that memory."""

import pytest

from games.checks.run import CheckSettings, run_checks
from games.checks.sampling import another_order
from games.checks.unit_tests import UnitTest, check_unit_tests
from tests.games.checks.test_checks import SOUND, findings
from tests.games.subjects import subject

REMEMBER = "import json\n_memory = {}\n\ndef _key(*parts):\n    return json.dumps(parts)\n"


def broken(old: str, new: str) -> set[tuple[str, str | None]]:
    assert SOUND.count(old) == 1
    return {(f.check, f.function) for f in findings(REMEMBER + SOUND.replace(old, new))}


def test_a_value_that_depends_on_earlier_calls_is_found_though_repeats_agree() -> None:
    found = broken(
        '    return [{"me": seat, "hand"',
        "    turn = _memory.setdefault(_key(state), len(_memory))\n"
        '    return [{"turn": turn, "me": seat, "hand"',
    )
    assert ("functions", "get_observations") in found


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        ("get_chance_probabilities", "state", "_nudged(len(state['deck']), turn / 10**6)"),
        ("value_function", "state, player_id", "float(turn)"),
    ],
)
def test_an_optional_function_that_depends_on_earlier_calls_is_found(
    function: str, arguments: str, value: str
) -> None:
    more = (
        "\ndef _nudged(n, by):\n    return [1 / n + by, 1 / n - by] + [1 / n] * (n - 2)\n"
        f"\ndef {function}({arguments}):\n"
        f"    turn = _memory.setdefault(_key('{function}', state), len(_memory))\n"
        f"    return {value}\n"
    )
    found = {(f.check, f.function) for f in findings(REMEMBER + SOUND + more)}
    assert ("functions", function) in found


def test_a_start_that_changes_from_load_to_load_is_found() -> None:
    source = "import time\n_LOADED = str(time.perf_counter_ns())\n" + SOUND.replace(
        '"bids": []}', '"bids": [], "loaded": _LOADED}'
    )
    assert ("start", "initial_state") in {(f.check, f.function) for f in findings(source)}


def test_a_leak_is_found_though_exchanged_states_are_answered_from_memory() -> None:
    found = broken(
        '    return [{"me": seat, "hand"',
        "    for seat in range(2):\n"
        '        key = _key(seat, state["hands"][seat], state["bids"], len(state["deck"]))\n'
        '        _memory.setdefault(key, state["hands"][1 - seat])\n'
        '    return [{"all": _memory[_key(seat, state["hands"][seat], state["bids"], '
        'len(state["deck"]))], "me": seat, "hand"',
    )
    assert ("leak_audit", "get_observations") in found


def test_a_dealt_card_is_found_to_be_told_though_other_outcomes_are_told_from_memory() -> None:
    found = broken(
        '    told = [["a card is dealt"], ["a card is dealt"]]',
        '    told = [["%s is dealt" % _memory.setdefault(_key(state), value)]] * 2',
    )
    assert ("leak_audit", "get_events") in found


RESAMPLING = """
def resample_state(history, player_id):
    for state in _memory.values():
        if get_observations(state)[player_id] == history[-1][0]:
            return state
    return initial_state(2)
"""


def test_a_resampler_that_gives_back_the_state_it_was_shown_is_found() -> None:
    source = SOUND.replace(
        "def get_legal_actions(state):",
        "def get_legal_actions(state):\n    _memory[_key(state)] = state",
    )
    found = findings(REMEMBER + source + RESAMPLING)
    assert [(f.check, f.outcome) for f in found] == [("resampling", "failed")]


def test_a_resampler_that_works_from_what_the_seat_saw_passes() -> None:
    source = (
        SOUND
        + """
def resample_state(history, player_id):
    seen = history[-1][0]
    rest = [card for card in ["2", "3", "4", "5"] if card not in seen["hand"]]
    hands = [seen["hand"], rest[:1]] if player_id == 0 else [rest[:1], seen["hand"]]
    return {"hands": hands, "deck": rest[1:], "bids": seen["bids"]}
"""
    )
    outcomes = {f.check: f.outcome for f in run_checks(subject(source, 2), CheckSettings())}
    assert outcomes["resampling"] == "passed"


def test_findings_of_unit_tests_stand_in_the_order_of_the_tests() -> None:
    tests = [
        UnitTest(
            name=f"after {len(actions)}",
            rule=f"R{len(actions)}",
            actions=actions,
            function="get_current_player",
            expected_json=expected,
        )
        for actions, expected in ((("deal 2", "deal 3"), "0"), ((), "-1"), (("deal 2",), "7"))
    ]
    found = check_unit_tests(subject(SOUND, 2), tests)
    assert [(f.rule, f.outcome) for f in found] == [
        ("R2", "passed"),
        ("R0", "passed"),
        ("R1", "failed"),
    ]


@pytest.mark.parametrize("count", [2, 3, 50])
def test_the_second_pass_never_has_the_order_of_the_first(count: int) -> None:
    for seed in range(20):
        order = another_order(count, seed=seed)
        assert sorted(order) == list(range(count)) != order
