"""A search for a hint beside a match: it ends by itself, and whoever asked may end it before."""

import logging
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from games.engine import PlayerFault
from games.information import SeatLog
from games.text import one_line
from games.values import ModuleFault

if TYPE_CHECKING:
    from app.table.session import TableSession
    from games.values import Action

HINT_S = 20.0
_MOST_MOVES = 5
_FAULT = "No hint: the search broke off by a fault of ours"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Hint:
    """A hint as its seat is shown it.

    Attributes:
        mark: The place in the match for which it was asked.
        lines: Its words.
        is_sought: True while the search goes on.
    """

    mark: str = ""
    lines: Sequence[str] = ()
    is_sought: bool = False


@dataclass
class HintSearch:
    """A search in a thread of its own, so that the match can go on without it.

    Attributes:
        session: The match.
        log: What the seat has seen so far; nothing else reaches the search.
        legal: What it may do.
        told: Hears the advice and its reasons, or why there is none, once.
        patience_s: Seconds after which there is none.
    """

    session: "TableSession"
    log: SeatLog
    legal: "Sequence[Action]"
    told: Callable[[Sequence[str]], None]
    patience_s: float = HINT_S
    is_over: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _timer: threading.Timer | None = None
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin."""
        late = f"No hint: the search has not ended in {self.patience_s:g} seconds"
        self._timer = threading.Timer(self.patience_s, self.stop, [late])
        self._timer.daemon = True
        self._timer.start()
        run = copy_context().run  # of where generated code runs
        self._thread = threading.Thread(target=run, args=(self._search,), daemon=True)
        self._thread.start()

    @property
    def is_at_work(self) -> bool:
        """True until its thread has ended, which may be later than it is over."""
        return self._thread is not None and self._thread.is_alive()

    def stop(self, why: str = "") -> None:
        """Give the search up, and tell why; nothing where it is over."""
        if self._ends():
            self.session.end_hint(self.log.seat)
            if why:
                self.told([why])

    def _search(self) -> None:
        try:
            lines = _advice(self.session, self.log, self.legal)
        except Exception:  # noqa: BLE001 - its page says so, and the match goes on
            lines = [_FAULT]
            if not self.is_over:
                _LOG.exception("a search for a hint broke off")
        if self._ends():
            self.told(lines)
        else:  # its player may have been made after it was given up
            self.session.end_hint(self.log.seat)

    def _ends(self) -> bool:
        """True for who ends it: there is one."""
        with self._lock:
            was_over, self.is_over = self.is_over, True
        if self._timer is not None:
            self._timer.cancel()
        return not was_over


def _advice(session: "TableSession", log: SeatLog, legal: "Sequence[Action]") -> list[str]:
    """The advice of a search, and its reasons: the value and the visits of each move."""
    from agents.players.specs import PlayerSpecError

    try:
        advice = session.hint(log, sorted(legal))
        rows = sorted(session.reasons(log.seat).items(), key=lambda row: -row[1][1])
    except (PlayerSpecError, PlayerFault, ModuleFault) as problem:
        return [f"No hint: {one_line(str(problem))[:200]}"]
    told = [f"A search would play: {one_line(advice.action)}"]
    for action, (value, visits) in rows[:_MOST_MOVES]:
        worth = "not tried" if value is None else f"value {value:.2f}"
        told.append(f"{one_line(action)}: {worth}, {visits} visits")
    return told
