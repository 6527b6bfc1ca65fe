"""Every figure of the sandbox's benchmark, in one order and with what is demanded of it."""

from collections.abc import Callable
from dataclasses import dataclass

from evals.bench.sandbox_arena import arena
from evals.bench.sandbox_calls import round_trips, transitions
from evals.bench.sandbox_memory import worker_memory
from evals.bench.sandbox_processor import copier_gains, penalties
from evals.bench.sandbox_start import cold_starts, warm_workers
from evals.bench.timings import Timing, Unmeasured
from evals.results import Score
from tools.sandbox import Sandbox
from tools.sandbox.backends import Backend

# Names of timings whose median is bounded from above; the others are shown.
AT_MOST = {
    "cold start without numpy, ms": 150.0,
    "cold start with numpy, ms": 400.0,
    "warm worker without numpy, ms": 5.0,
    "warm worker with numpy, ms": 5.0,
    "round trip of 100 B with namespaces, us": 60.0,
    "round trip of 100 B without namespaces, us": 100.0,
    "1,000 transitions, one call at a time, ms": 80.0,
    "tic-tac-toe arena, players that ask, us a ply": 150.0,
    "processor penalty, pure Python, %": 5.0,
    "processor penalty, playouts, %": 5.0,
    "worker PSS with numpy, MB": 20.0,
}
_PAYLOADS = (100, 2_300, 23_000)
_TRANSITIONS = 1000


@dataclass(frozen=True)
class Repeats:
    """How often each figure is measured.

    Attributes:
        cold: Cold starts of either kit.
        warm: Warm workers of either kit.
        blocks: Blocks of round trips a payload.
        replays: Passes over the transitions.
        arena: Rounds of the arena.
        matches: Matches a round of the arena.
        penalty: Pairs of the processor penalty.
        playouts: Pairs of the copier's playouts.
        memory: Workers weighed of either kit.
    """

    cold: int = 9
    warm: int = 60
    blocks: int = 40
    replays: int = 9
    arena: int = 15
    matches: int = 30
    penalty: int = 80
    playouts: int = 15
    memory: int = 3


@dataclass(frozen=True)
class Places:
    """Where the workers of the benchmark run.

    Attributes:
        backend: The backend of cold starts, its default layers in force.
        strong: A sandbox of that backend.
        bare: The same without namespaces.
        unconfined: A sandbox with resource limits alone.
    """

    backend: Backend
    strong: Sandbox
    bare: Sandbox
    unconfined: Sandbox


def measure(
    places: Places, repeats: Repeats, seed: int, tell: Callable[[str], None]
) -> tuple[list[Timing], list[Unmeasured]]:
    """Take every figure; what cannot be measured here says why."""
    timings: list[Timing] = []
    unmeasured: list[Unmeasured] = []

    def keep(found: list[Timing], lacking: list[Unmeasured] | None = None) -> None:
        timings.extend(found)
        unmeasured.extend(lacking or [])
        for timing in found:
            tell(timing.as_text())

    keep(cold_starts(places.backend, repeats.cold))
    keep(warm_workers(places.strong, repeats.warm))
    keep(*_round_trips(places, repeats.blocks))
    keep(transitions(places.strong, _TRANSITIONS, seed, repeats.replays))
    keep(arena(places.strong, repeats.matches, seed, repeats.arena))
    keep(*penalties(places.strong, places.unconfined, repeats.penalty))
    keep(copier_gains(places.strong, repeats.playouts))
    keep(*worker_memory(places.strong, repeats.memory))
    return timings, unmeasured


def _round_trips(places: Places, blocks: int) -> tuple[list[Timing], list[Unmeasured]]:
    sandboxes = {"with namespaces": places.strong, "without namespaces": places.bare}
    if "namespaces" in places.strong.grade.layers:
        return round_trips(sandboxes, _PAYLOADS, blocks), []
    del sandboxes["with namespaces"]
    name = "round trip of 100 B with namespaces, us"
    lacking = Unmeasured(name, f"namespaces are not in force: {places.strong.grade.reason}")
    return round_trips(sandboxes, _PAYLOADS, blocks), [lacking]


def score(timing: Timing) -> Score:
    """The median of a timing with what is demanded of it."""
    return Score(
        name=timing.name,
        value=timing.median,
        at_most=AT_MOST.get(timing.name),
        scored=len(timing.values),
    )
