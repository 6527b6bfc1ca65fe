"""Benchmark of the sandbox in play: transitions, a match whose seats have workers, the copier.

*Transitions*: recorded plies of random matches, asked in forward order, one `apply_action` a
message of a fresh worker, each answer compared strictly on the host. The whole replay that the
checks make (rewards, observations, legal actions and events too) is shown beside it.

*Arena*: tic-tac-toe by `games.engine.play_match`, as every match of a series is played: one message
to the referee's worker a ply, and one to the worker of whoever moves. Two line-ups are taken in
turn: players whose worker does nothing but choose, so that the figure is the arena's own, and
greedy players as `rulewright match` seats them. Workers are started before the clock; a series
starts new ones for every match, and a warm worker's figure tells the price of that.

*Copier*: random playouts of library games whose `apply_action` first copies the state by
`copy.deepcopy`, as generated modules do. A call with a memo of its own is the original's by the
copier's contract, so one worker plays with `deepcopy(state)`, the other with `deepcopy(state, {})`.
Wall time, in turn.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial

import numpy as np
from numpy.random import Generator

from agents.players.registry import SeatedPlayer, make_player, parse_spec
from agents.players.specs import Seating
from evals.bench.plain import PlainProcess, beside_plain
from evals.bench.timings import Timing, interleaved, on_one_processor, seconds
from evals.results import EvalError, Row, read_data
from games import library
from games.checks.sampling import random_matches, trusted_subject
from games.engine import Decision, Player, play_match
from games.information import SeatLog
from games.trajectories import Transition, open_deck
from games.values import Action, Json, same_value
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox, SandboxTable, Worker
from tools.transitions import replay_transitions

PLAYOUTS: str = read_data("data/sources.yaml")["playouts"]

_CHOICE: str = read_data("data/sources.yaml")["choice"]
_CALL_S = 60.0
_GAME = "tic_tac_toe"
_ASK, _GREEDY, _HELD = "players that ask", "greedy players", ", on one processor"
_BARE = "its two messages alone"
_PLAIN = "plain"
_PLY: str = read_data("data/sources.yaml")["plain_ply"]
_EXCHANGES = 50
_HEURISTIC = "greedy:heuristic=complete_or_block"
_COPYING: str = read_data("data/sources.yaml")["copying"]
_GAMES = {"tic_tac_toe": 600, "trick_taking": 8, "rummy": 6}


def conditions_of(sandbox: Sandbox) -> Row:
    """The grade that a timing was taken under."""
    return {"grade": sandbox.grade.name, "layers": list(sandbox.grade.layers)}


def recorded_plies(count: int, seed: int) -> list[list[Transition]]:
    """Random matches of tic-tac-toe, played here: exactly `count` transitions."""
    subject = trusted_subject(library.source(_GAME), 2)
    kept: list[list[Transition]] = []
    for match in random_matches(subject, matches=count // 5 + 1, seed=seed, max_plies=9):
        kept.append(open_deck(match)[: count - sum(map(len, kept))])
        if sum(map(len, kept)) == count:
            break
    return kept


def transitions(sandbox: Sandbox, count: int, seed: int, rounds: int) -> list[Timing]:
    """Milliseconds of a thousand transitions, one call at a time; and of the checks' replay.

    Raises:
        EvalError: If a transition does not come out as recorded.
    """
    source = library.source(_GAME)
    matches = recorded_plies(count, seed)

    def one_at_a_time() -> list[float]:
        with sandbox.loaded("transitions", source) as worker:
            return _each(matches, lambda function, values: worker.call(function, values))

    def plainly() -> list[float]:
        with PlainProcess(source) as process:
            process.ask("get_legal_actions", [matches[0][0].state])  # it has started
            return _each(matches, process.ask)

    def replay() -> float:
        begun = time.perf_counter()
        if not replay_transitions(sandbox, source, matches).passed:
            raise EvalError("the replay of a module's own transitions did not pass")
        return (time.perf_counter() - begun) * 1e6 / count

    measures: dict[str, Callable[[], float | list[float]]] = {
        "one": one_at_a_time,
        "plain": plainly,
        "whole": replay,
    }
    found = interleaved(measures, rounds)
    conditions = {**conditions_of(sandbox), "transitions": count}
    scaled = {**conditions, "a_value_is": "one match's transitions, scaled"}
    name = "1,000 transitions, one call at a time"
    return [
        Timing(f"{name}, ms", found["one"], scaled),
        beside_plain(name, found["one"], found["plain"], scaled),
        Timing("1,000 transitions, the checks' whole replay, ms", found["whole"], conditions),
    ]


def _each(
    matches: Sequence[Sequence[Transition]], ask: Callable[[str, list[Json]], Json]
) -> list[float]:
    """Milliseconds of a thousand transitions, as each match has them."""
    return [seconds(partial(_ask, ask, match)) * 1e6 / len(match) for match in matches]


def _ask(ask: Callable[[str, list[Json]], Json], match: Sequence[Transition]) -> None:
    for step in match:
        answer = ask("apply_action", [step.state, step.action])
        if not same_value(answer, step.next_state):
            raise EvalError(f"a transition came out wrong: {answer!r:.200}")


class _Asking:
    """Has a worker of its own choose, from what its seat sees."""

    def __init__(self, sandbox: Sandbox, seat: int) -> None:
        self.worker = sandbox.worker(f"player-{seat}", _CHOICE)
        self.worker.load(_CHOICE)

    def choose(self, log: SeatLog, legal: Sequence[Action], generator: Generator) -> Decision:
        """See `games.engine.Player.choose`."""
        number = int(generator.integers(2**31))
        action = self.worker.call("choose", [log.latest(), list(legal), number])
        return Decision(str(action))

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()


def arena_rate(sandbox: Sandbox, matches: int, seed: int, rounds: int) -> list[Timing]:
    """Microseconds a ply of tic-tac-toe, with a worker for the referee and one for each seat.

    A value is one match of some eight plies, short enough that most matches meet no other process.
    """
    source = library.source(_GAME)
    with contextlib.ExitStack() as stack:
        referee = stack.enter_context(sandbox.loaded("referee", source))
        table = SandboxTable(referee)
        asking = [stack.enter_context(closing(_Asking(sandbox, seat))) for seat in range(2)]
        greedy = [stack.enter_context(closing(_greedy(sandbox, seat))) for seat in range(2)]
        seated: dict[str, Sequence[Player]] = {_ASK: asking, _GREEDY: greedy}
        measures: dict[str, Callable[[], list[float]]] = {
            key: partial(_round, table, players, matches, seed) for key, players in seated.items()
        }
        plain, chooser = (
            stack.enter_context(PlainProcess(text)) for text in (source + _PLY, _CHOICE)
        )
        measures[_PLAIN] = partial(_plain_round, plain, chooser, matches, seed)
        measures[_PLAIN]()  # they have started
        taken = interleaved(measures, rounds)
        with on_one_processor():
            taken |= interleaved({f"{_ASK}{_HELD}": measures[_ASK]}, rounds)
        taken |= interleaved({_BARE: partial(_messages, referee, table, asking[0])}, rounds)
    conditions: Row = {
        **conditions_of(sandbox),
        "path": "play_match, workers started before the clock; or a ply's two messages alone",
        "workers": 3,
        "a_value_is": "one match",
        "matches": matches,
    }
    name = "tic-tac-toe arena, "
    beside = beside_plain(f"{name}{_ASK}", taken[_ASK], taken.pop(_PLAIN), conditions)
    return [
        *(Timing(f"{name}{key}, us a ply", values, conditions) for key, values in taken.items()),
        beside,
    ]


def _plain_round(
    referee: PlainProcess, chooser: PlainProcess, matches: int, seed: int
) -> list[float]:
    """Microseconds a ply of each of some matches between plain processes, of which one chooses."""
    generator, taken = np.random.default_rng(seed), list[float]()
    for _ in range(matches):
        begun, plies, position = time.perf_counter(), 0, referee.ask("ply", [None, ""])
        while True:
            match position:
                case [state, int(player), [*legal], _, [[*seen], _]] if legal:
                    asked: list[Json] = [seen[player], legal, int(generator.integers(2**31))]
                    position = referee.ask("ply", [state, chooser.ask("choose", asked)])
                    plies += 1
                case _:
                    break
        taken.append((time.perf_counter() - begun) * 1e6 / plies)
    return taken


def _greedy(sandbox: Sandbox, seat: int) -> SeatedPlayer:
    heuristics = library.heuristic_sources(_GAME)
    game = GameSetup(_GAME, library.source(_GAME), 2, heuristics=heuristics)
    return make_player(parse_spec(_HEURISTIC), Seating(seat, game, sandbox))


def _messages(referee: Worker, table: SandboxTable, player: _Asking) -> list[float]:
    """Microseconds of a ply's two messages alone, without the match around them."""
    start = table.open(2, {})
    payload: dict[str, Json] = {"state": start.state, "action": start.legal[0]}
    asked: list[Json] = [start.observations[0], [*start.legal], 0]
    taken = []
    for _ in range(_EXCHANGES):
        begun = time.perf_counter()
        player.worker.call("choose", asked)
        referee.request("advance", payload, referee.limits.call_s)
        taken.append((time.perf_counter() - begun) * 1e6)
    return taken


