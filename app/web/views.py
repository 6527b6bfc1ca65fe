"""Views of a table: all that is sent to a seat, made of its own log; and what everybody sees."""

import json
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from app.table.hints import Hint
from app.table.reading import SPECTATOR, SeatReading
from app.table.session import verdict_words
from app.web.drawing.seat import SeatDrawing
from games.checks.zones import concrete_paths, read_path
from games.contract import Game
from games.engine import PlayerFault
from games.text import one_line
from games.values import ModuleFault, are_texts
from tools.sandbox import SandboxedModule

if TYPE_CHECKING:
    from app.web.playing import Shown, WebTable
    from games.values import Json, Observation, State
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox

_TURNS = ("to_move", "player", "current_player", "turn")
_MOST_WORDS = 400


@dataclass
class Beholder:
    """One who looks at a table: a seat's person, or whoever looks on.

    Attributes:
        table: The table.
        seat: None for who looks on.
    """

    table: "WebTable"
    seat: int | None
    _drawing: "SeatDrawing | None" = None
    _newest: tuple[str, dict[str, Any]] = ("", {})
    _undone: int = 0
    _eye: "PublicEye | None" = None
    _public: "tuple[State | None, Observation, str]" = (None, {}, "")  # what all see, and its sign
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def mark(self) -> str:
        """Another text whenever there is something new for this one to see, and else the same."""
        shown, table = self.table.shown, self.table
        is_over = bool(shown.match or shown.trouble)
        if self.seat is None:
            told = f"{len(self._words(shown))}.{self._public[2]}"
            return f"{shown.undone}.{told}.{is_over}.{table.kept.changes}"
        hint = self._hint(shown)
        turn = shown.turn if table.kept.is_local else shown.turn == self.seat
        told = f"{turn}.{bool(hint.lines)}.{hint.is_sought}.{is_over}.{table.said}"
        return f"{shown.mark(self.seat)}.{told}.{table.kept.changes}"

    def view(self) -> dict[str, Any]:
        """The values of the table's template; made once for as long as there is nothing new."""
        shown = self.table.ready()
        self.look(shown)
        with self._lock:
            mark, told = self._newest
            if mark != self.mark():
                mark = self.mark()
                told = self._made(shown)
                self._newest = (
                    (mark, told) if shown is self.table.shown and not shown.match else ("", {})
                )
            return {**told, "mark": mark}

    def _made(self, shown: "Shown") -> dict[str, Any]:
        """The values, from this one's own look alone."""
        table, seat = self.table, self.seat
        kept, is_turn = table.kept, shown.turn == seat and seat is not None
        seen = self._observation(shown)
        to_move = self._to_move(shown, seen)
        legal = shown.legal if is_turn else ()
        words = self._words(shown)
        told: dict[str, Any] = {
            "seat": seat,
            "title": kept.about.title,
            "names": kept.about.names,
            "is_turn": is_turn,
            "to_move": to_move,
            "drawn": Markup(self._drawn(seen, legal, to_move)),  # escaped where it is made
            "ply": "" if seat is None else shown.mark(seat),
            "log": [*enumerate(words, 1)][-_MOST_WORDS:],
            "scores": self._scores(seen),
            "is_told": seat is not None or self._tells_all(shown),
            "over": self._over(shown),
            "trouble": shown.trouble,
            "chat": [(n, kept.name(who), said) for n, (who, said) in table.chat_numbered()],
            "people": kept.people,
        }
        if seat is not None:
            told["hint"] = self._hint(shown)
            told["local"] = kept.is_local
            told["conceded"] = seat in kept.about.conceded
            told["asked"] = shown.turn if kept.is_local else None
        return told

    def look(self, shown: "Shown") -> None:
        """Have the module tell what everybody sees of a moment, for who looks on."""
        if self.seat is not None or shown.position is None:
            return
        with self._lock:
            if (state := shown.position.state) is self._public[0]:
                return
            if self._eye is None:
                self._eye = PublicEye(self.table.kept.setup, self.table.sandbox)
            seen = self._eye.seen(state)
            sign = sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()
            self._public = state, seen, sign[:16]

    def close(self) -> None:
        """End what it holds."""
        if self._eye is not None:
            self._eye.close()

    def _words(self, shown: "Shown") -> tuple[str, ...]:
        """The words of what happened, as far as this one was told."""
        if self.seat is not None:
            return shown.looks[self.seat].words if shown.looks else ()
        return shown.public if self._tells_all(shown) else ()

    def _tells_all(self, shown: "Shown") -> bool:
        """True where who looks on may hear what all seats heard alike.

        Where something is hidden, equal words may tell each seat of its own: "You draw a 3" is said
        to two, of whom neither knows it of the other. No contract tells such words from others.
        """
        return shown.match is not None or (self._eye is not None and self._eye.is_open)

    def _hint(self, shown: "Shown") -> Hint:
        """The hint for this moment; an empty one without."""
        hint = self.table.hints.get(self.seat or 0, Hint())
        return hint if hint.mark == shown.mark(self.seat or 0) else Hint()

    def _observation(self, shown: "Shown") -> "Observation":
        if shown.position is None:
            return {}
        if self.seat is not None:
            return shown.looks[self.seat].observation or {}
        return self._public[1]

    def _to_move(self, shown: "Shown", seen: "Observation") -> int | None:
        """Who is to move, as far as this one may know: by its view, or as it is its own turn."""
        if shown.turn is not None and shown.turn == self.seat:
            return shown.turn
        named = next((seen[key] for key in _TURNS if key in seen), None)
        seats = len(self.table.kept.about.names)
        return named if type(named) is int and 0 <= named < seats and not shown.match else None

    def _drawn(self, seen: "Observation", legal: Sequence[str], to_move: int | None) -> str:
        names = self.table.kept.about.names
        if self._drawing is None or self._undone != self.table.shown.undone:
            self._drawing = SeatDrawing(self.table.setting, self.seat, self.table.hinted)
            self._undone = self.table.shown.undone
        return self._drawing.html(seen, legal, names, to_move) if seen else ""

    def _scores(self, seen: "Observation") -> list[tuple[str, float]]:
        reading = SeatReading(self.table.setting, SPECTATOR if self.seat is None else self.seat)
        return [*zip(self.table.kept.about.names, reading.scores(seen), strict=False)]

    def _over(self, shown: "Shown") -> list[str]:
        """The end of the match in words; nothing before it."""
        if (match := shown.match) is None:
            return []
        if match.returns is None:
            return [f"The match did not finish: {one_line(match.reason)}"]
        names = self.table.kept.about.names
        rows = [f"{name}: {value:g}" for name, value in zip(names, match.returns, strict=True)]
        return [verdict_words(match.returns, self.seat, names), *rows]


