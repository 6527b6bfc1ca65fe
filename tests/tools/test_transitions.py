"""Recorded transitions are asked again so that only a module that keeps the rules agrees."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from games import library
from games.checks.sampling import random_matches, trusted_subject
from games.trajectories import Transition, open_deck
from games.values import Json, ModuleFault, as_numbers, canonical_key, same_value
from tests.games.checks.test_checks import SOUND
from tools.sandbox import Sandbox
from tools.transitions import (
    RecordedCall,
    Replay,
    ReplayProtocol,
    hidden_yet,
    replay_transitions,
    require_hidden,
)

PROTOCOLS: tuple[ReplayProtocol, ...] = ("forward", "columns")
Trajectories = Sequence[Sequence[Transition]]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


def recorded(source: str, players: int = 2, matches: int = 8) -> Trajectories:
    subject = trusted_subject(source, players)
    played = random_matches(subject, matches=matches, seed=1, max_plies=500)
    return [open_deck(match) for match in played]


HIGH_CARD = recorded(SOUND)
TIC_TAC_TOE = recorded(library.source("tic_tac_toe"))


def broken(old: str, new: str) -> str:
    assert SOUND.count(old) == 1
    return SOUND.replace(old, new)


def asked(sandbox: Sandbox, source: str, protocol: ReplayProtocol = "columns") -> Replay:
    return replay_transitions(sandbox, source, HIGH_CARD, protocol=protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["tic_tac_toe", "leduc_poker", "go_fish"])
def test_a_game_agrees_with_its_own_matches(
    sandbox: Sandbox, name: str, protocol: ReplayProtocol
) -> None:
    source = library.source(name)
    trajectories = recorded(source, library.preset(name).players)
    distinct = {
        json.dumps([step.state, step.action], sort_keys=True)
        for trajectory in trajectories
        for step in trajectory
    }
    found = replay_transitions(sandbox, source, trajectories, protocol=protocol)
    assert found.passed
    assert found.agreed == found.transitions == len(distinct)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("apply_action", '"bids": state["bids"] + [int(value)]', '"bids": state["bids"] + [3]'),
        ("get_rewards", "total = float(sum(", "total = 1.0 + float(sum("),
        ("get_legal_actions", '["bid 1", "bid 2"]', '["bid 2", "bid 1"]'),
        ("get_current_player", 'return len(state["bids"])', 'return 1 - len(state["bids"])'),
        ("get_observations", '"bids": state["bids"],', '"bids": [],'),
        ("get_events", '["bid of " + value], [', '["a bid"], ['),
    ],
)
def test_a_wrong_function_is_named(
    sandbox: Sandbox, function: str, old: str, new: str, protocol: ReplayProtocol
) -> None:
    found = asked(sandbox, broken(old, new), protocol)
    assert not found.passed
    assert found.agreed < found.transitions
    assert function in {difference.function for difference in found.differences}


@pytest.mark.parametrize(
    ("value", "same"),
    [("[1]", True), ("[True]", False), ("[1.0]", False), ("(1,)", False), ("[1, ]", True),
     ("[float('nan')]", False), ("{0: 1}", False), ("{1}", False), ("'[1]'", False)],
)  # fmt: skip
def test_a_state_is_compared_with_strict_types(sandbox: Sandbox, value: str, same: bool) -> None:
    source = broken('"bids": []}', '"bids": [], "mark": [1]}')
    lying = source.replace('return {**state, "bids"', f'return {{**state, "mark": {value}, "bids"')
    assert lying != source
    found = replay_transitions(sandbox, lying, recorded(source), protocol="columns")
    assert found.passed is same


def test_answers_that_are_too_long_for_one_reply_are_compared_all_the_same(
    sandbox: Sandbox,
) -> None:
    """A reply has at most 8 MiB; each of these states and observations has one."""
    source = broken('"bids": []}', '"bids": [], "pad": "x" * 2**20}')
    source = source.replace('"bids": state["bids"],', '"bids": state["bids"], "pad": "x" * 2**20,')
    found = replay_transitions(sandbox, source, recorded(source)[:4], protocol="columns")
    assert found.passed
    assert found.agreed == found.transitions > 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (True, 1, False),
        (1, 1.0, False),
        (None, False, False),
        ("1", 1, False),
        ([], {}, False),
    ],
)
def test_values_are_the_same_only_with_their_types(one: Json, other: Json, same: bool) -> None:
    assert same_value(one, other) is same


@pytest.mark.parametrize("value", [(1,), {1: 2}, {1}, float("nan"), float("inf")])
def test_what_is_no_contract_json_is_no_value_on_either_side(value: Json) -> None:
    for pair in ((value, [1]), ([1], value)):
        with pytest.raises(ModuleFault, match="required"):
            same_value(*pair)


def test_rewards_are_numbers_however_written_and_a_bool_is_none() -> None:
    assert same_value(as_numbers([1, 0]), as_numbers([1.0, -0.0]))
    assert not same_value(as_numbers([True]), as_numbers([1.0]))


# Every string, list and dict that a module can find: frames of the runner, what the collector
# tracks, the loaded modules; printed at every call, with the number of the call.
SPY = """
import inspect
import re

