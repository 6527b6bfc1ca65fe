"""The drawing of a seat's table: what it sees as components, and what it may do on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from app.table.boards import Board, Naming, grid_of, naming_of
from app.table.reading import SPECTATOR, SeatReading, Setting, ViewPart
from app.web.drawing.art import used_symbols
from app.web.drawing.grids import board_area, is_own_sea
from app.web.drawing.markup import drawable, joined, short_line, tag
from app.web.drawing.moves import drawn_moves
from app.web.drawing.parts import PartDrawing, board_key
from app.web.drawing.pieces import is_tinted
from app.web.drawing.spots import Area, Spots, area_of, named_by
from tools.presentation import (
    Presentation,
    PresentationError,
    checked_presentation,
)

_MOST_BYTES = 120_000


@dataclass
class SeatDrawing:
    """The drawing of one seat's view, which remembers what the seat has seen.

    Attributes:
        setting: The match.
        seat: Whose view it is; None for a spectator.
        presentation: The module's `PRESENTATION`, where it has one.
    """

    setting: Setting
    seat: int | None
    presentation: object = None
    _reading: SeatReading = field(init=False)
    _hints: Presentation = field(init=False)
    _fault: str = ""
    _has_tints: bool = False  # whether cards are told as R7

    def __post_init__(self) -> None:
        seat = SPECTATOR if self.seat is None else self.seat
        self._reading = SeatReading(self.setting, seat)
        try:
            self._hints = checked_presentation(self.presentation)
        except PresentationError as error:
            self._hints, self._fault = Presentation(), f"Hints for drawing are ignored: {error}."

    def html(
        self,
        observation: Mapping[str, Any],
        legal: Sequence[str],
        names: Sequence[str],
        to_move: int | None,
    ) -> str:
        """The table as a fragment of HTML, in which everything of others is escaped.

        Args:
            observation: What the seat sees.
            legal: What it may do now; empty where it may do nothing.
            names: The names of all seats.
            to_move: Whose turn it is; None at the end, and where chance decides.
        """
        seen = drawable(observation)
        reading = self._reading
        reading.names = [short_line(name, 40) for name in names]
        parts = [
            self._with_target(self._hinted(part, seen), legal)
            for part in reading.parts(seen, legal)
        ]
        hands = [part.value for part in parts if part.kind == "hand" and part.value]
        self._has_tints |= any(all(map(is_tinted, hand)) for hand in hands)
        spots = Spots(self._areas(parts), legal)
        places = self._placed(
            parts,
            PartDrawing(reading, self._hints, spots, self._has_tints),
            to_move,
            seen.get("leader"),
        )
        if self._fault:
            places["facts"].append(tag("p", self._fault))
        moves = [drawn_moves(legal, spots)]
        main = joined([*map(_section, _MAIN, map(places.__getitem__, _MAIN)), *moves])
        side = joined([*map(_section, _SIDE, map(places.__getitem__, _SIDE))])
        blocked = tag("button", type="submit", disabled=True, hidden=True)  # Enter plays nothing
        turn = _turn(self.seat, reading, to_move)
        body = joined([turn, tag("div.main", main), tag("div.side", side)])
        return str(tag("div.table", blocked, used_symbols(body), body))

    def _placed(
        self, parts: Sequence[ViewPart], drawing: PartDrawing, to_move: int | None, leader: object
    ) -> dict[str, list[Markup]]:
        """The parts by their sections, as many as a page can hold."""
        places: dict[str, list[Markup]] = {name: [] for name in _PLACES}
        places["seats"].append(drawing.seat_table(parts, to_move))
        left = _MOST_BYTES
        for part in parts:
            if part.kind == "column":
                place, drawn = "boards", drawing.track(part)
            else:
                place, drawn = drawing.drawn(part, leader)
            left -= len(drawn.encode()) if drawn else 0
            if left < 0:
                drawn = tag("p.cut", f"{part.name}: too much to draw.")
            if drawn:
                places[place].append(drawn)
        return places

    def _hinted(self, part: ViewPart, seen: Mapping[str, Any]) -> ViewPart:
        """A part as the module's hints say; as it was where its value does not fit them."""
        look = self._hints.look(part.key)
        name = look.label or part.name
        value = seen.get(part.key)
        if look.kind == "board" and part.kind != "boards":
            grid = grid_of("board", value, is_zone=True)
            naming = naming_of(grid, (), flat=False) if grid else Naming()
            return (
                replace(part, kind="boards", boards=(Board(name, grid, naming),)) if grid else part
            )
        if look.kind == "hand" and isinstance(value, list) and all(map(_is_text, value)):
            return replace(part, kind="hand", name=name, value=value)
        if look.kind == "words":
            return replace(part, kind="words", name=name, value=value)
        if look.kind in ("cards", "dice", "tiles", "tokens") and isinstance(value, list):
            return replace(part, kind="lists" if part.kind == "lists" else "open", name=name)
        if part.boards and look.label:
            return replace(part, boards=tuple(replace(one, title=name) for one in part.boards))
        return replace(part, name=name)

    def _with_target(self, part: ViewPart, legal: Sequence[str]) -> ViewPart:
        """A sea to aim at, where so far one's own alone is known, and moves name single cells."""
        if not part.boards or not all(map(is_own_sea, part.boards)):
            return part
        own = part.boards[0]
        area = board_area("", own)
        if not any(len(named_by(action, area)) == 1 for action in legal):
            return part
        empty = [["."] * len(row) for row in own.grid]
        return replace(part, boards=(replace(own, title="your aim", grid=empty), *part.boards))

    def _areas(self, parts: Sequence[ViewPart]) -> list[Area]:
        """The places that moves may name: the hand first, one's own sea last."""
        areas: list[tuple[int, Area]] = []
        for part in parts:
            if part.kind == "hand":
                areas.append((0, area_of(part.key, part.value)))
            elif part.kind == "boards":
                for number, board in enumerate(part.boards):
                    order = 3 if is_own_sea(board) else 1
                    areas.append((order, board_area(board_key(part, number), board)))
            elif part.kind == "open":
                areas.append((2, area_of(part.key, _texts(part.value))))
            elif part.kind == "lists":
                areas.append((2, area_of(part.key, [t for row in part.value for t in _texts(row)])))
        return [area for _, area in sorted(areas, key=lambda pair: pair[0])]


_MAIN = {"boards": "The board", "middle": "On the table", "own": "Your own"}
_SIDE = {"seats": "The seats", "facts": "More that you see"}
_PLACES = {**_MAIN, **_SIDE}


def _section(name: str, inner: Sequence[Markup]) -> Markup:
    return tag(f"section.{name}", *inner, aria_label=_PLACES[name]) if inner else Markup("")


def _turn(seat: int | None, reading: SeatReading, to_move: int | None) -> Markup:
    if to_move is None:
        return Markup("")
    whose = "Your turn" if to_move == seat else f"{reading.name(to_move)} is to move"
    return tag("p.whose", f"{whose}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
