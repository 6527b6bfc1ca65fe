"""No test reaches a network: a model call that is not replayed, or leaves this machine, raises."""

import fcntl
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from games.text import read_yaml
from tools.sandbox.backends import Kit, Limits, Pool, PoolGoneError, Process
from tools.sandbox.local import LinuxBackend

_OWN_POOLS = (
    "tests/tools/",
    "tests/evals/sandbox/",
    "tests/evals/bench/",
    "tests/app/test_sandbox",
)

_SAMPLE_S, _LONGEST_S = 0.6, 1  # of a file's slow tests, what `make test` runs

os.environ["LANGSMITH_TRACING"] = "false"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
for name in [name for name in os.environ if name.startswith(("RULEWRIGHT_", "OPENAI_"))]:
    del os.environ[name]
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
    # What the caller ignores (`nohup`, a job of a script), a handler ignores: no child inherits it.
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
with suppress(ImportError):  # the environment of the Studio server has none, and needs none
    from hypothesis import settings

    # The same examples everywhere; no clock ends one, and nothing is kept beside the tests.
    settings.register_profile("suite", derandomize=True, deadline=None, database=None)
    settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> None:
    from agents.model.transport import forbid_network

    forbid_network()


class _SharedPool:
    """A pool that its sandboxes leave open: tests of other rooms start a zygote a kit, not each."""

    def __init__(self, pool: Pool, forget: Callable[[], object]) -> None:
        self.grade, self.end = pool.grade, pool.close
        self._pool, self._forget = pool, forget

    def fork(self) -> Process:
        try:
            return self._pool.fork()
        except PoolGoneError:
            self._forget()
            raise

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True, scope="session")
def _shared_pools() -> Iterator[None]:
    """Zygotes are shared by all tests of a process, but for those of the sandbox itself."""
    known: dict[object, _SharedPool] = {}
    plain, lock = LinuxBackend.start, threading.RLock()

    def start(backend: LinuxBackend, kit: Kit, limits: Limits) -> Pool:
        if os.environ.get("PYTEST_CURRENT_TEST", "").startswith(_OWN_POOLS):
            return plain(backend, kit, limits)
        key = (kit, limits.model_dump_json(), vars(backend)["_layers"], os.getpid())
        with lock:
            if key not in known:
                known[key] = _SharedPool(plain(backend, kit, limits), lambda: known.pop(key, None))
            return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LinuxBackend, "start", start)
        yield
    for pool in known.values():
        pool.end()


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a built store, to be copied.

    `make test` builds it beforehand (TEST_HOME); else one process builds it and others wait.
    """
    if "TEST_HOME" in os.environ:
        return Path(__file__).parents[1] / os.environ["TEST_HOME"]
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    with Path(f"{home}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            index = [sys.executable, "-m", "app.cli", "index"]
            environment = {**os.environ, "RULEWRIGHT_HOME": str(home)}
            subprocess.run(index, env=environment, check=True, capture_output=True)
    return home


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `tests/slow.yaml` lists as `slow`, and all but a sample of each file as `whole`.

    The sample has the shortest slow tests of a file, as many as take `_SAMPLE_S` together, and one
    at least where it takes no longer than `_LONGEST_S`. Those marked `essential` are run always.
    """
    text = Path(__file__).with_name("slow.yaml").read_text(encoding="utf-8")
    listed = read_yaml(text) or {}
    slow = [item for item in items if item.nodeid in listed]
    spent: dict[str, float] = {}
    for item in sorted(slow, key=lambda item: listed[item.nodeid]):
        item.add_marker("slow")
        if item.get_closest_marker("essential"):
            continue
        file = item.nodeid.partition("::")[0]
        seconds = spent.get(file, 0) + listed[item.nodeid]
        if seconds <= (_SAMPLE_S if file in spent else _LONGEST_S):
            spent[file] = seconds
        else:
            item.add_marker("whole")


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
