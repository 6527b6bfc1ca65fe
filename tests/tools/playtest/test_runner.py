"""The runner: any list of jobs, on every executor; of Ray's, also what can be proven without it."""

import importlib.util
import json
import operator
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from games.values import Json
from tests.processes import PATIENCE_S
from tests.tools.playtest.test_tournament import play
from tools.playtest.journal import journal_at
from tools.playtest.runner import (
    ExecutorError,
    ExecutorUnavailableError,
    RayExecutor,
    RunStoppedError,
    Workers,
    play_all,
)
from tools.playtest.schedule import TournamentSettings

PAIR = ["perfect", "uniform"]
NO_RAY = importlib.util.find_spec("ray") is None


def square(number: int) -> Json:
    return {"square": number * number, "process": os.getpid()}


def squares(path: Path | None, workers: Workers, count: int = 5) -> dict[int, Json]:
    with journal_at(path, {"work": "squares"}) as journal:
        return dict(play_all(enumerate(range(count)), square, journal=journal, workers=workers))


def processes(entries: dict[int, Json]) -> set[int]:
    return {entry["process"] for entry in entries.values()}  # type: ignore[index,call-overload,misc]


def test_one_job_at_a_time_and_threads_run_in_this_process_and_processes_are_others() -> None:
    assert processes(squares(None, Workers())) == {os.getpid()}
    assert processes(squares(None, Workers(3, "threads"))) == {os.getpid()}
    assert os.getpid() not in processes(squares(None, Workers(2)))


def test_processes_keep_arrays_to_one_thread() -> None:
    jobs = enumerate(["OPENBLAS_NUM_THREADS"])
    assert dict(play_all(jobs, os.getenv, journal=None, workers=Workers(2))) == {0: "1"}


DYING = """
import os, time
from multiprocessing import popen_forkserver, reduction
from tools.playtest.runner import Workers
{step}
with Workers(2).opened() as workers:
    workers.executor.submit(os.getpid).result()
"""
# The server has started, and hears of the hang-up before it hears that this process has ended.
WHILE_ASKING = "reduction.sendfds = lambda to, _: (to.close(), time.sleep(2), os._exit(0))"
BEFORE_TELLING = "popen_forkserver.open = lambda *_, **__: os._exit(0)"


@pytest.mark.parametrize("step", [WHILE_ASKING, BEFORE_TELLING])
def test_a_process_that_ends_while_it_starts_another_leaves_no_traceback(step: str) -> None:
    command = [sys.executable, "-c", DYING.format(step=step)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_journal_holds_comes_first_in_order_and_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = squares(path, Workers(), 3)
    data = path.read_bytes()
    played: list[int] = []

    def note(number: int) -> Json:
        played.append(number)
        return square(number)

    with journal_at(path, {"work": "squares"}) as journal:
        jobs = enumerate(range(5))
        found = list(play_all(jobs, note, journal=journal, workers=Workers()))
    assert played == [3, 4]
    assert [index for index, _ in found] == list(range(5))
    assert dict(found[:3]) == first
    assert path.read_bytes().startswith(data)


def test_an_entry_is_on_disk_before_it_is_yielded(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with journal_at(path, {"work": "squares"}) as journal:
        for index, _ in play_all(
            enumerate(range(4)), square, journal=journal, workers=Workers(2, "threads")
        ):
            kept = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
            assert index in {line["index"] for line in kept}


def test_what_was_yielded_decides_what_comes() -> None:
    seen: list[int] = []

    def wanted() -> Iterator[tuple[int, int]]:
        yield from enumerate(range(3))
        if 2 in seen:
            yield 7, 7

    for index, _ in play_all(wanted(), square, journal=None, workers=Workers()):
        seen.append(index)
    assert seen == [0, 1, 2, 7]


def test_denied_entries_leave_the_journal_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with journal_at(path, {"work": "squares"}) as journal:
        jobs = enumerate(range(4))
        found = play_all(
            jobs, square, journal=journal, workers=Workers(), keep=lambda index: index != 1
        )
        assert [index for index, _ in found] == [0, 1, 2, 3]
    assert [json.loads(line)["index"] for line in path.read_bytes().splitlines()[1:]] == [0, 2, 3]


@pytest.mark.parametrize(
    ("name", "jobs", "kind", "address"),
    [
        ("threads", 2, "threads", None),
        ("processes", 1, "processes", None),
        ("ray", 3, "ray", None),
        ("ray:10.0.0.1:6379", 3, "ray", "10.0.0.1:6379"),
    ],
)
def test_executors_are_named(name: str, jobs: int, kind: str, address: str | None) -> None:
    assert Workers.named(name, jobs) == Workers(jobs, kind, address)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "fibres", "ray:", "threads:4", "processes:", "rays"])
