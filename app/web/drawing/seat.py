"""The drawing of a seat's table: what it sees as components, and what it may do on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from app.table.reading import SPECTATOR, Part, SeatReading, Setting
from app.web.drawing.art import definitions
from app.web.drawing.grids import board_area, drawn_board, is_own_sea
from app.web.drawing.markup import bounded, joined, tag, told
from app.web.drawing.moves import drawn_moves
from app.web.drawing.pieces import back, is_card, is_tinted, named, picture, with_signs
from app.web.drawing.spots import Area, Spots, area_of

_PILES = ("pile", "deck", "stock", "draw_pile")
_RANKS = "23456789TJQKA"
_LATEST, _MOST_PIECES = 6, 120
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
    presentation: Mapping[str, Any] | None = None
    _reading: SeatReading = field(init=False)
    _has_tints: bool = False  # whether cards are told as R7

    def __post_init__(self) -> None:
        seat = SPECTATOR if self.seat is None else self.seat
        self._reading = SeatReading(self.setting, seat)

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
        seen = bounded(observation)
        reading = self._reading
        reading.names = [told(name, 40) for name in names]
        parts = list(reading.parts(seen, legal))
        hands = [part.value for part in parts if part.kind == "hand" and part.value]
        self._has_tints |= any(all(map(is_tinted, hand)) for hand in hands)
        spots = Spots(self._areas(parts), legal)
        places: dict[str, list[Markup]] = {name: [] for name in _PLACES}
        left = _MOST_BYTES
        for part in parts:
            if part.kind == "column":
                continue
            place, drawn = self._drawn(part, spots, seen)
            left -= len(drawn.encode())
            if left < 0:
                drawn = tag("p.cut", f"{part.name}: too much to draw.")
            places[place].append(drawn)
        places["seats"].insert(0, self._seat_table(parts, to_move))
        moves = [drawn_moves(legal, spots)]
        main = joined([*map(_section, _MAIN, map(places.__getitem__, _MAIN)), *moves])
        side = joined([*map(_section, _SIDE, map(places.__getitem__, _SIDE))])
        blocked = tag("button", type="submit", disabled=True, hidden=True)  # Enter plays nothing
        turn = _turn(self.seat, reading, to_move)
        body = joined([turn, tag("div.main", main), tag("div.side", side)])
        return str(tag("div.table", blocked, definitions(body), body))

    def _areas(self, parts: Sequence[Part]) -> list[Area]:
        """The places that moves may name: the hand first, one's own sea last."""
        areas: list[tuple[int, Area]] = []
        for part in parts:
            if part.kind == "hand":
                areas.append((0, area_of(part.key, part.value)))
            elif part.kind == "boards":
                for number, board in enumerate(part.boards):
                    order = 3 if is_own_sea(board) else 1
                    areas.append((order, board_area(_board_key(part, number), board)))
            elif part.kind == "open":
                areas.append((2, area_of(part.key, _texts(part.value))))
            elif part.kind == "lists":
                areas.append((2, area_of(part.key, [t for row in part.value for t in _texts(row)])))
        return [area for _, area in sorted(areas, key=lambda pair: pair[0])]

    def _drawn(self, part: Part, spots: Spots, seen: Mapping[str, Any]) -> tuple[str, Markup]:
        """A part, and the section that it belongs to."""
        if part.kind == "boards":
            boards = [
                drawn_board(_board_key(part, number), board, spots)
                for number, board in enumerate(part.boards)
            ]
            return "boards", joined(boards)
        if part.kind == "hand":
            return "own", self._hand(part, spots)
        if part.kind == "lists":
            return "seats", self._lists(part, spots)
        if part.kind == "open":
            return "middle", self._open(part, spots, seen.get("leader"))
        if part.kind == "fact":
            return self._fact(part)
        return "facts", _named_fact(part.name, self._reading.inline(part.value, part.key))

    def _hand(self, part: Part, spots: Spots) -> Markup:
        """The seat's own components, cards in the order of suits."""
        hand = part.value
        if hand and all(map(is_card, hand)):
            hand = sorted(hand, key=lambda card: (card[-1], _RANKS.find(card[0])))
        title = f"Your {part.name} ({len(hand)})"
        return _block(title, self._pieces(part.key, hand, spots), "hand")

    def _pieces(self, key: str, items: Sequence[Any], spots: Spots) -> Markup:
        """Components side by side; those that are no texts are told in words."""
        component = self._component(key)
        if not component and self._has_tints:
            component = "card"
        shown = [
            tag("li", spots.placed(key, item, picture(item, component), named(item, component)))
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
        return tag("span.chip", with_signs(told(self._reading.inline(item, key), 400)))

    def _record(self, item: Mapping[str, Any], component: str) -> Markup:
        """A dict as its words, the cards in it as cards."""
        cards = {key: value for key, value in item.items() if self._are_cards(value)}
        rest = {key: value for key, value in item.items() if key not in cards}
        inner = [
            tag("li", picture(card, "card"), data_key=key)
            for key, value in cards.items()
            for card in value
        ]
        words = self._reading.inline(rest, component) if rest else ""
        named_cards = " ".join(key.replace("_", " ") for key in cards)
        shown = [tag("li", tag("span.chip", with_signs(told(f"{words} {named_cards}", 400))))]
        return tag("ul.pieces.group", *shown, *inner)

    def _are_cards(self, value: object) -> bool:
        if not isinstance(value, list) or not value:
            return False
        return all(map(is_card, value)) or (self._has_tints and all(map(is_tinted, value)))

    def _lists(self, part: Part, spots: Spots) -> Markup:
        """A list for each seat that has something."""
        rows = [
            tag("div.holding", tag("h4", self._reading.name(seat)), self._holding(part, row, spots))
            for seat, row in enumerate(part.value)
            if row
        ]
        return _block(part.name, joined(rows), "lists")

    def _holding(self, part: Part, row: object, spots: Spots) -> Markup:
        if isinstance(row, list):
            return self._pieces(part.key, row, spots)
        return tag("p", with_signs(told(self._reading.inline(row, part.key), 400)))

    def _open(self, part: Part, spots: Spots, leader: object) -> Markup:
        """Things on the table: of long lists the latest, of a discard pile the top first."""
        value = part.value
        if seats := self._reading.trick_seats(part, leader):
            pairs = zip(map(self._reading.name, seats), value, strict=True)
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
        return _block(title, self._pieces(part.key, value, spots), "open")

    def _fact(self, part: Part) -> tuple[str, Markup]:
        """A single value: a pile with its count, a card, or words."""
        value = part.value
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        name = part.key.removesuffix("_count").removesuffix("_size")
        owners = self.setting.zones.get(name)
        if is_count and (
            name in _PILES or (isinstance(owners, dict) and name not in self._owned())
        ):
            return "middle", _block(part.name, back(value, f"{part.name}: {value}"), "open.pile")
        if is_card(value):
            return "middle", _block(part.name, picture(value, "card"), "open")
        return "facts", _named_fact(part.name, self._reading.inline(value, part.key))

    def _owned(self) -> set[str]:
        return self.setting.owned()

    def _component(self, key: str) -> str:
        """The kind of component that the module's zones give a field."""
        for path, zone in self.setting.zones.items():
            first = path.split(".")[0]
            if key in (first, first.removesuffix("s")) and isinstance(zone, dict):
                return str(zone.get("component"))
        return "card" if key == "hand" else ""

    def _seat_table(self, parts: Sequence[Part], to_move: int | None) -> Markup:
        """A row a seat: its name, whose turn it is, and the values that each seat has."""
        reading = self._reading
        columns = [part for part in parts if part.kind == "column"]
        heads = [tag("th", "Seat", scope="col")]
        heads += [tag("th", part.name, scope="col") for part in columns]
        rows = []
        for seat in range(self.setting.seats):
            name = reading.names[seat] if seat < len(reading.names) else f"Player {seat + 1}"
            told_name = [name, " (you)" if seat == self.seat else ""]
            if seat == to_move:
                told_name.append(tag("span.now", "to move"))
            cells = [tag("th", *told_name, scope="row")]
            cells += [
                tag("td", told(reading.inline(part.value[seat], part.key), 60)) for part in columns
            ]
            rows.append(tag("tr.turn" if seat == to_move else "tr", *cells))
        table = tag(
            "table.seats",
            tag("caption.unseen", "The seats"),
            tag("thead", tag("tr", *heads)),
            tag("tbody", *rows),
        )
        return tag("div.scroll", table, role="group", aria_label="The seats", tabindex=0)


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


def _block(title: str, inner: Markup, kind: str) -> Markup:
    return tag(f"div.block.{kind}", tag("h3", title), inner)


def _named_fact(name: str, words: str) -> Markup:
    return tag("p.fact", tag("span.key", name), " ", tag("span", with_signs(told(words, 600))))


def _board_key(part: Part, number: int) -> str:
    return f"{part.key}#{part.boards[number].title}#{number}"


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
