"""The sandbox's benchmark measures what it says; no test holds a time against a clock."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from evals.bench.plain import TIMES, PlainProcess, beside_plain, start_plain
from evals.bench.timings import Timing, UnreadableError, descendants, processor_s
from evals.sandbox import bench as benchmark
from evals.sandbox.bench import (
    AT_MOST,
    Places,
    Repeats,
    bounded_score,
    new_worker,
    payload,
    sandbox_figures,
)
from evals.sandbox.bench_play import recorded_plies
from tools.guest.framing import encode
from tools.sandbox import Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the Linux backend")

ONCE = Repeats(
    cold=1, warm=2, blocks=1, replays=1, arena=1, matches=2, penalty=1, playouts=1, memory=1
)


@pytest.fixture(scope="module")
def places() -> Iterator[Places]:
    backend = LinuxBackend()
    with (
        Sandbox(backend) as strong,
        Sandbox(LinuxBackend(namespaces=False)) as bare,
        Sandbox(ProcessBackend()) as unconfined,
    ):
        yield Places(backend, strong, bare, unconfined)


def test_every_demand_is_measured_or_says_why_it_is_not(places: Places) -> None:
    timings, unmeasured = sandbox_figures(places, ONCE, 7, lambda _: None)
    names = [timing.name for timing in timings] + [name for name, _ in unmeasured]
    assert len(set(names)) == len(names)
    assert AT_MOST.keys() <= set(names)
    assert all(timing.conditions["grade"] == "strong" for timing in timings)
    assert all(reason for _, reason in unmeasured)


def test_without_namespaces_their_round_trip_is_no_figure(places: Places) -> None:
    bare = Places(LinuxBackend(namespaces=False), places.bare, places.bare, places.unconfined)
    figures = list(benchmark._round_trips(bare, 1))
    unmeasured = [figure for figure in figures if isinstance(figure, tuple)]
    assert {figure.name for figure in figures if isinstance(figure, Timing)} == {
        f"round trip of {size} B without namespaces{where}, {unit}"
        for size in (100, 2300, 23000)
        for where in ("", " on one processor")
        for unit in ("us", TIMES)
    }
    assert [name for name, _ in unmeasured] == [f"round trip of 100 B with namespaces, {TIMES}"]
    assert "switched off" in unmeasured[0][1]


@pytest.mark.parametrize("size", [32, 100, 2300, 23000])
def test_a_payload_has_exactly_the_size_it_says(size: int) -> None:
    assert len(encode(payload(size))) == size


def test_a_payload_too_small_to_be_a_state_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32"):
        payload(10)


def test_the_recorded_transitions_are_as_many_as_asked_for() -> None:
    matches = recorded_plies(100, 7)
    assert sum(map(len, matches)) == 100
    # A match of tic-tac-toe takes 5 to 9 plies; the last one is cut.
    assert all(5 <= len(match) <= 9 for match in matches[:-1])


def test_a_median_over_its_bound_fails_and_an_unbounded_one_is_shown() -> None:
    name = "worker PSS with numpy, MB"
    assert bounded_score(Timing(name, (1.0, 20.0, 90.0))).passed
    assert not bounded_score(Timing(name, (1.0, 20.1, 90.0))).passed
    assert bounded_score(Timing("round trip of 2300 B with namespaces, us", (1e9,))).passed


def test_a_plain_process_answers_as_its_module_does_and_a_dead_one_gives_no_figure() -> None:
    with PlainProcess("def twice(text):\n    return [text, text]\n") as process:
        assert process.ask("twice", ["\u00e9" * 70_000]) == ["\u00e9" * 70_000] * 2
        with pytest.raises(EOFError, match="ended"):
            process.ask("thrice", [1])
    with pytest.raises(subprocess.CalledProcessError):
        start_plain("raise SystemExit(1)")
    name, values = "start, times a plain process's", (2.0, 1.5)
    assert beside_plain("start", [4.0, 6.0], [2.0, 4.0], {}) == Timing(name, values)
    with pytest.raises(ValueError, match="shorter"):
        beside_plain("start", [4.0, 6.0], [2.0], {})


def test_a_new_worker_is_found_among_the_processes(places: Places) -> None:
    source = "def work(n):\n    while n:\n        n -= 1\n    return 0\n"
    places.strong.start()  # its zygote is no worker
    with new_worker(places.strong, source) as (worker, pid):
        assert pid in descendants(os.getpid())
        before = processor_s(pid)
        worker.call("work", [1_000_000])
        assert processor_s(pid) > before
    another = Sandbox()  # its zygote appears as well
    with another, pytest.raises(UnreadableError, match="new processes"):
        new_worker(another, source).__enter__()
