"""kill -9 of `rulewright tournament`, with real players, at moments that a seed chooses."""

import random
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started
from tests.processes import descendants, gone, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

FIELD = ("tournament", "leduc_poker", "--player", "random", "--player", "greedy",
         "--player", "ismcts:simulations=8", "--deals", "5", "--seed", "5", "--json")  # fmt: skip
MATCHES = 3 * 5 * 2
KILLS = 4


@pytest.mark.whole
def test_a_tournament_killed_again_and_again_replays_and_loses_no_match(
    command: Command, started: Started, tmp_path: Path
) -> None:
    whole, journal = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    result = command(*FIELD, "--journal", whole)
    assert result.code == 0
    lines = whole.read_bytes().splitlines()
    assert len(lines) == 1 + MATCHES
    moments, held, broken_off = random.Random(6), 0, False
    for kill in range(KILLS):
        host = started(*FIELD, "--journal", journal, "--jobs", str(1 + kill % 2))
        entries = held
        wait_for(lambda seen=entries: _entries(journal) > seen)  # type: ignore[misc]
        time.sleep(moments.uniform(0, 0.08))
        processes = descendants(host.pid)
        host.send_signal(signal.SIGKILL)
        host.wait()
        wait_for(lambda seen=processes: all(map(gone, seen)))  # type: ignore[misc]
        kept = journal.read_bytes().splitlines()
        complete = kept if journal.read_bytes().endswith(b"\n") else kept[:-1]
        assert len(complete) == len(set(complete))  # no match was played twice
        assert set(complete) <= set(lines)  # every one is the uninterrupted tournament's
        assert len(complete) - 1 > held  # and none that was kept was lost
        held = len(complete) - 1
        broken_off |= held < MATCHES
        if 2 * held > MATCHES:  # a busy machine plays many between a match and a kill
            break
    assert broken_off
    again = command(*FIELD, "--journal", journal)
    assert (again.code, again.out) == (0, result.out)
    assert journal.read_bytes() == whole.read_bytes()


def _entries(journal: Path) -> int:
    """Complete lines below the heading."""
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0
