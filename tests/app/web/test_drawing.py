"""The drawing of any table: whole matches of the library, hints, and what must not get in."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.table.layout import SeatLayout, Setting
from app.web.drawing.art import SUITS, TINTS
from app.web.drawing.moves import chosen_action
from app.web.drawing.seat import SeatDrawing
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.modules import LocalModule
from games.table import GameTable
from games.text import is_plain_line
from tools.presentation import COLOURS, FieldKind, PresentationError, checked_presentation

NAMES = ["Ana", "Bo", "Cleo", "Dee", "Eve", "Finn", "Gus", "Hal"]
VOID = {"input"}
CARD = re.compile(r"(?<!\w)(?:10|[2-9TJQKA])[CDHS♣♦♥♠](?!\w)")
# Words that the terminal's layout adds of its own, or tells otherwise than the page does.
LAYOUT_COUNTS = re.compile(r"Player \d|and \d+ more|the last \d+ of \d+")
TOLD = ("your you of on top under it and more last the", "yes no none lines Player")
OWN_WORDS = {word for line in TOLD for word in line.split()}


class Balanced(HTMLParser):
    """A reader that notices an end without its beginning."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "style", "iframe"), tag
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"], attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def parsed(html: str) -> ET.Element:
    """The elements of a fragment that HTML and XML both accept."""
    reader = Balanced()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return ET.fromstring(html)


def said(root: ET.Element) -> str:
    """All that a fragment says to an eye or an ear."""
    names = ("aria-label", "data-is", "data-key", "data-c", "value")
    told = [one.get(name, "") for one in root.iter() for name in names]
    return " ".join([*root.itertext(), *told])


def buttons(root: ET.Element, kind: str) -> Counter[str]:
    """The actions of the buttons of a kind."""
    found = (one for one in root.iter("button") if kind in (one.get("class") or "").split())
    return Counter(one.get("value") or "" for one in found if one.get("name") == "action")


