"""What is overwritten is nowhere in a process's memory, and clocks are out of reach."""

import platform
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from games.values import ModuleFault
from tools.sandbox import Sandbox

PROGRAM = """
import re, sys
import tools.guest.zygote  # as much memory as a zygote has
from tools.guest.confine.scrub import overwrite

root = "/" + sys.stdin.read(24)
freed = [root + f"/module_{number}.py" for number in range(2000)]
del freed
kept = [root + "/kept.py", {root + "/key": 1}, root.encode() * 3]
cousin = root + "-cousin"
overwrite([root, root + "/deeper"])
print(kept[0], cousin == "/" + sys.argv[1] + "-cousin")
sys.stdout.flush()
found = 0
word = sys.argv[1].encode()
pattern = re.compile(b"/" + word[:-1] + b"[" + word[-1:] + b"]/")  # that is no find itself
regions = [line.split()[0].split("-") for line in open("/proc/self/maps") if " rw" in line]
with open("/proc/self/mem", "rb", buffering=0) as memory:
    for start, end in regions:
        memory.seek(int(start, 16))
        try:
            held = memory.read(int(end, 16) - int(start, 16))
            found += len(pattern.findall(held))
        except OSError:
            continue
print(found)
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux takes its clocks away")

# x86_64: rdtsc, and ret.
_COUNTER = """
import ctypes, mmap, sys
from tools.guest.confine.scrub import stop_clocks
if sys.argv[1] == "stopped":
    assert stop_clocks() == ""
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("0f31c3"))
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
print(ctypes.CFUNCTYPE(ctypes.c_uint32)(start)())
"""


def test_a_path_is_gone_from_live_and_freed_memory() -> None:
    word = "residue-of-a-test-folder"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, word],
        input=word,
        capture_output=True,
        text=True,
        check=True,
    )
    kept, found = done.stdout.splitlines()
    assert kept == "x" * (len(word) + 1) + "/kept.py True"
    assert found == "0"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as started:
        yield started


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its instructions")
@pytest.mark.parametrize(("clocks", "ending"), [("stopped", -signal.SIGSEGV), ("going", 0)])
def test_the_processor_s_counter_ends_whoever_reads_it(clocks: str, ending: int) -> None:
    done = subprocess.run([sys.executable, "-c", _COUNTER, clocks], capture_output=True)
    assert done.returncode == ending, done.stderr


@pytest.mark.parametrize(
    "reading",
    [
        "time.time()",
        "time.monotonic_ns()",
        "time.sleep(0)",
        "time.strftime('%Y')",
        "time.localtime(None)",
        "datetime.datetime.now()",
        "datetime.datetime.utcnow()",
        "datetime.date.today()",
    ],
)
def test_a_module_that_reads_a_clock_is_told_so(sandbox: Sandbox, reading: str) -> None:
    source = f"import datetime, time\ndef f():\n    return str({reading})"
    with sandbox.worker("reading", source) as worker:
        worker.load(source)
        with pytest.raises(ModuleFault) as caught:
            worker.call("f")
        assert caught.value.line == 3
        assert "a game has no clock" in caught.value.message
        assert worker.alive


def test_what_needs_no_present_moment_works(sandbox: Sandbox) -> None:
    source = (
        "import datetime, logging, threading, time\n"
        "def f():\n"
        "    logging.warning('told')\n"
        "    day = datetime.datetime.strptime('2020-02-28', '%Y-%m-%d')\n"
        "    lock = threading.Lock()\n"
        "    taken = lock.acquire(timeout=1), lock.acquire(timeout=1)\n"
        "    return [str(day + datetime.timedelta(2)), time.strftime('%d', time.gmtime(86400)),\n"
        "            time.localtime(0).tm_year, *taken, time.process_time() > 0]"
    )
    with sandbox.worker("dates", source) as worker:
        worker.load(source)
        assert worker.call("f") == ["2020-03-01 00:00:00", "02", 1970, True, False, True]
        assert worker.errors == "WARNING:root:told\n"
