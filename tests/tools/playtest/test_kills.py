"""kill -9 of whatever takes part in a series, at moments that a seed chooses."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import descendants, gone, wait_for
from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_series import BOTH, GAME, MATCHES, SEED
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# Plays the series over workers; every decision takes a moment, so that a kill falls anywhere.
HOST = """
import sys, time
from pathlib import Path
from games.contract import ModuleFault
from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_series import BOTH, GAME, MATCHES, SEED
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox, SandboxUnavailableError

journal = Path(sys.argv[1])
print("up", flush=True)
while True:
    kept = journal.read_bytes().count(b"\\n") - 1 if journal.exists() else 0

    def slowly(index, entry):
        if index >= kept:
            print(".", flush=True)  # a match more: whoever kills may go on
            time.sleep(0.005)

    try:
        with Sandbox() as sandbox:
            play_series(GAME, BOTH, NimRoster(), SeriesSettings(MATCHES, SEED), sandbox=sandbox,
                        journal=journal, on_match=slowly)
        break
    except (SandboxUnavailableError, ModuleFault) as error:
        print(type(error).__name__, error, flush=True)
print("done", flush=True)
"""


@contextmanager
def playing(journal: Path, temporary: Path) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", HOST, str(journal)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> bytes:
    """The journal of the same series, played here and never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "journal.jsonl"
    play_series(
        GAME,
        BOTH,
        NimRoster(),
        SeriesSettings(matches=MATCHES, seed=SEED),
        sandbox=sandbox,
        journal=path,
    )
    return path.read_bytes()


@pytest.mark.whole
def test_a_killed_host_leaves_nothing_behind_and_the_series_goes_on(
    tmp_path: Path, whole: bytes
) -> None:
    moments = random.Random(5)
    journal, temporary = tmp_path / "journal.jsonl", tmp_path / "temporary"
    temporary.mkdir()
    for _ in range(4):
        with playing(journal, temporary) as host:
            time.sleep(moments.uniform(0.0, 0.4))
            processes = descendants(host.pid)
            host.send_signal(signal.SIGKILL)
            host.wait()
        wait_for(lambda seen=processes: all(map(gone, seen)))  # type: ignore[misc]
        assert list(temporary.iterdir()) == []
        assert whole.startswith(journal.read_bytes() if journal.exists() else b"")
    with playing(journal, temporary) as host:
        assert host.stdout is not None
        # Not by `communicate`, which leaves out what came together with the line read before.
        assert host.stdout.read().splitlines()[-1] == "done"
    assert journal.read_bytes() == whole


def kill_while_playing(
    host: "subprocess.Popen[str]", moments: random.Random, choose: Callable[[], list[int]]
) -> list[str]:
    """Kill one of the chosen processes soon after every third match; what the host said."""
    assert host.stdout is not None
    said: list[str] = []
    matches = 0
    for line in host.stdout:
        if line != ".\n":
            said.append(line.strip())
            continue
        matches += 1
        if matches % 3 == 0:
            time.sleep(moments.uniform(0.0, 0.015))
            if chosen := choose():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(moments.choice(chosen), signal.SIGKILL)
    return said


def test_a_series_whose_zygote_or_guard_is_killed_says_so_and_blames_no_module(
    tmp_path: Path, whole: bytes
) -> None:
    journal, temporary = tmp_path / "journal.jsonl", tmp_path / "temporary"
    temporary.mkdir()
    seen: set[int] = set()

    with playing(journal, temporary) as host:

        def above() -> list[int]:
            found = descendants(host.pid)  # the guard outside, the zygote inside, their workers
            seen.update(found)
            return found[:2] if len(found) > 2 else []

        said = kill_while_playing(host, random.Random(6), above)
    assert [line for line in said if "the sandbox's" not in line] == ["done"]
    assert len(seen) > 2
    assert all(map(gone, seen))
    assert list(temporary.iterdir()) == []
    assert journal.read_bytes() == whole


def test_a_match_whose_worker_is_killed_from_outside_is_played_again(
    tmp_path: Path, whole: bytes
) -> None:
    journal = tmp_path / "journal.jsonl"
    with playing(journal, tmp_path) as host:
        said = kill_while_playing(host, random.Random(7), lambda: descendants(host.pid)[2:])
    assert said[-1] == "done"
    assert all("SIGKILL" in line or "own process ended" in line for line in said[:-1])
    assert journal.read_bytes() == whole