def _round(table: SandboxTable, players: Sequence[Player], matches: int, seed: int) -> list[float]:
    """Microseconds a ply of each of some matches."""
    taken = []
    for index in range(matches):
        begun = time.perf_counter()
        match = play_match(table, players, parameters={}, seed=seed, match=index)
        spent = time.perf_counter() - begun
        if match.ending != "finished":
            raise EvalError(f"a match of the arena did not finish: {match.reason}")
        taken.append(spent * 1e6 / len(match.plies))
    return taken


def copier_gains(sandbox: Sandbox, rounds: int) -> list[Timing]:
    """The gain of the fast copier: playouts for each playout of the original, game by game."""
    return [_gain(sandbox, game, matches, rounds) for game, matches in _GAMES.items()]


def _gain(sandbox: Sandbox, game: str, matches: int, rounds: int) -> Timing:
    plies: set[object] = set()

    def play(worker: Worker) -> None:
        plies.add(worker.call("work", [matches], deadline_s=_CALL_S))

    with contextlib.ExitStack() as stack:
        measures: Mapping[str, Callable[[], float]] = {
            name: partial(
                seconds, partial(play, stack.enter_context(_copying(sandbox, game, memo)))
            )
            for name, memo in (("fast", ""), ("original", ", {}"))
        }
        found = interleaved(measures, rounds)
    if len(plies) != 1:
        raise EvalError(f"the two copiers played different matches of {game}: {plies} plies")
    return Timing(
        f"playouts with the fast copier, {game}, times the original's",
        tuple(slow / fast for fast, slow in zip(*found.values(), strict=True)),
        conditions_of(sandbox),
    )


def _copying(sandbox: Sandbox, game: str, memo: str) -> Worker:
    source = library.source(game) + _COPYING.format(memo=memo) + PLAYOUTS
    worker = sandbox.worker("playouts", source)
    worker.load(source)
    return worker
