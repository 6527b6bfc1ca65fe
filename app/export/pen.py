"""A pen on paper, and the fonts that it writes with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from app.export.drawing import Letters, Point
from app.export.exported import ExportError
from games.environments.reading import read_plain
from games.text import one_line

_LARGEST = 64 * 2**20  # bytes of a font


@dataclass(frozen=True)
class Fonts:
    """Fonts of a document, by their names in reportlab.

    Attributes:
        plain: For reading.
        bold: For titles and cards.
        italic: For what is said beside.
        letters: What they can show.
    """

    plain: str
    bold: str
    italic: str
    letters: Letters


def fonts_of(file: Path | None) -> Fonts:
    """The fonts of a file; without one those that come with reportlab.

    Raises:
        ExportError: If the file is no TrueType font.
    """
    files = ("Vera.ttf", "VeraBd.ttf", "VeraIt.ttf") if file is None else (str(file.resolve()),) * 3
    try:
        if file is not None:
            read_plain(file, _LARGEST)
        plain, bold, italic = map(_registered, files)
    except Exception as error:  # reportlab raises whatever a damaged file leads to
        raise ExportError(
            f"{file} cannot be used as a font: {one_line(str(error))[:200]}; required: a TrueType "
            "file (.ttf) with outlines"
        ) from error
    faces = [pdfmetrics.getFont(name).face.charToGlyph for name in (plain, bold, italic)]
    return Fonts(plain, bold, italic, Letters(lambda code: all(code in face for face in faces)))


@cache
def _registered(file: str) -> str:
    name = f"f{sha256(file.encode()).hexdigest()[:8]}"
    font = TTFont(name, file)
    font.face.makeSubset([*range(32, 127)])  # as a page will: it reads what drawing needs
    pdfmetrics.registerFont(font)
    pdfmetrics.registerFontFamily(name, normal=name, bold=name, italic=name, boldItalic=name)
    return name


@dataclass(frozen=True)
class PaperPen:
    """A pen on a page; see `Pen`."""

    canvas: Canvas
    fonts: Fonts

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """See `Pen.polygon`."""
        path = self.canvas.beginPath()
        path.moveTo(points[0][0] * mm, points[0][1] * mm)
        for x, y in points[1:]:
            path.lineTo(x * mm, y * mm)
        path.close()
        self.canvas.setFillColor(ink(colour))
        self.canvas.drawPath(path, stroke=0, fill=1)

    def box(self, place: Point, size: Point, fill: str = "", line: str = "") -> None:
        """See `Pen.box`."""
        if fill:
            self.canvas.setFillColor(ink(fill))
        if line:
            self.canvas.setStrokeColor(ink(line))
            self.canvas.setLineWidth(0.5 * mm)
        measures = (*place, *size)
        self.canvas.rect(*(one * mm for one in measures), stroke=bool(line), fill=bool(fill))

    def text(
        self, middle: Point, words: str, points: float, colour: str, *, turned: bool = False
    ) -> None:
        """See `Pen.text`."""
        self.canvas.saveState()
        self.canvas.translate(middle[0] * mm, middle[1] * mm)
        if turned:
            self.canvas.rotate(180)
        self.canvas.setFillColor(ink(colour))
        self.canvas.setFont(self.fonts.bold, points)
        self.canvas.drawCentredString(0, -0.36 * points, self.fonts.letters.shown(words))
        self.canvas.restoreState()

    def width(self, words: str, points: float) -> float:
        """See `Pen.width`."""
        shown = self.fonts.letters.shown(words)
        return float(pdfmetrics.stringWidth(shown, self.fonts.bold, points) / mm)


@cache
def ink(code: str) -> HexColor:
    """A colour by its code."""
    return HexColor(code)
