"""The sandbox where the machine lacks what is usually there."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S
from tools.playtest.runner import Workers
from tools.sandbox import Limits
from tools.sandbox.backends import free_bytes

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")

PLAYED = """
from tests.tools.playtest.rosters import NimRoster
from tests.tools.sources import NIM
from tools.playtest.jobs import GameSetup
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox

def play(sandbox):
    game = GameSetup("nim", NIM, 2)
    specs = ["uniform", "uniform"]
    settings = SeriesSettings(matches=2, seed=1)
    return play_series(game, specs, NimRoster(), settings, sandbox=sandbox).endings
"""

FEW_DESCRIPTORS = """
import os, resource
from tools.sandbox import Sandbox, SandboxUnavailableError
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with Sandbox() as sandbox:
    sandbox.start()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(2):
        workers = []
        try:
            while len(workers) < 64:
                workers.append(sandbox.worker("many", ""))
        except SandboxUnavailableError as error:
            print(error)
        assert len(workers) >= 20, len(workers)
        for worker in workers:
            assert worker.request("ping", {"a": 1}, 5) == {"a": 1}
            worker.kill()
    print("left open:", set(os.listdir("/proc/self/fd")) - set(before))
"""

NO_USER_NAMESPACES = """
import ctypes
assert ctypes.CDLL(None).unshare(0x10000000) == 0  # before anything starts a thread
open("/proc/sys/user/max_user_namespaces", "w").write("0")
"""
SHOWN = """
with Sandbox() as sandbox:
    print(play(sandbox))
    print(sandbox.grade.name, "namespaces" in sandbox.grade.layers, sandbox.grade.reason)
"""

NOBODY = """
import os, sys
from tools.sandbox import Sandbox, SandboxUnavailableError
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with Sandbox() as sandbox:
    try:
        print(sandbox.grade.name)
    except SandboxUnavailableError as error:
        print(error)
"""

CROWD = """
import os, signal, time
from tools.sandbox import Sandbox, SandboxUnavailableError
open("/proc/sys/kernel/pid_max", "w").write("340")  # of this process namespace alone

def crowd():
    made = []
    try:
        while True:
            made.append(os.fork())
            if not made[-1]:
                time.sleep(60)
                os._exit(0)
    except BlockingIOError:
        return made
"""
NO_PROCESSES = (
    CROWD
    + """
with Sandbox() as sandbox, sandbox.worker("first", "") as first:
    first.load("def f(x): return x")
    made = crowd()
    before = set(os.listdir("/proc/self/fd"))
    for number in range(3):
        try:
            sandbox.worker("refused", "")
        except SandboxUnavailableError as error:
            said = str(error)
    print(said)
    print("the first goes on:", first.call("f", [1]))
    print("left open:", set(os.listdir("/proc/self/fd")) - before)
    for pid in made:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    with sandbox.worker("third", "") as third:
        third.load("def f(x): return x")
        print("there is room again:", third.call("f", [2]))
"""
)
NO_ROOM = (
    CROWD
    + """
sandbox = Sandbox()
made = crowd()
os.kill(made[0], signal.SIGKILL)
os.waitpid(made[0], 0)
try:
    sandbox.worker("first", "")
except SandboxUnavailableError as error:
    print("SandboxUnavailableError", error)
"""
)

# A mount namespace of its own, in which nothing that the shell does is seen outside.
NO_SHARED_MEMORY = """
set -e
mount -t tmpfs none /mnt
for device in null zero urandom; do touch /mnt/$device; mount --bind /dev/$device /mnt/$device; done
mount --move /mnt /dev
test ! -e /dev/shm
"""
READ_ONLY_FOLDER = """
set -e
for folder in $FOLDERS; do mount -t tmpfs -o ro none $folder; done
! touch $TMPDIR/x 2>/dev/null
"""
FULL_FOLDER = """
set -e
for folder in $FOLDERS; do
    mount -t tmpfs -o size=8k none $folder
    head -c 100000 /dev/zero > $folder/full 2>/dev/null || true
