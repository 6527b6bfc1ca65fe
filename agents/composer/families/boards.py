"""Words for the size of a board that several families share."""

from agents.composer.lexicon import Phrase, Settings, assuming, number
from agents.composer.patterns import Match

_GRID = "(board|grid|field|ocean|sea|square|cell|space|map|matrix|playing field|arena|battlefield)"


def _rectangle(match: Match) -> Settings:
    return {"rows": match.numbers[0], "columns": match.numbers[1]}


def _wide_first(match: Match) -> Settings:
    return {"columns": match.numbers[0], "rows": match.numbers[1]}


def _square(match: Match) -> Settings:
    return {"rows": match.numbers[0], "columns": match.numbers[0]}


def rectangle() -> tuple[Phrase, ...]:
    """Rows and columns."""
    tall = "(tall|high|deep|long|row|down|height|rank)"
    wide = "(wide|broad|across|column|file|width)"
    stated = (
        Phrase(f"(play|played)? (on|over)? <n> (x|by|time) <n> (size)? {_GRID}?", _rectangle),
        Phrase(
            f"{_GRID} (size|dimension|measure)? (of|be|measuring|:)? <n> (x|by|time) <n>",
            _rectangle,
        ),
        Phrase(f"<n> {_GRID}? {tall} (and|,|by|x|with)? <n> {_GRID}? {wide} {_GRID}?", _rectangle),
        Phrase(f"<n> {_GRID}? {wide} (and|,|by|x|with)? <n> {_GRID}? {tall} {_GRID}?", _wide_first),
    )
    return (
        *assuming(
            "the first number was taken for the rows, the second for the columns", stated[:2]
        ),
        *stated[2:],
        Phrase(f"<n> {_GRID} (on|along|per|to) (a|each|the|every|one)? (side|edge)", _square),
        Phrase(f"{_GRID} (with|of|whose)? (side|edge) (length)? (of|be)? <n>", _square),
        Phrase(f"square {_GRID} (of)? (size|side|width)? (of|be)? <n>", _square),
        Phrase(f"<n> square {_GRID}", _square),
        *number("rows", f"<n> {tall}", "(height|number of row|row) (of|be|:) <n>"),
        *number("columns", f"<n> {wide}", "(width|number of column|column) (of|be|:) <n>"),
    )
