"""Print and play: all components, mirrored backs, the words, and what cannot be shown is said."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import reportlab

from app.export.components import Component, ComponentList, GameBoard, listed_components
from app.export.drawing import CARD
from app.export.exported import Exported, ExportError, Files
from app.export.paper import BLEED, Press
from app.export.pen import fonts_of
from app.export.print_and_play import printed
from app.table.boards import Naming
from app.table.session import open_table
from games.engine import Effort, Match, Ply
from games.records import MatchRecord, json_line
from graph.run.sandboxes import open_sandbox
from tests.app.export.reading import Page, pages
from tools.sandbox import Sandbox

CARDS = Path("cards.py")

DECK = '''"""A deck of cards; each player takes the last one in turn, four times in all."""
GAME = {"name": NAME, "summary": "Take <b>cards</b> & win.", "min_players": 2, "max_players": 2,
    OPEN}
ZONES = {
    "deck": {"component": "card", "owner": "table", "ordered": True},
    "hands.*": {"component": "card", "owner": "each", "ordered": True},
}
def initial_state(num_players):
    return {"deck": NAMES, "hands": [[], []], "taken": 0}
def get_current_player(state):
    return -4 if state["taken"] == 4 else state["taken"] % 2
def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")
def get_legal_actions(state):
    return [] if state["taken"] == 4 else ["take"]
def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError(action)
    hands = [[*hand] for hand in state["hands"]]
    hands[state["taken"] % 2].append(state["deck"][-1])
    return {"deck": state["deck"][:KEPT], "hands": hands, "taken": state["taken"] + 1}
def get_rewards(state):
    return [0.0, 0.0]
def get_observations(state):
    return [{"cards_left": len(state["deck"])} for _ in range(2)]
def get_events(state, action):
    return [[f"Player {state['taken'] % 2 + 1} takes a card."]] * 2
def visible(state, player_id):
    return {"deck": "count", "hands.0": "contents", "hands.1": "contents"}
'''


def deck_game(names: str, *, name: str = "taking", conserved: bool = True, kept: int = -1) -> str:
    opened = '"open": ["taken"]' + (', "conserved": ["card"]' if conserved else "")
    source = DECK.replace("NAMES", names).replace("NAME", repr(name)).replace("OPEN", opened)
    return source.replace("KEPT", str(kept))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def exported(name: str | Path, sandbox: Sandbox, stack: ExitStack, **how: object) -> Exported:
    table = open_table(str(name), 0, [], sandbox, stack)
    return Exported(table, sandbox, **how)  # type: ignore[arg-type]


def own(folder: Path, source: str, sandbox: Sandbox, stack: ExitStack) -> Exported:
    (folder / "game.py").write_text(source, encoding="utf-8")
    return exported(folder, sandbox, stack)


def text_of(pdf: bytes) -> str:
    return " ".join("\n".join(page.text for page in pages(pdf)).split())


def card_boxes(page: Page) -> list[tuple[float, float, str]]:
    """The left lower corners of what has the size of a card with its bleed, and its colour."""
    size = CARD[0] + 2 * BLEED, CARD[1] + 2 * BLEED
    return [
        (round(x, 2), round(y, 2), fill)
        for (x, y, wide, high), fill in page.boxes
        if (round(wide, 2), round(high, 2)) == size
    ]


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("leduc_poker", 6),  # two suits of three ranks (Southey et al. 2005)
        ("kuhn_poker", 3),  # jack, queen, king (Kuhn 1950)
        ("go_fish", 52),  # the standard pack, as the six below
        ("whist", 52),
        ("oh_hell", 52),
        ("gin_rummy", 52),
        ("crazy_eights", 52),
        ("hearts", 52),
        ("spades", 52),
        ("goofspiel", 39),  # a suit of thirteen for each of two players, and one of prizes
        ("the_crew", 40),  # four colours of nine, and four rockets, in the box
    ],
)
def test_all_cards_of_a_game_are_listed_and_printed(
    name: str, cards: int, sandbox: Sandbox, stack: ExitStack
) -> None:
    found = listed_components(exported(name, sandbox, stack))
    assert sum(one.count for one in found.cards) == cards
    assert not [doubt for doubt in found.doubts if doubt.startswith("card")]
    sheets = pages(Press(name, "a4", fonts_of(None)).cards(found.cards))
    assert len(sheets) == 2 * -(-cards // 9)  # nine a page, and a page of backs for each
    assert sum(len(card_boxes(page)) for page in sheets[::2]) == cards
    assert sum(len(card_boxes(page)) for page in sheets[1::2]) == cards
    assert [page.lines for page in sheets[::2]][0] >= 8 * min(cards, 9)  # two marks a corner


def test_a_standard_pack_has_every_card_once(sandbox: Sandbox, stack: ExitStack) -> None:
    found = listed_components(exported("whist", sandbox, stack))
    assert {one.name for one in found.cards} == {r + s for r in "23456789TJQKA" for s in "CDHS"}
    assert {one.count for one in found.cards} == {1}


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_backs_lie_where_a_sheet_turned_at_its_long_edge_has_the_faces(paper: str) -> None:
    cards = [Component("card", str(n), n % 3, 1) for n in range(11)]
    sheets = pages(Press("mine", paper, fonts_of(None)).cards(cards))
    wide, high = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}[paper]
    assert len(sheets) == 4
    for faces, backs in (sheets[:2], sheets[2:]):
        assert (round(faces.size[0], 1), round(faces.size[1], 1)) == (wide, high)
        here, there = card_boxes(faces), card_boxes(backs)
        mirrored = [(round(wide - x - CARD[0] - 2 * BLEED, 2), y) for x, y, _ in here]
        near = [abs(a - b) < 0.05 for one, (x, y, _) in zip(mirrored, there, strict=True)
                for a, b in zip(one, (x, y), strict=True)]  # fmt: skip
        assert all(near)
        # No face is cut by the paper's edge, and none lies on another one.
        assert all(x + BLEED >= 0 and x + BLEED + CARD[0] <= wide for x, _, _ in here)
        assert all(y + BLEED >= 0 and y + BLEED + CARD[1] <= high for _, y, _ in here)
    # Whose back it is, by the colour: that of the card on the other side.
    colours = [fill for _, _, fill in card_boxes(sheets[1])]
    assert colours[:3] == colours[3:6] == colours[6:9]
    assert len(set(colours)) == 3


def test_tokens_and_boards_hold_all_that_the_rules_name(sandbox: Sandbox, stack: ExitStack) -> None:
    four = listed_components(exported("connect_four", sandbox, stack))
    assert [(one.rows, one.columns) for one in four.boards] == [(6, 7)]
    assert {one.count for one in four.counters} == {42}  # no board of 42 cells holds more of one
    assert four.doubts == ()
    pieces = listed_components(exported("breakthrough", sandbox, stack))
    assert {one.count for one in pieces.counters} == {16}  # two ranks of eight
    assert any("could not tell" in doubt for doubt in pieces.doubts)  # nothing is declared
    flags = listed_components(exported("capture_the_flag", sandbox, stack))
    assert flags.hidden == {"piece"}
    assert {one.seat for one in flags.counters} == {0, 1}
    dice = listed_components(exported("two_dice_pig", sandbox, stack))
    assert [(one.name, one.count) for one in dice.dice] == [("6", 2)]


def test_a_die_without_six_faces_becomes_chits(sandbox: Sandbox, stack: ExitStack) -> None:
    table = open_table("pig", 0, ["sides=8"], sandbox, stack)
    found = listed_components(Exported(table, sandbox))
    assert found.dice == ()
    assert [(one.kind, one.name, one.count) for one in found.counters] == [
        ("chit", str(n), 1) for n in range(1, 9)
    ]
    assert any("no die of six, so chits are printed" in doubt for doubt in found.doubts)


def test_a_board_larger_than_a_sheet_is_joined_from_several() -> None:
    press = Press("mine", "a4", fonts_of(None))
    small = GameBoard("board", 8, 8, Naming(tuple("abcdefgh"), tuple("87654321")))
    assert len(pages(press.boards([small]))) == 1
    sheets = pages(press.boards([GameBoard("board", 30, 20, Naming())]))
    assert len(sheets) == 4  # 20 cells of 17 mm on 190 mm, 30 on 277 mm, where 10 mm overlap
    assert "sheet 4 of 4: row 2, column 2" in sheets[3].text
    # What two neighbours share is marked alike: A between columns, 1 between rows.
    assert all("A" in page.text.split() and "1" in page.text.split() for page in sheets)


def test_the_rulebook_has_a_summary_the_rules_an_example_and_the_components(
    sandbox: Sandbox, stack: ExitStack
) -> None:
    files = printed(exported("leduc_poker", sandbox, stack))
    assert set(files.contents) == {"rulebook.pdf", "cards.pdf", "score-sheet.pdf"}
    sheets = pages(files.contents["rulebook.pdf"])
    assert "For 2 players. You need: 6 cards." in " ".join(sheets[0].text.split())
    whole = text_of(files.contents["rulebook.pdf"])
    rules = exported("leduc_poker", sandbox, stack).table.rulebook()
    last = [line for line in rules.splitlines() if line.startswith("- R")][-1]
    assert " ".join(last.removeprefix("- ").split()) in whole
    assert "An example of play" in whole
    assert "You are dealt" in whole
    assert "The match is over. Results: Player 1" in whole
    assert "6 cards: JH, JS, QH, QS, KH, KS" in whole
    assert all(f"Player {n}" in text_of(files.contents["score-sheet.pdf"]) for n in (1, 2))
    again = printed(exported("leduc_poker", sandbox, stack))
    assert again == files  # the same bytes


def test_the_example_of_a_run_is_a_match_that_it_kept(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    (tmp_path / "run.json").write_text('{"end": "made"}')
    (tmp_path / "records").mkdir()
    kept = tmp_path / "records" / "best.jsonl"
    told = (("Ann takes the ace.",), ("Ann takes a card.",))
    ply = Ply(0, {}, ("take",), "take", (0.0, 0.0), told, Effort("scripted"), {})
    match = Match("finished", (3.0, 4.0), (ply,))
    kept.write_text(json_line(MatchRecord("taking", {}, ("a", "b"), 1, 0, match)))
    game = own(tmp_path, deck_game("list('abcdefgh')"), sandbox, stack)

    def book() -> str:
        return text_of(printed(game).contents["rulebook.pdf"])

    assert "Ann takes the ace. – The match is over. Results: Player 1 3, Player 2 4." in book()
    for wrong in (kept.read_text().replace('"events":[[', '"events":[5,['), "{", '{"a":1}'):
        kept.write_text(wrong)
        assert "Player 2 takes a card." in book()  # it was played


def test_what_comes_and_goes_is_not_told_as_complete(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    losing = own(tmp_path, deck_game("list('abcdefghijkl')", kept=-2), sandbox, stack)
    (doubt,) = listed_components(losing).doubts
    assert "the module says that none comes or goes, but" in doubt
    told = deck_game("list('abcdefgh')", conserved=False)
    quiet = listed_components(own(tmp_path, told, sandbox, stack))
    assert sum(one.count for one in quiet.cards) == 8
    assert "the module does not say that so it is" in quiet.doubts[0]


def test_a_zone_of_one_long_name_holds_one_card(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    source = deck_game("list('abcd')").replace(
        '"taken": state["taken"] + 1}', '"taken": state["taken"] + 1, "shown": "red dragon"}'
    )
    source = source.replace('"taken": 0}', '"taken": 0, "shown": "red dragon"}')
    zone = '"shown": {"component": "card", "owner": "table", "ordered": True},'
    found = listed_components(
        own(tmp_path, source.replace("ZONES = {", f"ZONES = {{{zone}"), sandbox, stack)
    )
    assert {one.name: one.count for one in found.cards} == {
        "red dragon": 1, "a": 1, "b": 1, "c": 1, "d": 1,
    }  # fmt: skip


def test_a_module_without_zones_has_components_that_nobody_could_tell(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    source = deck_game("list('abcd')").replace("ZONES = {", "OTHERS = {")
    found = listed_components(own(tmp_path, source, sandbox, stack))
    assert found == ComponentList(doubts=found.doubts)
    assert "could not tell the components" in found.doubts[0]


def test_markup_long_names_and_a_missing_rulebook_are_words_on_paper(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    names = repr(["<b>bold</b> & </para>", "x" * 300, "many words " * 28, "\x1b[31mred", "", "é"])
    game = own(tmp_path, deck_game(names, name="<i>odd</i> & <para>"), sandbox, stack)
    files = printed(game)
    cards = text_of(files.contents["cards.pdf"])
    assert "<b>bold</b> & </para>" in cards
    assert cards.count("x") == 300
    book = text_of(files.contents["rulebook.pdf"])
    assert "<i>odd</i> & <para>" in book
    assert "Take <b>cards</b> & win." in book
    assert "There is no" in book
    assert "only the module's source says the rules" in book


def test_two_thousand_cards_are_printed_and_more_than_five_are_refused(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    many = own(tmp_path, deck_game("[f'card {n}' for n in range(2000)]"), sandbox, stack)
    found = listed_components(many)
    assert len(found.cards) == 2000
    sheets = Press("many", "a4", fonts_of(None)).cards(found.cards)
    assert len(re.findall(rb"/Type /Page\s", sheets)) == 2 * 223  # nine a page, and their backs
    more = own(tmp_path, deck_game("[f'card {n}' for n in range(5001)]"), sandbox, stack)
    with pytest.raises(ExportError, match="5001 components; at most 5000 are printed"):
        printed(more)


def book_of(folder: Path, rules: str, sandbox: Sandbox, stack: ExitStack) -> Files:
    (folder / "rulebook.md").write_text(rules, encoding="utf-8")
    return printed(own(folder, deck_game("list('abcd')"), sandbox, stack))


def test_letters_that_the_font_lacks_are_said_and_no_boxes(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    files = book_of(tmp_path, "# Règles: ça – “ß”\n\nŚwit Правила 规则\n", sandbox, stack)
    book = text_of(files.contents["rulebook.pdf"])
    assert "Règles: ça – “ß”" in book
    assert "Swit ??????? ??" in book
    (remark,) = [one for one in files.remarks if "the font has no letter" in one]
    assert "for 8 signs" in remark
    assert "--font FILE" in remark


@pytest.mark.parametrize(
    "rules",
    [
        "|" + "a|" * 300 + "\n|" + "-|" * 300,
        "|" + "word " * 5000 + "|b|\n|c|d|",
        "&lt;&#1; <br/> <font> ]]> <para> **a *b `c** d*",
        "# a\n\nx\n\n" * 300,
        "\0\x1b[31m",
    ],
)
def test_any_rulebook_is_typeset(
    rules: str, tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    sheets = pages(book_of(tmp_path, rules, sandbox, stack).contents["rulebook.pdf"])
    assert "For 2 players. You need: 4 cards." in " ".join(sheets[0].text.split())
    assert "An example of play" not in sheets[0].text  # the summary has one page
    assert sheets[-1].text.split()[-6:] == ["4", "cards:", "a,", "b,", "c,", "d"]


def test_headings_lists_and_tables_are_typeset(
    tmp_path: Path, sandbox: Sandbox, stack: ExitStack
) -> None:
    rules = (
        "# Rules\n\nTwo lines of\none **bold** and `plain` paragraph, 2 * 3 * 4.\n\n1. first\n"
        "2. second\n   goes on\n\n| card | points |\n| --- | ---: |\n| A<B | 11 |\n\n> quoted\n\n"
        + "z"
        * 5000
    )
    book = text_of(book_of(tmp_path, rules, sandbox, stack).contents["rulebook.pdf"])
    assert "Two lines of one bold and plain paragraph, 2 * 3 * 4." in book
    assert "2. second goes on" in book
    assert "A<B 11 quoted" in book
    assert "---" not in book
    assert book.count("z") >= 5000


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9])
def test_a_font_that_was_cut_off_is_refused_before_anything_is_drawn(
    share: float, tmp_path: Path
) -> None:
    """Its table of contents names parts that are not there."""
    whole = Path(reportlab.__file__).with_name("fonts") / "Vera.ttf"
    content = whole.read_bytes()
    cut = tmp_path / "cut.ttf"
    cut.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ExportError, match="cannot be used as a font"):
        fonts_of(cut)
    assert fonts_of(whole).plain
