"""What a zygote does before the first fork leaves no trace but speed."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from agents.worker import session
from games.contract import LocalModule
from tools.guest.rehearsal import GAME, fill_gaps, warm_up

BLOCKS = range(48, 513, 16)  # of the interpreter's allocator
PAGE_BYTES = 1 << 12


def pages_too_many(*, filled: bool) -> int:
    """Pages that forty new objects take beyond those that they fill, of the size with most."""
    old = {size: [bytes(size - 33) for _ in range(5000)] for size in BLOCKS}
    for held in old.values():
        del held[::50]
    if filled:
        fill_gaps()
    found = []
    for size in BLOCKS:
        new = [bytes(size - 33) for _ in range(40)]
        found.append(len({id(one) // PAGE_BYTES for one in new}) - 40 * size // PAGE_BYTES)
    return max(found)


def test_new_objects_lie_together_once_gaps_are_filled() -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as alone:
        gaps, none = (alone.submit(pages_too_many, filled=filled) for filled in (False, True))
        # One for the part of a page, two where they go on in another pool.
        assert none.result() <= 3
        assert gaps.result() > 20


def test_a_rehearsal_leaves_nothing_in_the_session_of_the_worker() -> None:
    ours = session.SeatSession()
    session.rehearse(LocalModule(GAME).namespace)
    held = vars(session._session)
    assert (held["held"], held["tree"], held["memory"]) == (ours.held, ours.tree, ours.memory)


def test_a_rehearsal_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.guest.rehearsal.GAME", GAME.replace("def apply_action", "def other"))
    with pytest.raises(RuntimeError, match="the rehearsal of advance failed"):
        warm_up((), {})
