"""Words of tic-tac-toe."""

from dataclasses import replace

from agents.composer.families.boards import rectangle, usual_board
from agents.composer.lexicon import Lexicon, Meaning, Name, Phrase, Settings, always, flag


def _square(settings: Settings) -> Settings:
    """A board as a size: the library's has as many rows as columns."""
    return {"size": settings["rows"]} if len(set(settings.values())) == 1 else settings


def _sizes() -> tuple[Phrase, ...]:
    def meaning(phrase: Phrase) -> Meaning:
        return lambda match: _square(phrase.means(match))

    return tuple(replace(phrase, means=meaning(phrase), assumes="") for phrase in rectangle())


_NAMES = (
    Name(
        "(tic tac toe|tictactoe|nought and cross|noughts and cross|naughts and cross|x and o"
        "|xs and os|tit tat toe)",
        weight=25,
    ),
)

LEXICON = Lexicon(
    family="tic_tac_toe",
    title="tic-tac-toe",
    players=2,
    names=_NAMES,
    hints={},
    phrases=(
        *_sizes(),
        *(replace(phrase, means=lambda _: {"size": 3}) for phrase in usual_board(3, 3)),
        Phrase(
            "<n> in a (row|line) (be)? (the)? (lose|loser|defeat)",
            lambda m: {"size": m.numbers[0], "misere": True},
        ),
        Phrase("<n> in a (row|line) (@win)?", lambda m: {"size": m.numbers[0]}),
        Phrase(
            "(you|@who|they) lose (the game)? (if|when|by|for) (you|they)? (make|get|complete|form"
            "|making|getting) (a|the|any)? <n> in a (row|line)",
            lambda m: {"size": m.numbers[0], "misere": True},
        ),
        *flag(
            "misere",
            "(you|@who|they) lose (the game)? (if|when|by|for) (you|they)? (make|get|complete|form"
            "|making|getting) (a|the|any)? (row|line)",
            "(@who|first|player|the one)? (who|that|to)? (make|complete|form|get|finish|completing"
            "|making|forming|getting) ~ (<n> in a)? (line|row|it) (first)? (lose|loses|losing)",
            "(@who)? (first)? (make|complete|form|get|finish)? (a|the)? (<n> in a)? (line|row) "
            "(be)? (the)? (lose|loser|defeated)",
            "(misere|reverse|inverse|suicide|anti) (version|form|rule|play|game)?",
            "@avoid (make|complete|form|get)? (a|the)? (<n> in a)? (line|row)",
        ),
        *flag(
            "wild",
            "wild (version|form|rule)?",
            "(@each|both|a)? (player)? (write|play|place|put|use|choose|draw)? (either|any|both) "
            "(mark|symbol|sign|letter)",
            "(either|any|both) (player)? ~ (either|x or o|any) (mark|symbol)",
            "(choose|pick) (whether|to|either)? (place|put)? ~ x or (an)? o",
        ),
        *always(
            "player 1 marks x and begins",
            "(x|cross|player 1|first player) (go|move|start|begin|play) first?",
            "(one|a)? player (be|play|have|use|mark) x (and|,)? (the)? (other)? (player)? (be|play"
            "|have|use)? o?",
        ),
        *always(
            "three marks in a line win, by turns",
            "(3|three) in a (row|line) (@win)?",
        ),
    ),
)
