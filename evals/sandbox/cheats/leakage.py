"""Leakage between the workers of one match: what cheating modules gain, against honest twins.

Each was seen to work before it was closed: the channels gained 0.675 of the guesses, 40 of 40
coins were foreseen, a worker took all the processor time that it liked after its answers, and by
every clock of `moment` one worker saw when another one had answered.
"""

import inspect
import time
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType

from agents.players.registry import PRELOAD, PlayerRoster
from evals.results import EvalError, Score
from evals.sandbox.bench import new_worker
from evals.sandbox.cheats import action_order, coin, key_order, moment, numbers, spy, unasked
from evals.sandbox.processes import processor_s
from games.contract import Json, ModuleFault
from games.values import is_number
from tools.playtest.jobs import GameSetup
from tools.playtest.series import play_series
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend

MATCHES = 40
_GUESSES = 120
MOST_GAIN = 0.2  # share that a module may win more than its honest twin
MOST_RIGHT = 32  # of 40 coins; chance gives 20
MOST_UNASKED_S = 0.005  # in all, after five answers
_ANSWERS, _GAP_S = 5, 0.1
_LATE_S = 0.06  # more than a busy machine delays most answers
_ANSWERED = "0110100110010110"  # at once, or late
_SHOWN = 13  # of these 16; by chance as many come out in one of a hundred
_SPY = "ismcts:simulations=40"
_COIN = "uct:simulations=40,reuse=yes"
_CHANNELS = (key_order, numbers, action_order)


def leaks_between_workers(backend: Backend, seed: int) -> list[Score]:
    """What each channel carries.

    Raises:
        EvalError: If a match did not finish.
    """
    with Sandbox(backend, preload=PRELOAD) as sandbox:
        honest = share(sandbox, source_of(spy), _SPY, [seed])
        gains = [
            _score(one, share(sandbox, source_of(spy, one), _SPY, [seed]) - honest)
            for one in _CHANNELS
        ]
        small = range(seed, seed + MATCHES)  # seeds as people give them, a match of each
        called = round(share(sandbox, source_of(coin), _COIN, small) * MATCHES)
        ran = unasked_seconds(sandbox)
        telling = clocks_that_tell(sandbox)
    coins = Score(name="coins foreseen, of 40", value=called, at_most=MOST_RIGHT, scored=MATCHES)
    idle = Score(
        name="processor seconds without a request",
        value=ran,
        at_most=MOST_UNASKED_S,
        scored=_ANSWERS,
    )
    clocks = Score(
        name="clocks that tell when another worker answered",
        value=len(telling),
        at_most=0,
        scored=len(moment.CLOCKS),
    )
    return [*gains, coins, idle, clocks]


def name_of(channel: ModuleType) -> str:
    """A channel's name in words."""
    return channel.__name__.rpartition(".")[2].replace("_", " ")


def source_of(game: ModuleType, channel: ModuleType | None = None) -> str:
    """A game's source, with a channel behind it."""
    return inspect.getsource(game) + (inspect.getsource(channel) if channel else "")


def share(sandbox: Sandbox, source: str, spec: str, seeds: Sequence[int]) -> float:
    """The first seat's mean return, which is the share of its guesses that are right.

    Args:
        sandbox: Where it is played.
        source: The game.
        spec: Both players.
        seeds: Of one match each; of many matches where there is one alone.

    Raises:
        EvalError: If a match did not finish.
    """
    game = GameSetup("cheat", source, 2)
    paid: list[float] = []
    for one in seeds:
        series = play_series(
            game,
            (spec, spec),
            roster=PlayerRoster(),
            matches=1 if len(seeds) > 1 else _GUESSES,
            seed=one,
            sandbox=sandbox,
            replay=False,  # what a channel carries is measured, not whether it is found out
        )
        for entry in series.entries.values():
            if entry.returns is None:
                raise EvalError(f"a match of a cheat did not finish: {entry.reason}")
            paid.append(entry.returns[0])
    return sum(paid) / len(paid)


def unasked_seconds(sandbox: Sandbox) -> float:
    """Processor seconds that a worker takes while nothing is asked of it; 0 where it is ended.

    After its last answer it is asked once more: only then is it seen what it took before.

    Raises:
        UnreadableError: If the kernel does not count them.
    """
    taken = 0.0
    sandbox.worker("before", source_of(unasked)).kill()
    with new_worker(sandbox, source_of(unasked)) as (worker, pid):
        worker.call("arm", [_GAP_S])
        try:
            for _ in range(_ANSWERS):
                worker.call("spent")
                before = processor_s(pid)
                time.sleep(_GAP_S)
                taken += processor_s(pid) - before
            worker.call("spent")
        except ModuleFault:
            return 0.0
    return taken


def clocks_that_tell(sandbox: Sandbox) -> list[str]:
    """The clocks by which one worker sees whether another one answered at once or late."""
    source, shown = source_of(moment), []
    with sandbox.worker("sender", source) as sender, sandbox.worker("receiver", source) as receiver:
        sender.load(source)
        receiver.load(source)
        for late in "0" + _ANSWERED:
            sender.call("wait", [int(late) * _LATE_S])
            read = receiver.call("read")
            shown.append(read if isinstance(read, dict) else {})
    return [clock for clock in moment.CLOCKS if _tells([read.get(clock) for read in shown])]


def _tells(read: Sequence[Json]) -> bool:
    gone = [is_number(a) and is_number(b) and b - a > _LATE_S / 2 for a, b in pairwise(read)]
    right = sum(seen == (late == "1") for seen, late in zip(gone, _ANSWERED, strict=True))
    return right >= _SHOWN


def _score(channel: ModuleType, gain: float) -> Score:
    name = f"share gained by {name_of(channel)}"
    return Score(name=name, value=gain, at_most=MOST_GAIN, scored=_GUESSES)
