"""Every attack is contained, with namespaces and without; and each is shown to see a breach."""

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from evals.sandbox.probes import LIMITS, Probe, UnsafeProbeError, probes, run_probe, with_bait
from evals.sandbox.stages import MARK, NOBODY, stage
from tests.processes import PATIENCE_S
from tools.sandbox import Sandbox
from tools.sandbox.local import LinuxBackend, ProcessBackend

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux has the sandbox on trial")

# What no namespace can hold back; these are tried once, in the strongest sandbox.
_WITHIN_THE_PROCESS = ("memory", "deadlines", "environment")
_ORDINARY = f"""
import json, os, sys, time
import concurrent.futures.thread, ctypes, faulthandler, gc, importlib.machinery, linecache, mmap
import enum, pty, signal, string, subprocess, threading, typing
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid({NOBODY}, {NOBODY}, {NOBODY})
    os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
names = {{"__name__": "probe"}}
exec(compile(sys.stdin.read(), "<probe>", "exec"), names)
print(json.dumps(names["main"]()), flush=True)
time.sleep(0.5)
"""


def named(*chosen: Probe) -> list[object]:
    return [pytest.param(probe, id=probe.name) for probe in chosen]


@pytest.fixture(scope="module", autouse=True)
def _secret_in_the_environment() -> Iterator[None]:
    """A value that no worker may find."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(MARK, f"secret-{secrets.token_hex(8)}")
        yield


@pytest.fixture(scope="module")
def strong() -> Iterator[Sandbox]:
    with Sandbox(limits=LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def without_namespaces() -> Iterator[Sandbox]:
    with Sandbox(LinuxBackend(namespaces=False), limits=LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def unconfined() -> Iterator[Sandbox]:
    with Sandbox(ProcessBackend(), limits=LIMITS) as opened:
        yield opened


@pytest.mark.parametrize("probe", named(*probes()))
def test_an_attack_is_contained(strong: Sandbox, probe: Probe) -> None:
    outcome = run_probe(probe, strong)
    assert not outcome.breached, outcome.how
    assert outcome.how


@pytest.mark.parametrize(
    "probe", named(*(probe for probe in probes() if probe.group not in _WITHIN_THE_PROCESS))
)
def test_an_attack_is_contained_without_namespaces(
    without_namespaces: Sandbox, probe: Probe
) -> None:
    outcome = run_probe(probe, without_namespaces)
    assert not outcome.breached, outcome.how


@pytest.mark.parametrize(
    "probe", named(*(probe for probe in probes() if probe.seen == "unconfined"))
)
def test_an_attack_sees_its_breach_where_nothing_isolates(
    unconfined: Sandbox, probe: Probe
) -> None:
    assert run_probe(probe, unconfined).breached


@pytest.mark.parametrize(
    "probe", named(*(probe for probe in probes() if probe.seen == "unlimited"))
)
def test_an_attack_sees_its_breach_in_an_ordinary_process(probe: Probe) -> None:
    with ExitStack() as staged:
        scene = staged.enter_context(stage(probe.stage)(staged.enter_context(Sandbox())))
        process = subprocess.Popen(
            [sys.executable, "-c", _ORDINARY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            said, _ = process.communicate(with_bait(probe.source, scene.bait), timeout=PATIENCE_S)
        finally:
            process.kill()
        assert json.loads(said.splitlines()[-1])["breached"] or scene.harm()


def test_a_probe_that_could_harm_the_machine_runs_in_no_unconfined_process(
    unconfined: Sandbox,
) -> None:
    unsafe = [probe for probe in probes() if probe.confined_only]
    assert {"mount", "set_clock"} <= {probe.name for probe in unsafe}
    for probe in unsafe:
        with pytest.raises(UnsafeProbeError, match="confines"):
            run_probe(probe, unconfined)


def test_what_the_kernel_ended_is_told(strong: Sandbox) -> None:
    [tracing] = [probe for probe in probes() if probe.name == "trace_process"]
    outcome = run_probe(tracing, strong)
    assert any("SIGSYS" in ended for ended in outcome.ended_by)


def test_a_hung_worker_is_ended_and_told(strong: Sandbox) -> None:
    [endless] = [probe for probe in probes() if probe.name == "alarm_disabled"]
    outcome = run_probe(endless, strong)
    assert any("timed_out" in ended for ended in outcome.ended_by)
