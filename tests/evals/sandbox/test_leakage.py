"""What a referee's module writes in another way reaches a player in one; no seed can be tried."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from evals.sandbox.judging import CHEATS, MOST_UNASKED_S, clocks_that_tell, unasked_seconds
from games.engine import Decision, play_match
from games.information import SeatLog, entry_rows
from games.modules import load_namespace
from games.streams import match_words, stream
from games.table import Position
from tools.guest.framing import encode
from tools.sandbox import Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend


@pytest.fixture(scope="module")
def strong() -> Iterator[Sandbox]:
    with Sandbox(LinuxBackend()) as sandbox:
        yield sandbox


def channel(name: str) -> dict[str, Any]:
    """What a channel defines."""
    return load_namespace(CHEATS[name])


@pytest.mark.parametrize("name", ["key_order", "numbers"])
def test_one_observation_is_one_log_however_it_is_written(name: str) -> None:
    seen = {"card": "A", "guesses": [], "one": 1}
    told = [channel(name)["_told"](seen, secret) for secret in range(4)]
    logs = [SeatLog(0) for _ in told]
    for log, one in zip(logs, told, strict=True):
        log.see(one, [])
    assert len({encode(one) for one in told}) == 4
    assert len({encode([*entry_rows(log.entries)]) for log in logs}) == 1


def test_values_that_differ_stay_apart() -> None:
    logs = []
    for value in (1, True, "1", 1.5, None, [1], {"a": 1}, 10**17, 1e17, "\u00e9", "e\u0301"):
        logs.append(SeatLog(0))
        logs[-1].see({"x": value}, [])  # type: ignore[dict-item]
    assert len({encode([*entry_rows(log.entries)]) for log in logs}) == len(logs)


class _Guesses:
    def __init__(self) -> None:
        self.met: list[list[str]] = []

    def choose(self, log: SeatLog, legal: list[str], generator: np.random.Generator) -> Decision:
        del log, generator
        self.met.append(list(legal))
        return Decision(legal[0])


class _Table:
    def __init__(self, legal: list[str]) -> None:
        self.legal = legal

    def open(self, num_players: int, parameters: object) -> Position:
        del parameters
        return Position({}, 0, tuple(self.legal), (), (0.0,), ({},) * num_players, ((),))

    def advance(self, position: Position, action: str) -> Position:
        del action
        return Position({}, -4, (), (), (1.0,), position.observations, ((),))


def test_the_order_of_actions_tells_a_player_nothing_and_choosing_by_name_goes_on() -> None:
    player = _Guesses()
    legal = ["guess A", "guess B", "guess C"]
    for order in permutations(legal):
        match = play_match(_Table([*order]), [player], parameters={}, seed=0)  # type: ignore[list-item]
        assert match.plies[0].action == "guess A"
    assert player.met == [legal] * 6
    assert channel("action_order")["_offered"](legal, 1) != legal


def test_a_worker_takes_no_processor_time_after_its_answers(strong: Sandbox) -> None:
    assert unasked_seconds(strong) <= MOST_UNASKED_S


def test_the_words_of_a_stream_tell_neither_seed_nor_other_places() -> None:
    words = {match_words(stream(7, *place)) for place in (("player",), ("chance",))}
    words |= {match_words(stream(7, "player", seat=1)), match_words(stream(7, "player", match=1))}
    assert len(words) == 4
    assert all(7 not in found for found in words)


def test_no_clock_tells_when_another_worker_answered(strong: Sandbox) -> None:
    assert clocks_that_tell(strong) == []
    with Sandbox(ProcessBackend()) as unconfined:  # where all but processor time tell it
        assert len(clocks_that_tell(unconfined)) == 5
