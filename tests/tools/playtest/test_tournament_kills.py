"""kill -9 of a tournament's host and of its processes, in real processes."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import PATIENCE_S, children, descendants, gone, wait_for
from tests.tools.playtest.test_tournament import play
from tools.playtest.results import TournamentResult
from tools.playtest.schedule import TournamentSettings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

SPECS = ("uniform", "slow:seconds=0.002", "perfect")
SETTINGS = TournamentSettings(deals=5, seed=8)

HOST = """
import sys
from pathlib import Path
from tests.tools.playtest.rosters import NimRoster
from tests.tools.playtest.test_tournament import GAME, HERE, RECIPE, TWO
from tests.tools.playtest.test_tournament_kills import SETTINGS, SPECS
from tools.playtest.runner import RunStoppedError
from tools.playtest.tournament import play_tournament

journal, workers = Path(sys.argv[1]), {"1": HERE, "2": TWO}[sys.argv[2]]
held = len(journal.read_bytes().splitlines()) - 1 if journal.exists() else 0

def tell(index, outcome):
    global held
    held -= 1
    if held < 0:
        print(index, flush=True)

try:
    play_tournament(GAME, SPECS, SETTINGS, NimRoster(), workers=workers, sandbox=RECIPE,
                    journal=journal, on_match=tell)
    print("done", flush=True)
except RunStoppedError as error:
    print(error, flush=True)
"""


@contextmanager
def playing(journal: Path, jobs: int) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", HOST, str(journal), str(jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentResult, bytes]:
    """The same tournament, played here and never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "journal.jsonl"
    result = play(SPECS, SETTINGS, journal=path)
    return result, path.read_bytes()


def wait_for_matches(host: "subprocess.Popen[str]", count: int) -> list[int]:
    assert host.stdout is not None
    return [int(host.stdout.readline()) for _ in range(count)]


def test_a_killed_tournament_replays_and_loses_nothing_and_ends_in_the_same_bytes(
    tmp_path: Path, whole: tuple[TournamentResult, bytes]
) -> None:
    result, data = whole
    journal, moments = tmp_path / "journal.jsonl", random.Random(3)
    entries = set(data.splitlines())
    told: list[int] = []
    for jobs, matches in ((1, 1), (2, 5)):
        with playing(journal, jobs) as host:
            told += wait_for_matches(host, matches)
            time.sleep(moments.uniform(0, 0.05))
            processes = descendants(host.pid)
            assert len(processes) > jobs
            host.send_signal(signal.SIGKILL)
            host.wait()
            assert host.stdout is not None
            told += map(int, host.stdout.read().split())
        wait_for(lambda seen=processes: all(map(gone, seen)))  # type: ignore[misc]
        kept = journal.read_bytes().splitlines()
        assert len(kept) == len(set(kept))
        assert set(kept) <= entries  # every line is one of the uninterrupted tournament's
        assert len(kept) - 1 >= len(told)  # what was told is on disk
    with playing(journal, 2) as host:
        said = host.communicate(timeout=PATIENCE_S)[0].split()
    assert said[-1] == "done"
    told += map(int, said[:-1])
    assert len(told) == len(set(told))  # no match was played twice, but for those in progress
    assert journal.read_bytes() == data
    again = play(SPECS, SETTINGS, journal=journal)
    assert again.as_json() == result.as_json()


@pytest.mark.parametrize("position", [0.02, 0.3, 0.77, 0.999])
def test_a_journal_cut_anywhere_is_completed_to_the_same_bytes(
    tmp_path: Path, whole: tuple[TournamentResult, bytes], position: float
) -> None:
    result, data = whole
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(data[: int(len(data) * position)])
    again = play(SPECS, SETTINGS, journal=journal)
    assert again.as_json() == result.as_json()
    assert journal.read_bytes() == data


def pool_processes(host: int) -> list[int]:
    """The children of the host's fork server."""
    for child in children(host):
        if b"multiprocessing.forkserver" in Path(f"/proc/{child}/cmdline").read_bytes():
            return children(child)
    return []


def test_a_killed_process_of_the_pool_stops_the_tournament_which_then_goes_on(
    tmp_path: Path, whole: tuple[TournamentResult, bytes]
) -> None:
    journal = tmp_path / "journal.jsonl"
    with playing(journal, 2) as host:
        wait_for_matches(host, 2)
        os.kill(pool_processes(host.pid)[0], signal.SIGKILL)
        said = host.communicate(timeout=PATIENCE_S)[0]
    assert "start again to go on" in said
    play(SPECS, SETTINGS, journal=journal)
    assert journal.read_bytes() == whole[1]
