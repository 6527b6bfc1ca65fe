"""Ctrl-C in `rulewright tournament`: it ends at once, says how to go on, and leaves nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started
from tests.processes import PATIENCE_S, descendants, gone, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# A decision takes hours: whatever waits for one hangs.
LONG = ("tournament", "connect_four", "--player", "uct:simulations=1000000000",
        "--player", "random", "--deals", "4", "--seed", "5")  # fmt: skip
SHORT = ("tournament", "leduc_poker", "--player", "random", "--player", "ismcts:simulations=30",
         "--player", "greedy", "--deals", "10", "--seed", "5", "--json")  # fmt: skip
MATCHES = 3 * 10 * 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_it_ends_at_once_in_the_middle_of_decisions(started: Started, jobs: int) -> None:
    host = started(*LONG, "--jobs", str(jobs))
    # For every match a referee and the searching player, behind the zygote of its process.
    wait_for(lambda: len(descendants(host.pid)) >= 1 + 3 * jobs)
    processes = descendants(host.pid)
    host.send_signal(signal.SIGINT)
    out, err = host.communicate(timeout=PATIENCE_S)
    assert (host.returncode, out) == (130, "")
    assert err.strip().splitlines()[-1] == (
        "stopped; nothing was kept: with --journal FILE, the same command goes on after a stop"
    )
    wait_for(lambda: all(map(gone, processes)))


@pytest.mark.whole
def test_what_was_finished_is_kept_and_the_same_command_goes_on(
    command: Command, started: Started, tmp_path: Path
) -> None:
    journal, whole = tmp_path / "stopped.jsonl", tmp_path / "whole.jsonl"
    uninterrupted = command(*SHORT, "--journal", whole)
    assert uninterrupted.code == 0
    held = 0
    for jobs in ("2", "1"):
        host = started(*SHORT, "--journal", journal, "--jobs", jobs)
        wait_for(lambda seen=held: matches(journal) > seen + 3)  # type: ignore[misc]
        told = matches(journal)
        host.send_signal(signal.SIGINT)
        out, err = host.communicate(timeout=PATIENCE_S)
        words = f"finished matches are kept in {journal}: give the same command again"
        assert words in err
        said = json.loads(out)
        assert (host.returncode, said["end"]) == (130, "stopped")
        assert words in said["error"]
        assert "Traceback" not in err
        held = matches(journal)
        assert told <= held < MATCHES
        assert journal.read_bytes().endswith(b"\n")
        assert set(journal.read_bytes().splitlines()) <= set(whole.read_bytes().splitlines())
    again = command(*SHORT, "--journal", journal)
    assert (again.code, again.out) == (0, uninterrupted.out)
    assert journal.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("after_s", [0.0, 0.15, 0.5])
def test_a_terminals_interrupt_of_every_process_brings_no_traceback(
    tmp_path: Path, after_s: float
) -> None:
    journal = tmp_path / os.fsdecode(b"of no encoding \xff.jsonl")
    command = [sys.executable, "-m", "app.cli", *LONG, "--jobs", "2", "--journal", str(journal)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, start_new_session=True
    ) as host:
        try:
            wait_for(journal.exists)  # its processes are being started
            time.sleep(after_s)
            os.killpg(host.pid, signal.SIGINT)
            _, err = host.communicate(timeout=PATIENCE_S)
        finally:
            host.kill()
    assert host.returncode == 130
    assert err.strip().splitlines() == [
        "stopped; no match had finished, so none is kept in "
        f"{tmp_path}/of no encoding \\udcff.jsonl"
    ]


def matches(journal: Path) -> int:
    """Complete lines below the heading."""
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0
