"""Calibration: drawn histories against the exact posterior, where it can be enumerated.

The posterior is taken inside the model: chance evenly or by its own odds, other seats evenly among
what is legal (`agents.belief.exact`); of a seat's log it holds what the function is given, what the
seat saw at its own turns. Draws are compared with it by the chi-squared statistic

    X = sum over states (drawn - n * p)^2 / (n * p),

whose distribution under the posterior is simulated. A draw outside its support fails outright.
Where too many states fit, draws have to differ from each other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agents.worker.protocol import Posterior, PosteriorRequest
from games.checks import Finding
from games.information import SeatLog
from games.streams import stream
from games.trajectories import OpenTrajectory
from games.values import (
    IllegalActionError,
    Json,
    ModuleFault,
    State,
    canonical_key,
    canonical_value,
)
from tools.guest.protocol import MessageError, decoded
from tools.predicting.inference import SeatSight, ask_together
from tools.sandbox import Sandbox, Worker

KIND = "calibration"
_PLACES = 6
_DRAWS = 60
_FEW = 8  # draws that must not all be alike, where too many states fit to enumerate them
_STATES = 400
_SIMULATED = 2000
_RARE = 0.001
_POSTERIOR_S = 60.0  # for one enumeration


@dataclass(frozen=True)
class Calibration:
    """What was found of the draws.

    Attributes:
        places: Places at which several states fit and draws were compared.
        many: Places with too many states to enumerate; there, few draws must not be all alike.
        slow: Places whose states were not enumerated in time; the same holds there.
        distance: Mean total variation distance between draws and posterior; None without places.
        least: The smallest probability of draws as odd as these.
        failures: What does not hold, one at most.
    """

    places: int
    many: int
    slow: int
    distance: float | None
    least: float | None
    failures: tuple[Finding, ...]

    def told(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "places": self.places,
            "draws_a_place": _DRAWS,
            "places_with_too_many_states": self.many,
            "places_not_enumerated_in_time": self.slow,
            "distance": self.distance,
            "least_probability": self.least,
            "problem": self.failures[0].evidence if self.failures else "",
        }


def calibrated(
    sandbox: Sandbox,
    module: str,
    matches: Sequence[OpenTrajectory],
    function: str,
    *,
    start: State,
    seed: int,
    calls: int = 20_000,
) -> Calibration:
    """Compare the draws of a module's inference function with the exact posterior.

    The sandbox must preload what players need: the posterior is enumerated beside the module.

    Raises:
        ModuleFault: If the module fails on a state of its own.
    """
    seats = len(matches[0].positions[0].observations) if matches else 0
    compared: list[tuple[float, float]] = []
    failures: list[Finding] = []
    unknown: Counter[str] = Counter()
    with sandbox.loaded("replay", module) as reader:
        for number, (sight, log) in enumerate(_places(matches, seats, seed)):
            asked = PosteriorRequest(seats, start, log.seat, log.entries, _STATES, calls)
            exact = _posterior(sandbox, module, asked)
            if not isinstance(exact, str) and len(exact) < 2:  # noqa: PLR2004 - nothing is hidden
                continue
            draws = _FEW if isinstance(exact, str) else _DRAWS
            words = [(seed, number, draw) for draw in range(draws)]
            drawn = _drawn(sandbox, module, (reader, start), sight, function, words)
            if isinstance(exact, str):
                unknown[exact] += 1
                failures += _alike(sight, drawn) if len(set(drawn)) == 1 else []
                continue
            generator = stream(seed, "calibration", match=number)
            compared.append(_compared(exact, Counter(drawn), generator))
            if compared[-1][1] < _RARE:
                failures.append(_uneven(sight, exact, Counter(drawn), function))
    return Calibration(
        places=len(compared),
        many=unknown["many"],
        slow=unknown["slow"],
        distance=float(np.mean([distance for distance, _ in compared])) if compared else None,
        least=min((odd for _, odd in compared), default=None),
        failures=tuple(failures[:1]),
    )


def _posterior(
    sandbox: Sandbox, module: str, request: PosteriorRequest
) -> dict[str, float] | Literal["many", "slow"]:
    """Shares by the keys of the states that a log allows; why not, where they are not enumerated.

    Raises:
        ModuleFault: If the module fails on a state of its own.
    """
    with sandbox.worker("posterior", preloaded=True) as worker:
        worker.load(module)
        try:
            found = worker.request("posterior", request._asdict(), _POSTERIOR_S)
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


def _places(
    matches: Sequence[OpenTrajectory], seats: int, seed: int
) -> list[tuple[SeatSight, SeatLog]]:
    """A few decisions of the matches, each with what its seat knew."""
    found: list[tuple[SeatSight, SeatLog]] = []
    for match in matches:
        logs = [SeatLog(seat) for seat in range(seats)]
        turns: list[list[Any]] = [[] for _ in range(seats)]
        for step, here in enumerate(match.positions):
            if here.player < 0 or step >= len(match.actions):
                continue
            log = logs[here.player]
            log.entries.append({"observation": canonical_value(here.observations[log.seat])})
            now = (*turns[here.player], (log.latest(), None))
            sight = SeatSight(match.match, here.player, now, (), (), ended=False)
            found.append((sight, SeatLog(log.seat, [*log.entries])))
            turns[here.player].append((log.latest(), match.actions[step]))
            log.act(match.actions[step])
    order = stream(seed, "calibrated places").permutation(len(found))[:_PLACES]
    return [found[int(index)] for index in order]


def _drawn(
    sandbox: Sandbox,
    module: str,
    model: tuple[Worker, State],
    sight: SeatSight,
    function: str,
    seeds: Sequence[Sequence[int]],
) -> list[str]:
    """Keys of the states that were drawn, in order; what failed has the key ""."""
    found: list[Json] = []
    with sandbox.loaded("inference", module) as worker:
        for seed in seeds:
            try:
                found.append(worker.call(function, [sight.history, sight.seat], seed=seed))
            except (ModuleFault, IllegalActionError):
                found.append(None)
    histories = [tuple(map(str, drawn)) for drawn in found if isinstance(drawn, list)]
    reached = _followed(model, histories)
    states = [reached.get(tuple(map(str, x))) if isinstance(x, list) else x for x in found]
    return ["" if state is None else canonical_key(state) for state in states]


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
        answers = ask_together(reader, asked)
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
    off = sorted(exact, key=lambda key: -abs(drawn[key] / _DRAWS - exact[key]))[:3]
    lines = [f"{_DRAWS} draws at match {sight.match}, seat {sight.seat}: {len(exact)} states fit"]
    lines += [f"{drawn[key]} times, expected {exact[key] * _DRAWS:.1f}: {key[:600]}" for key in off]
    lines += [f"{outside} times: a state that does not fit"] if outside else []
    lines.append(f"history: {sight.history!r}"[:2_000])
    text = "\n".join(lines)
    return Finding(check=KIND, outcome="failed", evidence=text, function=function)


def _alike(sight: SeatSight, drawn: Sequence[str]) -> list[Finding]:
    said = (
        f"{_FEW} draws at match {sight.match}, seat {sight.seat} were all the same state, though "
        f"those that fit are too many to enumerate: {drawn[0][:600] or 'it failed each time'}"
    )
    return [Finding(check=KIND, outcome="failed", evidence=said, function="resample_history")]