_sys = inspect.sys

def _everything():
    todo, frame = [], inspect.currentframe().f_back
    while frame is not None:
        todo += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    collector = _sys.modules.get("gc")
    if collector is not None:
        collector.unfreeze()
        todo += collector.get_objects()
    seen = set()
    while todo:
        value = todo.pop()
        if isinstance(value, bytes | bytearray):
            yield value.decode("utf-8", "replace")
        elif isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple, set, frozenset, dict)) and id(value) not in seen:
            seen.add(id(value))
            todo += [*value, *value.values()] if isinstance(value, dict) else list(value)

def apply_action(state, action):
    marks = [int(mark) for text in _everything() for mark in re.findall("MARK-([0-9]+)", text)]
    print("SEEN", state["step"], max(marks))
    return {"step": state["step"] + 1, "mark": "unknown"}
"""


def marked(length: int) -> list[Transition]:
    """States that carry an own mark each: whoever knows a mark has seen its state."""
    states: list[dict[str, Json]] = [{"step": n, "mark": f"MARK-{n}"} for n in range(length + 1)]
    return [
        Transition(states[n], 0, ("go",), "go", states[n + 1], (0.0,), {"said": "nothing"})
        for n in range(length)
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_expected_value_can_be_found_in_the_worker(protocol: ReplayProtocol) -> None:
    printed: list[str] = []

    class Listening(Sandbox):
        def _forget(self, worker: object) -> None:
            printed.append(getattr(worker, "output", ""))
            super()._forget(worker)  # type: ignore[arg-type]

    trajectory = marked(12)
    with Listening() as sandbox:
        found = replay_transitions(sandbox, SPY, [trajectory], protocol=protocol)
    seen = [line.split()[1:] for line in "".join(printed).splitlines() if line.startswith("SEEN")]
    assert [(int(step), int(mark)) for step, mark in seen] == [(n, n) for n in range(12)]
    assert found.agreed == 0


# A module that is always wrong, unless it can find the answer: it looks for a state with one more
# step among everything it was ever sent, in this call, in this message and in earlier ones.
FORGER = """
import inspect

_sys, _met = inspect.sys, []

def _everything():
    frame = inspect.currentframe()
    while frame is not None:
        yield from list(frame.f_locals.values())
        frame = frame.f_back
    yield from _met
    collector = _sys.modules.get("gc")
    if collector is not None:
        yield from collector.get_objects()

def _looks(value, state):
    return (isinstance(value, dict) and isinstance(value.get("board"), list)
            and value is not state
            and sum(a != b for a, b in zip(value["board"], state["board"])) == 1
            and sum(map(bool, value["board"])) == sum(map(bool, state["board"])) + 1)

def apply_action(state, action):
    for value in _everything():
        if _looks(value, state):
            return dict(value)
    return {"board": "wrong"}

def get_current_player(state):
    _met.append(state)
    return -1

def _silent(*arguments):
    return []

get_legal_actions = get_observations = get_rewards = get_events = _silent
"""


def boards() -> list[dict[str, Json]]:
    """A full board, filled place by place."""
    filled = [[0] * 9]
    for place in (4, 0, 8, 2, 6, 3, 5, 1, 7):
        filled.append([*filled[-1]])
        filled[-1][place] = 1 + len(filled) % 2
    return [{"board": [*board]} for board in filled]


def test_the_hunt_succeeds_where_a_trajectory_is_sent_at_once(sandbox: Sandbox) -> None:
    states = boards()
    calls: list[Json] = [["apply_action", [state, "go"]] for state in states[:-1]]
    with sandbox.worker("control", FORGER) as worker:
        worker.load(FORGER)
        reply = worker.request("columns", {"calls": calls}, 5)
        keyed = worker.request("columns", {"calls": calls, "keyed": True}, 5)
    assert isinstance(reply, list)
    assert isinstance(keyed, list)
    assert reply[:-1] == [{"value": state} for state in states[1:-1]]
    keys = [canonical_key(dict(state)) for state in states[1:-1]]
    assert keyed[:-1] == [{"key": key, "text": key} for key in keys]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_module_that_hunts_for_its_successor_finds_none(
    sandbox: Sandbox, protocol: ReplayProtocol
) -> None:
    states = boards()
    whole = [Transition(one, -1, (), "go", two, (), None) for one, two in pairwise(states)]
    # The same positions met a step later in another trajectory: what one shows the other asks.
    early = Transition({"board": ["start"]}, -1, (), "go", states[0], (), None)
    found = replay_transitions(sandbox, FORGER, [whole, [early, *whole]], protocol=protocol)
    assert (found.agreed, found.transitions) == (0, 10)
    assert {difference.function for difference in found.differences} == {"apply_action"}


ROUND = """
def apply_action(state, action):
    return {"at": (state["at"] + 1) % 3}