def test_unknown_executors_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ExecutorError, match="known: threads, processes, ray, ray:ADDRESS"):
        Workers.named(name, 2)


def test_no_jobs_at_a_time_are_refused() -> None:
    with pytest.raises(ExecutorError, match="at least 1"):
        Workers(0)


@pytest.mark.skipif(not NO_RAY, reason="Ray is installed")
def test_without_ray_the_error_says_what_to_install() -> None:
    with (
        pytest.raises(ExecutorUnavailableError, match=r"rulewright\[ray\]"),
        Workers(2, "ray").opened(),
    ):
        pass


@pytest.mark.skipif(NO_RAY, reason="needs the extra ray, which is not installed")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_on_a_local_ray_a_tournament_leaves_the_same_bytes(tmp_path: Path) -> None:
    one, ray = tmp_path / "one.jsonl", tmp_path / "ray.jsonl"
    settings = TournamentSettings(deals=3, seed=3)
    here = play(PAIR, settings, journal=one)
    there = play(PAIR, settings, workers=Workers(2, "ray"), journal=ray)
    assert there.as_json() == here.as_json()
    assert ray.read_bytes() == one.read_bytes()


class Reference:
    def __init__(self, task: Future[Any]) -> None:
        self.task = task

    def future(self) -> Future[Any]:
        return self.task


class Ray:
    """Ray's public functions as far as the executor calls them, over threads."""

    exceptions = SimpleNamespace(RayTaskError=ArithmeticError)  # what its tasks here raise

    def __init__(self, *, running: bool = False, lost: OSError | None = None) -> None:
        self.lost = lost
        self.pool = ThreadPoolExecutor(2)
        self.calls: list[str] = ["init"] if running else []

    def is_initialized(self) -> bool:
        return self.calls.count("init") > self.calls.count("shutdown")

    def init(self, **given: Any) -> None:  # noqa: ANN401
        assert given["num_cpus"] == 2
        self.calls.append("init")

    def shutdown(self) -> None:
        self.calls.append("shutdown")

    def remote(self, function: Callable[..., Any]) -> Any:  # noqa: ANN401
        def start(*arguments: object) -> Reference:
            future: Future[Any] = Future()
            if self.lost is None:
                future = self.pool.submit(function, *arguments)
            else:
                future.set_exception(self.lost)
            return Reference(future)

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=start))

    def cancel(self, reference: Reference) -> None:
        reference.task.cancel()

    def wait(self, references: list[Reference], *, num_returns: int) -> None:
        for reference in references[:num_returns]:
            reference.task.result()


def test_on_rays_interface_a_tournament_is_the_same() -> None:
    settings = TournamentSettings(deals=2, seed=3)
    ray = Ray()
    with RayExecutor(2, ray=ray) as executor:
        there = play(PAIR, settings, workers=Workers(2, executor=executor))
    here = play(PAIR, settings)
    assert there.as_json() == here.as_json()
    assert ray.calls == ["init", "shutdown"]
    ray.pool.shutdown()


def test_where_no_ray_listens_it_is_said_at_once() -> None:
    ray = Ray()
    with pytest.raises(ExecutorUnavailableError, match="no Ray answers at 127.0.0.1:1 "):
        RayExecutor(2, address="127.0.0.1:1", ray=ray)
    assert ray.calls == []
    ray.pool.shutdown()


def test_a_ray_that_was_there_stays() -> None:
    ray = Ray(running=True)
    executor = RayExecutor(2, ray=ray)
    assert executor.submit(operator.add, 1, 2).result() == 3
    executor.shutdown()
    assert ray.calls == ["init"]
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(operator.add, 1, 2)
    ray.pool.shutdown()


def test_what_a_ray_task_raises_is_raised_by_its_future() -> None:
    ray = Ray()
    with RayExecutor(2, ray=ray) as executor, pytest.raises(ZeroDivisionError):
        executor.submit(operator.truediv, 1, 0).result()
    ray.pool.shutdown()


def test_a_lost_ray_worker_stops_the_tournament_with_a_way_on() -> None:
    ray = Ray(lost=OSError("the node died"))
    with RayExecutor(2, ray=ray) as executor:
        settings = TournamentSettings(deals=2, seed=3)
        with pytest.raises(RunStoppedError, match=r"the node died.*again to go on"):
            play(PAIR, settings, workers=Workers(2, executor=executor))
    ray.pool.shutdown()
