"""Words of tic-tac-toe."""

from agents.composer.lexicon import Lexicon, Name, Phrase, Settings, always, flag
from agents.composer.patterns import Match


def _size(match: Match) -> Settings:
    same = len(set(match.numbers)) == 1
    return {"size": match.numbers[0]} if same else {"rows": match.numbers[0]}


_NAMES = (
    Name(
        "(tic tac toe|tictactoe|nought and cross|noughts and cross|naughts and cross|x and o"
        "|xs and os|tit tat toe)",
    ),
)

LEXICON = Lexicon(
    family="tic_tac_toe",
    title="tic-tac-toe",
    players=2,
    names=_NAMES,
    hints={},
    phrases=(
        Phrase("<n> (x|by) <n> (board|grid|square|cell)?", _size),
        Phrase("(size|side|grid|board) (of|be|:) <n>", _size),
        Phrase("<n> (square|cell) (on|along|per|to) (a|each)? (side|edge)", _size),
        Phrase("<n> in a (row|line) (@win)?", lambda m: {"size": m.numbers[0]}),
        *flag(
            "misere",
            "(@who|first|player|the one)? (who|that|to)? (make|complete|form|get|finish|completing"
            "|making|forming|getting) ~ (<n> in a)? (line|row|it) (first)? (lose|loses|losing)",
            "(line|row) (lose|loses)",
            "(misere|reverse|inverse|suicide|anti) (version|form|rule|play|game)?",
            "@avoid (make|complete|form|get)? (a|the)? (<n> in a)? (line|row)",
        ),
        *flag(
            "wild",
            "wild (version|form|rule)?",
            "(either|any|both) (player)? ~ (either|x or o|any) (mark|symbol)",
            "(choose|pick) (whether|to|either)? (place|put)? ~ x or (an)? o",
        ),
        *always(
            "three marks in a line win, by turns",
            "(3|three) in a (row|line) (@win)?",
        ),
    ),
)
