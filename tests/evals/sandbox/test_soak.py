import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from evals.results import EvalError
from evals.sandbox.soak import Moment, SoakAmount, scores, soak
from tools.sandbox import Sandbox

BEFORE = Moment(
    workers=0,
    requests=0,
    wrong=0,
    host_kib=30_000,
    host_blocks=100_000,
    host_descriptors=8,
    below=2,
    below_kib=40_000,
    below_descriptors=9,
    zombies=0,
)
HALF = replace(BEFORE, workers=5000, requests=500_000)
LAST = replace(BEFORE, workers=10_000, requests=1_000_000)


def moments_of_hundreds() -> list[Moment]:
    with Sandbox() as sandbox:
        amount = SoakAmount(workers=300, requests=30_000, moments=2)
        return soak(sandbox, amount, lambda _: None)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.whole
def test_hundreds_of_workers_leave_nothing_behind() -> None:
    # In a process of its own: what other tests free or keep is no trace of a worker.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        moments = alone.submit(moments_of_hundreds).result()
    first, last = moments[0], moments[-1]
    assert (last.workers, last.requests, last.wrong, last.zombies) == (300, 30_000, 0, 0)
    assert last.below == first.below
    assert last.host_descriptors == first.host_descriptors
    assert last.below_descriptors == first.below_descriptors
    # 300 workers that leaked a page each would be 1,200 KiB, and one object each 300 of them.
    assert last.host_kib - first.host_kib < 600
    assert last.below_kib - first.below_kib < 600
    assert last.host_blocks - first.host_blocks < 150


def test_a_soak_that_leaves_nothing_passes() -> None:
    assert all(score.passed for score in scores([BEFORE, HALF, LAST]))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("wrong", 1),
        ("below", 3),
        ("zombies", 1),
        ("host_descriptors", 9),
        ("below_descriptors", 10),
        ("host_kib", 30_400),
        ("below_kib", 40_400),
        ("host_blocks", 105_000),
    ],
)
def test_whatever_is_left_behind_fails(field: str, value: int) -> None:
    failed = [s for s in scores([BEFORE, HALF, replace(LAST, **{field: value})]) if not s.passed]
    assert len(failed) == 1


def test_a_process_that_was_there_in_between_fails() -> None:
    assert not all(s.passed for s in scores([BEFORE, replace(HALF, below=3), LAST]))


def test_two_moments_show_no_growth() -> None:
    with pytest.raises(EvalError, match="at least 3"):
        scores([BEFORE, LAST])
