"""Tabletop Simulator: sheets of cards as pictures, and the saved object that shows them.

A sheet has ten columns and seven rows. Its last place is the face of a card that somebody else
holds, so a sheet has 69 cards. A card's number is a hundred times its sheet's, and its place on it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from math import prod
from pathlib import Path

import reportlab
from PIL import Image, ImageDraw, ImageFont

from app.export.components import Component, ComponentList, listed_components
from app.export.drawing import CARD, COLOURS, Faces, Letters, Point, draw_ground, draw_pattern
from app.export.exported import Exported, ExportError, Files, as_line
from app.export.pen import fonts_of
from games.values import Json

_GRID = (10, 7)
_SCALE = 5  # pixels a millimetre
_FINER = 2  # drawn larger, and made smaller
_MOST_SHEETS = 30
_POINT = 25.4 / 72  # millimetres
_TURN = {"rotX": 0.0, "rotY": 180.0, "rotZ": 180.0, "scaleX": 1.0, "scaleY": 1.0, "scaleZ": 1.0}


@dataclass(frozen=True)
class PicturePen:
    """A pen on a picture of one card; see `Pen`."""

    picture: Image.Image
    font: str
    letters: Letters
    scale: float

    def _at(self, points: Sequence[Point]) -> list[Point]:
        high = self.picture.height
        return [(x * self.scale, high - y * self.scale) for x, y in points]

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """See `Pen.polygon`."""
        ImageDraw.Draw(self.picture).polygon(self._at(points), fill=colour)

    def box(self, place: Point, size: Point, fill: str = "", line: str = "") -> None:
        """See `Pen.box`."""
        x, y = place
        corners = self._at([(x, y + size[1]), (x + size[0], y)])
        ImageDraw.Draw(self.picture).rectangle(
            [*corners[0], *corners[1]],
            fill=fill or None,
            outline=line or None,
            width=round(self.scale / 2) if line else 0,
        )

    def text(
        self, middle: Point, words: str, points: float, colour: str, *, turned: bool = False
    ) -> None:
        """See `Pen.text`."""
        font, shown = self._font(points), self.letters.shown(words)
        if not shown:
            return
        left, top, right, bottom = (int(side) for side in font.getbbox(shown))
        patch = Image.new("L", (max(1, right - left), max(1, bottom - top)))
        ImageDraw.Draw(patch).text((-left, -top), shown, fill=255, font=font)
        patch = patch.rotate(180) if turned else patch
        ((x, y),) = self._at([middle])
        place = (int(x - patch.width / 2), int(y - patch.height / 2))
        self.picture.paste(colour, (*place, place[0] + patch.width, place[1] + patch.height), patch)

    def width(self, words: str, points: float) -> float:
        """See `Pen.width`."""
        return self._font(points).getlength(self.letters.shown(words)) / self.scale

    def _font(self, points: float) -> ImageFont.FreeTypeFont:
        return ImageFont.truetype(self.font, max(1, round(points * _POINT * self.scale)))


def tabletop_files(exported: Exported) -> Files:
    """The sheets, the back of each, and the saved object.

    Raises:
        ExportError: If the game has no cards or counters, or too many.
    """
    found = listed_components(exported)
    things = (*found.cards, *found.counters)
    if not things:
        raise ExportError(
            f"{exported.title} has no cards or counters that could be told; use --pdf for its rules"
        )
    backs = dict.fromkeys((one.kind, one.seat) for one in things)
    room = prod(_GRID) - 1
    decks = [
        (key, some[start : start + room])
        for key in backs
        for some in [[one for one in things if (one.kind, one.seat) == key]]
        for start in range(0, len(some), room)
    ]
    if len(decks) > _MOST_SHEETS:
        raise ExportError(
            f"{exported.title} needs {len(decks)} sheets of cards; at most {_MOST_SHEETS} are made"
        )
    drawn = _Pictures(exported, Faces.of(things))
    contents: dict[str, bytes] = {}
    objects: list[Json] = []
    for number, (key, some) in enumerate(decks, 1):
        colour = COLOURS[(1 if key[1] is None else key[1]) % len(COLOURS)]
        names = f"cards-{number}.png", f"back-{number}.png"
        back = drawn.back(colour)
        contents[names[0]], contents[names[1]] = drawn.sheet(some, back), _png(back)
        objects.append(_deck(number, key, some, names))
    saved = {"SaveName": exported.title, "ObjectStates": objects}
    contents["tabletop-simulator.json"] = (json.dumps(saved, indent=2) + "\n").encode()
    told = "Tabletop Simulator: put the pictures beside each other, and set FaceURL and BackURL "
    told += "in tabletop-simulator.json to where they are"
    left = ComponentList(boards=found.boards, dice=found.dice).rows()
    more = [f"not in the sheets: {', '.join(left)}; print them with --pdf"] if left else []
    return Files(contents, [*found.doubts, *more, *drawn.letters.remark(), told])


def _deck(
    number: int, key: tuple[str, int | None], some: Sequence[Component], names: tuple[str, str]
) -> dict[str, Json]:
    """A deck of one sheet as a saved object holds it."""
    sheet: dict[str, Json] = {
        **{"FaceURL": names[0], "BackURL": names[1], "NumWidth": _GRID[0], "NumHeight": _GRID[1]},
        **{"BackIsHidden": True, "UniqueBack": False, "Type": 0},
    }
    whose = "" if key[1] is None else f" of Player {key[1] + 1}"
    cards = [
        (100 * number + place, one) for place, one in enumerate(some) for _ in range(one.count)
    ]
    where: dict[str, Json] = {"posX": 3.0 * (number - 1), "posY": 1.0, "posZ": 0.0, **_TURN}
    about: dict[str, Json] = {"Nickname": f"{as_line(key[0])}{whose}", "Transform": where}
    if len(cards) == 1:  # a deck of one card is a card
        return {"Name": "Card", **about, "CardID": cards[0][0], "CustomDeck": {str(number): sheet}}
    return {
        **{"Name": "DeckCustom", **about, "DeckIDs": [card for card, _ in cards]},
        "CustomDeck": {str(number): sheet},
        "ContainedObjects": [
            {
                **{"Name": "Card", "Nickname": as_line(one.name), "CardID": card},
                **{"Transform": where, "CustomDeck": {str(number): sheet}},
            }
            for card, one in cards
        ],
    }


class _Pictures:
    """The pictures of a game's cards."""

    def __init__(self, exported: Exported, faces: Faces) -> None:
        usual = Path(reportlab.__file__).with_name("fonts") / "VeraBd.ttf"
        self.font = str(exported.font or usual)
        self.letters = fonts_of(exported.font).letters
        self.faces = faces
        self.size = (round(CARD[0] * _SCALE), round(CARD[1] * _SCALE))

    def sheet(self, some: Sequence[Component], back: Image.Image) -> bytes:
        """Cards in their places, and the back in the last."""
        wide, high = self.size
        sheet = Image.new("RGB", (wide * _GRID[0], high * _GRID[1]), "#ffffff")
        for place, one in enumerate(some):
            picture = self._blank()
            self.faces.draw_card(self._pen(picture), one)
            at = place % _GRID[0] * wide, place // _GRID[0] * high
            sheet.paste(picture.reduce(_FINER), at)
        sheet.paste(back, ((_GRID[0] - 1) * wide, (_GRID[1] - 1) * high))
        return _png(sheet)

    def back(self, colour: str) -> Image.Image:
        """A back."""
        picture = self._blank()
        pen = self._pen(picture)
        draw_ground(pen, CARD, 0, colour)
        draw_pattern(pen, CARD)
        return picture.reduce(_FINER)

    def _blank(self) -> Image.Image:
        return Image.new("RGB", (self.size[0] * _FINER, self.size[1] * _FINER), "#ffffff")

    def _pen(self, picture: Image.Image) -> PicturePen:
        return PicturePen(picture, self.font, self.letters, _SCALE * _FINER)


def _png(picture: Image.Image) -> bytes:
    to = BytesIO()
    picture.save(to, "PNG", compress_level=4)
    return to.getvalue()
