"""Benchmark: what does a question to a worker cost, alone and in a replay?

*Round trip*: `Worker.request("ping")` with a payload that comes back, a game state in kind (lists
of card names) and of an exact size in bytes of JSON. Workers with and without namespaces are asked
in turn, in blocks, wherever the scheduler puts them; then once more with everything held to one
processor, which spares the waking of another.

*Transitions*: recorded plies of random matches, asked in forward order, one `apply_action` a
message of a fresh worker, each answer compared strictly on the host. The whole replay that the
checks make (rewards, observations, legal actions and events too) is shown beside it.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from pydantic import JsonValue

from evals.bench.processes import on_one_processor
from evals.bench.timings import Timing, interleaved, seconds
from evals.results import EvalError
from games import library
from games.checks.comparing import same_value
from games.contract import Action, Game, LocalModule
from games.engine import Decision, play_match
from games.information import SeatLog
from games.table import GameTable
from games.trajectories import Transition, open_deck
from tools.guest.framing import encode
from tools.sandbox import Sandbox, Worker
from tools.transitions import replay_transitions

_BLOCK = 25
_BLOCKS_A_WORKER = 4
_GAME = "tic_tac_toe"


def payload(size: int) -> dict[str, JsonValue]:
    """A payload like a card game's state, `size` bytes long as JSON.

    Raises:
        ValueError: If `size` is under 32.
    """
    if size < 32:  # noqa: PLR2004
        raise ValueError(f"a payload of {size} bytes holds no state; required: at least 32")
    cards = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
    hands: list[JsonValue] = []
    made: dict[str, JsonValue] = {"turn": 0, "hands": hands, "pad": ""}
    while len(encode(made)) + 40 < size:
        start = 7 * len(hands) % 52
        hands.append([*cards[start : start + 6]])
    made["pad"] = "x" * (size - len(encode(made)))
    return made


def round_trips(
    sandboxes: Mapping[str, Sandbox], sizes: Sequence[int], rounds: int
) -> list[Timing]:
    """Microseconds of one question and its answer, for every payload size and sandbox."""
    timings = []
    for size in sizes:
        free = _asked(sandboxes, size, rounds)
        with on_one_processor():
            held = _asked(sandboxes, size, rounds)
        for found, where in ((free, ""), (held, " on one processor")):
            timings += [
                Timing(
                    f"round trip of {size} B {key}{where}, us",
                    tuple(values),
                    {**conditions_of(sandboxes[key]), "payload_bytes": size},
                )
                for key, values in found.items()
            ]
    return timings


def _asked(sandboxes: Mapping[str, Sandbox], size: int, rounds: int) -> dict[str, list[float]]:
    """Round trips of fresh workers, again and again: a worker mostly stays where it was put."""
    taken: dict[str, list[float]] = {key: [] for key in sandboxes}
    asked = payload(size)
    for _ in range(max(rounds // _BLOCKS_A_WORKER, 1)):
        with contextlib.ExitStack() as stack:
            blocks = {}
            for key, sandbox in sandboxes.items():
                worker = stack.enter_context(sandbox.worker("round trip", ""))
                worker.request("ping", asked, 5)
                blocks[key] = _block(worker, asked, taken[key])
            interleaved(blocks, min(rounds, _BLOCKS_A_WORKER))
    return taken


def _block(
    worker: Worker, asked: Mapping[str, JsonValue], taken: list[float]
) -> Callable[[], float]:
    def block() -> float:
        taken.extend(seconds(lambda: worker.request("ping", asked, 5)) * 1e6 for _ in range(_BLOCK))
        return 0.0

    return block


def recorded(count: int, seed: int) -> list[list[Transition]]:
    """Random matches of tic-tac-toe, played here: exactly `count` transitions."""
    table = GameTable(Game(LocalModule(library.source(_GAME))))
    matches: list[list[Transition]] = []
    left = count
    while left:
        players = [_Local(), _Local()]
        match = play_match(table, players, parameters={}, seed=seed, match=len(matches))
        matches.append(open_deck(match)[:left])
        left -= len(matches[-1])
    return matches


def transitions(sandbox: Sandbox, count: int, seed: int, rounds: int) -> list[Timing]:
    """Milliseconds of a thousand transitions, one call at a time; and of the checks' replay.

    Raises:
        EvalError: If a transition does not come out as recorded.
    """
    source = library.source(_GAME)
    matches = recorded(count, seed)

    forward: list[float] = []
    whole: list[float] = []

    def one_at_a_time() -> float:
        with sandbox.worker("transitions", source) as worker:
            worker.load(source)
            for match in matches:
                forward.append(seconds(partial(_ask, worker, match)) * 1e6 / len(match))
        return 0.0

    def replay() -> float:
        begun = time.perf_counter()
        if not replay_transitions(sandbox, source, matches).passed:
            raise EvalError("the replay of a module's own transitions did not pass")
        whole.append((time.perf_counter() - begun) * 1e6 / count)
        return 0.0

    interleaved({"one": one_at_a_time, "whole": replay}, rounds)
    conditions = {**conditions_of(sandbox), "transitions": count}
    return [
        Timing(
            "1,000 transitions, one call at a time, ms",
            tuple(forward),
            {**conditions, "a_value_is": "one match's transitions, scaled"},
        ),
        Timing("1,000 transitions, the checks' whole replay, ms", tuple(whole), conditions),
    ]


def _ask(worker: Worker, match: Sequence[Transition]) -> None:
    for step in match:
        answer = worker.call("apply_action", [step.state, step.action])
        if not same_value(answer, step.next_state):
            raise EvalError(f"a transition came out wrong: {answer!r:.200}")


class _Local:
    """Plays at random in this process."""

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        return Decision(legal[int(generator.integers(len(legal)))])


def conditions_of(sandbox: Sandbox) -> dict[str, JsonValue]:
    """The grade that a timing was taken under."""
    return {"grade": sandbox.grade.name, "layers": list(sandbox.grade.layers)}
