"""Round trips of observations: as an array of numbers and back (Code World Models, App. E).

One worker turns observations into arrays. A fresh one, which met none of them, turns the arrays
back, then makes the arrays itself, the last first. All is compared on the host.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from games.checks import Finding
from games.values import (
    IllegalActionError,
    Json,
    ModuleFault,
    canonical_key,
    canonical_value,
    is_number,
)
from tools.predicting import called, failing, with_output
from tools.predicting.inference import SeatSight
from tools.sandbox import Sandbox
from tools.sandbox.worker import CallResult

TENSORS = ("observation_to_tensor", "tensor_to_observation")
MOST_NUMBERS = 4096
LARGEST = 1e6
KIND = "tensors"
_AT_ONCE = 40  # calls of a message: the longest arrays then stay far below its limit
_MOST = 400  # distinct observations
_REQUIRED = f"an array of at most {MOST_NUMBERS} finite numbers, none beyond {LARGEST:g}"
_AS_LISTS = """


# What follows was not learned: messages hold lists, and no arrays.
def numbers_of_observation(observation):
    import numpy

    return numpy.asarray(observation_to_tensor(observation)).tolist()


def observation_of_numbers(numbers):
    import numpy

    return tensor_to_observation(numpy.array(numbers, dtype=float))
"""


@dataclass(frozen=True)
class RoundTrips:
    """Observations that a source turned into arrays and back.

    Attributes:
        right: Distinct observations that came back, by arrays of the one length.
        sights: Distinct observations.
        width: That length; 0 where no array was made.
        failures: The first failing tests.
        matches: Indices of the matches with a failing observation.
    """

    right: int
    sights: int
    width: int
    failures: tuple[Finding, ...]
    matches: frozenset[int]


@dataclass
class _Trip:
    """One observation on its way."""

    sight: SeatSight
    seen: Json
    numbers: list[float]
    function: str = TENSORS[0]
    problem: tuple[Json, CallResult] | None = None


def with_lists(source: str) -> str:
    """A source with the two functions that give and take lists instead of arrays."""
    return source.rstrip() + _AS_LISTS


def numbers_in(value: CallResult) -> list[float] | None:
    """An array as `numbers_of_observation` gives it; None where it is none that may be used."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_NUMBERS:
        return None
    numbers = [float(n) for n in value if is_number(n) and abs(n) <= LARGEST]
    return numbers if len(numbers) == len(value) else None


def round_trips(
    sandbox: Sandbox, source: str, sights: Sequence[SeatSight], *, width: int = 0, shown: int = 1
) -> RoundTrips:
    """Turn the newest observation of each sight into an array and back.

    Args:
        sandbox: Where it runs.
        source: The model with both functions.
        sights: Turns of seats.
        width: The length that arrays must have; 0 for that of the first one.
        shown: Failing tests to show at most.
    """
    trips = _distinct(sights)
    whole = with_lists(source)
    try:
        with sandbox.loaded("tensors", whole) as first:
            answers = first.ask_many([_made(trip) for trip in trips], _AT_ONCE)
        width = _measured(trips, answers, width)
        with sandbox.loaded("observations", whole) as second:
            live = [trip for trip in trips if trip.problem is None]
            back: list[tuple[str, list[Json]]] = [
                ("observation_of_numbers", [[*trip.numbers]]) for trip in live
            ]
            for trip, answer in zip(live, second.ask_many(back, _AT_ONCE), strict=True):
                _compare(trip, answer)
            live = [trip for trip in live[::-1] if trip.problem is None]
            again = second.ask_many([_made(trip) for trip in live], _AT_ONCE)
            for trip, answer in zip(live, again, strict=True):
                if numbers_in(answer) != trip.numbers:
                    trip.problem = (f"the same array as before: {trip.numbers}", answer)
    except ModuleFault as fault:
        found = failing(KIND, fault.function, "loading the module", "no error", fault, "at first")
        return RoundTrips(0, len(trips), width, (found,), frozenset(s.match for s in sights))
    bad = [trip for trip in trips if trip.problem is not None]
    failures = tuple(_told(sandbox, source, trip) for trip in bad[:shown])
    matches = frozenset(trip.sight.match for trip in bad)
    return RoundTrips(len(trips) - len(bad), len(trips), width, failures, matches)


def _distinct(sights: Sequence[SeatSight]) -> list[_Trip]:
    """The newest observations, each once and up to so many, evenly taken."""
    found: dict[str, _Trip] = {}
    for sight in sights:
        seen = sight.turns[-1][0]
        if not sight.ended:
            found.setdefault(canonical_key(seen), _Trip(sight, seen, []))
    trips = [*found.values()]
    return trips[:: -(-len(trips) // _MOST) or 1]


def _made(trip: _Trip) -> tuple[str, list[Json]]:
    return "numbers_of_observation", [trip.seen]


def _measured(trips: Sequence[_Trip], answers: Sequence[CallResult], width: int) -> int:
    """Take the arrays over; gives the length that all must have."""
    for trip, answer in zip(trips, answers, strict=True):
        numbers = numbers_in(answer)
        width = width or len(numbers or ())
        if numbers is None:
            trip.problem = (_REQUIRED, answer)
        elif len(numbers) != width:
            trip.problem = (f"{width} numbers, as of other observations", f"{len(numbers)} numbers")
        trip.numbers = numbers or []
    return width


def _compare(trip: _Trip, answer: CallResult) -> None:
    if not isinstance(answer, ModuleFault | IllegalActionError):
        answer = canonical_value(answer)
        if canonical_key(answer) == canonical_key(trip.seen):
            return
    trip.function, trip.problem = TENSORS[1], (trip.seen, answer)


def _told(sandbox: Sandbox, source: str, trip: _Trip) -> Finding:
    expected, actual = trip.problem or ("", "")
    call = called(TENSORS[0], [trip.seen])
    back = trip.function == TENSORS[1]
    if back:
        call = f"{TENSORS[1]}({call})"
    place = f"seat {trip.sight.seat} at its turn {len(trip.sight.turns) - 1} of a match"
    found = failing(KIND, trip.function, call, expected, actual, place)
    return found if back else with_output(sandbox, source, found, [trip.seen])
