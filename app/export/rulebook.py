"""A rulebook typeset: a summary of one page, the rules, an example of play, and the components."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepInFrame,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from app.export.components import number_told
from app.export.exported import as_line
from app.table.boards import folded
from app.table.markdown import markdown_blocks
from games.text import plain_text
from games.values import CHANCE

if TYPE_CHECKING:
    from app.export.components import ComponentList
    from app.export.exported import Exported
    from app.export.paper import Press
    from app.export.pen import Fonts
    from games.engine import Match

_MARGIN = 20 * mm
_INLINE = (
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"\*\*([^*\n]+)\*\*"), r"<b>\1</b>"),
    (re.compile(r"(?<![*\w])\*(?=\S)([^*\n]+)(?<=\S)\*(?![*\w])"), r"<i>\1</i>"),
)
LONGEST_RULES = 200_000  # characters of a rulebook
_FEW, _SHORT, _MOST_PARTS = 3, 400, 90  # of the summary: paragraphs a section, letters, paragraphs
_SHOWN = 60  # lines of the example
_MOST_COLUMNS, _LONGEST_CELL = 10, 400  # of a table


class Typesetter:
    """Markdown and lines as parts of a document."""

    def __init__(self, fonts: "Fonts") -> None:
        self.fonts = fonts
        base = {"fontName": fonts.plain, "fontSize": 10, "leading": 14, "spaceAfter": 4}
        base["bulletFontName"] = fonts.plain
        self.body = ParagraphStyle("body", **base)
        self.item = ParagraphStyle("item", parent=self.body, leftIndent=12, bulletIndent=2)
        self.said = ParagraphStyle("said", parent=self.body, fontName=fonts.italic)
        self.titles = [
            ParagraphStyle(
                f"title-{size}",
                **{**base, "fontName": fonts.bold, "fontSize": size, "leading": 1.25 * size},
                spaceBefore=0.7 * size,
                keepWithNext=1,
            )
            for size in (20, 14, 12, 10)
        ]

    def words(self, text: str, style: ParagraphStyle, bullet: str | None = None) -> Paragraph:
        """A paragraph; markup in the text is text, but Markdown's emphasis is shown."""
        shown = escape(self.fonts.letters.shown(plain_text(text).strip()))
        for pattern, mended in _INLINE:
            shown = pattern.sub(mended, shown)
        bold, italic = (f'<font name="{name}">' for name in (self.fonts.bold, self.fonts.italic))
        for tag, opened in (("b", bold), ("i", italic)):
            shown = shown.replace(f"<{tag}>", opened).replace(f"</{tag}>", "</font>")
        return Paragraph(shown, style, bulletText=bullet)

    def title(self, text: str, level: int) -> Paragraph:
        """A heading; the first level is 1."""
        return self.words(text, self.titles[min(level, len(self.titles)) - 1])

    def lines(self, texts: Sequence[str]) -> list[Flowable]:
        """Lines of a list."""
        return [
            self.words(text, self.item, "–" if self.fonts.letters.known(0x2013) else "-")
            for text in texts
        ]

    def markdown(self, text: str) -> Iterator[Flowable]:
        """Headings, lists, tables and paragraphs of a text."""
        for block in markdown_blocks(text[:LONGEST_RULES]):
            match block.kind:
                case "head":
                    yield self.title(block.words, block.level)
                case "quote":
                    yield self.words(block.words, self.said)
                case "table":
                    yield from self._table(block.rows)
                case "item":
                    yield self.words(
                        block.words, self.item, f"{block.number}." if block.number else "-"
                    )
                case _:
                    yield self.words(block.words, self.body)

    def _table(self, rows: Sequence[Sequence[str]]) -> list[Flowable]:
        """A table; its rows as lines where a page has no room for its cells."""
        most = max((len(row) for row in rows), default=1)
        if most > _MOST_COLUMNS or any(len(cell) > _LONGEST_CELL for row in rows for cell in row):
            return self.lines([", ".join(filter(None, row)) for row in rows])
        cells: Any = [
            [self.words(cell, self.body) for cell in [*row, *[""] * (most - len(row))]]
            for row in rows or [[""]]
        ]
        grid = TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
            ]
        )
        return [Table(cells, style=grid, repeatRows=1, splitInRow=1, spaceAfter=6)]


