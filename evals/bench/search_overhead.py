"""Overhead of a search: what it costs besides the game's own functions.

Two searches with the same seed make exactly the same calls of game functions. So

- *whole* is the processor time of one decision as it is, its tree's end included;
- *game* is that of making exactly those calls again, with the same arguments and in the same order,
  and without a search: a rollout's states are made anew one from another, as the rollout made them.
  The walk over the list of calls is timed without them too, and taken off.

`outside = whole - game`, and its share is `1 - game / whole`. A call's own cost (its frame, its
arguments) counts as the game's. No profiler is involved: one would charge its own cost to whoever
makes the most calls.

Every repeat does the same work, and whatever else the machine does can only add to it. A decision
is therefore timed in blocks of simulations; whole and game take turns; of each block the least time
over the repeats counts, and the blocks' least times are summed.
"""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.belief.belief import Belief, DecisionPoint
from agents.search.ismcts import IsmctsSearch, IsmctsSettings
from agents.search.meter import Meter
from agents.search.tree import UctSearch
from agents.search.uct import UctSettings
from agents.solving.form import log_after
from evals.results import Row, read_data
from games import library
from games.information import SeatLog
from games.modules import Rules, bind, first_state, load_namespace
from games.values import CHANCE, OPTIONAL_FUNCTIONS, REQUIRED_FUNCTIONS, Action, Json, State

Kind: TypeAlias = Literal["uct", "ismcts"]

EXPLORATION: Mapping[str, float] = {"uct": 1.0, "ismcts": 0.7}


@dataclass(frozen=True)
class Contest:
    """A game to search, ours and theirs.

    Attributes:
        name: OpenSpiel's name of it.
        preset: The library's.
        players: Seats.
        simulations: A decision.
        parameters: Of the library's game.
        theirs: Parameters of OpenSpiel's game.
        hidden: Whether seats do not see everything.
        resampled: Whether OpenSpiel can sample what a seat does not see, which its search over
            information sets needs.
    """

    name: str
    preset: str
    players: int
    simulations: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    theirs: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    resampled: bool = False


CONTESTS = tuple(Contest(**row) for row in read_data("data/contests.yaml"))


@dataclass(frozen=True)
class Start:
    """A first decision in the library's game.

    Attributes:
        namespace: The module's names.
        rules: Its functions.
        initial: The state before any ply.
        plies: The chance outcomes before the decision.
        state: The state of the decision.
    """

    namespace: dict[str, object]
    rules: Rules
    initial: State
    plies: tuple[Action, ...]
    state: State

    @property
    def seat(self) -> int:
        """Who decides."""
        return self.rules.current_player(self.state)

    def log(self) -> SeatLog:
        """The log of the seat that decides."""
        return log_after(self.rules, self.initial, self.plies, self.seat)


def start(contest: Contest, seed: int) -> Start:
    """The library's game, dealt at random up to its first decision with a choice."""
    namespace = load_namespace(library.source(contest.preset))
    rules = bind(namespace, contest.players)
    initial = first_state(namespace, contest.players, contest.parameters)
    generator = np.random.default_rng(seed)
    state, plies = initial, list[Action]()
    while rules.current_player(state) == CHANCE:
        legal = rules.legal_actions(state)
        plies.append(legal[int(generator.integers(len(legal)))])
        state = rules.apply_action(state, plies[-1])
    return Start(namespace, rules, initial, tuple(plies), state)


