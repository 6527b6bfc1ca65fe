"""Text of others is shown without anything that steers a terminal or hides, and never as ours."""

import gc
import sys
import time
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from games.checks.sampling import trusted_subject
from games.text import is_plain_line, plain_text, quoted, skeleton, syntax_tree, untagged
from games.values import Json, ModuleFault
from tests.games.checks.test_checks import SOUND


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://host\x07link\x1b]8;;\x07", "link"),
        ("\x1b]8;;http://host\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2;0;0;0\x1b\\image", "image"),
        ("a\u200bb\u2060c\ufeffd\u00ade\u3164f", "abcdef"),
        ("\u202etxet\u2066", "txet"),
        ("a\rb\x08c\x0bd\x85e\u2028f", "abcdef"),
        ("tag \U000e0041\U000e0042 end", "tag  end"),
        ("\ud800 alone", " alone"),
    ],
)
def test_escapes_controls_and_unseen_characters_are_dropped(hostile: str, shown: str) -> None:
    assert plain_text(hostile) == shown


def test_ordinary_text_of_many_scripts_stays() -> None:
    for text in (
        "♥ Zürich\t中\n",
        "Ελληνικά, русский, العربية, हिन्दी",
        "2 < 3, a <= b, x<1",
        "🂡🎲",
    ):
        assert untagged(text) == text


def test_no_format_or_control_character_of_unicode_is_left() -> None:
    kept = {chr(code) for code in range(0x110000) if plain_text(chr(code))} - {"\n", "\t"}
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    left = {hex(ord(c)) for c in kept if unicodedata.category(c) in unseen}
    # Signs that stand before numbers and words of Arabic, Syriac and Kaithi, and are drawn.
    drawn = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    hieroglyphs_and_shorthand = {*range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4)}
    assert left <= {hex(code) for code in drawn | hieroglyphs_and_shorthand}


def test_a_quotation_stands_at_the_margin_with_its_first_line_alone() -> None:
    text = "passed\nall checks passed\r\nsandbox grade: strong\u2028passed"
    lines = quoted(f"failed  [play] {text}").splitlines()
    assert [line for line in lines[1:] if not line.startswith("    | ")] == []
    assert lines[0] == "failed  [play] passed"


@pytest.mark.parametrize("tag", ["<script>", "</b>", "<!--", "<?xml", "<IMG src=x>"])
def test_nothing_begins_a_tag(tag: str) -> None:
    assert "<" not in untagged(f"x {tag} y")


@pytest.mark.parametrize(
    "link",
    [
        "[x](javascript:alert(1))",
        "![x](data:text/html,y)",
        "[x]: javascript:alert(1)",
        "[x]:\n  java&#115;cript&colon;alert(1)",
        "[x]: //elsewhere/y",
        "[x]: \\\\elsewhere/y",
    ],
)
def test_nothing_is_a_link_of_markdown(link: str) -> None:
    shown = untagged(link)
    assert "](" not in shown
    assert "]:" not in shown
    assert untagged("R1 [open]: all see it (a card)") == "R1 [open]: all see it (a card)"


@pytest.mark.parametrize(
    ("latin", "other"),
    [
        ("pass", "p\u0430ss"),  # UTS #39: CYRILLIC SMALL LETTER A is a confusable of a,
        ("KH", "\u039a\u0397"),  # GREEK CAPITAL LETTERS KAPPA and ETA of K and H,
        ("to op", "to \u043e\u0440"),  # and a whole Cyrillic word of a Latin one.
    ],
)
def test_letters_of_other_scripts_that_look_alike_are_the_same(latin: str, other: str) -> None:
    assert len({skeleton(latin), skeleton(other)}) == 1


def test_words_of_other_scripts_stay_apart_and_may_stand_beside_latin_ones() -> None:
    greek = "".join(chr(code) for code in range(0x3B1, 0x3CA) if code != 0x3C2)  # no final sigma
    russian = "".join(chr(code) for code in range(0x430, 0x450))
    for letters in (greek, russian):
        assert len({skeleton(f"move {letter} KH") for letter in letters}) == len(letters)


@pytest.mark.parametrize(
    "other",
    [
        "take 1 ",
        " take 1",
        "take  1",
        "Take 1",
        "take\u00a01",
        "take\u30001",
        "ｔａｋｅ 1",
        "take ①",
    ],
)
def test_actions_that_a_reader_may_take_for_one_another_break_the_contract(other: str) -> None:
    """NFKC of Unicode's annex 15 maps letters that are written in another width or form."""
    assert len({skeleton(line) for line in ("take 1", other, "take 2")}) == 2
    source = SOUND.replace('return ["bid 1", "bid 2"]', f"return ['take 1', {other!r}]")
    state: dict[str, Json] = {"hands": [["2"], ["3"]], "deck": ["4", "5"], "bids": []}
    with pytest.raises(ModuleFault, match="differ in more than case"):
        trusted_subject(source, 2).game.legal_actions(state)


@pytest.mark.parametrize("ending", ["\u200b", "\n", "\t", "\x1b[0m", "\u202e", "\u3164"])
def test_an_action_that_does_not_show_as_it_is_breaks_the_contract(ending: str) -> None:
    assert not is_plain_line(f"bid 1{ending}")
    source = SOUND.replace('return ["bid 1", "bid 2"]', f"return ['bid 1', 'bid 1' + {ending!r}]")
    game = trusted_subject(source, 2).game
    state: dict[str, Json] = {"hands": [["2"], ["3"]], "deck": ["4", "5"], "bids": []}
    with pytest.raises(ModuleFault, match="get_legal_actions"):
        game.legal_actions(state)


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads that take turns, and collections that let them, as often as can be."""
    before, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(1)
    gc.callbacks.append(_let_others)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.callbacks.remove(_let_others)
    gc.set_threshold(*before)


def _let_others(_phase: str, _info: dict[str, int]) -> None:
    """Be Python code in a collection, where another thread may go on."""


@pytest.mark.usefixtures("switching")
def test_threads_parse_side_by_side() -> None:
    """CPython 3.11 raises SystemError in about one of a hundred parses here (gh-106905)."""
    source = SOUND * 4
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: len(syntax_tree(source).body), range(60)))
    assert len(set(found)) == 1


def test_a_long_text_of_half_a_link_is_read_in_a_time_that_grows_with_it() -> None:
    begun = time.process_time()
    untagged("]:" * 30_000 + "x" * 30_000)
    assert time.process_time() - begun < 1  # from every bracket to the end it took half a minute


def test_a_long_run_of_unseen_characters_is_left_out_at_once() -> None:
    began = time.process_time()
    assert plain_text("a" + "\0" * 5_000_000 + "b") == "ab"
    assert time.process_time() - began < 1.5  # one by one they take 3 seconds
