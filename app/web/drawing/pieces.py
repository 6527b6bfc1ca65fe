"""One component as a picture: a card, a die, a tile, a piece, a mark, or the back of a card."""

import re
from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from app.web.drawing.art import COURTS, RANKS, SUITS, TINTS, pips, used
from app.web.drawing.markup import joined, short_line, tag

_CARD = re.compile(r"(10|[2-9TJQKA])([CDHS])")
_TINTED = re.compile(rf"([{''.join(TINTS)}])(\d{{1,2}})")
_SIGN = re.compile(r"\b(10|[2-9TJQKA])([CDHS])\b")
_SIGNS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_WORD = re.compile(r"[a-z]{4,}")
_LONGEST_TILE = 6
_LONGEST_ON_PIECE = 3
_MOST_PIPS = 6
_SPACES_A_ROW = 10
DRAUGHTS = frozenset("bwBW")
_KEPT = 2_048  # pictures: the same few components are drawn at every ply
_MARKS = {"x": "x", "X": "x", "o": "o", "O": "o"}


def with_signs(text: str) -> str:
    """A text in which codes of cards are told with the signs of suits.

    >>> with_signs("play TH")
    'play 10♥'
    """
    return _SIGN.sub(lambda card: card[1].replace("T", "10") + _SIGNS[card[2]], text)


def spoken_name(text: str, component: str) -> str:
    """A component's name as a reader of the screen hears it.

    >>> spoken_name("TH", "card"), spoken_name("3", "die"), spoken_name("R7", "card")
    ('10 of hearts', 'die 3', 'red 7')
    """
    if component in ("card", "") and (card := _CARD.fullmatch(text)):
        return f"{RANKS.get(card[1], card[1])} of {SUITS[card[2]]}"
    if component == "card" and (tinted := _TINTED.fullmatch(text)):
        return f"{TINTS[tinted[1]][0]} {tinted[2]}"
    return f"{component} {text}" if component in ("die", "tile") else text


def is_card(text: object) -> bool:
    """True for the code of a card with a suit, such as TH."""
    return isinstance(text, str) and _CARD.fullmatch(text) is not None


def is_tinted(text: object) -> bool:
    """True for the code of a card with a colour and a number, such as R7."""
    return isinstance(text, str) and _TINTED.fullmatch(text) is not None


def picture(text: str, component: str, colour: str = "") -> Markup:
    """A component as a picture of its kind, with its name; in a colour that a game asks for."""
    return _picture(short_line(text, 40), component, colour)


@lru_cache(maxsize=_KEPT)
def _picture(text: str, component: str, colour: str) -> Markup:
    if colour and len(text) <= _LONGEST_ON_PIECE:
        return _svg("piece", "0 0 32 32", text, coloured(text, colour))
    if is_card(text):
        return _card(text, spoken_name(text, "card"))
    if component == "card" and (tinted := _TINTED.fullmatch(text)):
        return _tinted(text, *TINTS[tinted[1]])
    if component == "die" or (component == "dice" and text.isdigit()):
        return _die(text)
    if component in ("piece", "mark", "counter") and len(text) <= _LONGEST_ON_PIECE:
        return _svg("piece", "0 0 32 32", text, on_board(text))
    if len(text) <= _LONGEST_TILE and not _WORD.fullmatch(text):
        return _tile(text, component)
    return tag("span.chip.worded" if component == "card" else "span.chip", with_signs(text))


def back(count: int | None = None, label: str = "") -> Markup:
    """The back of a card, or of a pile of so many; an empty place for none."""
    if count == 0:
        face = tag("rect", x=1.5, y=1.5, width=57, height=81, rx=6, class_="none")
        return _svg("card", "0 0 60 84", label, face, _text("0", 30, 50, 20))
    edges = [
        tag("rect", x=1 + n, y=1 + n, width=54, height=78, rx=6, class_="edge")
        for n in range(min(4, count or 1))
    ]
    n = len(edges) - 1
    sides = used("back", f"{4 + n} {16 + n} 48")
    number = (
        [
            tag("rect", x=14 + n, y=29 + n, width=28, height=22, rx=5, class_="plate"),
            _text(str(count), 28 + n, 46 + n, 17),
        ]
        if count is not None
        else []
    )
    return _svg("card.back", "0 0 60 84", label, *edges, sides, *number)


@lru_cache(maxsize=_KEPT)
def on_board(mark: str, *, is_disc: bool = False, is_draughts: bool = False) -> Markup:
    """The inside of a cell's picture: a mark, a disc, or a piece with its letter.

    Args:
        mark: What lies there.
        is_disc: Whether x and o are engraved in discs.
        is_draughts: Whether b and w are colours of men, and B and W of kings.
    """
    theirs = mark.startswith("[") and mark.endswith("]") and mark != "[]"
    letter = mark[1:-1] if theirs else mark
    if (shape := _MARKS.get(letter)) and not theirs:
        side = "first" if shape == "x" else "second"
        if not is_disc:
            return tag(f"g.{side}", used(shape))
        return tag(f"g.{side}", used("disc"), tag("g.engraved", used(shape, "9 9 14")))
    if is_draughts and letter in DRAUGHTS:
        side = "black" if letter in "bB" else "white"
        crown = tag("g.engraved", used("king", "8 8 16")) if letter.isupper() else None
        return tag(f"g.{side}", used("disc"), crown)
    if letter == "#":
        return tag("g.wall", used("wall"))
    side = "theirs" if theirs or (letter.islower() and letter.isalpha()) else "mine"
    size = {1: 17, 2: 14}.get(len(letter), 10)
    return tag(f"g.{side}", used("disc"), _text(letter, 16, 16 + size * 0.36, size))