def searched(
    kind: Kind,
    contest: Contest,
    here: Start,
    namespace: dict[str, object],
    seed: int,
    *,
    block: int | None = None,
) -> Iterator[int]:
    """One decision of ours, a block of simulations at a time.

    Args:
        kind: The search.
        contest: With the simulations.
        here: Where it decides.
        namespace: The module's names: those of `here`, or others of the same meaning.
        seed: Of the search.
        block: Simulations between two yields; None makes all in one.

    Yields:
        Simulations done: 0 once all is prepared, and then after every block.
    """
    generator = np.random.default_rng(seed)
    count = contest.simulations
    kind_settings = UctSettings if kind == "uct" else IsmctsSettings
    settings = kind_settings(simulations=count, exploration=EXPLORATION[kind])
    rules = bind(namespace, contest.players)
    meter = Meter(rules, settings)
    simulate: Callable[[], object]
    if isinstance(settings, UctSettings):
        tree = UctSearch(meter.rules, here.state, settings, generator)
        simulate, result = tree.simulate, tree.result
    else:
        legal = tuple(rules.legal_actions(here.state))
        known = DecisionPoint(rules, namespace, here.initial, here.log(), legal)
        belief = Belief(known, "auto", 0, generator)
        sets = IsmctsSearch(meter.rules, here.seat, settings, generator)
        simulate, result = lambda: sets.simulate(belief.sample()), sets.result
    yield 0
    while meter.done < count:
        meter.run(simulate, at_most=block)
        yield meter.done
    result(meter)


Function: TypeAlias = Callable[..., Any]

_NAMES = (*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS)
_PLY = ("apply_action", "get_rewards", "get_legal_actions")


class Call(NamedTuple):
    """One call: the function's name, what it was given, and what it answered."""

    name: str
    arguments: tuple[Any, ...]
    result: Any


class CallStep(NamedTuple):
    """A call that is made again with what it was given then."""

    function: Function
    arguments: tuple[Any, ...]


class RolloutStep(NamedTuple):
    """Plies one after another, each applied, asked what it paid, and asked for its actions.

    Its states are made anew when it is walked again, as a rollout makes them: fresh, and let go as
    soon as the next is there.
    """

    state: State
    actions: list[Action]


Step: TypeAlias = CallStep | RolloutStep


def noting(namespace: Mapping[str, Any], note: Callable[[Call], object]) -> dict[str, object]:
    """A module's names, whose functions tell `note` of every call once it is done."""

    def wrapped(name: str, function: Function) -> Function:
        def noted(*arguments: object) -> object:
            result = function(*arguments)
            note(Call(name, arguments, result))
            return result

        return noted

    functions = {name: found for name in _NAMES if callable(found := namespace.get(name))}
    return {**namespace, **{name: wrapped(name, found) for name, found in functions.items()}}


def steps(calls: Sequence[Call], namespace: Mapping[str, Any]) -> list[Step]:
    """The calls in their order, those of one rollout as a `RolloutStep`.

    Args:
        calls: What was noted.
        namespace: The module's names, which note nothing.
    """
    found: list[Step] = []
    newest: object = None  # the state that the last run led to, where nothing came after it
    at = 0
    while at < len(calls):
        call, last = calls[at], found[-1] if found else None
        if not _is_ply(calls[at : at + len(_PLY)]):
            found.append(CallStep(namespace[call.name], call.arguments))
            newest, at = None, at + 1
            continue
        state, action = call.arguments
        if isinstance(last, RolloutStep) and state is newest:
            last.actions.append(action)
        else:
            found.append(RolloutStep(state, [action]))
        newest, at = call.result, at + len(_PLY)
    return found


def _is_ply(calls: Sequence[Call]) -> bool:
    """True if these are the calls of one ply of a rollout."""
    return tuple(call.name for call in calls) == _PLY and all(
        call.arguments[0] is calls[0].result for call in calls[1:]
    )


def walk(program: Sequence[Step], namespace: Mapping[str, Any]) -> None:
    """Make the calls again, in order, and nothing else."""
    apply_action, rewards, legal_actions = (namespace[name] for name in _PLY)
    pairs: Sequence[tuple[Any, Any]] = program
    for first, second in pairs:
        if second.__class__ is list:
            state = first
            for action in second:
                state = apply_action(state, action)
                rewards(state)
                legal_actions(state)
        else:
            first(*second)


