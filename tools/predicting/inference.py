"""Inference tests (Code World Models §4.2 and §4.4): what is drawn reproduces what a seat saw.

A drawn history is replayed in the model from its first state, by another worker than the one that
drew it. Of a drawn state only the newest observation can be compared. In a closed deck the same
replay is the only test of the model itself: legal actions of the seat, the end, and what was paid,
which some of the draws have to reproduce, as it may depend on what stays hidden.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from games.checks import Finding
from games.trajectories import MOST_OUTCOMES, SeenTrajectory
from games.values import (
    CHANCE,
    TERMINAL,
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    State,
    are_texts,
    canonical_key,
    canonical_value,
    is_number,
)
from tools.predicting import called, failing, with_output
from tools.sandbox import Sandbox, Worker
from tools.sandbox.worker import CallResult

Inference: TypeAlias = Literal["resample_history", "resample_state"]
KIND = "inference"
_CLOSE = 1e-6
_A_DRAW = "a drawn history or state"
_PAID_DRAWS = 20  # of a place where something was paid: one of them has to pay it


@dataclass(frozen=True)
class SeatSight:
    """One place of a match at which a seat's knowledge is to be reproduced.

    Attributes:
        match: Index of the match.
        seat: The seat.
        turns: What it saw at its turns with what it did; the newest observation with None.
        legal: Its legal actions at each of these turns; None where the match has ended.
        paid: What it was paid up to each of them.
        ended: Whether the newest observation is the end's.
    """

    match: int
    seat: int
    turns: tuple[tuple[Json, Action | None], ...]
    legal: tuple[tuple[Action, ...] | None, ...]
    paid: tuple[float, ...]
    ended: bool

    @property
    def history(self) -> list[Json]:
        """The turns as the inference functions are given them."""
        return [[seen, action] for seen, action in self.turns]

    @property
    def key(self) -> str:
        """The same for the same place, whatever match it is of."""
        legal: list[Json] = [None if one is None else [*sorted(one)] for one in self.legal]
        return canonical_key([self.seat, self.history, legal, [*self.paid], self.ended])


@dataclass(frozen=True)
class Inferred:
    """Places at which a source was asked to draw what is hidden.

    Attributes:
        right: Sights all of whose draws reproduce what was seen.
        sights: Sights that were asked.
        failures: The first failing tests, each of another sight.
        matches: Indices of the matches with a failing sight.
        late: Sights for which nothing was drawn in time.
    """

    right: int
    sights: int
    failures: tuple[Finding, ...]
    matches: frozenset[int] = frozenset()
    late: int = 0

    @property
    def accuracy(self) -> float:
        """Share of the sights all of whose draws hold; 0 where nothing was asked."""
        return self.right / self.sights if self.sights else 0.0


def sights_of(match: SeenTrajectory, seat: int, *, ends: bool) -> list[SeatSight]:
    """Every turn of a seat in a match, and with `ends` its end, as what is to be reproduced."""
    turns: list[tuple[Json, Action | None]] = []
    legal: list[tuple[Action, ...] | None] = []
    paid: list[float] = []
    found: list[SeatSight] = []
    total = 0.0
    for number, here in enumerate(match.positions):
        total += here.reward
        at_end = here.player == TERMINAL
        if here.player != seat and not (at_end and ends):
            continue
        seen = canonical_value(here.observation)
        legal.append(here.legal)
        paid.append(total)
        now = (*turns, (seen, None))
        found.append(SeatSight(match.match, seat, now, tuple(legal), tuple(paid), at_end))
        if number < len(match.actions):
            turns.append((seen, match.actions[number]))
    return found


@dataclass
class _Draw:
    """One draw on its way through the model.

    Attributes:
        sight: What it is to reproduce.
        actions: The drawn history; empty for a drawn state.
        state: Where the replay stands.
        turn: Turns of the seat that were met.
        paid: What the seat was paid so far.
        at: Actions that were replayed.
        problem: Why it does not hold: expected, actual.
        unpaid: Where what it pays is not what was paid.
    """

    sight: SeatSight
    actions: list[Action]
    state: State
    turn: int = 0
    paid: float = 0.0
    at: int = 0
    problem: tuple[Json, CallResult] | None = None
    unpaid: tuple[Json, CallResult] | None = None
    answers: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class DrawTest:
    """A test of an inference function at one place.

    Attributes:
        function: The function that is asked.
        initial_state: The model's first state.
        draws: Draws a sight; all must hold.
        seed: Seeds `random` before each draw.
        closed: Whether the end, rewards and legal actions are compared too, and the function is
            told by a third argument whether the match has ended.
    """

    function: Inference
    initial_state: State
    draws: int
    seed: int
    closed: bool = False

    def arguments(self, sight: SeatSight) -> list[Json]:
        """The arguments of the call at a sight."""
        return [sight.history, sight.seat, *([sight.ended] if self.closed else [])]


def inferred(
    sandbox: Sandbox,
    source: str,
    sights: Sequence[SeatSight],
    test: DrawTest,
    *,
    shown: int = 1,
    deadline_s: float = math.inf,
) -> Inferred:
    """Hold the inference function of a source against what seats saw.

    Args:
        sandbox: Where it runs; each seat has a fresh worker, and the replay has one of its own.
        source: The model with the function.
        sights: What is to be reproduced.
        test: Made at each of them.
        shown: Failing tests to show at most; of errors at one line one.
        deadline_s: Seconds for all draws; a sight that was not asked by then does not hold.
    """
    until = time.monotonic() + deadline_s
    made: list[_Draw] = []
    faults: list[_Draw] = []
    try:
        for draw in _drawn(sandbox, source, sights, test, until):
            (faults if draw.problem else made).append(draw)
        with sandbox.loaded("reader", source) as reader:
            _replay(reader, made, test)
    except ModuleFault as fault:
        found = failing(KIND, fault.function, "loading the module", "no error", fault, "at first")
        return Inferred(0, len(sights), (found,), frozenset(s.match for s in sights))
    _require_pay(made)
    bad = [draw for draw in (*faults, *made) if draw.problem is not None]
    wrong: dict[int, _Draw] = {}
    for draw in bad:
        wrong.setdefault(id(draw.sight), draw)  # of several draws the first
    alike: dict[tuple[object, ...], list[_Draw]] = {}
    for draw in wrong.values():
        alike.setdefault(_kind(draw), []).append(draw)
    once = [*alike.values()][:shown]
    found_first = [_told(sandbox, source, draws, test) for draws in once]
    matches = frozenset(draw.sight.match for draw in bad)
    late = sum(map(_is_late, wrong.values()))
    return Inferred(len(sights) - len(wrong), len(sights), tuple(found_first), matches, late)


def fitting_histories(
    sandbox: Sandbox, source: str, sights: Sequence[SeatSight], test: DrawTest
) -> list[tuple[Action, ...]]:
    """Of each sight the first drawn history that shows what was seen and pays what was paid.

    A sight for which none does has none.

    Raises:
        ModuleFault: If the source does not load.
    """
    made = [draw for draw in _drawn(sandbox, source, sights, test, math.inf) if not draw.problem]
    with sandbox.loaded("reader", source) as reader:
        _replay(reader, made, test)
    found: dict[int, tuple[Action, ...]] = {}
    for draw in made:
        if draw.problem is None and draw.unpaid is None:
            found.setdefault(id(draw.sight), tuple(draw.actions))
    return [*found.values()]


def _drawn(
    sandbox: Sandbox,
    source: str,
    sights: Sequence[SeatSight],
    test: DrawTest,
    until: float,
) -> Iterator[_Draw]:
    """Every draw, by a worker that never met another seat's view; of a sight up to a failed one."""
    for seat in sorted({sight.seat for sight in sights}):
        with sandbox.loaded("inference", source) as worker:
            for number, sight in enumerate(sights):
                if sight.seat != seat:
                    continue
                paid = test.closed and bool(sight.ended or sight.paid[-1])
                for draw in range(max(test.draws, _PAID_DRAWS) if paid else test.draws):
                    if time.monotonic() < until:
                        drawn = _one(worker, sight, test, (test.seed, number, draw))
                    else:
                        problem = _not_asked(test.function)
                        drawn = _Draw(sight, [], test.initial_state, problem=problem)
                    yield drawn
                    if drawn.problem is not None:
                        break


