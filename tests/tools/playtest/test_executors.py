"""Executors; of Ray's, what can be proven where Ray is not installed."""

import importlib.util
import operator
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_tournament import GAME, HERE
from tools.playtest import (
    ExecutorUnavailableError,
    InlineExecutor,
    RayExecutor,
    TournamentSettings,
    TournamentStoppedError,
    Workers,
    play_tournament,
    process_pool,
)


def test_processes_are_others_and_keep_arrays_to_one_thread() -> None:
    with process_pool(2, HERE.sandbox) as pool:
        assert pool.submit(os.getpid).result() != os.getpid()
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"


def test_no_workers_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        process_pool(0, HERE.sandbox)


def test_inline_runs_here_and_now() -> None:
    assert InlineExecutor().submit(os.getpid).result() == os.getpid()


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_error_says_what_to_install() -> None:
    with pytest.raises(ExecutorUnavailableError, match=r"rulewright\[ray\]"):
        RayExecutor(2)


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
        workers = Workers(jobs=2, executor=executor, sandbox=HERE.sandbox)
        there = play_tournament(
            GAME, ["perfect", "uniform"], settings, NimRoster(), workers=workers
        )
    here = play_tournament(GAME, ["perfect", "uniform"], settings, NimRoster(), workers=HERE)
    assert there.as_json() == here.as_json()
    assert ray.calls == ["init", "shutdown"]
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
        workers = Workers(jobs=2, executor=executor, sandbox=HERE.sandbox)
        settings = TournamentSettings(deals=2, seed=3)
        with pytest.raises(TournamentStoppedError, match=r"the node died.*again to go on"):
            play_tournament(GAME, ["perfect", "uniform"], settings, NimRoster(), workers=workers)
    ray.pool.shutdown()