def rulebook_pdf(
    exported: "Exported", press: "Press", found: "ComponentList", example: Sequence[str]
) -> bytes:
    """The rulebook as a PDF file."""
    typed = Typesetter(press.fonts)
    rules = exported.table.rulebook()
    wide, high = (side - 2 * _MARGIN for side in press.page)
    summary = KeepInFrame(wide, high, _summary(exported, typed, found, rules), mode="shrink")
    doubts = [typed.title("What could not be told", 2), *typed.lines(found.doubts)]
    story: list[Flowable] = [
        *(summary, PageBreak(), *typed.markdown(rules), PageBreak()),
        *(typed.title("An example of play", 1), *_played(typed, example), PageBreak()),
        *(typed.title("Components", 1), *typed.lines(_things(found))),
        *(doubts if found.doubts else []),
    ]
    to = BytesIO()
    title = press.fonts.letters.shown(press.title)
    document = BaseDocTemplate(
        to, pagesize=press.page, invariant=1, title=title, author="Rulewright"
    )
    frame = Frame(_MARGIN, _MARGIN, wide, high, 0, 0, 0, 0)

    def numbered(canvas: Any, page: BaseDocTemplate) -> None:  # noqa: ANN401 - reportlab's own
        canvas.setFont(press.fonts.plain, 8)
        canvas.drawCentredString(press.page[0] / 2, _MARGIN / 2, f"{title} · {page.page}"[-100:])

    document.addPageTemplates(PageTemplate(frames=[frame], onPage=numbered))
    document.build(story)
    return to.getvalue()


def _summary(
    exported: "Exported", typed: Typesetter, found: "ComponentList", rules: str
) -> list[Flowable]:
    """Name, players, components, and the beginning of each section of the rules."""
    info, players = exported.table.module.info, exported.table.setup.num_players
    parts: list[Flowable] = [
        typed.title(as_line(info["name"]), 1),
        typed.words(as_line(str(info.get("summary", ""))), typed.said),
        typed.words(
            f"For {players} players. You need: {', '.join(found.rows()) or 'see below'}.",
            typed.body,
        ),
        Spacer(0, 4),
    ]
    begun = 0
    short = "\n".join(line[:_SHORT] for line in rules.splitlines())
    for part in typed.markdown(short):
        is_title = part.style in typed.titles if isinstance(part, Paragraph) else False
        begun = 0 if is_title else begun + 1
        if (
            len(parts) < _MOST_PARTS
            and begun <= _FEW
            and not (is_title and part.style is typed.titles[0])
        ):
            parts.append(part)
    return parts


def _things(found: "ComponentList") -> list[str]:
    """Every component with its number, a line for all that somebody has of a kind."""

    def of(one: Any) -> tuple[str, int]:  # noqa: ANN401 - a component
        return one.kind, -1 if one.seat is None else one.seat

    lines = [f"{one.rows} × {one.columns} board" for one in found.boards]
    for (kind, seat), group in groupby((*found.cards, *found.counters, *found.dice), of):
        some = [*group]
        whose = "" if seat < 0 else f" of Player {seat + 1}"
        named = [
            f"{one.name}{f' ({one.count})' if one.count > 1 else ''}" for one in some if one.name
        ]
        told = f": {', '.join(map(as_line, named))}" if named else ""
        lines.append(f"{number_told(sum(one.count for one in some), kind)}{whose}{told}")
    return lines or ["None could be told."]


def _played(typed: Typesetter, example: Sequence[str]) -> list[Flowable]:
    shown = example
    if len(example) > _SHOWN + 1:
        left = len(example) - _SHOWN
        shown = [*example[: _SHOWN - 6], f"({left} lines are left out here.)", *example[-6:]]
    told = "A match as it was played by the computer. You are Player 1."
    return [typed.words(told, typed.said), *typed.lines(shown)]


def example_lines(match: "Match") -> list[str]:
    """The course of a match in words, as the first seat perceived it, and its result."""
    lines: list[str] = []
    for chance, plies in groupby(match.plies, key=lambda ply: ply.player == CHANCE):
        some = [*plies]
        if chance:
            lines += folded([as_line(event) for ply in some for event in ply.events[0]])
            continue
        for ply in some:
            told = " ".join(as_line(event) for event in ply.events[0])
            lines.append(told or f"Player {ply.player + 1}: {as_line(ply.action)}")
    if match.returns is None:
        return [*lines, f"The match was not played to its end: {as_line(match.reason)[:200]}"]
    paid = ", ".join(f"Player {n} {value:g}" for n, value in enumerate(match.returns, 1))
    return [*lines, f"The match is over. Results: {paid}."]
