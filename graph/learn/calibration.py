"""Calibration: drawn histories against the exact posterior, where it can be enumerated.

The posterior is taken inside the model: chance evenly or by its own odds, other seats evenly among
what is legal (`agents.belief.exact`); of a seat's log it holds what the function is given, what the
seat saw at its own turns. Draws are compared with it by the chi-squared statistic

    X = sum over states (drawn - n * p)^2 / (n * p),

whose distribution under the posterior is simulated. A draw outside its support fails outright.
Where they look odd, more are drawn and these alone count: so many places can be compared, and a
right function does not fail at one of them by chance. Where too many states fit, draws for a seat
have to differ from each other at one place at least: what is too much to enumerate is met on the
way to a place, and may all be known at the place itself.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from agents.worker.protocol import Posterior, PosteriorRequest
from games.checks import Finding
from games.information import SeatLog, Seen, entry_rows, own_turns
from games.streams import stream
from games.trajectories import OpenTrajectory, SeenTrajectory, Trajectory, phase_of
from games.values import (
    Action,
    IllegalActionError,
    Json,
    ModuleFault,
    Observation,
    State,
    canonical_key,
    type_of,
)
from tools.guest.protocol import MessageError, decoded
from tools.predicting import cut
from tools.predicting.inference import SeatSight
from tools.sandbox import Sandbox, Worker

KIND = "calibration"
_PLACES = 24
_UNKNOWN = 8  # places with too many states: each costs an enumeration that gives nothing
_TIME_S = 120.0  # after which no further place is begun
_DRAWS = 60
_ODD, _MORE = 0.05, 240  # what looks odd, and how many are drawn then
_FEW = 8  # draws that must not all be alike, where too many states fit to enumerate them
_STATES = 400
_LONGEST_TYPES = 100  # characters
_SIMULATED = 2000
_RARE = 0.001
_POSTERIOR_S = 60.0  # for one enumeration


class Calibration(BaseModel, frozen=True, extra="forbid"):
    """Comparison of draws with the posterior.

    Attributes:
        places: Places at which several states fit and draws were compared.
        draws_a_place: Draws at each of them.
        draws_where_they_look_odd: Draws that decide where the first look odd.
        places_with_too_many_states: Places with too many states to enumerate; there, few draws must
            not be all alike.
        places_not_enumerated_in_time: Places that took too long; the same holds there.
        distance: Mean total variation distance between draws and posterior; None without places.
        least_probability: The smallest probability of draws as odd as these.
        untested: Seats with phases and types of action where something may be hidden and no draws
            were compared.
        problem: What does not hold; empty where all does.
        failures: The same as findings, one at most; they stand nowhere in JSON.
    """

    places: int
    draws_a_place: int = _DRAWS
    draws_where_they_look_odd: int = _MORE
    places_with_too_many_states: int
    places_not_enumerated_in_time: int
    distance: float | None
    least_probability: float | None
    untested: tuple[str, ...]
    problem: str
    failures: tuple[Finding, ...] = Field(default=(), exclude=True)


def calibrated(
    sandbox: Sandbox,
    module: str,
    matches: Sequence[Trajectory],
    function: str,
    *,
    start: State,
    seed: int,
    calls: int = 20_000,
    seconds: float = _POSTERIOR_S,
) -> Calibration:
    """Compare the draws of a module's inference function with the exact posterior.

    The sandbox must preload what players need: the posterior is enumerated beside the module, with
    at most `calls` of it and `seconds` at each place. Of one seat's view the model says all else.

    Raises:
        ModuleFault: If the module fails on a state of its own.
    """
    places = _places(matches, seed)
    met = _Met(Counter(place.kind for place in places))
    until = time.monotonic() + _TIME_S
    with sandbox.loaded("replay", module) as reader:
        shown = reader.call("get_observations", [start])
        seats = len(shown) if isinstance(shown, list) else 0
        drawing = _Drawing(sandbox, module, function, (reader, start), seed)
        for number, place in enumerate(places):
            full = len(met.compared) == _PLACES or met.unknown.total() == _UNKNOWN
            if full or time.monotonic() > until:
                break
            rows = entry_rows(place.log.entries)
            asked = PosteriorRequest(seats, start, place.log.seat, rows, _STATES, calls)
            _hold(drawing, (number, place), _posterior(sandbox, module, asked, seconds), met)
    met.failures += _alike(met.drawn, function)
    distances = [distance for distance, _ in met.compared]
    left = {kind for kind, count in met.left.items() if count} - met.tested
    return Calibration(
        places=len(distances),
        places_with_too_many_states=met.unknown["many"],
        places_not_enumerated_in_time=met.unknown["slow"],
        distance=float(np.mean(distances)) if distances else None,
        least_probability=min((odd for _, odd in met.compared), default=None),
        untested=tuple(sorted(left)),
        problem=met.failures[0].evidence if met.failures else "",
        failures=tuple(met.failures[:1]),
    )


class _Place(NamedTuple):
    """A decision: its kind (seat, phase, types of action), and all that the function is given."""

    kind: str
    sight: SeatSight
    log: SeatLog
    more: tuple[Json, ...] = ()  # with a closed deck, that the match has not ended


@dataclass
class _Met:
    """Findings so far; `left` counts places of each kind that may still hide something."""

    left: Counter[str]
    tested: set[str] = field(default_factory=set)
    compared: list[tuple[float, float]] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    drawn: list[tuple[SeatSight, Counter[str]]] = field(default_factory=list)  # at unknown places
    failures: list[Finding] = field(default_factory=list)


def _hold(
    drawing: "_Drawing",
    at: tuple[int, _Place],
    exact: dict[str, float] | Literal["many", "slow"],
    met: _Met,
) -> None:
    """Hold the draws at one place against its posterior."""
    number, place = at
    if isinstance(exact, str):
        met.unknown[exact] += 1
        drawn = drawing.at(number, place, range(_FEW))
        met.drawn.append((place.sight, drawn))
        return
    met.left[place.kind] -= 1
    if len(exact) < 2:  # noqa: PLR2004 - nothing is hidden
        return
    met.tested.add(place.kind)
    drawn = drawing.at(number, place, range(_DRAWS))
    generator = stream(drawing.seed, "calibration", match=number)
    distance, odd = _compared(exact, drawn, generator)
    if 0 < odd < _ODD:
        drawn = drawing.at(number, place, range(_DRAWS, _DRAWS + _MORE))
        distance, odd = _compared(exact, drawn, generator)
    met.compared.append((distance, odd))
    if odd < _RARE:
        met.failures.append(_uneven(place.sight, exact, drawn, drawing.function))


def _posterior(
    sandbox: Sandbox, module: str, request: PosteriorRequest, seconds: float
) -> dict[str, float] | Literal["many", "slow"]:
    """Shares by the keys of the states that a log allows; why not, where they are not enumerated.

    Raises:
        ModuleFault: If the module fails on a state of its own.
    """
    with sandbox.worker("posterior", preloaded=True) as worker:
        worker.load(module)
        try:
            found = worker.request("posterior", request._asdict(), seconds)
        except ModuleFault as fault:
            if fault.kind == "timed_out":
                return "slow"
            raise
    if found is None:
        return "many"
    try:
        states, shares = decoded(Posterior, found)
    except MessageError as error:
        raise ModuleFault(
            "bad_value", "posterior", f"was changed by the module: {error}"
        ) from error
    return {canonical_key(state): share for state, share in zip(states, shares, strict=True)}


def _places(matches: Sequence[Trajectory], seed: int) -> list[_Place]:
    """The decisions of the matches, each history once, kinds in turn and in each of them turns."""
    found: dict[bytes, _Place] = {}
    for match in matches:
        turns = _own_turns(match) if isinstance(match, SeenTrajectory) else _every_turn(match)
        more = (False,) if isinstance(match, SeenTrajectory) else ()
        logs: dict[int, SeatLog] = {}
        told: dict[int, Any] = {}
        for seat, kind, observation, action in turns:
            log = logs.setdefault(seat, SeatLog(seat))
            key = told.setdefault(seat, hashlib.blake2b(bytes([seat]), digest_size=16))
            log.entries.append(Seen.of(observation))
            key.update(canonical_key(log.latest()).encode("utf-8", "surrogatepass"))
            sight = SeatSight(match.match, seat, (*own_turns(log),), (), (), ended=False)
            place = _Place(kind, sight, SeatLog(seat, [*log.entries]), more)
            found.setdefault(key.digest(), place)
            log.act(action)
            key.update(canonical_key(action).encode("utf-8", "surrogatepass"))
    order = stream(seed, "calibrated places").permutation(len(found))
    places = [[*found.values()][int(index)] for index in order]
    places = _in_turn(places, [(place.kind, len(place.sight.turns)) for place in places])
    places = _in_turn(places, [place.kind for place in places])
    return _in_turn(places, [place.sight.seat for place in places])


_Turn: TypeAlias = tuple[int, str, Observation, Action]
"""A seat, the kind of its decision, what it sees and what it does."""


def _every_turn(match: OpenTrajectory) -> Iterator[_Turn]:
    for here, action in zip(match.positions, match.actions, strict=False):
        if here.player >= 0:
            kind = _kind(here.player, here.legal, phase_of(here.state, here.player))
            yield here.player, kind, here.observations[here.player], action


def _own_turns(match: SeenTrajectory) -> Iterator[_Turn]:
    for here, action in zip(match.positions, match.actions, strict=False):
        if here.player is not None and action is not None:
            phase = phase_of(here.observation, here.player)
            yield here.player, _kind(here.player, here.legal or (), phase), here.observation, action


def _kind(seat: int, legal: Sequence[Action], phase: str) -> str:
    """The seat to move, the phase, and what may be done, by types of action."""
    types = ", ".join(sorted({type_of(action) for action in legal}))
    return f"seat {seat}, {phase}: {cut(types, _LONGEST_TYPES)}"


def _in_turn(places: Sequence[_Place], kinds: Sequence[object]) -> list[_Place]:
    """One of each kind, then the next of each, in their order."""
    met: Counter[object] = Counter()
    ranks = []
    for kind in kinds:
        ranks.append(met[kind])
        met[kind] += 1
    return [places[at] for at in sorted(range(len(places)), key=ranks.__getitem__)]


@dataclass(frozen=True)
class _Drawing:
    """An inference function, and the model that follows what it draws from a first state."""

    sandbox: Sandbox
    module: str
    function: str
    model: tuple[Worker, State]
    seed: int

    def at(self, number: int, place: _Place, draws: range) -> Counter[str]:
        """Keys of the states that are drawn; what fails has the key "" and is the last."""
        found: list[Json] = []
        given: list[Json] = [place.sight.history, place.sight.seat, *place.more]
        with self.sandbox.loaded("inference", self.module) as worker:
            for draw in draws:
                words = [self.seed, number, draw]
                try:
                    drawn = worker.call(self.function, given, seed=words)
                except (ModuleFault, IllegalActionError):
                    drawn = None
                found.append(drawn)
                if drawn is None:
                    break
        histories = [tuple(map(str, drawn)) for drawn in found if isinstance(drawn, list)]
        reached = _followed(self.model, histories)
        states = [reached.get(tuple(map(str, x))) if isinstance(x, list) else x for x in found]
        return Counter("" if state is None else canonical_key(state) for state in states)


def _followed(
    model: tuple[Worker, State], histories: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], State]:
    """The states that beginnings of histories lead to; those of which the model makes none lack."""
    reader, start = model
    reached: dict[tuple[str, ...], State] = {(): start}
    for count in range(1, max(map(len, histories), default=0) + 1):
        met = dict.fromkeys(each[:count] for each in histories if len(each) >= count)
        new = [each for each in met if each[:-1] in reached]
        asked: list[tuple[str, list[Json]]] = [
            ("apply_action", [reached[each[:-1]], each[-1]]) for each in new
        ]
        answers = reader.ask_many(asked)
        reached |= {each: x for each, x in zip(new, answers, strict=True) if isinstance(x, dict)}
    return reached


def _compared(
    exact: dict[str, float], drawn: Counter[str], generator: np.random.Generator
) -> tuple[float, float]:
    """Total variation distance, and how often draws of the posterior are as odd."""
    count = sum(drawn.values())
    shares = np.array([*exact.values()], dtype=float)
    shares /= shares.sum()
    found = np.array([drawn[key] for key in exact], dtype=float)
    distance = 0.5 * (np.abs(found / count - shares).sum() + (count - found.sum()) / count)
    if found.sum() < count:
        return float(distance), 0.0
    simulated = generator.multinomial(count, shares, size=_SIMULATED)
    odd = _statistic(simulated, shares, count) >= _statistic(found[None, :], shares, count)[0]
    return float(distance), float((odd.sum() + 1) / (_SIMULATED + 1))


def _statistic(found: NDArray[Any], shares: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The chi-squared statistic of each row."""
    expected = shares * count
    total: NDArray[np.float64] = ((found - expected) ** 2 / expected).sum(axis=1)
    return total