@lru_cache(maxsize=_KEPT)
def coloured(mark: str, colour: str) -> Markup:
    """The inside of a piece in a colour, with its letter."""
    size = {1: 17, 2: 14}.get(len(mark), 10)
    return tag(f"g.in-{colour}", used("disc"), _text(mark, 16, 16 + size * 0.36, size))


def track(places: Sequence[int], length: int, label: str) -> Markup:
    """A track of spaces from 1, with the seats' tokens; 0 is before the first."""
    wide = min(_SPACES_A_ROW, length + 1)
    high = -(-(length + 1) // wide)
    inner = []
    for space in range(length + 1):
        row, column = divmod(space, wide)
        column = wide - 1 - column if row % 2 else column  # there and back
        x, y = 40 * column, 40 * row
        inner.append(tag("rect", x=x + 1, y=y + 1, width=38, height=38, rx=5))
        inner.append(tag("g.space", _text(str(space), x + 20, y + 13, 11)))
        here = [seat for seat, place in enumerate(places) if place == space]
        for number, seat in enumerate(here):
            step = 0 if len(here) == 1 else (number - (len(here) - 1) / 2) * 30 / len(here)
            dot = tag("circle", cx=f"{x + 20 + step:g}", cy=y + 26, r=9, fill="currentColor")
            inner.append(
                tag(f"g.seat-{seat}", dot, _text(str(seat + 1), x + 20 + step, y + 30, 12))
            )
    return _svg("track", f"0 0 {40 * wide} {40 * high}", label, *inner)


def at_sea(mark: str) -> Markup:
    """The inside of a cell at sea: a ship, a shot, or both."""
    shape = {"=": "ship", "X": "hit", "o": "miss", "#": "hit"}.get(mark)
    return tag(f"g.{shape}", used(shape)) if shape else on_board(mark)


def _card(text: str, name: str) -> Markup:
    rank, suit = text[:-1].replace("T", "10"), text[-1].lower()
    middle = (
        tag("g", used(COURTS[rank], "18 30 30"), used(suit, "37 58 16"))
        if rank in COURTS
        else used(suit, "17 36 36")
    )
    face = tag("rect", x=1, y=1, width=58, height=82, rx=6, class_="face")
    corner = _text(rank, 13, 24, 22) if len(rank) == 1 else _text(rank, 18, 22, 18)
    small = used(suit, "36 6 17")
    return _svg(f"card.suit-{suit}", "0 0 60 84", name, face, corner, small, middle, code=text)


def _tinted(text: str, tint: str, filling: str) -> Markup:
    body = [tag("rect", x=1, y=1, width=58, height=82, rx=6, class_="body")]
    if filling:
        cover = {"x": 1, "y": 1, "width": 58, "height": 82, "rx": 6}
        body.append(tag("rect", fill=f"url(#fill-{filling})", **cover))
    plate = tag("ellipse", cx=30, cy=42, rx=21, ry=27, class_="plate")
    face = _text(text[1:], 30, 54, 34)
    corner = _text(text[0], 11, 17, 13)
    name = spoken_name(text, "card")
    return _svg(f"card.tint-{tint}", "0 0 60 84", name, *body, corner, plate, face, code=text)


def _die(text: str) -> Markup:
    face = tag("rect", x=1.5, y=1.5, width=29, height=29, rx=6, class_="face")
    is_pips = text.isdigit() and 1 <= int(text[:3]) <= _MOST_PIPS
    inner = pips(int(text)) if is_pips else _text(text, 16, 21, {1: 15, 2: 15}.get(len(text), 9))
    return _svg("die", "0 0 32 32", f"die {text}", face, inner, code=text)


def _tile(text: str, component: str) -> Markup:
    kind = "card" if component in ("card", "prize", "") else "tile"
    box = "0 0 60 84" if kind == "card" else "0 0 60 60"
    tall = 82 if kind == "card" else 58
    face = tag("rect", x=1, y=1, width=58, height=tall, rx=6, class_="face")
    size = {1: 34, 2: 30, 3: 23, 4: 18}.get(len(text), 14)
    return _svg(kind, box, text, face, _text(text, 30, tall / 2 + 1 + size * 0.36, size))


def _text(text: str, x: float, y: float, size: float) -> Markup:
    return tag("text", text, x=f"{x:g}", y=f"{y:g}", font_size=f"{size:g}", text_anchor="middle")


def _svg(kind: str, box: str, name: str, *inner: Markup, code: str = "") -> Markup:
    """A picture with its name; its code stands in the page as well."""
    return tag(
        f"svg.{kind}",
        joined([*inner]),
        viewBox=box,
        role="img",
        aria_label=name,
        data_is=code or None,
    )