def get_current_player(state):
    return 0

def get_legal_actions(state):
    return ["go"]

def get_observations(state):
    return [state]

def get_rewards(state):
    return [0]
"""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_position_that_comes_back_is_asked_of_another_worker(
    sandbox: Sandbox, protocol: ReplayProtocol
) -> None:
    spots: list[dict[str, Json]] = [{"at": n % 3} for n in range(8)]
    steps = [
        Transition(spots[n], 0, ("go",), "go", spots[n + 1], (0.0,), spots[n]) for n in range(7)
    ]
    found = replay_transitions(sandbox, ROUND, [steps], protocol=protocol)
    assert found.passed
    assert (found.transitions, found.workers) == (3, 2)


def question(state: int, successor: int) -> RecordedCall:
    here, following = f'{{"at":{state}}}', f'{{"at":{successor}}}'
    return RecordedCall("apply_action", ({"at": state}, "go"), None, "place", here, following)


def test_a_message_never_holds_the_successor_of_one_of_its_calls() -> None:
    chain = [question(n, n + 1) for n in (3, 0, 2, 1)]
    now, later = hidden_yet(chain, set())
    assert [q.arguments[0] for q in now] == [{"at": 3}, {"at": 0}, {"at": 1}][:2]
    assert len(later) == 2
    require_hidden(now, {q.shows for q in now})
    with pytest.raises(AssertionError, match="has been shown what it is asked"):
        require_hidden(chain, {q.shows for q in chain})


def test_records_that_contradict_each_other_never_pass(sandbox: Sandbox) -> None:
    (first, *rest) = TIC_TAC_TOE[0]
    other = replace(first, next_state={**first.next_state, "more": 1})
    source = library.source("tic_tac_toe")
    found = replay_transitions(sandbox, source, [[first, *rest], [other]])
    assert found.agreed == found.transitions - 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_worker_that_dies_leaves_the_rest_unconfirmed(
    sandbox: Sandbox, protocol: ReplayProtocol
) -> None:
    dying = broken('    word, value = action.split()\n    if word == "bid":\n        return {**',
                   '    word, value = action.split()\n    if word == "bid":\n'
                   '        while True: globals().setdefault("x", []).append("x" * 10**8)\n'
                   '        return {**')  # fmt: skip
    found = asked(sandbox, dying, protocol)
    assert not found.passed
    assert 0 < found.agreed < found.transitions
    assert found.differences[0].evidence.startswith("failed at trajectory")


def test_a_replay_of_nothing_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="a replay of nothing proves nothing"):
        replay_transitions(sandbox, SOUND, [[], []])


def test_a_trajectory_that_does_not_hang_together_is_refused(sandbox: Sandbox) -> None:
    first, second, third, *_ = TIC_TAC_TOE[0]
    with pytest.raises(ValueError, match="trajectory 0: step 1 does not begin where step 0 ends"):
        replay_transitions(sandbox, SOUND, [[first, third, second]])


def test_a_replay_ends_at_its_deadline(sandbox: Sandbox) -> None:
    slow = "import time\n" + broken(
        '    word, value = action.split()\n    if word == "bid":\n        return {**',
        "    until = time.process_time() + 0.3\n    while time.process_time() < until: pass\n"
        '    word, value = action.split()\n    if word == "bid":\n'
        "        return {**",
    )
    with pytest.raises(ModuleFault, match=r"within 0\.5 s in all"):
        replay_transitions(sandbox, slow, HIGH_CARD, deadline_s=0.5)


def test_a_source_that_does_not_load_is_the_modules_fault(sandbox: Sandbox) -> None:
    with pytest.raises(ModuleFault, match="unreadable"):
        replay_transitions(sandbox, "x = (", HIGH_CARD)
