"""Benchmark: what does a ply cost in a match whose referee and players have workers of their own?

Tic-tac-toe by `games.engine.play_match`, as every match of a series is played: one message to the
referee's worker a ply, and one to the worker of whoever moves. Two line-ups are taken in turn:
players whose worker does nothing but choose, so that the figure is the arena's own, and greedy
players as `rulewright match` seats them. Workers are started before the clock; `play_series` starts
new ones for every match, which `evals.bench.sandbox_start` tells the price of.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
from pydantic import JsonValue

from agents.players import make_player, parse_spec
from evals.bench.processes import on_one_processor
from evals.bench.sandbox_calls import conditions_of
from evals.bench.timings import Timing, interleaved
from evals.results import EvalError
from games import library
from games.contract import Action, Json
from games.engine import Decision, Player, play_match
from games.information import SeatLog
from tools.sandbox import Sandbox, SandboxTable, Worker

_CHOICE = """
def choose(observation, legal, number):
    return legal[number % len(legal)]
"""
_GAME = "tic_tac_toe"
_BARE = "its two messages alone"
_EXCHANGES = 50
_HEURISTIC = "greedy:heuristic=complete_or_block"


class _Asking:
    """Has a worker of its own choose, from what its seat sees."""

    def __init__(self, sandbox: Sandbox, seat: int) -> None:
        self.worker = sandbox.worker(f"player-{seat}", _CHOICE)
        self.worker.load(_CHOICE)

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        number = int(generator.integers(2**31))
        action = self.worker.call("choose", [log.latest(), list(legal), number])
        return Decision(str(action))

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def arena(sandbox: Sandbox, matches: int, seed: int, rounds: int) -> list[Timing]:
    """Microseconds a ply of tic-tac-toe, with a worker for the referee and one for each seat.

    A value is one match of some eight plies, short enough that most matches meet no other process.
    """
    source = library.source(_GAME)
    asking = [_Asking(sandbox, seat) for seat in range(2)]
    greedy = [
        make_player(
            parse_spec(_HEURISTIC),
            seat=seat,
            num_players=2,
            parameters={},
            source=source,
            sandbox=sandbox,
            heuristics=library.heuristic_sources(_GAME),
        )
        for seat in range(2)
    ]
    seated: dict[str, Sequence[Player]] = {"players that ask": asking, "greedy players": greedy}
    taken: dict[str, list[float]] = {
        key: [] for key in (*seated, "players that ask, on one processor")
    }
    try:
        with sandbox.worker("referee", source) as referee:
            referee.load(source)
            table = SandboxTable(referee)
            measures = {
                key: _round(table, players, matches, seed, taken[key])
                for key, players in seated.items()
            }
            interleaved(measures, rounds)
            held = _round(table, asking, matches, seed, taken["players that ask, on one processor"])
            with on_one_processor():
                interleaved({"held": held}, rounds)
            bare = _messages(referee, table, asking[0], taken.setdefault(_BARE, []))
            interleaved({_BARE: bare}, rounds)
    finally:
        for player in (*asking, *greedy):
            player.close()
    conditions: dict[str, JsonValue] = {
        **conditions_of(sandbox),
        "path": "play_match, workers started before the clock; or a ply's two messages alone",
        "workers": 3,
        "a_value_is": "one match",
        "matches": matches,
    }
    return [
        Timing(f"tic-tac-toe arena, {key}, us a ply", tuple(values), conditions)
        for key, values in taken.items()
    ]


def _messages(
    referee: Worker, table: SandboxTable, player: _Asking, taken: list[float]
) -> Callable[[], float]:
    """A round of a ply's two messages alone, without the match around them."""
    start = table.open(2, {})
    action, legal = start.legal[0], list(start.legal)
    payload: dict[str, Json] = {"state": start.state, "action": action}
    asked: list[Json] = [start.observations[0], [*legal], 0]

    def exchange() -> float:
        for _ in range(_EXCHANGES):
            begun = time.perf_counter()
            player.worker.call("choose", asked)
            referee.request("advance", payload, referee.limits.call_s)
            taken.append((time.perf_counter() - begun) * 1e6)
        return 0.0

    return exchange


def _round(
    table: SandboxTable,
    players: Sequence[Player],
    matches: int,
    seed: int,
    taken: list[float],
) -> Callable[[], float]:
    """A round of matches; each adds its microseconds a ply to `taken`."""

    def play() -> float:
        for index in range(matches):
            begun = time.perf_counter()
            match = play_match(table, players, parameters={}, seed=seed, match=index)
            spent = time.perf_counter() - begun
            if match.ending != "finished":
                raise EvalError(f"a match of the arena did not finish: {match.reason}")
            taken.append(spent * 1e6 / len(match.plies))
        return 0.0

    return play
