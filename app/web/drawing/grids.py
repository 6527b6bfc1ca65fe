"""Boards as tables of cells, with the names of rows and columns and the moves on the cells."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.table.boards import Board, Cell
from app.web.drawing.markup import joined, short_line, tag
from app.web.drawing.pieces import DRAUGHTS, at_sea, coloured, on_board
from app.web.drawing.spots import Area, Spots, area_of

_MOST_PICTURES = 900
_STEPS = (3, 5, 8, 11, 16, 22)
_DISCS_FROM = 5
_BOX = {"viewBox": "0 0 32 32"}


@dataclass(frozen=True)
class _Looks:
    is_disc: bool
    is_draughts: bool
    colours: Mapping[str, str]


def board_area(key: str, board: Board) -> Area:
    """The names of a board's cells."""
    return area_of(key, board.naming.cells, is_board=True)


def is_own_sea(board: Board) -> bool:
    """True for the sea with the seat's own ships, at which it does not shoot."""
    return board.is_sea and "(=)" in board.title


def drawn_board(
    key: str, board: Board, spots: Spots, colours: Mapping[str, str], *, is_hex: bool = False
) -> Markup:
    """A board under its title.

    Args:
        key: The part of the drawing.
        board: The board.
        spots: The moves.
        colours: Colours of marks that the game asks for.
        is_hex: Whether its cells are hexagons: each row begins half a cell further to the right.
    """
    grid, naming = board.grid, board.naming
    many = len(grid) * len(grid[0])
    is_drop = bool(naming.cells) and not naming.rows and not naming.inside
    names: dict[Cell, str] = {cell: name for name, cell in naming.cells.items()}
    looks = _Looks(
        is_drop or len(grid[0]) >= _DISCS_FROM,
        {mark for row in grid for mark in row} - {"."} <= DRAUGHTS,
        colours,
    )
    span = {"colspan": 2} if is_hex else {}
    rows = []
    if naming.columns:
        heads = [_head(key, label, spots, span, is_drop=is_drop) for label in naming.columns]
        corner = [tag("td.corner")] if naming.rows else []
        rows.append(tag("tr", *corner, *heads))
    for number, row in enumerate(grid):
        cells = [tag("td.corner", colspan=number)] if is_hex and number else []
        if naming.rows:
            cells.append(tag("th", naming.rows[number], scope="row"))
        for column, mark in enumerate(row):
            name = naming.columns[column] if is_drop else names.get((number, column), "")
            if many > _MOST_PICTURES:
                cells.append(tag("td", "" if mark == "." else short_line(mark, 6)))
                continue
            inner = _cell(mark, name, board, looks)
            spot = (
                tag("span.spot", inner, data_c=name)
                if is_drop
                else spots.placed(key, name, inner, mark if mark != "." else "")
            )
            cells.append(tag("td", spot, **span))
        if is_hex and number < len(grid) - 1:
            cells.append(tag("td.corner", colspan=len(grid) - 1 - number))
        rows.append(tag("tr", *cells))
    kind = "sea" if board.is_sea else "rack" if is_drop else "wood.hex" if is_hex else "wood"
    step = next((n for n in _STEPS if len(grid[0]) <= n), "most")
    title = short_line(board.title.removesuffix(":"))
    table = tag(f"table.board.{kind}.cells-{step}", tag("caption", title), tag("tbody", *rows))
    return tag("div.scroll", table, role="group", aria_label=title, tabindex=0)


def _head(key: str, label: str, spots: Spots, span: Mapping[str, int], *, is_drop: bool) -> Markup:
    """The label above a column; a button where a move names the column."""
    inner = tag("span.label", label)
    return tag("th", spots.placed(key, label, inner, "") if is_drop else label, scope="col", **span)


def _cell(mark: str, name: str, board: Board, looks: _Looks) -> Markup:
    """The picture of a cell; an empty one shows its name where nothing else tells it."""
    if mark == ".":
        return joined([tag("span.label", name)] if board.naming.inside and name else [])
    if mark in looks.colours:
        inner = coloured(mark, looks.colours[mark])
    elif board.is_sea:
        inner = at_sea(mark)
    else:
        inner = on_board(mark, is_disc=looks.is_disc, is_draughts=looks.is_draughts)
    return tag("svg", inner, role="img", aria_label=mark, **_BOX)
