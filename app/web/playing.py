"""A table: one match that a thread plays, and that persons look at and move in by their links."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.console import explained
from app.table.hints import Hint, HintSearch
from app.table.reading import SeatLook, Setting
from app.table.session import (
    TableLeft,
    TableSession,
    WentBack,
    laid_table,
    table_setting,
)
from app.web.pages import Refusal
from games.engine import Match, PlayerFault, Ply
from games.information import SeatLog
from games.table import Position
from games.text import one_line
from games.values import CHANCE
from tools.presentation import given_presentation
from tools.sandbox import SandboxTable

if TYPE_CHECKING:
    from app.web.keeping import KeptTable
    from app.web.views import Beholder
    from games.table import Table
    from games.values import Action, Json
    from tools.sandbox import Sandbox

PAUSES = {"at once": 0.0, "quick": 0.4, "usual": 1.0, "slow": 2.5}
"""Seconds after a move of the computer's, by their name."""
_LAID_S = 5.0
AGAIN_S = 5.0  # after which a table that could not go on may be woken anew
_AWAKE_S = 900.0  # longer than a stream of events lasts
TAKEN_S = 2.0  # in which a move is seen, if the computer does not think
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """A moment of a match, as it may be looked at from any thread.

    Attributes:
        position: The position; None before the first.
        looks: What each seat sees and perceived.
        public: The events of those plies that all seats perceived alike.
        turn: The seat that is asked; None where none is.
        legal: What it may do.
        undone: How many decisions were taken back.
        match: The match, once it is over.
        trouble: Why it cannot go on; empty where it can.
    """

    position: Position | None = None
    looks: tuple[SeatLook, ...] = ()
    public: tuple[str, ...] = ()
    turn: int | None = None
    legal: "tuple[Action, ...]" = ()
    undone: int = 0
    match: Match | None = None
    trouble: str = ""

    def mark(self, seat: int) -> str:
        """The place of a seat in the match, by what it has seen alone: a form names it."""
        return f"{self.undone}.{self.looks[seat].count if self.looks else 0}"


@dataclass
class Wishes:
    """The wishes of persons, until the thread of the match takes them."""

    move: "Action | None" = None
    back: int | None = None
    hint: bool | None = None  # False gives the search up
    conceded: set[int] = field(default_factory=set)
    closing: bool = False
    gone: bool = False  # it was not waited for: somebody else may write the journal now


