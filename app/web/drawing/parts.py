"""The parts of a seat's view as components: a hand, piles, lists, tracks, the seats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from app.table.reading import SeatReading, ViewPart
from app.web.drawing.grids import drawn_board
from app.web.drawing.markup import joined, short_line, tag
from app.web.drawing.pieces import back, is_card, is_tinted, picture, spoken_name, track, with_signs
from app.web.drawing.spots import Spots
from tools.presentation import Presentation

_PILES = ("pile", "deck", "stock", "draw_pile")
_TRACKS = ("position", "positions", "progress")
_LENGTHS = ("track_length", "track", "length", "spaces", "squares", "finish", "goal", "target")
_LONGEST_TRACK = 120
_COMPONENTS = {"cards": "card", "dice": "die", "tiles": "tile", "tokens": "counter"}
_RANKS = "23456789TJQKA"
_LATEST, _MOST_PIECES = 6, 120


@dataclass
class PartDrawing:
    """The drawing of parts for one seat.

    Attributes:
        reading: The seat's reading.
        hints: The module's hints.
        spots: The moves that lie on components.
        has_tints: Whether cards are told as R7.
    """

    reading: SeatReading
    hints: Presentation
    spots: Spots
    has_tints: bool

    def drawn(self, part: ViewPart, leader: object) -> tuple[str, Markup]:
        """A part, and the section that it belongs to."""
        if part.kind == "boards":
            boards = [
                drawn_board(
                    board_key(part, number),
                    board,
                    self.spots,
                    self.hints.colours,
                    is_hex=self.hints.look(part.key).is_hex,
                )
                for number, board in enumerate(part.boards)
            ]
            return "boards", joined(boards)
        if part.kind == "hand":
            return "own", self._hand(part)
        if part.kind == "lists":
            return "seats", self._lists(part)
        if part.kind == "open":
            is_past = any(isinstance(item, dict) for item in part.value)
            return "facts" if is_past else "middle", self._open(part, leader)
        if part.kind == "fact":
            return self._fact(part)
        return "facts", _named_fact(part.name, self.reading.inline(part.value, part.key))

    def _hand(self, part: ViewPart) -> Markup:
        """The seat's own components, cards in the order of suits."""
        hand = part.value
        if hand and all(map(is_card, hand)):
            hand = sorted(hand, key=lambda card: (card[-1], _RANKS.find(card[0])))
        title = f"Your {part.name} ({len(hand)})"
        return _block(title, self._pieces(part.key, hand), "hand")

    def _pieces(self, key: str, items: Sequence[Any]) -> Markup:
        """Components side by side; those that are no texts are told in words."""
        component = self._component(key)
        if not component and self.has_tints:
            component = "card"
        shown = [
            tag(
                "li",
                self.spots.placed(
                    key,
                    item,
                    picture(item, component, self.hints.colours.get(item, "")),
                    spoken_name(item, component),
                ),
            )
            if isinstance(item, str)
            else tag("li", self._item(item, key, component))
            for item in items[:_MOST_PIECES]
        ]
        if len(items) > _MOST_PIECES:
            shown.append(tag("li", tag("span.chip", f"and {len(items) - _MOST_PIECES} more")))
        return tag("ul.pieces", *shown) if shown else tag("p.none", "none")

    def _item(self, item: object, key: str, component: str) -> Markup:
        if isinstance(item, int) and not isinstance(item, bool) and component in ("die", "dice"):
            return picture(str(item), "die")
        if isinstance(item, list) and self._are_cards(item):
            cards = (tag("li", picture(card, "card")) for card in item)
            return tag("ul.pieces.group", *cards)
        if isinstance(item, dict):
            return self._record(item, component)
        return tag("span.chip", with_signs(short_line(self.reading.inline(item, key), 400)))

    def _record(self, item: Mapping[str, Any], component: str) -> Markup:
        """A dict as its words, the cards in it as cards."""
        cards = {key: value for key, value in item.items() if self._are_cards(value)}
        rest = {key: value for key, value in item.items() if key not in cards}
        inner = [
            tag("li", picture(card, "card"), data_key=key)
            for key, value in cards.items()
            for card in value
        ]
        words = self.reading.inline(rest, component) if rest else ""
        told = ", ".join(filter(None, (words, *(key.replace("_", " ") for key in cards))))
        shown = [tag("li", tag("span.chip", with_signs(short_line(told, 400))))]
        return tag("ul.pieces.group", *shown, *inner)

    def _are_cards(self, value: object) -> bool:
        if not isinstance(value, list) or not value:
            return False
        return all(map(is_card, value)) or (self.has_tints and all(map(is_tinted, value)))

    def _lists(self, part: ViewPart) -> Markup:
        """A list for each seat that has something."""
        rows = [
            tag("div.holding", tag("h4", self.reading.name(seat)), self._holding(part, row))
            for seat, row in enumerate(part.value)
            if row
        ]
        return _block(part.name, joined(rows), "lists")

    def _holding(self, part: ViewPart, row: object) -> Markup:
        if isinstance(row, list):
            return self._pieces(part.key, row)
        return tag("p", with_signs(short_line(self.reading.inline(row, part.key), 400)))

    def _open(self, part: ViewPart, leader: object) -> Markup:
        """Things on the table: of long lists the latest, of a discard pile the top first."""
        value = part.value
        if seats := self.reading.trick_seats(part, leader):
            pairs = zip(map(self.reading.name, seats), value, strict=True)
            cards = (
                tag(
                    "li",
                    self._item(card, part.key, "card")
                    if not isinstance(card, str)
                    else picture(card, self._component(part.key)),
                    tag("span.by", who),
                )
                for who, card in pairs
            )
            return _block(part.name, tag("ul.pieces.trick", *cards), "open")
        title = part.name
        if any(isinstance(item, list | dict) for item in value) and len(value) > _LATEST:
            title = f"{part.name} (the last {_LATEST} of {len(value)})"
            value = value[-_LATEST:]
        elif "discard" in part.key and len(value) > 1:
            title = f"{part.name} ({len(value)}, the top one first)"
            value = value[::-1]
        return _block(title, self._pieces(part.key, value), "open")

    def _fact(self, part: ViewPart) -> tuple[str, Markup]:
        """A single value: a pile with its count, a card, or words."""
        value = part.value
        is_hinted = self.hints.look(part.key).kind == "pile"
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        name = part.key.removesuffix("_count").removesuffix("_size")
        is_zone = name in self.reading.setting.zones.keys() - self.reading.setting.owned
        if is_count and (is_hinted or is_zone or name in _PILES):
            return "middle", _block(part.name, back(value, f"{part.name}: {value}"), "open.pile")
        if is_card(value):
            return "middle", _block(part.name, picture(value, "card"), "open")
        return "facts", _named_fact(part.name, self.reading.inline(value, part.key))

    def _component(self, key: str) -> str:
        """The kind of component that the module's hints or its zones give a field."""
        if hinted := _COMPONENTS.get(str(self.hints.look(key).kind)):
            return hinted
        for path, zone in self.reading.setting.zones.items():
            first = path.split(".")[0]
            if key in (first, first.removesuffix("s")) and isinstance(zone, dict):
                return str(zone.get("component"))
        return "card" if key == "hand" else ""

    def track(self, part: ViewPart) -> Markup | None:
        """A track with the seats' tokens, where a field tells their places on one."""
        look = self.hints.look(part.key)
        if part.kind != "column" or not all(type(n) is int for n in part.value):
            return None
        if look.kind != "track" and part.key not in _TRACKS:
            return None
        told_length = (self.reading.setting.parameters.get(name) for name in _LENGTHS)
        known = [n for n in (look.length, *told_length) if type(n) is int and n > 0]
        length = max([*part.value, *known[:1]])
        if not 0 < length <= _LONGEST_TRACK or min(part.value) < 0:
            return None
        words = ", ".join(
            f"{seat + 1} {self.reading.name(seat)}: {n}" for seat, n in enumerate(part.value)
        )
        return _block(
            part.name, joined([track(part.value, length, words), tag("p", words)]), "open"
        )

    def seat_table(self, parts: Sequence[ViewPart], to_move: int | None) -> Markup:
        """A row a seat: its name, whose turn it is, and the values that each seat has."""
        reading = self.reading
        columns = [part for part in parts if part.kind == "column"]
        heads = [tag("th", "Seat", scope="col")]
        heads += [tag("th", part.name, scope="col") for part in columns]
        rows = []
        for seat in range(self.reading.setting.seats):
            name = reading.names[seat] if seat < len(reading.names) else f"Player {seat + 1}"
            told_name = [name, " (you)" if seat == self.reading.seat else ""]
            if seat == to_move:
                told_name.append(tag("span.now", "to move"))
            cells = [tag("th", *told_name, scope="row")]
            cells += [
                tag("td", short_line(reading.inline(part.value[seat], part.key), 60))
                for part in columns
            ]
            rows.append(tag("tr.turn" if seat == to_move else "tr", *cells))
        table = tag(
            "table.seats",
            tag("caption.unseen", "The seats"),
            tag("thead", tag("tr", *heads)),
            tag("tbody", *rows),
        )
        return tag("div.scroll", table, role="group", aria_label="The seats", tabindex=0)


def _block(title: str, inner: Markup, kind: str) -> Markup:
    return tag(f"div.block.{kind}", tag("h3", title), inner)


def _named_fact(name: str, words: str) -> Markup:
    return tag(
        "p.fact", tag("span.key", name), " ", tag("span", with_signs(short_line(words, 600)))
    )


def board_key(part: ViewPart, number: int) -> str:
    """The name of a board among the places of moves."""
    return f"{part.key}#{part.boards[number].title}#{number}"
