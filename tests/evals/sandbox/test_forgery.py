"""Modules that are always wrong pass no check; each trick is shown to fool a judge that trusts."""

import ast
from collections.abc import Iterator

import pytest

from evals.sandbox.forgery import (
    GAMES,
    TRANSITIONS,
    Trick,
    forge_checks,
    forge_transitions,
    recorded,
    spoiled,
    tricks,
)
from games import library
from games.values import Json, ModuleFault
from tests.evals.sandbox.judges import FOOLED
from tools.sandbox import Sandbox, Worker
from tools.transitions import ReplayProtocol, replay_transitions

NAMES = [trick.name for trick in tricks()]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.mark.parametrize(
    ("game", "protocol"),
    [(GAMES[0], "forward"), (GAMES[0], "columns"), (GAMES[1], "columns")],
)
@pytest.mark.parametrize("trick", tricks(), ids=NAMES)
def test_no_transition_is_forged(
    sandbox: Sandbox, trick: Trick, game: str, protocol: ReplayProtocol
) -> None:
    outcome = forge_transitions(trick, sandbox, game, protocol)
    assert outcome.judged >= TRANSITIONS
    assert outcome.passed == 0


@pytest.mark.parametrize("trick", tricks(), ids=NAMES)
def test_no_other_check_is_forged(sandbox: Sandbox, trick: Trick) -> None:
    outcome = forge_checks(trick, sandbox)
    assert outcome.judged > 16
    assert outcome.passed == 0


def _call_twice(worker: Worker, function: str, arguments: list[Json]) -> None:
    """The first bytes may be read before the rest is sent: then the next request finds it."""
    worker.call(function, arguments)
    worker.call(function, arguments)


@pytest.mark.parametrize("trick", tricks(), ids=NAMES)
def test_a_judge_that_trusts_is_fooled(sandbox: Sandbox, trick: Trick) -> None:
    if trick.name not in FOOLED:
        assert trick.name == "poisoned_next_reply"  # its harm needs a host that guesses numbers
        step = recorded(GAMES[0])[0][0]
        with sandbox.worker("naive") as worker:
            worker.load(spoiled(GAMES[0], trick))
            with pytest.raises(ModuleFault, match="one reply|nobody asked|another request"):
                _call_twice(worker, "apply_action", [step.state, step.action])
        return
    assert FOOLED[trick.name](trick, sandbox) > 0


@pytest.mark.parametrize("game", GAMES)
def test_the_unspoiled_game_passes_every_transition(sandbox: Sandbox, game: str) -> None:
    replay = replay_transitions(sandbox, library.source(game), recorded(game))
    assert replay.passed


@pytest.mark.parametrize("game", GAMES)
def test_a_spoiled_game_fails_by_its_successors_alone(sandbox: Sandbox, game: str) -> None:
    overlay = 'def apply_action(state, action):\n    return {**state, "forged": True}\n'
    replay = replay_transitions(sandbox, f"{library.source(game)}\n\n{overlay}", recorded(game))
    assert {difference.function for difference in replay.differences} == {"apply_action"}
    assert replay.agreed == 0


def test_there_are_at_least_14_tricks_each_with_its_property() -> None:
    properties = {trick.holds for trick in tricks()}
    assert len(properties) == len(tricks()) >= 14
    assert all(text.endswith(".") for text in properties)


def test_a_trick_takes_the_place_of_no_function_but_apply_action() -> None:
    for game in GAMES:
        theirs = _defined(library.source(game))
        for trick in tricks():
            assert _defined(trick.source) & theirs <= {"apply_action"}, trick.name


def _defined(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