class PublicEye:
    """The parts of a state that its game shows to everybody, by its own declarations.

    A place counts as open where `GAME["open"]` names it, or `visible` gives its contents to every
    seat: what the seats' views have in common by chance does not count. The module is asked in a
    worker of its own.

    Attributes:
        is_open: True where the game hides nothing from any seat.
    """

    def __init__(self, setup: "GameSetup", sandbox: "Sandbox") -> None:
        """Open a worker for a game."""
        self._held = ExitStack()
        worker = self._held.enter_context(sandbox.loaded("spectator", setup.source))
        self._game, self._seats = Game(SandboxedModule(worker)), setup.num_players
        self.is_open = _hides_nothing(setup, sandbox)
        opened = self._game.info.get("open")
        self._open = opened if are_texts(opened) else []
        self._lock = threading.Lock()

    def seen(self, state: "State") -> "dict[str, Json]":
        """The open places and their values; nothing where the module does not tell."""
        with self._lock:
            try:
                views = [self._game.visible(state, seat) for seat in range(self._seats)]
            except ModuleFault:
                return {}
        everybodys = [p for p in views[0] if all(v.get(p) == "contents" for v in views)]
        found: dict[str, Json] = {}
        for path in dict.fromkeys((*concrete_paths(state, *self._open), *everybodys)):
            try:
                _put(found, path.split("."), read_path(state, path))
            except KeyError:
                continue
        return {name: _by_seat(value, self._seats) for name, value in found.items()}

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._held.close()


def _hides_nothing(setup: "GameSetup", sandbox: "Sandbox") -> bool:
    """True where what each seat sees determines the state, as far as it can be told."""
    from agents.players.registry import PlayerRoster

    try:
        return PlayerRoster().can_play("uct:simulations=1", setup, sandbox)
    except (ModuleFault, PlayerFault):
        return False


def _put(found: "dict[str, Json]", steps: Sequence[str], value: "Json") -> None:
    for step in steps[:-1]:
        inner = found.setdefault(step, {})
        if not isinstance(inner, dict):
            return  # a place that is open as a whole
        found = inner
    found[steps[-1]] = value


def _by_seat(value: "Json", seats: int) -> "Json":
    """A value with a part a seat as the layouts know it.

    >>> _by_seat({"0": [7], "1": [8]}, 2), _by_seat({"1": [8]}, 2)
    ([[7], [8]], {'Player 2': [8]})
    """
    names = [str(seat) for seat in range(seats)]
    if not isinstance(value, dict) or not value or not value.keys() <= {*names}:
        return value
    if value.keys() == {*names}:
        return [value[name] for name in names]
    return {f"Player {int(name) + 1}": one for name, one in value.items()}
