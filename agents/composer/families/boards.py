"""Words for the size of a board that several families share."""

from agents.composer.lexicon import Phrase, Settings, assuming, number, sets
from agents.composer.patterns import Match

_GRID = "(board|grid|field|ocean|sea|square|cell|space|map|matrix|playing field|arena|battlefield)"

_BOARD = "(board|grid|field|ocean|sea|map|matrix|playing field|arena|battlefield)"


def _rectangle(match: Match) -> Settings:
    return {"rows": match.numbers[0], "columns": match.numbers[1]}


def _wide_first(match: Match) -> Settings:
    return {"columns": match.numbers[0], "rows": match.numbers[1]}


def _square(match: Match) -> Settings:
    return {"rows": match.numbers[0], "columns": match.numbers[0]}


def rectangle() -> tuple[Phrase, ...]:
    """Rows and columns."""
    size = "(size|dimension|measure|measuring)"
    tall = "(row|tall|high|deep|long|down|height|rank)"
    wide = "(column|wide|broad|across|file|width)"
    unit = "(square|cell|space|field|point|place|spot|intersection|box)"
    rows = f"<n> {unit}? {tall} (tall|high|deep|down|long)?"
    columns = f"<n> {unit}? {wide} (wide|across|broad)?"
    on = f"({_GRID} (of|be|with|have|that be|measure|{size})?)?"
    stated = (
        Phrase(
            "(play|played)? (on|over)? ((small|large|big|little|tiny|huge|bigger|smaller|larger)? "
            f"{_BOARD} {size}? (of|be|:)? ,?)? <n> {unit}? (x|by|time) <n> "
            f"{unit}? (size)? {_GRID}?",
            _rectangle,
        ),
        Phrase(
            f"{_GRID} {size}? (of|be|measuring|:)? <n> {unit}? (x|by|time) <n> {unit}?", _rectangle
        ),
        Phrase(f"{on} {rows} (and|,|by|x|with)? {columns} {_GRID}?", _rectangle),
        Phrase(f"{on} {columns} (and|,|by|x|with)? {rows} {_GRID}?", _wide_first),
    )
    return (
        *assuming(
            "the first number was taken for the rows, the second for the columns", stated[:2]
        ),
        *stated[2:],
        Phrase(f"<n> (row|line|rank) (of|with) <n> {unit}? (each)?", _rectangle),
        Phrase(
            f"{_GRID}? (of|with)? <n> ({_GRID}|line|point|unit)? (on|along|per|to|in|for) (a|each"
            f"|the|every"
            f"|one"
            "|either)? (side|edge|direction|way)",
            _square,
        ),
        Phrase(f"<n> ({_GRID}|line|point)? (each|every|either|both) (way|side|direction)", _square),
        Phrase(f"{_GRID} (with|of|whose)? (side|edge) (length)? (of|be)? <n>", _square),
        Phrase(f"square {_GRID} (of)? (size|side|width)? (of|be)? <n>", _square),
        Phrase(f"<n> square {_GRID}", _square),
        Phrase(f"{_GRID}? <n> {unit}? square <end>", _square),
        *number(
            "rows",
            f"<n> {unit}? (row|tall|high|deep|rank) (tall|high|deep|down|long)?",
            "(height|number of row|row) (of|be|:) <n>",
        ),
        *number("columns", columns, "(width|number of column|column) (of|be|:) <n>"),
    )


def usual_board(rows: int, columns: int) -> tuple[Phrase, ...]:
    """The board that the game has anyway."""
    kind = "(usual|customary|standard|normal|ordinary|regular|classic|traditional|familiar|default)"
    return sets(
        {"rows": rows, "columns": columns},
        f"{kind} (size)? {_GRID} (size)?",
        f"{_GRID} (of|in) (the)? {kind} size",
    )
