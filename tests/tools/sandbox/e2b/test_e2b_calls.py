"""The SDK's call sequence on loopback, not the service.

The real client of the service speaks with a fake on this computer. What is proved is which calls
our side makes, in which order, with which arguments, and what it makes of the answers.
"""

import sys
from pathlib import Path

import pytest

from games.values import ModuleFault
from tests.tools.sandbox.e2b.fake_service import KEY, FakeService
from tools.sandbox import Limits, Sandbox, SandboxUnavailableError
from tools.sandbox.backends import Kit
from tools.sandbox.e2b import COMMAND, FOLDER, E2BBackend

PLAIN = Kit()
SLOW = (
    "import time\ndef f(x):\n    return x + 1\ndef work(s):\n"
    "    until = time.process_time() + s\n    while time.process_time() < until: pass\n"
    "    return s\n"
)


def names(service: FakeService) -> list[str]:
    return [name for name, _ in service.calls if name not in ("input", "health", "extend")]


def test_without_a_key_nothing_is_contacted_and_the_message_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, service: FakeService
) -> None:
    monkeypatch.delenv("E2B_API_KEY", raising=False)
    backend = E2BBackend(api_url=service.url, sandbox_url=service.url, http_version="1.1")
    with pytest.raises(SandboxUnavailableError, match="set E2B_API_KEY.*E2B_DOMAIN"):
        backend.start(PLAIN, Limits())
    assert service.calls == []


def test_the_key_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, service: FakeService
) -> None:
    monkeypatch.setenv("E2B_API_KEY", KEY)
    backend = E2BBackend(api_url=service.url, sandbox_url=service.url, http_version="1.1")
    backend.start(PLAIN, Limits()).close()
    assert names(service)[0] == "create"


def test_the_domain_comes_from_the_environment_and_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("E2B_DOMAIN", "127.0.0.1")  # "api.127.0.0.1" is no address of anything
    with pytest.raises(SandboxUnavailableError, match=r"at 127\.0\.0\.1: .*check the network"):
        E2BBackend(api_key=KEY).start(PLAIN, Limits())


def test_debug_mode_of_the_environment_does_not_skip_the_order_of_a_machine(
    monkeypatch: pytest.MonkeyPatch, service: FakeService
) -> None:
    monkeypatch.setenv("E2B_DEBUG", "true")
    service.backend().start(PLAIN, Limits()).close()
    assert len(service.named("create")) == len(service.named("kill")) == 1


