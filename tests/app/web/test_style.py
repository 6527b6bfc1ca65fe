"""Contrasts of the page's colours, light and dark, by the formula of WCAG 2.2."""

import re
from pathlib import Path

import pytest

STYLE = Path("app/web/static/style.css").read_text(encoding="utf-8")
TEXT, GRAPHIC = 4.5, 3.0  # WCAG 2.2, 1.4.3 and 1.4.11
PAIRS = [
    *(("ink", ground, TEXT) for ground in ("ground", "panel", "felt")),
    *(("soft", ground, TEXT) for ground in ("ground", "panel", "felt")),
    *(("link", ground, TEXT) for ground in ("ground", "panel")),
    *(("act-ink", "act", TEXT), ("warn", "ground", TEXT), ("wood-ink", "wood", TEXT)),
    *((suit, "face", TEXT) for suit in ("clubs", "diamonds", "hearts", "spades")),
    *(("back-ink", "back", GRAPHIC), ("sea-ink", "sea", TEXT)),
    *((mark, "sea", GRAPHIC) for mark in ("ship", "hit", "sea-ink")),
    *((mark, wood, GRAPHIC) for mark in ("first", "second") for wood in ("wood", "wood-2")),
    *(("move", ground, GRAPHIC) for ground in ("ground", "panel", "felt")),
    *(("focus", ground, GRAPHIC) for ground in ("ground", "panel", "felt")),
    *(("line", ground, GRAPHIC) for ground in ("ground", "panel")),
]


def colours(is_dark: bool) -> dict[str, tuple[float, ...]]:
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    assert len(blocks) == 2
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6})", " ".join(blocks[: 1 + is_dark]))
    return {name: tuple(int(code[n : n + 2], 16) / 255 for n in (0, 2, 4)) for name, code in found}


def luminance(colour: tuple[float, ...]) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_contrast_that_the_guideline_names() -> None:
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)


@pytest.mark.parametrize("is_dark", [False, True])
def test_words_and_marks_stand_out_from_their_grounds(is_dark: bool) -> None:
    known = colours(is_dark)
    low = {
        (one, other): round(contrast(known[one], known[other]), 2)
        for one, other, least in PAIRS
        if contrast(known[one], known[other]) < least
    }
    assert low == {}


def test_the_page_has_no_address_of_another_place() -> None:
    for file in Path("app/web/static").iterdir():
        assert "http" not in file.read_text(encoding="utf-8"), file
