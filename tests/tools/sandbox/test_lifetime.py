import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from games.values import Json, ModuleFault
from tests.processes import PATIENCE_S, children, descendants, gone, wait_for
from tests.tools.sources import NIM
from tools.sandbox import Limits, ReusedWorkers, Sandbox
from tools.sandbox.backends import Kit
from tools.sandbox.zygote_client import Layers, Zygote

HOST = """
import sys, threading, time
from tools.sandbox import Limits, Sandbox
sandbox = Sandbox(limits=Limits(load_s=60))
idle = sandbox.worker("idle", "")
spinning = sandbox.worker("spinning", "")
threading.Thread(target=spinning.load, args=("while True: pass",), daemon=True).start()
time.sleep(0.3)
print("up", flush=True)
time.sleep(60)
"""

BESIDE_CHROMA = """
import sys, threading
import chromadb
from tools.sandbox import Sandbox
stop = threading.Event()
threads = [threading.Thread(target=stop.wait) for _ in range(8)]
for thread in threads:
    thread.start()
collection = chromadb.PersistentClient(sys.argv[1]).create_collection("games")
collection.add(ids=["a"], embeddings=[[1.0, 0.0]])
answers = []
def ask(sandbox):  # in a thread that ends: the zygote must not end with it
    worker = sandbox.worker("first", "")
    worker.load("def f(x):\\n    return x + 1")
    answers.append(worker.call("f", [1]))
    return worker
with Sandbox() as sandbox:
    starter = threading.Thread(target=ask, args=(sandbox,))
    starter.start()
    starter.join()
    ask(sandbox)
collection.add(ids=["b"], embeddings=[[0.0, 1.0]])
assert collection.count() == 2
stop.set()
print(answers)
"""


@pytest.fixture
def host() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True)


def test_everything_ends_when_the_host_is_killed(host: "subprocess.Popen[str]") -> None:
    with host:
        assert host.stdout is not None
        assert host.stdout.readline() == "up\n"
        processes = descendants(host.pid)
        assert len(processes) == 4  # the guard outside, the zygote inside, two workers
        host.send_signal(signal.SIGKILL)
    wait_for(lambda: all(gone(pid) for pid in processes))


@pytest.mark.parametrize("which", ["the guard", "the zygote"])
def test_workers_end_when_a_process_above_them_is_killed(
    host: "subprocess.Popen[str]", which: str
) -> None:
    with host:
        assert host.stdout is not None
        assert host.stdout.readline() == "up\n"
        guard, zygote, *workers = descendants(host.pid)
        assert len(workers) == 2
        os.kill(guard if which == "the guard" else zygote, signal.SIGKILL)
        wait_for(lambda: all(gone(pid) for pid in [guard, zygote, *workers]))
        host.kill()


def test_a_sandbox_whose_zygote_was_killed_starts_another() -> None:
    with Sandbox() as sandbox:
        before = set(children(os.getpid()))
        sandbox.worker("first", "")
        (zygote,) = set(children(os.getpid())) - before
        os.kill(zygote, signal.SIGKILL)
        wait_for(lambda: gone(zygote))
        with sandbox.worker("second", "") as worker:
            worker.load(NIM)
            assert worker.call("get_player_name", [0]) == "Player 1"


def test_a_closed_sandbox_leaves_no_process() -> None:
    before = set(children(os.getpid()))
    with Sandbox() as sandbox:
        for _ in range(3):
            sandbox.worker("test", "")
        (guard,) = set(children(os.getpid())) - before
        zygote, *workers = descendants(guard)
        assert len(workers) == 3
    assert set(children(os.getpid())) <= before
    wait_for(lambda: all(gone(pid) for pid in [zygote, *workers]))


def test_many_threads_share_one_sandbox(sandbox: Sandbox) -> None:
    answers: list[object] = []

    def work(number: int) -> None:
        for _ in range(5):
            with sandbox.worker(f"thread-{number}", "") as worker:
                worker.load(f"def f(x):\n    return [x, {number}]")
                answers.append(worker.call("f", [number]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers, key=str) == sorted([[n, n] for n in range(6)] * 5, key=str)


def test_it_works_beside_threads_and_an_open_store(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BESIDE_CHROMA, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert done.stdout == "[2, 2]\n"


def test_a_worker_without_a_handle_may_be_killed_after_its_end() -> None:
    zygote = Zygote(Kit((), numpy=False), Limits(), Layers())
    try:
        process = zygote.fork()
        process.channel.close()  # the worker ends by itself
        ended = process.ending(5.0)
        assert ended.cause == "exited"
        zygote.kill(process.pid)
        another = zygote.fork()
        zygote.kill(another.pid)
        assert another.ending(5.0).detail == "SIGKILL"
        for one in (process, another):
            one.kill()
            one.channel.close()
    finally:
        zygote.close()


COUNTING = """
n = []
def count():
    n.append(1)
    return len(n)
def hang():
    while True: pass
"""


def test_a_worker_that_serves_again_holds_its_module_anew_and_is_the_same_process() -> None:
    with Sandbox() as sandbox, ReusedWorkers(sandbox) as reused:
        served = []
        for _ in range(3):
            with reused.worker("player-0", COUNTING) as worker:
                worker.load(COUNTING)
                assert (worker.call("count"), worker.call("count")) == (1, 2)
            served.append(worker)
        assert len(set(map(id, served))) == 1
        with reused.worker("player-1", COUNTING) as other:
            assert other is not worker, "another role"
    assert not worker.alive
    assert not other.alive


def test_a_worker_that_hung_or_was_at_work_at_the_end_serves_no_more() -> None:
    with Sandbox() as sandbox, ReusedWorkers(sandbox) as reused:
        with reused.worker("player-0", COUNTING) as hung:
            hung.load(COUNTING)
            with pytest.raises(ModuleFault, match="timed_out"):
                hung.call("hang", deadline_s=0.05)
            hung.kill()
        late = reused.worker("player-0", COUNTING)
        assert late is not hung
        late.load(COUNTING)
        reused.close()
        late.release()
        assert not late.alive


def test_a_line_that_breaks_the_module_is_named_in_a_used_worker_too() -> None:
    with Sandbox() as sandbox, ReusedWorkers(sandbox) as reused:
        for _ in range(2):
            with (
                reused.worker("player-0", "x = 1\nx.y") as worker,
                pytest.raises(ModuleFault) as found,
            ):
                worker.load("x = 1\nx.y")
            assert found.value.line == 2


def test_the_processor_time_of_workers_is_told_once_the_sandbox_is_closed() -> None:
    """A benchmark would else count the host alone: the same loop takes as long in this process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with Sandbox(limits=Limits(load_s=60)) as sandbox:
        worker = sandbox.worker("busy", "")
        worker.load("for _ in range(20_000_000):\n    pass\n")
        worker.kill()
    told = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    begun = time.process_time()
    for _ in range(20_000_000):
        pass
    assert told > (time.process_time() - begun) / 2


def test_workers_that_ask_again_have_other_addresses_and_not_all_the_same() -> None:
    """Of a module that goes by a bit of an address, all of these would have to agree by chance."""
    source = "def f():\n    return id(int)"

    def places(sandbox: Sandbox, count: int) -> list[Json]:
        found: list[Json] = []
        for _ in range(count):
            with sandbox.loaded("placed", source) as worker:
                found.append(worker.call("f"))
        return found

    with Sandbox() as sandbox:
        usual, again = places(sandbox, 2), places(sandbox.apart, 8)
    assert len({*map(str, usual)}) == 1
    assert len({*map(str, again)}) == 4
    assert not {*map(str, usual)} & {*map(str, again)}