done
! { head -c 5000 /dev/zero > $TMPDIR/more; } 2>/dev/null
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_own_mounts(preparation: str) -> str:
    """Play a series where a shell script has changed the mounts; skip where it may not."""
    if os.geteuid() != 0:
        pytest.skip("mounts of one's own need root")
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("this machine gives no mount namespace")
    needed = [sys.executable, sys.prefix, sys.base_prefix, __file__]
    folders = [f for f in ("/tmp", "/var/tmp") if not any(n.startswith(f"{f}/") for n in needed)]
    if not folders:
        pytest.skip("the interpreter or this file lies in every temporary folder")
    script = PLAYED + "with Sandbox() as sandbox:\n    print(play(sandbox), sandbox.grade.name)"
    command = f'{preparation}\nexec "$0" -c "$1"'
    done = subprocess.run(
        ["unshare", "--mount", "bash", "-c", command, sys.executable, script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={**os.environ, "FOLDERS": " ".join(folders), "TMPDIR": folders[0]},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_own_processes(script: str) -> str:
    """Run a script in a process namespace with few process ids; skip where there is none."""
    release = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
    if os.geteuid() != 0 or release < (6, 14):
        pytest.skip("a bound of one's own on process ids needs root and Linux 6.14")
    command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("this machine gives no process namespace")
    done = subprocess.run(
        [*command, sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux_only
def test_with_64_descriptors_the_error_names_the_limit_and_none_is_lost() -> None:
    *errors, last = run(FEW_DESCRIPTORS).splitlines()
    assert len(errors) == 2
    assert all("ulimit -n" in error for error in errors)
    assert last == "left open: set()"


@linux_only
@pytest.mark.parametrize(
    "preparation",
    [NO_SHARED_MEMORY, READ_ONLY_FOLDER, FULL_FOLDER],
    ids=["no shared memory", "a read-only temporary folder", "a full temporary folder"],
)
def test_a_series_needs_neither_shared_memory_nor_a_temporary_folder(preparation: str) -> None:
    assert in_own_mounts(preparation).startswith("{'finished': 2, ")
    assert in_own_mounts(preparation).endswith(" strong\n")


@linux_only
def test_without_user_namespaces_it_falls_back_and_says_so() -> None:
    played, grade = run(NO_USER_NAMESPACES + PLAYED + SHOWN).splitlines()
    assert played.startswith("{'finished': 2, ")
    assert grade.startswith("strong False no namespaces: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_who_may_not_run_the_interpreter_is_told_which_one() -> None:
    said = run(NOBODY)
    # Which it is depends on where the interpreter is installed.
    assert said == "strong\n" or f"cannot start {sys.executable}" in said


@linux_only
def test_where_no_process_can_be_made_the_error_says_so_and_others_go_on() -> None:
    said = in_own_processes(NO_PROCESSES)
    assert said.splitlines() == [
        "no worker could be started: [Errno 11] Resource temporarily unavailable",
        "the first goes on: 1",
        "left open: set()",
        "there is room again: 2",
    ]


@linux_only
def test_a_sandbox_that_finds_no_room_for_a_process_says_so() -> None:
    said = in_own_processes(NO_ROOM)
    assert "SandboxUnavailableError" in said
    assert "Resource temporarily unavailable" in said


@linux_only
def test_the_memory_of_all_workers_at_once_is_a_part_of_what_is_free() -> None:
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    free = int(lines["MemAvailable"].split()[0]) * 1024
    usual, base = Limits(), 192 * 2**20  # an interpreter's own address space, about
    assert usual.divided(1).memory_bytes <= usual.memory_bytes
    for together in (64, 512, 10_000):
        each = usual.divided(together).memory_bytes - base
        assert each * together <= max(free, 64 * 2**20 * together)
        assert each >= 64 * 2**20
    # Where not even that much is there for each, fewer play at once, and one at least.
    needed = 64 * 2**20
    assert Workers(jobs=8).within(3 * needed, needed).jobs == 3
    assert Workers(jobs=8).within(0, needed).jobs == 1
    assert Workers(jobs=2).within(None, needed).jobs == 2


@pytest.mark.parametrize(
    ("bounds", "free"),
    [
        ({}, 8_000),  # of the machine
        ({"": "max", "job.slice": "max"}, 8_000),
        ({"job.slice/run": "1000"}, 1_000 - 300 + 200),
        ({"job.slice/run": "max", "job.slice": "700"}, 700 - 300 + 200),  # one further out counts
        ({"job.slice/run": "max", "job.slice": "50"}, 0),
        ({"job.slice/run": "9000"}, 8_000),
    ],
)
def test_free_is_what_the_control_groups_around_the_command_leave(
    tmp_path: Path, bounds: dict[str, str], free: int
) -> None:
    """The files are those of cgroup v2 (the kernel's cgroup-v2.rst): most, used, given back."""
    mib = 2**20
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:  {8_000 * 1024} kB\n")
    (tmp_path / "proc/self/cgroup").write_text("1:cpu:/other\n0::/job.slice/run\n")
    for group, most in bounds.items():
        folder = tmp_path / "sys/fs/cgroup" / group
        folder.mkdir(parents=True, exist_ok=True)
        written = most if most == "max" else f"{int(most) * mib}"
        (folder / "memory.max").write_text(f"{written}\n")
        (folder / "memory.current").write_text(f"{300 * mib}\n")
        (folder / "memory.stat").write_text(f"anon 7\ninactive_file {200 * mib}\n")
    assert free_bytes(tmp_path) == free * mib // 4 * 3
    (tmp_path / "proc/meminfo").unlink()
    (tmp_path / "proc/self/cgroup").write_text("4:memory:/v1\n")
    assert free_bytes(tmp_path) is None  # a system that tells nothing
