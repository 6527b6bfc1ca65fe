"""Vector art of our own: suits, crowns, marks, pips and pieces, used by their names."""

import re
from functools import lru_cache

from markupsafe import Markup

_USED = re.compile(r'href="#art-([a-z0-9-]+)"')

# Each symbol lies in a square of 0 to 32 and takes the colour of what uses it.
_SHAPES = {
    "c": '<circle cx="16" cy="9.5" r="6.5"/><circle cx="8.5" cy="18.5" r="6.5"/>'
    '<circle cx="23.5" cy="18.5" r="6.5"/>'
    '<path d="M14.6 15h2.8c0 7 1.6 11.5 4.6 14H10c3-2.5 4.6-7 4.6-14z"/>',
    "d": '<path d="M16 2l10.5 14L16 30 5.5 16z"/>',
    "h": '<path d="M16 29C7 21.5 2.5 16.5 2.5 10.5 2.5 6 5.8 3 9.5 3c2.8 0 5.2 1.6 6.5 4.4'
    'C17.3 4.6 19.7 3 22.5 3c3.7 0 7 3 7 7.5 0 6-4.5 11-13.5 18.5z"/>',
    "s": '<path d="M16 2c1.5 5 12.5 10 12.5 17 0 6-7.5 8-11 3.2.3 3.3 1.5 5.6 3.5 7.8H11'
    'c2-2.2 3.2-4.5 3.5-7.8C11 27 3.5 25 3.5 19 3.5 12 14.5 7 16 2z"/>',
    "king": '<path d="M4 26h24v3H4zM4 24L2 9l8 6 6-11 6 11 8-6-2 15z"/><path d="M15 1h2v3h-2z"/>',
    "queen": '<path d="M5 26h22v3H5zM5 24L3 11l7 5 6-9 6 9 7-5-2 13z"/>'
    '<circle cx="3" cy="9" r="2"/>'
    '<circle cx="29" cy="9" r="2"/><circle cx="16" cy="5" r="2"/>',
    "jack": '<path d="M6 22c0-9 4-14 10-14s10 5 10 14z"/><path d="M4 23h24v4H4z"/>'
    '<path d="M22 9c1-5 4-7 8-7-1 5-3 8-7 9z"/>',
    "x": '<path d="M7 7l18 18M25 7L7 25" fill="none" stroke="currentColor" stroke-width="5" '
    'stroke-linecap="round"/>',
    "o": '<circle cx="16" cy="16" r="9.5" fill="none" stroke="currentColor" stroke-width="5"/>',
    "disc": '<circle cx="16" cy="16" r="13.5" stroke="#000" stroke-opacity=".6"/>'
    '<circle cx="16" cy="16" r="10.5" fill="none" '
    'stroke="#000" stroke-opacity=".3" stroke-width="1.5"/>',
    "back": '<path d="M3 3h26v26H3z" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    '<path d="M3 16L16 3l13 13-13 13zM9.5 9.5l13 13M22.5 9.5l-13 13" fill="none" '
    'stroke="currentColor" stroke-width="1.5"/>',
    "ship": '<path d="M2 8h28v16H2z"/>'
    '<circle cx="16" cy="16" r="3.5" fill="#fff" fill-opacity=".65"/>',
    "hit": '<path d="M16 1l3.5 8L27 5l-3 8 8 3-8 3 3 8-7.5-4L16 31'
    'l-3.5-8L5 27l3-8-8-3 8-3-3-8 7.5 4z"/>'
    '<circle cx="16" cy="16" r="4" fill="#fff"/>',
    "miss": '<circle cx="16" cy="16" r="4.5"/><circle cx="16" cy="16" r="9" fill="none" '
    'stroke="currentColor" stroke-width="1.5"/>',
    "wall": '<path d="M1 1h30v30H1z"/>',
    "pawn": '<circle cx="16" cy="9" r="6"/><path d="M6 29c0-9 5-15 10-15s10 6 10 15z"/>',
}
# Fillings that tell colours apart without colour: stripes, dots, checks.
_PATTERNS = {
    "lines": '<path d="M0 4h8" stroke="#fff" stroke-opacity=".45" stroke-width="2"/>',
    "bars": '<path d="M4 0v8" stroke="#fff" stroke-opacity=".45" stroke-width="2"/>',
    "dots": '<circle cx="4" cy="4" r="2" fill="#fff" fill-opacity=".5"/>',
    "slant": '<path d="M0 8L8 0" stroke="#fff" stroke-opacity=".45" stroke-width="2"/>',
    "checks": '<path d="M0 0h4v4H0zM4 4h4v4H4z" fill="#fff" fill-opacity=".35"/>',
}
SUITS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
RANKS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "10"}
COURTS = {"K": "king", "Q": "queen", "J": "jack"}
# The colours of cards such as R7, by their first letter, each with its filling.
TINTS = {
    "R": ("red", "lines"),
    "B": ("blue", "dots"),
    "G": ("green", "bars"),
    "Y": ("yellow", "slant"),
    "P": ("pink", "checks"),
    "O": ("orange", "lines"),
    "W": ("white", ""),
    "K": ("black", "slant"),
}
_PIPS = {
    1: ((16, 16),),
    2: ((9, 9), (23, 23)),
    3: ((9, 9), (16, 16), (23, 23)),
    4: ((9, 9), (23, 9), (9, 23), (23, 23)),
    5: ((9, 9), (23, 9), (16, 16), (9, 23), (23, 23)),
    6: ((9, 8), (23, 8), (9, 16), (23, 16), (9, 24), (23, 24)),
}


@lru_cache(maxsize=256)
def used(symbol: str, place: str = "") -> Markup:
    """A symbol of `_SHAPES`, in the whole picture or at "x y side"."""
    if not place:
        return Markup('<use href="#art-{}"/>').format(symbol)
    x, y, side = place.split()
    return Markup('<use href="#art-{0}" x="{1}" y="{2}" width="{3}" height="{3}"/>').format(
        symbol, x, y, side
    )


def pips(number: int) -> Markup:
    """The pips of a die.

    >>> pips(5).count("<circle")
    5
    """
    dots = (
        Markup('<circle cx="{}" cy="{}" r="3.2" fill="currentColor"/>').format(x, y)
        for x, y in _PIPS[number]
    )
    return Markup("").join(dots)


def used_symbols(html: str) -> Markup:
    """The symbols and fillings that a drawing uses.

    >>> "art-h" in used_symbols('<use href="#art-h"/>'), used_symbols("<p>") == ""
    (True, True)
    """
    names = sorted(set(_USED.findall(html)) & _SHAPES.keys())
    symbols = "".join(
        f'<symbol id="art-{name}" viewBox="0 0 32 32"><g fill="currentColor">{_SHAPES[name]}</g>'
        "</symbol>"
        for name in names
    )
    patterns = "".join(
        f'<pattern id="fill-{name}" width="8" height="8" patternUnits="userSpaceOnUse">{inner}'
        "</pattern>"
        for name, inner in _PATTERNS.items()
        if f"#fill-{name})" in html
    )
    if not symbols and not patterns:
        return Markup("")
    return Markup(
        f'<svg class="art" width="0" height="0" aria-hidden="true"><defs>{symbols}{patterns}'
        "</defs></svg>"
    )
