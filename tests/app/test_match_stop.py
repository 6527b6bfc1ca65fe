"""Ctrl-C in `rulewright match`: it ends at once, leaves nothing behind, and can go on."""

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started
from tests.processes import PATIENCE_S, descendants, gone, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# A decision takes hours: whatever waits for one hangs.
LONG = ("match", "connect_four", "--player", "uct:simulations=1000000000",
        "--player", "random", "--games", "8")  # fmt: skip
SHORT = ("match", "leduc_poker", "--player", "random", "--player", "ismcts:simulations=30",
         "--games", "60", "--seed", "5", "--json")  # fmt: skip


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_it_ends_at_once_in_the_middle_of_decisions(started: Started, jobs: str) -> None:
    host = started(*LONG, "--jobs", jobs)
    # The sandbox's process, and for each match a referee and the searching player.
    wait_for(lambda: len(descendants(host.pid)) >= 1 + 2 * int(jobs))
    processes = descendants(host.pid)
    host.send_signal(signal.SIGINT)
    out, err = host.communicate(timeout=PATIENCE_S)
    assert (host.returncode, out) == (130, "")
    assert "stopped; nothing was kept: with --journal FILE" in err
    assert "Traceback" not in err
    wait_for(lambda: all(map(gone, processes)))


def test_what_was_finished_is_kept_and_the_same_command_goes_on(
    command: Command, started: Started, tmp_path: Path
) -> None:
    journal, whole = tmp_path / "stopped.jsonl", tmp_path / "whole.jsonl"
    host = started(*SHORT, "--journal", journal, "--jobs", "2")
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 3)
    host.send_signal(signal.SIGINT)
    out, err = host.communicate(timeout=PATIENCE_S)
    assert (host.returncode, json.loads(out)["end"]) == (130, "stopped")
    assert f"finished matches are kept in {journal}: give the same command again" in err
    kept = journal.read_bytes()
    complete = kept[: kept.rfind(b"\n") + 1].splitlines()
    assert 3 < len(complete) < 61
    uninterrupted = command(*SHORT, "--journal", whole)
    assert set(complete) <= set(whole.read_bytes().splitlines())
    again = command(*SHORT, "--journal", journal)
    assert (again.code, again.out) == (0, uninterrupted.out)
    assert journal.read_bytes() == whole.read_bytes()