def _not_asked(function: Inference) -> tuple[Json, CallResult]:
    said = "was not asked here: the draws before took all the time that there is for a candidate"
    return _A_DRAW, ModuleFault("timed_out", function, said)


def _is_late(draw: _Draw) -> bool:
    _, actual = draw.problem or ("", "")
    return isinstance(actual, ModuleFault) and actual.kind == "timed_out"


def _one(worker: Worker, sight: SeatSight, test: DrawTest, seed: tuple[int, int, int]) -> _Draw:
    draw = _Draw(sight, [], test.initial_state)
    value = worker.ask(test.function, test.arguments(sight), seed)
    if isinstance(value, ModuleFault | IllegalActionError):
        draw.problem = (_A_DRAW, value)
    elif test.function == "resample_history":
        if are_texts(value):
            draw.actions = list(value)
        else:
            draw.problem = ("a list of actions", value)
    elif isinstance(value, dict):
        draw.state = value
    else:
        draw.problem = ("a state, which is a dict", value)
    return draw


def _replay(reader: Worker, draws: Sequence[_Draw], test: DrawTest) -> None:
    """All draws side by side, until each has failed or reached its end."""
    live = list(draws)
    while live:
        _ask_states(reader, live)
        for draw in live:
            if draw.problem is None:
                _met(draw, test)
        live = [d for d in live if d.problem is None and d.at < len(d.actions)]
        asked: list[tuple[str, list[Json]]] = [
            ("apply_action", [d.state, d.actions[d.at]]) for d in live
        ]
        answers = reader.ask_many(asked)
        for draw, answer in zip(live, answers, strict=True):
            if isinstance(answer, dict):
                draw.state, draw.at = answer, draw.at + 1
            else:
                draw.problem = (f"a state after {draw.actions[draw.at]!r}", answer)
        live = [d for d in live if d.problem is None]


