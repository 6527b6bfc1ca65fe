"""Sheets of paper as PDF: cards and counters with their backs, boards, dice and a score sheet."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import ceil, prod

from reportlab.lib.pagesizes import A4, LETTER
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from app.export.components import Component, GameBoard
from app.export.drawing import (
    CARD,
    COLOURS,
    INK,
    Faces,
    Point,
    draw_die_net,
    draw_ground,
    draw_pattern,
)
from app.export.pen import Fonts, PaperPen, ink

BLEED = 3.0
COUNTER = 15.0
_GAPS = {"a4": (6.0, 6.0), "letter": (6.0, 4.0)}  # so that nine cards have room on either paper
_SIZES = {"a4": A4, "letter": LETTER}
_MARGIN, _OVERLAP, _LABELS = 10.0, 10.0, 7.0
_CELLS = range(17, 25)  # sides of a cell; a counter has room on each
_DIE = 18.0
_ROUNDS = 20


@dataclass(frozen=True)
class Press:
    """A printer of sheets.

    Attributes:
        title: Of the documents.
        paper: Its name.
        fonts: Of all words.
    """

    title: str
    paper: str
    fonts: Fonts

    @property
    def page(self) -> tuple[float, float]:
        """The size of the paper, in points."""
        size: tuple[float, float] = _SIZES[self.paper]
        return size

    @property
    def _measures(self) -> Point:
        return self.page[0] / mm, self.page[1] / mm

    def _canvas(self, to: BytesIO) -> Canvas:
        canvas = Canvas(to, pagesize=self.page, invariant=1)
        canvas.setTitle(self.fonts.letters.shown(self.title))
        canvas.setAuthor("Rulewright")
        return canvas

    def cards(self, cards: Sequence[Component]) -> bytes:
        """Cards, nine a page, each page of faces followed by that of their backs."""
        faces = Faces.of(cards)
        kinds = _back_colours(cards)
        return self._grid(
            cards,
            CARD,
            (*_GAPS[self.paper], BLEED),
            lambda pen, one: faces.draw_card(pen, one, BLEED),
            lambda pen, one: _back(pen, CARD, BLEED, kinds[one.kind, one.seat]),
        )

    def counters(self, counters: Sequence[Component], backed: bool) -> bytes:
        """Counters; those of a kind that is hidden from somebody have backs."""
        faces, size = Faces.of(counters), (COUNTER, COUNTER)
        kinds = _back_colours(counters)
        return self._grid(
            counters,
            size,
            (2.0, 2.0, 1.0),
            lambda pen, one: faces.draw_counter(pen, one, COUNTER, 1.0),
            (lambda pen, one: _back(pen, size, 1.0, kinds[one.kind, one.seat])) if backed else None,
        )

    def _grid(
        self,
        things: Sequence[Component],
        size: Point,
        apart: tuple[float, float, float],
        face: Callable[[PaperPen, Component], None],
        back: Callable[[PaperPen, Component], None] | None,
    ) -> bytes:
        """Things in rows and columns in the middle of pages; backs where a turned sheet has them.

        Args:
            things: Each as often as its count says.
            size: Of one, in millimetres.
            apart: Between two, across and down, and how far their ground reaches over their edge.
            face: Draws one.
            back: Draws the back of one.
        """
        wide, high = self._measures
        across, down, bleed = apart
        steps = size[0] + across, size[1] + down
        columns = int((wide - 2 * bleed + across) / steps[0])
        rows = int((high - 2 * bleed + down) / steps[1])
        left = (wide - columns * steps[0] + across) / 2
        top = (high + rows * steps[1] - down) / 2 - size[1]
        to = BytesIO()
        canvas = self._canvas(to)
        pen = PaperPen(canvas, self.fonts)
        every = [one for one in things for _ in range(one.count)]
        for start in range(0, len(every), columns * rows):
            some = every[start : start + columns * rows]
            places = [
                (left + n % columns * steps[0], top - n // columns * steps[1])
                for n in range(len(some))
            ]
            for (x, y), one in zip(places, some, strict=True):
                with _moved(canvas, x, y):
                    face(pen, one)
            for x, y in places:
                _crop_marks(canvas, (x, y), size, bleed)
            canvas.showPage()
            if back is not None:
                for (x, y), one in zip(places, some, strict=True):
                    with _moved(canvas, wide - x - size[0], y):
                        back(pen, one)
                canvas.showPage()
        canvas.save()
        return to.getvalue()

    def boards(self, boards: Sequence[GameBoard]) -> bytes:
        """Boards, each on one sheet, or on several that overlap."""
        to = BytesIO()
        canvas = self._canvas(to)
        for board in boards:
            self._board(canvas, board)
        canvas.save()
        return to.getvalue()

    def _board(self, canvas: Canvas, board: GameBoard) -> None:
        wide, high = (one - 2 * _MARGIN for one in self._measures)
        sides = (board.columns, wide), (board.rows, high)

        def sheets(cell: int) -> tuple[int, int]:
            across, down = (_tiles(_LABELS + cell * number, room) for number, room in sides)
            return across, down

        # As few sheets as can be, and then as large as can be.
        cell = min(_CELLS, key=lambda one: (prod(sheets(one)), -one))
        across, down = sheets(cell)
        step = wide - _OVERLAP, high - _OVERLAP
        for row in range(down):
            for column in range(across):
                canvas.saveState()
                frame = canvas.beginPath()
                frame.rect(_MARGIN * mm, _MARGIN * mm, wide * mm, high * mm)
                canvas.clipPath(frame, stroke=0, fill=0)
                x = _MARGIN - column * step[0]
                y = _MARGIN + high - cell * board.rows - _LABELS + row * step[1]
                with _moved(canvas, x, y):
                    self._cells(PaperPen(canvas, self.fonts), board, cell)
                canvas.restoreState()
                if across * down > 1:
                    self._join_marks(canvas, (column, row), (across, down))
                canvas.showPage()

    def _cells(self, pen: PaperPen, board: GameBoard, cell: float) -> None:
        names = {place: name for name, place in board.naming.cells.items()}
        for row in range(board.rows):
            y = (board.rows - 1 - row) * cell
            if board.naming.rows:
                pen.text((_LABELS / 2, y + cell / 2), board.naming.rows[row], 9, INK)
            for column in range(board.columns):
                place = (_LABELS + column * cell, y)
                fill = "#efe6d2" if (row + column) % 2 else "#f8f4e9"
                pen.box(place, (cell, cell), fill, "#8a7a5a")
                if board.naming.inside and (row, column) in names:
                    corner = (place[0] + cell - 4, place[1] + 3)
                    pen.text(corner, names[row, column], 7, "#8a7a5a")
        for column, label in enumerate(board.naming.columns):
            middle = (_LABELS + (column + 0.5) * cell, board.rows * cell + _LABELS / 2)
            pen.text(middle, label, 9, INK)

    def _join_marks(self, canvas: Canvas, tile: tuple[int, int], of: tuple[int, int]) -> None:
        """Lines at which the next sheet is laid on this one, with a mark that both sheets have."""
        wide, high = self._measures
        pen = PaperPen(canvas, self.fonts)
        canvas.setDash(2 * mm, 1.5 * mm)
        canvas.setLineWidth(0.3 * mm)
        canvas.setStrokeColor(ink(INK))
        column, row = tile
        number = row * of[0] + column + 1
        told = f"sheet {number} of {of[0] * of[1]}: row {row + 1}, column {column + 1}"
        for there, x, name in (
            (column + 1 < of[0], wide - _MARGIN - _OVERLAP, column),
            (column > 0, _MARGIN + _OVERLAP, column - 1),
        ):
            if there:
                canvas.line(x * mm, _MARGIN * mm, x * mm, (high - _MARGIN) * mm)
                side = x + (_OVERLAP / 2 if name == column else -_OVERLAP / 2)
                pen.text((side, high / 2), chr(65 + name % 26), 12, INK)
        for there, y, name in (
            (row + 1 < of[1], _MARGIN + _OVERLAP, row),
            (row > 0, high - _MARGIN - _OVERLAP, row - 1),
        ):
            if there:
                canvas.line(_MARGIN * mm, y * mm, (wide - _MARGIN) * mm, y * mm)
                side = y + (-_OVERLAP / 2 if name == row else _OVERLAP / 2)
                pen.text((wide / 2, side), str(name + 1), 12, INK)
        canvas.setDash()
        pen.text((wide / 2, _MARGIN / 2), f"{told}; lay the next sheet on the broken line", 7, INK)

    def dice(self, dice: Sequence[Component]) -> bytes:
        """Nets of dice with six faces; counters to draw for others."""
        to = BytesIO()
        canvas = self._canvas(to)
        pen = PaperPen(canvas, self.fonts)
        nets = sum(one.count for one in dice)
        wide, high = self._measures
        side = (4 * _DIE + 8, 3 * _DIE + 12)
        columns, rows = (
            int((room - 20) / one) for room, one in zip((wide, high), side, strict=True)
        )
        for number in range(nets):
            place = number % (columns * rows)
            if number and place == 0:
                canvas.showPage()
            x = 12 + place % columns * side[0]
            y = high - 10 - (place // columns + 1) * side[1]
            with _moved(canvas, x, y):
                draw_die_net(pen, _DIE)
        canvas.showPage()
        canvas.save()
        return to.getvalue()

    def score_sheet(self, players: int) -> bytes:
        """A sheet with a column a player and a row a round."""
        to = BytesIO()
        canvas = self._canvas(to)
        pen = PaperPen(canvas, self.fonts)
        wide, high = self._measures
        pen.text((wide / 2, high - 18), self.title[:60], 16, INK)
        left, first, row = 15.0, 20.0, (high - 70) / (_ROUNDS + 2)
        column = (wide - 2 * left - first) / players
        for number in range(_ROUNDS + 2):
            y = high - 35 - number * row
            words = ("", *(str(n + 1) for n in range(_ROUNDS)), "Total")[number]
            pen.box((left, y), (first, row), "", "#555555")
            if words:
                pen.text((left + first / 2, y + row / 2), words, 9, INK)
            for player in range(players):
                pen.box((left + first + player * column, y), (column, row), "", "#555555")
                if number == 0:
                    middle = (left + first + (player + 0.5) * column, y + row / 2)
                    pen.text(middle, f"Player {player + 1}", 9, INK)
        canvas.showPage()
        canvas.save()
        return to.getvalue()


def _back_colours(things: Sequence[Component]) -> dict[tuple[str, int | None], str]:
    """The colour of a back, by kind and by whose it is."""
    every = dict.fromkeys((one.kind, one.seat) for one in things)
    return {
        key: COLOURS[(n + 1 if key[1] is None else key[1]) % len(COLOURS)]
        for n, key in enumerate(every)
    }


def _back(pen: PaperPen, size: Point, edge: float, colour: str) -> None:
    """A back; its pattern is in the file once."""
    draw_ground(pen, size, edge, colour)
    if not pen.canvas.hasForm("pattern"):
        pen.canvas.beginForm("pattern")
        draw_pattern(pen, size)
        pen.canvas.endForm()
    pen.canvas.doForm("pattern")


def _tiles(length: float, room: float) -> int:
    """Sheets side by side that hold a length, where two overlap."""
    return 1 if length <= room else ceil((length - _OVERLAP) / (room - _OVERLAP))


def _crop_marks(canvas: Canvas, place: Point, size: Point, bleed: float) -> None:
    """Two short lines at each corner, over the ground that is cut away."""
    canvas.setLineWidth(0.15 * mm)
    canvas.setStrokeColor(ink(INK))
    near, far = 0.3 * bleed, bleed
    for x, out in ((place[0], -1), (place[0] + size[0], 1)):
        for y, up in ((place[1], -1), (place[1] + size[1], 1)):
            canvas.line((x + out * near) * mm, y * mm, (x + out * far) * mm, y * mm)
            canvas.line(x * mm, (y + up * near) * mm, x * mm, (y + up * far) * mm)


@contextmanager
def _moved(canvas: Canvas, x: float, y: float) -> Iterator[None]:
    """The origin at a place, in millimetres, inside the block."""
    canvas.saveState()
    canvas.translate(x * mm, y * mm)
    yield
    canvas.restoreState()