def walk_past(program: Sequence[Step]) -> None:
    """Does what `walk` does besides the calls."""
    for _first, second in program:
        if second.__class__ is list:
            for _action in second:
                pass
        else:
            pass


def walk_seconds(program: Sequence[Step], namespace: Mapping[str, Any]) -> tuple[float, float]:
    """Processor time of `walk`, and of `walk_past`; either with one reading of the clock."""
    begun = time.process_time()
    walk(program, namespace)
    walked = time.process_time()
    walk_past(program)
    return walked - begun, time.process_time() - walked


Times: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Overhead:
    """Repeated measurements of one decision, in processor walk_seconds.

    Attributes:
        simulations: Of the decision.
        calls: Calls of the game's functions in it.
        whole: `[R, B]` the decision, a block at a time.
        walked: `[R, B]` the calls of each block alone, with the walk over their list.
        passed: `[R, B]` that walk without the calls. The least of either is taken before they are
            subtracted: the least difference would be one whose second term was disturbed.
    """

    simulations: int
    calls: int
    whole: Times
    walked: Times
    passed: Times

    @property
    def share(self) -> float:
        """Share of the decision outside the game's functions, from the least times."""
        return 1 - (_least(self.walked) - _least(self.passed)) / _least(self.whole)

    @property
    def us(self) -> float:
        """Microseconds a simulation, from the least times."""
        return _least(self.whole) / self.simulations * 1e6

    @property
    def outside_us(self) -> float:
        """Microseconds a simulation outside the game's functions, from the least times."""
        return self.us * self.share

    def as_sample(self) -> Row:
        """For an evaluation's samples."""
        return {
            "simulations": self.simulations,
            "repeats": len(self.whole),
            "calls_a_simulation": round(self.calls / self.simulations, 2),
            "us_a_simulation": round(self.us, 2),
            "us_outside": round(self.outside_us, 2),
            "share_outside": round(self.share, 4),
        }


def _least(times: Times) -> float:
    """The sum of every block's least time over the repeats."""
    return float(times.min(axis=0).sum())


def overhead(
    kind: Kind, contest: Contest, seed: int, *, repeats: int, block: int | None = None
) -> Overhead:
    """Measure one decision of ours.

    Args:
        kind: The search.
        contest: Where it decides.
        seed: Of the deal and of the search.
        repeats: Times it is measured, at least 2.
        block: Simulations of a block; None times the decision as one.
    """
    here = start(contest, seed)
    programs, calls = _programs(kind, contest, here, seed, block)
    whole, game = list[list[float]](), list[list[tuple[float, float]]]()
    with _settled():
        for _ in range(repeats):
            clock = [time.process_time()]
            for _done in searched(kind, contest, here, here.namespace, seed, block=block):
                clock.append(time.process_time())
            clock.append(time.process_time())
            whole.append(np.diff(clock).tolist())
            game.append([walk_seconds(program, here.namespace) for program in programs])
    walked, passed = np.moveaxis(np.array(game), 2, 0)
    return Overhead(contest.simulations, calls, np.array(whole), walked, passed)


def _programs(
    kind: Kind, contest: Contest, here: Start, seed: int, block: int | None
) -> tuple[list[Sequence[Step]], int]:
    """The calls of every block, and how many there are."""
    calls, count = list[Call](), 0
    programs = list[Sequence[Step]]()
    for _done in searched(
        kind, contest, here, noting(here.namespace, calls.append), seed, block=block
    ):
        programs.append(steps(calls, here.namespace))
        count += len(calls)
        calls.clear()
    programs.append(steps(calls, here.namespace))
    return programs, count + len(calls)


@contextmanager
def _settled() -> Iterator[None]:
    """Leaves earlier objects out of the collector's rounds, as in a player's worker."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def spread(values: Sequence[float]) -> Row:
    """Median, least and largest of repeated values, for an evaluation's samples."""
    return {
        "median": round(median(values), 4),
        "least": round(min(values), 4),
        "largest": round(max(values), 4),
    }