_STATE_FUNCTIONS = ("get_current_player", "get_observations", "get_legal_actions", "get_rewards")


def _ask_states(reader: Worker, live: Sequence[_Draw]) -> None:
    asked: list[tuple[str, list[Json]]] = [(f, [d.state]) for d in live for f in _STATE_FUNCTIONS]
    answers = iter(reader.ask_many(asked))
    for draw in live:
        draw.answers = {}
        for function in _STATE_FUNCTIONS:
            answer = next(answers)
            if isinstance(answer, ModuleFault | IllegalActionError):
                draw.problem = draw.problem or (f"{function} of a drawn state", answer)
            else:
                draw.answers[function] = answer


def _met(draw: _Draw, test: DrawTest) -> None:
    """Compare the state where the replay stands with the seat's next turn."""
    function = test.function
    sight, last = draw.sight, len(draw.sight.turns) - 1
    player, legal = draw.answers["get_current_player"], draw.answers["get_legal_actions"]
    rewards = draw.answers["get_rewards"]
    paid = _of_seat(rewards, sight.seat)
    draw.paid += float(paid) if is_number(paid) else 0.0
    at_end = draw.at == len(draw.actions)
    if player == sight.seat or (at_end and sight.ended):
        if function == "resample_history" and draw.turn > last:
            draw.problem = (f"{last + 1} turns of seat {sight.seat}", "one turn more")
            return
        draw.problem = _differs(
            draw, last if function == "resample_state" else draw.turn, closed=test.closed
        )
        draw.turn += 1
    if draw.problem is None and not at_end:
        wanted = draw.actions[draw.at]
        # Outcomes of chance as many as these are not recorded: that one can be applied has to do.
        many = player == CHANCE and are_texts(legal) and len(legal) > MOST_OUTCOMES
        if not many and (not are_texts(legal) or wanted not in legal):
            draw.problem = (f"a legal action, one of {legal!r}", wanted)
    elif draw.problem is None:
        expected = TERMINAL if sight.ended else sight.seat
        turns = draw.turn if function == "resample_history" else last + 1
        if player != expected or turns != last + 1:
            draw.problem = (
                f"player {expected} after {last + 1} turns of seat {sight.seat}",
                f"player {player} after {draw.turn} turns of seat {sight.seat}",
            )


def _of_seat(value: Json, seat: int) -> Json:
    return value[seat] if isinstance(value, list) and seat < len(value) else None


def _differs(draw: _Draw, turn: int, *, closed: bool) -> tuple[Json, Json] | None:
    """The difference of the state from what the seat met at this turn."""
    sight = draw.sight
    seen = _of_seat(draw.answers["get_observations"], sight.seat)
    expected, action = sight.turns[turn]
    if canonical_key(canonical_value(seen)) != canonical_key(expected):
        return expected, seen
    played = draw.actions[draw.at] if draw.at < len(draw.actions) else None
    if draw.actions and played != action:
        return action, played
    legal, met = sight.legal[turn], draw.answers["get_legal_actions"]
    if closed and legal is not None and not (are_texts(met) and sorted(met) == sorted(legal)):
        return [*sorted(legal)], met
    if closed and abs(draw.paid - sight.paid[turn]) > _CLOSE:
        draw.unpaid = f"{sight.paid[turn]} paid to seat {sight.seat} so far", draw.paid
    return None


def _require_pay(draws: Sequence[_Draw]) -> None:
    """Where no draw of a sight pays what was paid, the first of them does not hold."""
    by_sight: dict[int, list[_Draw]] = {}
    for draw in draws:
        by_sight.setdefault(id(draw.sight), []).append(draw)
    for same in by_sight.values():
        if all(draw.problem is None and draw.unpaid is not None for draw in same):
            same[0].problem = same[0].unpaid


def _kind(draw: _Draw) -> tuple[object, ...]:
    """A key that draws share which fail by one error; of another failure, the draw itself."""
    _, actual = draw.problem or ("", "")
    if isinstance(actual, ModuleFault):
        return actual.kind, actual.function, actual.line
    return (id(draw),)


def _told(sandbox: Sandbox, source: str, draws: Sequence[_Draw], test: DrawTest) -> Finding:
    """The first of draws that fail alike, as a finding."""
    draw = draws[0]
    expected, actual = draw.problem or ("", "")
    sight = draw.sight
    arguments = test.arguments(sight)
    call = called(test.function, arguments)
    if draw.actions:
        call += f"\ndrawn: {draw.actions!r}\nreplayed: {draw.at} of its actions"
    place = f"match {sight.match}, seat {sight.seat}, turn {len(sight.turns) - 1}"
    if len(draws) > 1:
        place += f"; this error at {len(draws)} places"
    found = failing(KIND, test.function, call, expected, actual, place)
    return with_output(sandbox, source, found, arguments)