REFUSED = {
    "a wrong key": (401, "E2B_API_KEY"),
    "too many machines": (429, "wait, or end other machines"),
    "a busy service": (503, "try again in a minute"),
    "an unknown template": (404, "'tabletop'"),
    "trouble inside": (500, "no disk left"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refused_order_says_what_to_do(service: FakeService, what: str) -> None:
    status, words = REFUSED[what]
    service.refusals["create"] = (status, "no disk left")
    with pytest.raises(SandboxUnavailableError, match=words):
        service.backend("tabletop").start(PLAIN, Limits())
    assert names(service) == ["create"]


def test_an_unreachable_service_is_no_result() -> None:
    with FakeService() as service:
        backend = service.backend()
    with pytest.raises(SandboxUnavailableError, match="check the network"):
        backend.start(PLAIN, Limits())


def test_the_machine_is_ordered_without_internet_and_ends_by_itself(service: FakeService) -> None:
    service.backend("tabletop", idle_s=900).start(PLAIN, Limits()).close()
    (order,) = service.named("create")
    assert order["templateID"] == "tabletop"
    assert order["timeout"] == 900
    assert order["allow_internet_access"] is False
    assert order["autoPause"] is False


def test_calls_come_in_order_create_files_start_kill(service: FakeService) -> None:
    pool = service.backend().start(PLAIN, Limits())
    tested = names(service)
    assert tested[:3] == ["create", "files", "start"]
    assert {"kill", "signal"}.isdisjoint(tested[:3])
    pool.fork()
    pool.close()
    assert names(service)[-2:] == ["start", "kill"]


def test_the_runner_is_started_in_the_background_with_input_and_without_a_shell_around_it(
    service: FakeService,
) -> None:
    service.backend().start(PLAIN, Limits()).close()
    process, stdin = service.named("start")[0]
    assert process["args"][-1] == COMMAND
    assert COMMAND.startswith("exec python3")
    assert stdin is True
    assert process["envs"]["PYTHONPATH"] == FOLDER
    assert not any("KEY" in name for name in process["envs"])


def test_only_our_sources_are_uploaded_as_root_and_they_suffice(service: FakeService) -> None:
    kit = Kit(("agents.worker.session",), numpy=True)
    service.backend().start(kit, Limits()).close()  # its python3 has none of our packages
    ((user, paths),) = service.named("files")
    assert user == ["root"]
    folders = {Path(path).relative_to(FOLDER).parts[0] for path in paths}
    assert folders == {"agents", "games", "tools"}
    ours = {path.partition("/tools/")[2] for path in paths if "/tools/" in path}
    assert all(path == "__init__.py" or path.startswith("guest/") for path in ours)


def test_a_module_is_loaded_and_called_in_the_machine(sandbox: Sandbox) -> None:
    with sandbox.worker("referee", SLOW) as worker:
        worker.load(SLOW)
        assert worker.call("f", [41]) == 42
    assert sandbox.grade.name == "medium"  # nobody stops a worker there between two requests
    assert "go on uncounted" in sandbox.grade.reason
    assert sandbox.grade.backend == "e2b"
    assert sandbox.grade.layers[0] == "virtual machine (E2B)"
    assert sandbox.grade.layers[-1] == "system call allow-list"
    assert "not verified" in sandbox.grade.reason
    assert f"Python {sys.version.split()[0]}" in sandbox.grade.reason


def test_two_workers_share_a_machine_and_nothing_else(
    service: FakeService, sandbox: Sandbox
) -> None:
    source = "seen = []\ndef f(x):\n    seen.append(x)\n    return seen\n"
    with sandbox.worker("a", source) as first, sandbox.worker("b", source) as second:
        first.load(source)
        second.load(source)
        assert first.call("f", [1]) == [1]
        assert second.call("f", [2]) == [2]
        first.kill()
        assert second.call("f", [3]) == [2, 3]
    assert len(service.machines) == 1


def test_frames_larger_than_any_piece_arrive_whole(sandbox: Sandbox) -> None:
    source = "def f(x):\n    return x\n"
    long = "aé" * 1_300_000
    with sandbox.worker("long", source) as worker:
        worker.load(source)
        assert worker.call("f", [long], deadline_s=20) == long


def test_a_killed_worker_is_signalled_once(service: FakeService, sandbox: Sandbox) -> None:
    worker = sandbox.worker("short")
    before = len(service.named("signal"))
    worker.kill()
    worker.kill()
    signals = service.named("signal")[before:]
    assert [signal for _, signal in signals] == ["SIGNAL_SIGKILL"]


def test_a_call_that_does_not_return_is_killed_and_its_line_told(sandbox: Sandbox) -> None:
    source = "def f():\n    return sum(range(10**12))\n"
    with sandbox.worker("endless", source) as worker:
        worker.load(source)
        with pytest.raises(ModuleFault, match="did not return within 0.3 s and was killed") as told:
            worker.call("f", deadline_s=0.3)
    assert (told.value.kind, told.value.line) == ("timed_out", 2)


def test_a_template_without_numpy_is_named() -> None:
    with FakeService(numpy=False) as service:
        with pytest.raises(SandboxUnavailableError, match="'tabletop' lacks.*numpy"):
            service.backend("tabletop").start(Kit(numpy=True), Limits())
        assert names(service)[-1] == "kill"
        service.backend("tabletop").start(PLAIN, Limits()).close()


def test_a_template_without_a_package_that_is_preloaded_is_named(service: FakeService) -> None:
    kit = Kit(("tests.tools.sandbox.e2b.needy",))
    with pytest.raises(SandboxUnavailableError, match="lacks.*No module named 'yaml'"):
        service.backend().start(kit, Limits())


def test_a_python_that_cannot_run_the_runner_is_quoted(service: FakeService) -> None:
    service.python = 'echo "unknown option -P" >&2; exit 2'
    with pytest.raises(SandboxUnavailableError, match=r"exit code 2.*unknown option -P.*3\.11"):
        service.backend().start(PLAIN, Limits())
    assert len(service.named("kill")) == 1