def _uneven(
    sight: SeatSight, exact: dict[str, float], drawn: Counter[str], function: str
) -> Finding:
    outside = sum(n for key, n in drawn.items() if key not in exact)
    count = drawn.total()
    off = sorted(exact, key=lambda key: -abs(drawn[key] / count - exact[key]))[:3]
    lines = [f"{count} draws at match {sight.match}, seat {sight.seat}: {len(exact)} states fit"]
    lines += [f"{drawn[key]} times, expected {exact[key] * count:.1f}: {key[:600]}" for key in off]
    lines += [f"{outside} times: a state that does not fit"] if outside else []
    lines.append(f"history: {sight.history!r}"[:2_000])
    text = "\n".join(lines)
    return Finding(check=KIND, outcome="failed", evidence=text, function=function)


def _alike(found: Sequence[tuple[SeatSight, Counter[str]]], function: str) -> list[Finding]:
    """Where a draw failed, or where all that were made for a seat at a place are alike."""
    varied = {sight.seat for sight, drawn in found if len(drawn) > 1}
    failures = []
    for sight, drawn in found:
        text = f"{drawn.total()} draws at match {sight.match}, seat {sight.seat}: "
        if "" in drawn:
            text += f"{drawn['']} gave no state of the model"
        elif sight.seat not in varied:
            text += "all are the same state, as at every such place of this seat, though those that"
            text += f" fit are too many to enumerate: {next(iter(drawn))[:600]}"
        else:
            continue
        failures.append(Finding(check=KIND, outcome="failed", evidence=text, function=function))
    return failures
