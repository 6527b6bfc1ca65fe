"""Every system call number is tried in a confined worker; never as root, never unconfined."""

import sys
from collections.abc import Iterator

import pytest

from evals.sandbox.probes import UnsafeProbeError
from evals.sandbox.sweep import HIGHEST, PRELOAD, TARGET, SweepResult, sweep
from games.values import Json
from tools.guest.confine.filters import architecture, number
from tools.sandbox import OperationError, Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux has the filter on trial")


@pytest.fixture(scope="module", params=[True, False], ids=["namespaces", "no namespaces"])
def swept(request: pytest.FixtureRequest) -> Iterator[SweepResult]:
    with Sandbox(LinuxBackend(namespaces=request.param), preload=(PRELOAD,)) as sandbox:
        yield sweep(sandbox)


def numbers(*names: str) -> set[int]:
    found = (number(name, architecture()) for name in names)
    return {each for each in found if each is not None}


def test_no_more_calls_are_reachable_than_a_module_needs(swept: SweepResult) -> None:
    assert 20 <= len(swept.reachable) <= TARGET


def test_every_number_is_judged(swept: SweepResult) -> None:
    judged = [*swept.reachable, *swept.denied, *swept.killed, *swept.skipped]
    assert sorted(judged) == list(range(HIGHEST + 1))


def test_the_kernel_answers_as_the_filter_s_table_says(swept: SweepResult) -> None:
    assert swept.unexpected == ()


def test_what_a_worker_lives_on_is_reachable(swept: SweepResult) -> None:
    assert numbers("read", "write", "futex", "exit_group") <= set(swept.reachable)


def test_what_only_an_attack_makes_ends_the_process(swept: SweepResult) -> None:
    attacks = numbers("ptrace", "bpf", "keyctl", "mount", "unshare", "io_uring_setup", "setns")
    assert attacks <= set(swept.killed)


def test_files_sockets_and_processes_are_out_of_reach(swept: SweepResult) -> None:
    assert numbers("openat", "execve", "clone", "fork", "openat2") <= set(swept.denied)


def test_no_special_call_gets_through(swept: SweepResult) -> None:
    reached = [name for name, reach in swept.special.items() if reach == "reachable"]
    assert reached == []
    assert swept.special["mmap writable and executable"] == "denied"


@pytest.mark.skipif(architecture() != "x86_64", reason="only x86_64 has a second ABI")
def test_calls_of_the_second_abi_end_the_process(swept: SweepResult) -> None:
    assert {swept.special[name] for name in swept.special if name.startswith("x32")} == {"killed"}


def test_an_unconfined_worker_is_not_swept() -> None:
    with (
        Sandbox(ProcessBackend(), preload=(PRELOAD,)) as sandbox,
        pytest.raises(UnsafeProbeError, match="confined"),
    ):
        sweep(sandbox)


@pytest.mark.parametrize("operation", ["one_call", "special_call"])
def test_an_unconfined_worker_refuses_by_itself(operation: str) -> None:
    payload: dict[str, Json] = {"number": 39, "argument": 0, "name": "seccomp"}
    with (
        Sandbox(ProcessBackend(), preload=(PRELOAD,)) as sandbox,
        sandbox.worker("sweep", preloaded=True) as worker,
    ):
        worker.load("")
        with pytest.raises(OperationError, match="only run behind|never run as root"):
            worker.request(operation, payload, 2)


def test_the_sweep_goes_past_the_last_call_of_todays_kernels() -> None:
    assert HIGHEST >= 471
    assert TARGET == 51
