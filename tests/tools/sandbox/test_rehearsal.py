"""What a zygote does before the first fork leaves no trace but speed."""

from typing import cast

import pytest

from agents.worker import session
from games.modules import LocalModule
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


def test_a_rehearsal_leaves_nothing_in_the_session_of_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Tests of this process may have decided in its own session before.
    ours = session.SeatSession()
    monkeypatch.setattr(session, "_session", ours)
    session.rehearse(LocalModule(GAME).namespace)
    assert vars(ours) == vars(session.SeatSession())


def test_a_rehearsal_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.guest.rehearsal.GAME", GAME.replace("def apply_action", "def other"))
    with pytest.raises(RuntimeError, match="the rehearsal of advance failed"):
        warm_up((), {})