def tokens(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def views(name: str) -> Iterator[tuple[Setting, int | None, dict[str, Any], Sequence[str], int]]:
    """What each seat and a spectator see in a random match, at plies all along it."""
    game, preset = Game(LocalModule(library.source(name))), library.preset(name)
    zones: Any = game.module.constant("ZONES")
    declared: Any = game.module.constant("GAME")
    parameters = {key: one["default"] for key, one in declared.get("parameters", {}).items()}
    parameters |= preset.parameters
    players = [UniformPlayer()] * preset.players
    setting = Setting(preset.players, zones, parameters)
    match = play_match(
        GameTable(game), players, parameters=dict(preset.parameters), seed=11, max_plies=400
    )
    plies = [ply for ply in match.plies if ply.player >= 0]
    for ply in [*plies[:: max(1, len(plies) // 8)], plies[-1]]:
        seen = game.observations(ply.state, preset.players)
        for seat, observation in enumerate(seen):
            legal = ply.legal if seat == ply.player else ()
            yield setting, seat, observation, legal, ply.player
        shared = {
            key: value
            for key, value in seen[0].items()
            if all(key in other and other[key] == value for other in seen)
        }
        yield setting, None, shared, (), ply.player


@pytest.mark.parametrize("name", library.names())
def test_every_seat_of_every_library_game_is_drawn(name: str) -> None:
    drawings: dict[int | None, SeatDrawing] = {}
    layouts: dict[int | None, SeatLayout] = {}
    for setting, seat, observation, legal, to_move in views(name):
        drawing = drawings.setdefault(seat, SeatDrawing(setting, seat))
        html = drawing.html(observation, legal, NAMES[: setting.seats], to_move)
        root = parsed(html)
        assert buttons(root, "move") == Counter(legal)
        assert buttons(root, "spot") <= Counter(legal)
        assert len(html.encode()) < 100_000
        known = json.dumps(observation, ensure_ascii=False) + " ".join(legal)
        shown = said(root)
        signs = {sign: suit for suit, sign in zip(SUITS, "♣♦♥♠", strict=True)}
        cards = {
            card.replace("10", "T")[:-1] + signs.get(card[-1], card[-1])
            for card in CARD.findall(shown)
        }
        assert {card for card in cards if card not in known} == set()
        if seat is not None:
            layout = layouts.setdefault(seat, SeatLayout(setting, seat))
            lines = LAYOUT_COUNTS.sub("", " ".join(layout.draw(observation, legal)))
            assert tokens(lines) - tokens(shown) - OWN_WORDS == set()


def drawn(observation: dict[str, Any], legal: Sequence[str] = (), **given: Any) -> ET.Element:  # noqa: ANN401 - what a test sets
    """One observation of two seats, drawn for the first."""
    setting = Setting(2, given.get("zones", {}), given.get("parameters", {}))
    drawing = SeatDrawing(setting, given.get("seat", 0), given.get("presentation"))
    html = drawing.html(observation, legal, given.get("names", NAMES[:2]), given.get("to_move", 0))
    assert len(html.encode()) < 300_000
    return parsed(html)


def of_class(root: ET.Element, kind: str) -> list[ET.Element]:
    return [one for one in root.iter() if kind in (one.get("class") or "").split()]


def test_markup_in_names_fields_and_moves_stays_text() -> None:
    bad = "<img src=x onerror=alert(1)>"
    root = drawn(
        {bad: bad, "hand": [bad, "'\"&"], "board": [[bad[:3]] * 3] * 3, "note": "</form><script>"},
        ["'><b>", bad, "play '\"&"],
        names=[bad, "\x00\u202e</td>"],
        presentation={"colours": {bad: bad}},
    )
    assert not list(root.iter("img")) + list(root.iter("script")) + list(root.iter("b"))
    assert buttons(root, "move") == Counter(["'><b>", bad, "play '\"&"])


def test_what_is_too_large_is_cut_and_the_rest_is_drawn() -> None:
    deep: Any = "end"
    for _ in range(60):
        deep = [deep]
    root = drawn(
        {"long": "x" * 1_000_000, "deep": deep, "wide": list(range(100_000)),
         "board": [["x"] * 70] * 500, "n": 10**400,
         "big": {str(n): "y" * 900 for n in range(9_000)},
         "hand": ["KH"]},
        ["play KH"],
    )  # fmt: skip
    assert "KH" in said(root)
    assert buttons(root, "move") == Counter(["play KH"])


def test_of_ten_thousand_moves_the_first_are_listed_and_any_can_be_typed() -> None:
    legal = [f"offer {a} for {b}" for a in range(100) for b in range(100)]
    root = drawn({}, legal)
    assert 0 < len(buttons(root, "move")) < 2_000
    (field,) = [one for one in root.iter("input") if one.get("name") == "typed"]
    assert field.get("maxlength")
    assert chosen_action({"typed": "offer 99 for 99"}, legal) == "offer 99 for 99"
    assert chosen_action({"typed": "offer"}, legal) is None
    assert chosen_action({"action": "offer 100 for 1"}, legal) is None


def test_enter_in_a_field_plays_nothing() -> None:
    first = next(drawn({"hand": ["KH"]}, ["play KH"]).iter("button"))
    # HTML 4.10.22.2: nothing is submitted where the default button, the first, is disabled.
    assert first.get("disabled") is not None


def test_a_move_lies_on_the_one_card_or_cell_that_it_names() -> None:
    zones = {"hands.*": {"component": "card", "owner": "each"}}
    root = drawn(
        {"hand": ["8H", "3C", "8H"]}, ["play 3C", "play 8H clubs", "play 8H spades"], zones=zones
    )
    assert buttons(root, "spot") == Counter(["play 3C"])
    assert [one.get("data-c") for one in of_class(root, "named")] == ["8H", "8H"]
    root = drawn({"board": ["w..", "...", "b.b"]}, ["a1-a2", "a1-b2", "c1xb2"])
    assert buttons(root, "spot") == Counter()
    uses = [one.get("data-uses") for one in of_class(root, "move")]
    assert uses == ["a1 a2", "a1 b2", "c1 b2"]


def test_a_column_has_its_moves_above_it() -> None:
    root = drawn({"board": ["....", "....", "xo.."]}, [f"drop {n}" for n in (1, 2, 3, 4)])
    heads = [button.get("value") for head in root.iter("th") for button in head.iter("button")]
    assert heads == ["drop 1", "drop 2", "drop 3", "drop 4"]


def test_shots_are_fired_at_the_others_sea_whatever_the_seat() -> None:
    seen = {"shots": [["a1 miss"], ["b2 hit"]], "fleet": ["a1-a3"]}
    for seat in (0, 1):
        root = drawn(seen, ["fire c1", "fire c2"], seat=seat, parameters={"rows": 4, "columns": 4})
        (fleet,) = [t for t in root.iter("table") if "fleet" in "".join(t.itertext())]
        assert not [one for one in fleet.iter("button")]
        assert sum(buttons(root, "spot").values()) == 2


def test_before_the_first_shot_there_is_a_sea_to_aim_at() -> None:
    seen = {"shots": [[], []], "fleet": ["a1-a3"]}
    sea = {"rows": 4, "columns": 4}
    root = drawn(seen, ["fire c1", "fire c2"], parameters=sea)
    (fleet,) = [t for t in root.iter("table") if "fleet" in "".join(t.itertext())]
    assert not list(fleet.iter("button"))
    assert sum(buttons(root, "spot").values()) == 2
    root = drawn(seen, ["place b1-b3", "place c1-c3"], parameters=sea)
    assert len(of_class(root, "sea")) == 1  # a ship is placed in one's own


def test_every_picture_has_a_name_and_every_button_words() -> None:
    seen = {"hand": ["KH", "R7", "boost"], "deck": 12, "faces": ["3"], "board": ["x.o"] * 3}
    zones = {"faces": {"component": "die", "owner": "table"}}
    root = drawn(seen, ["play KH", "pass"], zones=zones)
    pictures = [one for one in root.iter("svg") if one.get("aria-hidden") is None]
    assert pictures
    assert all(one.get("aria-label") and one.get("role") == "img" for one in pictures)
    shown = [one for one in root.iter("button") if one.get("hidden") is None]
    assert all(one.get("aria-label") or "".join(one.itertext()) for one in shown)


def test_a_track_shows_where_each_seat_stands() -> None:
    hint = {"fields": {"pos": {"as": "track", "length": 12, "label": "The race"}}}
    root = drawn({"pos": [3, 7]}, presentation=hint)
    (track,) = of_class(root, "track")
    assert track.get("aria-label") == "1 you: 3, 2 Bo: 7"
    assert len(list(track.iter("rect"))) == 13


def test_hints_say_how_a_field_is_drawn() -> None:
    hint = {
        "fields": {"line": {"as": "tiles", "label": "Line"}, "well": {"as": "pile"},
                   "grid": {"as": "board", "shape": "hex"}},
        "colours": {"x": "red"},
    }  # fmt: skip
    seen = {"line": ["3|4", "4|4", "4|1"], "well": 7, "grid": ["x.o", "...", "..x"]}
    root = drawn(seen, presentation=hint)
    assert len(of_class(root, "tile")) == 3
    assert [one.get("aria-label") for one in of_class(root, "back")] == ["well: 7"]
    assert len(of_class(root, "hex")) == 1
    assert len(of_class(root, "in-red")) == 2


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ([], "is no dict"),
        ({"color": {}}, "did you mean 'colours'"),
        ({"fields": {"hand": {"as": "hands"}}}, "did you mean 'hand'"),
        ({"fields": {"hand": {"as": ["hand"]}}}, "required: board, hand"),
        ({"fields": {"hand": {"label": "x" * 61}}}, "at most 60"),
        ({"fields": {"hand": {"label": "a\nb"}}}, "no line"),
        ({"fields": {"pos": {"length": True}}}, "required: a whole number"),
        ({"fields": {"pos": {"length": 10**9}}}, "up to 200"),
        ({"fields": {"b": {"shape": "round"}}}, "required: square, hex"),
        ({"fields": {str(n): {} for n in range(200)}}, "at most 100"),
        ({"colours": {"x": "#ff0000"}}, "required: black, blue"),
        ({"colours": {"x": "url(evil)"}}, "required: black, blue"),
    ],
)
def test_a_bad_hint_is_refused_and_the_table_is_drawn_without_it(hint: object, told: str) -> None:
    with pytest.raises(PresentationError, match=re.escape(told)):
        checked_presentation(hint)
    root = drawn({"hand": ["KH"]}, ["play KH"], presentation=hint)
    assert "Hints for drawing are ignored" in said(root)
    assert buttons(root, "spot") == Counter(["play KH"])


def test_a_spectator_is_told_whose_turn_it_is_and_can_do_nothing() -> None:
    root = drawn({"board": ["x.o"] * 3}, seat=None, to_move=1)
    assert "Bo is to move." in said(root)
    assert "(you)" not in said(root)
    assert buttons(root, "move") == Counter()


def test_the_documented_hints_are_allowed() -> None:
    page = Path("docs/module.md").read_text(encoding="utf-8")
    block = page.split("```python\nPRESENTATION = ")[1].split("```")[0]
    checked = checked_presentation(ast.literal_eval(block))
    assert checked.fields["board"].is_hex
    assert {colour for colour, _ in TINTS.values()} == {*COLOURS}  # what can be drawn
    for known in (*get_args(FieldKind), *COLOURS):
        assert re.search(rf"\b{known}\b", page), known


def test_the_page_is_light() -> None:
    scripts = sum(file.stat().st_size for file in Path("app/web/static").iterdir())
    largest = max(
        len(SeatDrawing(setting, seat).html(seen, legal, NAMES[: setting.seats], to_move).encode())
        for setting, seat, seen, legal, to_move in views("gomoku")
    )
    assert scripts + largest <= 300_000  # bytes, before any compression


_WORDS = st.text(max_size=12) | st.sampled_from(["KH", "R7", "a1", "a1-a3", "b2 hit", "x", "..x"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _WORDS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=25,
)
_NAMED = ["hand", "board", "deck", "scores", "trick", "discards", "positions", "shots", "fleet"]
_VIEWS = st.dictionaries(st.sampled_from(_NAMED) | _WORDS, _VALUES, max_size=7)
_MOVES = st.lists(_WORDS.filter(is_plain_line).filter(str.strip), max_size=8, unique=True)


@settings(max_examples=15)
@given(_VIEWS, _MOVES, st.sampled_from([0, 1, None]))
def test_whatever_a_game_lets_be_seen_is_drawn(
    seen: dict[str, Any], legal: list[str], seat: int | None
) -> None:
    zones = {"hand.*": {"component": "card", "owner": "each"}, "trick": {"owner": "table"}}
    root = drawn(seen, legal, seat=seat, zones=zones, parameters={"rows": 4, "columns": 4})
    assert buttons(root, "move") == Counter(legal)
    assert buttons(root, "spot") <= Counter(legal)


def test_a_game_of_ones_own_is_drawn_without_hints() -> None:
    game = Game(LocalModule(Path("games/skeleton/game.py").read_text(encoding="utf-8")))
    zones: Any = game.module.constant("ZONES")
    match = play_match(GameTable(game), [UniformPlayer()] * 2, parameters={}, seed=1)
    drawing = SeatDrawing(Setting(2, zones), 0)
    shown = 0
    for ply in match.plies:
        if ply.player == 0:
            root = parsed(drawing.html(ply.observation or {}, ply.legal, NAMES[:2], 0))
            assert buttons(root, "move") == Counter(ply.legal)
            shown += 1
    assert shown > 0
