"""What a zygote does before the first fork leaves no trace but speed."""

import subprocess
import sys
from typing import cast

import pytest

from tools.guest.rehearsal import GAME, warm_up
from tools.sandbox import Sandbox

WORKER = """
def too_many():
    found = []
    for size in range(48, 513, 16):
        new = [bytes(size - 33) for _ in range(40)]
        found.append(len({id(one) // 4096 for one in new}) - 40 * size // 4096)
    return sum(pages > 3 for pages in found)
"""


def test_the_objects_of_a_worker_lie_together() -> None:
    with Sandbox() as sandbox, sandbox.loaded("referee", WORKER) as worker:
        # Of 30 sizes; 11 where a zygote leaves its gaps.
        assert cast(int, worker.call("too_many")) <= 4


REHEARSED = """
from agents.worker import session
from games.modules import LocalModule
from tools.guest.rehearsal import GAME
session.rehearse(LocalModule(GAME).namespace)
assert vars(session._session) == vars(session.SeatSession())
"""


def test_a_rehearsal_leaves_nothing_in_the_session_of_the_worker() -> None:
    # In a process of its own: tests of this one may have decided in its session before.
    subprocess.run([sys.executable, "-c", REHEARSED], check=True)


def test_a_rehearsal_that_fails_is_told() -> None:
    with pytest.raises(RuntimeError, match="the rehearsal of advance failed"):
        warm_up((), {}, GAME.replace("def apply_action", "def other"))