@dataclass
class WebTable:
    """A match in a thread of its own, which is also the `Table` that it is played at.

    Attributes:
        kept: What is kept of it.
        sandbox: Where its game and the computer's players run.
        heard: Told whenever there is something new to see.
        shown: The newest moment.
        setting: What drawings need to know.
        hints: The newest hint that a seat asked for.
        chat: What persons said: seat and words.
        said: How often.
        hinted: The game's own hints for a drawing, where it has some.
        beholders: Who looked at it, by seat.
        looked_at: When somebody asked for it last.
    """

    kept: "KeptTable"
    sandbox: "Sandbox"
    heard: Callable[[], None] = lambda: None
    shown: Shown = field(default_factory=Shown)
    setting: Setting = field(default_factory=lambda: Setting(0))
    hints: dict[int, Hint] = field(default_factory=dict)
    chat: list[tuple[int, str]] = field(default_factory=list)
    said: int = 0
    hinted: "Json" = None
    beholders: "dict[int | None, Beholder]" = field(default_factory=dict)
    looked_at: float = field(default_factory=time.monotonic)
    _woken_at: float = field(default_factory=time.monotonic)
    _wishes: Wishes = field(default_factory=Wishes)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _looks: list[SeatLook] = field(default_factory=list)
    _public: tuple[str, ...] = ()
    _position: Position | None = None
    _table: "Table | None" = None
    _thread: threading.Thread | None = None
    _hinting: HintSearch | None = None
    _taken: Shown | None = None  # at which a move was taken: the next one needs another
    session: TableSession | None = None

    def start(self) -> None:
        """Begin, or go on where the match stood when it was kept."""
        self._wishes.conceded.update(self.kept.about.conceded)
        context = copy_context()  # the sandbox that was chosen
        name = f"table-{self.kept.id}"
        self._thread = threading.Thread(
            target=lambda: context.run(self._run), name=name, daemon=True
        )
        self._thread.start()

    def ready(self) -> Shown:
        """The newest moment, waited for while the table is being laid."""
        with self._changed:
            self._changed.wait_for(lambda: self.shown.position or self.shown.trouble, _LAID_S)
        return self.shown

    @property
    def is_over(self) -> bool:
        """True where nothing goes on."""
        return self.shown.match is not None or bool(self.shown.trouble)

    def awake_for(self) -> float:
        """Seconds for which it is not to be put to sleep; less than none where it may be."""
        return -1.0 if self.is_over else self.looked_at + _AWAKE_S - time.monotonic()

    def may_try_again(self) -> bool:
        """True where it could not go on, as with a full disk, and was not woken just now."""
        return bool(self.shown.trouble) and time.monotonic() > self._woken_at + AGAIN_S

    def stop(self) -> None:
        """Stop; what was played is kept."""
        with self._changed:
            self._wishes.closing = True
            self._changed.notify_all()

    def close(self, patience: float = TAKEN_S) -> None:
        """Stop, and wait so many seconds for it: a computer may be thinking."""
        self.stop()
        if self._thread is not None:
            self._thread.join(max(0.0, patience))
        with self._changed:
            self._wishes.gone = True
        for beholder in [*self.beholders.values()]:
            beholder.close()

    # The thread of the match.

    def open(self, num_players: int, parameters: "Mapping[str, Json]") -> Position:
        """See `games.table.Table`."""
        assert self._table is not None, "the thread has laid it"  # for mypy
        self._looks, self._public = [SeatLook()] * num_players, ()
        return self._seen(self._table.open(num_players, parameters), 0)

    def advance(self, position: Position, action: "Action") -> Position:
        """See `games.table.Table`."""
        assert self._table is not None, "the thread has laid it"  # for mypy
        after = self._table.advance(position, action)
        if position.player >= 0:
            self._looks[position.player] = self._looks[position.player].acted()
        assert self.session is not None, "it plays"  # for mypy
        return self._seen(after, len(self.session.plies) + 1)

    def _seen(self, position: Position, number: int) -> Position:
        """Tell the seats of a position; of one that was played before chance does the same again.

        Then neither another seed nor another version of what draws can part a table from its
        journal.
        """
        seen = zip(self._looks, position.observations, position.events, strict=True)
        self._looks = [look.seeing(observation, events) for look, observation, events in seen]
        if len({*position.events}) == 1:
            self._public = (*self._public, *map(one_line, position.events[0]))
        self._position = position
        before = self.session.repeated(number) if self.session else None
        if before is None or position.player != CHANCE or before.action not in position.legal:
            return position
        return replace(
            position, probabilities=tuple(float(one == before.action) for one in position.legal)
        )

    def _run(self) -> None:
        try:
            with ExitStack() as stack:
                laid = laid_table(self.kept.setup, self.kept.run, self.sandbox, stack)
                self._table = SandboxTable(laid.worker)
                self.setting = table_setting(laid, is_unicode=True)
                self.hinted = given_presentation(laid.module.module)
                self.session = session = self.kept.session(self.sandbox)
                match = session.play(self, self._asked, self._told)
                self._keep()
                self.kept.end(session, match)
                self._publish(match=replace(match, plies=(), logs=()))
        except TableLeft:
            pass
        except Exception as error:  # noqa: BLE001 - the table says so, and the other tables go on
            said = explained(error)
            if said is None:
                _LOG.exception("the match at table %s broke off", self.kept.id)
            self._publish(trouble=said or "The match broke off by a fault of ours.")
        finally:
            if self._hinting is not None:
                self._hinting.stop()
        self.session = None  # with all that it remembers

    def _told(self, ply: Ply) -> None:
        assert self.session is not None, "it plays"  # for mypy
        if self.session.is_replaying:
            return
        waits = self._position.player if self._position else CHANCE
        is_computer = ply.player >= 0 and self.session.players[ply.player] is not None
        if not is_computer and (waits == CHANCE or self._is_person(waits)):
            return  # at once there is more to see
        self._keep()
        self._publish()
        if is_computer and (pause := PAUSES.get(self.kept.about.speed)):
            with self._changed:
                self._changed.wait_for(lambda: self._wishes.closing, pause)
                self._require_open()

    def _keep(self) -> None:
        """Keep what was played so far, before anybody is shown it."""
        with self._changed:
            if self._wishes.gone:
                raise TableLeft(0)
            if self.session is not None and not self.session.is_replaying:
                self.kept.add(self.session.plies)

    def _is_person(self, player: int) -> bool:
        return player >= 0 and self.kept.about.players[player] is None

    def _asked(self, seat: int, log: SeatLog, legal: "Sequence[Action]") -> "Action":
        assert self.session is not None, "it plays"  # for mypy
        self._keep()
        while True:
            with self._changed:
                self._require_open()
                if seat in self._wishes.conceded:
                    raise PlayerFault(f"{self.kept.name(seat)} conceded")
                self._publish(turn=seat, legal=tuple(legal))
                self._changed.wait_for(self._is_wished)
                self._taken = self.shown
                wished, self._wishes = (
                    self._wishes,
                    replace(self._wishes, move=None, back=None, hint=None),
                )
            if self._hinting is not None and wished.hint is not True:
                self._hinting.stop("No hint: the search was stopped")
            if wished.move is not None:
                return wished.move
            if wished.back is not None:
                self.kept.go_back(self.session.plies[: wished.back])
                raise WentBack(wished.back)
            if wished.hint:
                self._seek(log, legal)

    def _is_wished(self) -> bool:
        wishes = self._wishes
        given = wishes.move is not None or wishes.back is not None
        given = given or wishes.hint is not None
        return given or wishes.closing or self.shown.turn in wishes.conceded

    def _require_open(self) -> None:
        if self._wishes.closing:
            raise TableLeft(0)

    def _seek(self, log: SeatLog, legal: "Sequence[Action]") -> None:
        """Have a search look for a hint; it tells by itself what it found."""
        assert self.session is not None, "it plays"  # for mypy
        seat, mark = log.seat, self.shown.mark(log.seat)

        def told(lines: Sequence[str], *, is_sought: bool = False) -> None:
            self.hints[seat] = Hint(mark, lines, is_sought)
            self.heard()

        if self._hinting is not None and self._hinting.is_at_work:
            told(["No hint: the search before it has not ended yet; try again later"])
            return
        told(["A search looks for a move."], is_sought=True)
        own = SeatLog(seat, [*log.entries])
        self._hinting = HintSearch(self.session, own, tuple(legal), told)
        self._hinting.start()

    def _publish(
        self,
        turn: int | None = None,
        legal: "tuple[Action, ...]" = (),
        match: Match | None = None,
        trouble: str = "",
    ) -> None:
        undone = self.session.undone if self.session else self.shown.undone
        looks, public = tuple(self._looks), self._public
        with self._changed:
            self.shown = Shown(self._position, looks, public, turn, legal, undone, match, trouble)
            self._changed.notify_all()
        if (watch := self.beholders.get(None)) is not None:
            watch.look(self.shown)  # here: a stream that asked the module would hold all others up
        self.heard()

    # Persons, from any thread.

    def move(self, seat: int, mark: str, action: str) -> None:
        """Take a person's move; it is seen when this returns, unless it takes very long.

        Raises:
            Refusal: If it is not the seat's turn, the form is of an earlier position, or the move
                is not legal.
        """
        with self._changed:
            before = self.shown
            self._require_turn(seat, mark)
            if action not in before.legal:
                raise Refusal(409, "That move is not legal here; choose one that is marked")
            self._wishes.move = action
            self._await(before)

    def hint(self, seat: int, mark: str, *, wanted: bool = True) -> None:
        """Have a search look for a move, or stop it; what it finds is shown to the seat alone."""
        with self._changed:
            before = self.shown
            self._require_turn(seat, mark)
            self._wishes.hint = wanted
            self._await(before)

    def back(self, seat: int, mark: str) -> None:
        """Take the seat's last decision back, where all persons play in one browser."""
        with self._changed:
            before = self.shown
            self._require_turn(seat, mark)
            if not self.kept.is_local:
                raise Refusal(409, "Others play at this table: no move is taken back")
            assert self.session is not None, "somebody is asked"  # for mypy
            place = self.session.last_decision(seat)
            if place is None:
                raise Refusal(409, "You have decided nothing yet")
            self._wishes.back = place
            self._await(before)

    def say(self, seat: int, words: str, most: int) -> None:
        """Keep a person's words for all at the table, the newest `most`."""
        if words:
            self.chat = [*self.chat, (seat, words)][-most:]
            self.said += 1
            self.heard()

    def chat_numbered(self) -> "list[tuple[int, tuple[int, str]]]":
        """The chat, its lines with the numbers that they keep."""
        chat = self.chat
        return [*enumerate(chat, self.said - len(chat) + 1)]

    def concede(self, seat: int) -> None:
        """Give the match up: at once, or when the seat is asked next."""
        with self._changed:
            before = self.shown
            if before.match is not None or before.trouble:
                raise Refusal(409, "The match is over")
            self.kept.concede(seat)
            self._wishes.conceded.add(seat)
            self._changed.notify_all()
            if before.turn == seat:
                self._await(before)

    def _require_turn(self, seat: int, mark: str) -> None:
        shown = self.shown
        if shown.match is not None or shown.trouble:
            raise Refusal(409, "The match is over")
        if shown.turn != seat:
            raise Refusal(409, "It is not your turn; the page shows when it is")
        is_taken = shown is self._taken or self._wishes.move is not None  # another tab's
        if shown.mark(seat) != mark or is_taken:
            raise Refusal(409, "The match has gone on since; look at the table, and choose again")

    def _await(self, before: Shown) -> None:
        self._changed.notify_all()
        self._changed.wait_for(lambda: self.shown is not before, TAKEN_S)
