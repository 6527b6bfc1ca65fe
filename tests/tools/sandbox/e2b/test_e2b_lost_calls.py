"""What our side makes of a service that fails: on loopback, not the service.

See `test_e2b_calls`. Whatever goes wrong between here and the machine is no fault of the module.
"""

import signal
import threading
import time
from collections.abc import Callable

import pytest

from games.values import ModuleFault
from tests.tools.sandbox.e2b.fake_service import FakeService
from tools.sandbox import Limits, Sandbox, SandboxUnavailableError
from tools.sandbox.backends import Kit

PLAIN = Kit()
SLOW = (
    "import time\ndef f(x):\n    return x + 1\ndef work(s):\n"
    "    until = time.process_time() + s\n    while time.process_time() < until: pass\n"
    "    return s\n"
)


def when(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


def test_a_connection_lost_in_mid_request_is_no_fault_of_the_module(
    service: FakeService, sandbox: Sandbox
) -> None:
    worker = sandbox.worker("cut", SLOW)
    worker.load(SLOW)
    told: list[BaseException] = []

    def ask() -> None:
        try:
            worker.call("work", [30], deadline_s=60)
        except (ModuleFault, SandboxUnavailableError) as error:
            told.append(error)

    asking = threading.Thread(target=ask)
    asked = len(service.named("input"))
    asking.start()
    when(lambda: len(service.named("input")) > asked)
    service.cut_streams("machine0")
    asking.join(20)
    assert [type(error) for error in told] == [SandboxUnavailableError]
    with sandbox.worker("next", SLOW) as other:
        other.load(SLOW)
        assert other.call("f", [1]) == 2


def test_a_machine_that_the_service_ended_is_replaced_and_blames_nobody(
    service: FakeService, sandbox: Sandbox
) -> None:
    worker = sandbox.worker("old", SLOW)
    worker.load(SLOW)
    service.end("machine0")
    with pytest.raises(SandboxUnavailableError):
        worker.call("f", [1])
    with sandbox.worker("new", SLOW) as other:
        other.load(SLOW)
        assert other.call("f", [1]) == 2
    assert list(service.machines) == ["machine0", "machine1"]


def test_silence_of_a_machine_that_cannot_be_reached_blames_nobody(
    service: FakeService, sandbox: Sandbox
) -> None:
    worker = sandbox.worker("unreachable", SLOW)
    worker.load(SLOW)
    service.refusals["health"] = (502, "the sandbox is running but its port is not open")
    last = list(service.machines["machine0"].commands.values())[-1]
    last.process.send_signal(signal.SIGSTOP)
    with pytest.raises(SandboxUnavailableError):
        worker.call("f", [1], deadline_s=0.1)


def test_a_signal_from_outside_to_a_live_machine_blames_no_module(
    service: FakeService, sandbox: Sandbox
) -> None:
    worker = sandbox.worker("struck", SLOW)
    worker.load(SLOW)
    last = list(service.machines["machine0"].commands.values())[-1]
    last.process.kill()
    with pytest.raises(SandboxUnavailableError, match="SIGKILL"):
        worker.call("f", [1])
    assert not worker.alive


def test_input_that_the_service_never_takes_blames_nobody(
    service: FakeService, sandbox: Sandbox
) -> None:
    worker = sandbox.worker("stuck", SLOW)
    worker.load(SLOW)
    service.silent.add("input")
    with pytest.raises(SandboxUnavailableError):
        worker.call("f", [1], deadline_s=0.2)


@pytest.mark.parametrize("call", ["files", "start", "input"])
def test_a_machine_is_ended_once_when_it_cannot_be_prepared(
    service: FakeService, call: str
) -> None:
    service.refusals[call] = (500, "out of order")
    with pytest.raises(SandboxUnavailableError, match="out of order"):
        service.backend().start(PLAIN, Limits())
    assert service.named("kill") == ["machine0"]
    assert service.alive == set()


def test_closing_a_pool_ends_its_machine_exactly_once(service: FakeService) -> None:
    pool = service.backend().start(PLAIN, Limits())
    process = pool.fork()
    pool.close()
    pool.close()
    process.kill()
    assert service.named("kill") == ["machine0"]
    assert process.ending(5.0).detail == "by the host"


def test_a_machine_that_cannot_be_ended_is_told(service: FakeService) -> None:
    pool = service.backend(idle_s=77).start(PLAIN, Limits())
    service.refusals["kill"] = (500, "out of order")
    with pytest.warns(RuntimeWarning, match="ends it by itself within 77 s"):
        pool.close()


def test_a_machine_is_ended_though_the_first_try_is_lost(service: FakeService) -> None:
    pool = service.backend().start(PLAIN, Limits())
    service.dropped.add("kill")
    pool.close()
    assert service.alive == set()


def test_the_end_of_a_machine_is_put_off_while_it_holds_workers_only(service: FakeService) -> None:
    pool = service.backend(idle_s=1).start(PLAIN, Limits())
    process = pool.fork()
    when(lambda: len(service.named("extend")) >= 2)
    assert set(service.named("extend")) == {("machine0", 1)}
    process.kill()
    process.ending(5.0)
    time.sleep(0.5)
    seen = len(service.named("extend"))
    time.sleep(1.0)
    assert len(service.named("extend")) == seen
    pool.close()
