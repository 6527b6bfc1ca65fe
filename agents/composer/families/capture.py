"""Words of games in which pieces move on a grid and take each other."""

from collections.abc import Callable, Sequence

from agents.composer.families.boards import rectangle, usual_board
from agents.composer.lexicon import (
    PLAYERS,
    Lexicon,
    Name,
    Phrase,
    Settings,
    always,
    choice,
    flag,
    number,
    own_negation,
    refused,
    sets,
)
from games.contract import Json

_PIECE = "(piece|pawn|man|soldier|stone|checker|token|unit|draught|figure)"
_FAR = (
    "(far|opposite|other|last|back|final|opponent|enemy|opposing|farthest|home) (side|row|rank"
    "|edge|end|line|home row|back row|home rank|back"
    " rank|base|home)"
)
_TAKE = "(capture|take|eat|kill|remove|capturing|taking|eliminate|attack|hit|strike|destroy)"

_PIECES = "pieces"
"""Resolved by `in_context`: no parameter of the family, how many pieces a side has."""


def in_context(base: Settings, said: Sequence[Settings]) -> Callable[[Settings], Settings]:
    """How many rows a number of pieces fills on this board."""
    merged: dict[str, Json] = {**base}
    for settings in said:
        merged |= settings
    columns = merged.get("columns")

    def understood(settings: Settings) -> Settings:
        pieces = settings.get(_PIECES)
        if isinstance(pieces, int) and isinstance(columns, int) and pieces % columns == 0:
            rest = {name: value for name, value in settings.items() if name != _PIECES}
            return {**rest, "ranks": pieces // columns}
        return settings

    return understood


_NAMES = (
    Name("breakthrough", "breakthrough"),
    Name(
        "(checker|draught|dame|damas) (like|style|type|variant|game)?",
        weight=8,
        kin="jumps and kings are not in the library; pieces that move forward and take "
        "diagonally are",
    ),
    Name(
        "(pawn (only)? (chess|game|war|battle)|chess with (only|just) pawn|hexapawn|octopawn)",
        weight=10,
    ),
    Name("(capture|capturing|piece taking|war|race|racing) (board)? game", weight=8),
)

_HINTS = {
    "capture piece": 4,
    "pawn": 5,
    "far side": 4,
    "home row": 5,
    "last row": 3,
    "back row": 3,
    "far row": 4,
    "opposite side": 3,
    "opposite edge": 3,
    "back rank": 4,
    "diagonal": 1,
    "forward": 3,
    "backward": 2,
    "other side": 2,
    "checker": 1,
    "all piece": 2,
    "enemy piece": 4,
    "far end": 3,
    "move": 1,
}

_PHRASES: tuple[Phrase, ...] = (
    *number(PLAYERS, "<n> (side|army|camp|colour) (with|each|facing)?"),
    *rectangle(),
    *usual_board(8, 8),
    *sets(
        {"rows": 8, "columns": 8},
        "(usual|standard|normal|ordinary|regular)? (chess board|chessboard|checkerboard"
        "|chequerboard|checker board|draught board)",
    ),
    Phrase(
        f"<n> {_PIECE} (on|for|per|to)? (a|each|every|either|per)? (side|player|each|apiece|man)",
        lambda m: {_PIECES: m.numbers[0]},
    ),
    *number(
        "ranks",
        f"(army|force|side|{_PIECE}) (each)? (take|fill|occupy|cover|stand on|fill up|take up"
        f"|begin on|start on) (up)? "
        "(the)? (first|nearest|closest)? <n> (row|rank|line)",
        f"<n> (filled|home|starting|full|back)? (row|rank|line) of {_PIECE} (each|apiece|per "
        "(player|side)|for each)?",
        "<n> (home|starting|filled|back) (row|rank) (each|apiece|per (player|side)|for each"
        "|filled|of piece)?",
        f"<n> (row|rank|line) (each|apiece|per (player|side)|of {_PIECE} each|deep)",
        f"{_PIECE} (fill|filling|occupy|start on|in|cover|on) (the|first)? <n> (nearest|closest"
        "|home|back|starting|first)? (row|rank|line)",
        "(@each)? (player|side)? (begin|start|have|has|fill|set up) (with|on|out)? <n> (full"
        f"|filled|home|nearest|back)? (row|rank|line) (of {_PIECE})? "
        "(filled)?",
    ),
    *choice(
        "ranks",
        1,
        f"(@each|both)? (player|side)? (fill|start with|begin with|occupy|have|set up) (just"
        f"|only)? (a|one|1) (single)? (home|back)? (row|rank|line) (with|of|full of)? (their|its"
        f"|your|the)? {_PIECE}?",
        "(a|one|single) (single|one|filled|full)? (home|starting|back)? (row|rank|line) (of "
        f"{_PIECE}|each|filled)",
    ),
    *flag(
        "straight_capture",
        f"{_PIECE}? (may|can)? (also)? {_TAKE} (also)? (piece|enemy|opponent)? (straight"
        "|directly) (ahead|forward|in front|on)? (as well|too|also)? (as|and|or)? "
        "(diagonally)?",
        f"(straight|frontal|forward|head on) {_TAKE} (be|allow)? (also)? (allowed|possible"
        "|permitted|legal)?",
        f"{_TAKE} (ahead|forward|in front|straight)",
    ),
    *own_negation(
        flag(
            "straight_capture",
            f"{_TAKE} (piece)? (only|just|solely) (diagonally|on the diagonal|at an angle)",
            f"(only|just) {_TAKE} (piece)? diagonally",
            f"{_TAKE} (piece|enemy piece)? (diagonally|on the diagonal) (forward)? (only)?",
            f"(diagonal|diagonally) {_TAKE} (only)?",
            f"{_TAKE} (be)? (only)? diagonal (only)?",
            f"{_TAKE} (enemy|opponent|rival|opposing piece) (only)? (diagonally|on the diagonal)",
            f"(may|can) not {_TAKE} (straight|directly) (ahead|forward)?",
            f"(no|without) (straight|frontal|forward) {_TAKE}",
            value=False,
        )
    ),
    *flag(
        "backward",
        f"{_PIECE}? (may|can)? (move|go|step|retreat|moving|travel)? (and {_TAKE})? (backwards"
        "|backward|back|in reverse|both forward and backward|both direction|"
        "in both direction|rearward) (as well|too|also)? (allowed|permitted)?",
        "(retreat|retreating|backward move|backward movement) (be)? (allowed|permitted|possible"
        "|legal)?",
        "forward (and|or) (backward|back)",
        f"{_TAKE} backward",
    ),
    *own_negation(
        flag(
            "backward",
            f"{_PIECE}? (may|can)? (only|just) (ever)? (move|go|step|advance)? (straight"
            "|diagonally)? forward (only)?",
            "(move|go|advance) forward only",
            "(no|never|not) (move|go|step)? (retreat|retreating|backward|back|backwards) (move)?",
            "forward only",
            value=False,
        )
    ),
    *choice(
        "win_by",
        "breakthrough",
        "(@who)? (first|be|one)? (to|who|that|player)? (@reach|get|move|bring|reaching|land"
        f"|make it|cross|arrive|advance|touch|getting) (a|one|any|your|their)? {_PIECE}? (to|"
        f"at|on|across|onto|over)? {_FAR} (of (the)? board)? (first)? (@win (the)? (game)?)?",
        f"(@reach|getting|reaching|crossing) (to)? {_FAR} (be)? (@win)?",
        "(@reach|cross|get to|getting to|reaching|traverse) (the)? (entire|whole)? (far|opposite"
        "|other) (side|end|edge) (of (the)? board)? (@win)?",
        "(first)? (across|over) the (whole)? board @win?",
    ),
    *choice(
        "win_by",
        "capture_all",
        f"{_TAKE} (all|every|the last|everything)? (all|of|one)? (the|your|their)? (enemy"
        f"|opponent|opposing|other|opponent's|rival)? (player)? {_PIECE} (to)? @win",
        f"{_TAKE} (all|every|everything|the last) (one)? (of)? (the|your|their)? (enemy|opponent"
        f"|opposing|other|rival)? (player)? (side)? {_PIECE}? (to)? (@win)?",
        "(@who)? (first)? (to|who)? (lose|run out of|have no|be without) (all)? (of)? (their"
        f"|your)? {_PIECE} (left)? (first)? (lose|loses)?",
        "(wipe out|annihilate|eliminate|exterminate) (all)? (the)? (enemy|opponent|opposing"
        f"|other side|army|{_PIECE})? ({_PIECE}|army|side)?",
        f"last (player|one|side)? (with|having)? {_PIECE} (left|standing|on the board)? (@win)?",
    ),
    *choice(
        "win_by",
        "both",
        f"(@reach|get|reaching|getting) (to)? {_FAR} or {_TAKE} (all|every) (the|your|their|of)? "
        f"(enemy|opponent|opposing)? {_PIECE}? (@win)?",
        f"{_TAKE} (all|every) (the|your|their|of)? (enemy|opponent|opposing)? {_PIECE} or "
        f"(@reach|get|reaching|getting) (to)? {_FAR} (@win)?",
        f"(either|both) (@reach|breakthrough|reaching) ~~ (or|and) {_TAKE} (all|every)? ~ "
        f"{_PIECE}? (@win)?",
    ),
    *flag(
        "forced_capture",
        f"(if|when|whenever|as soon as) (you|@who|a piece|it)? (can|may|could|able to|possible to) "
        f"{_TAKE} (a|an|any|the)? (enemy|opposing)? {_PIECE}? ,? (you|they|he|it)? (must|have to"
        f"|be forced to|be obliged to) "
        f"(always)? (so|it|that|{_TAKE})?",
        f"{_TAKE} (be)? (always)? (compulsory|mandatory|forced|obligatory|required|a must|not "
        "optional)",
        f"(compulsory|mandatory|forced|obligatory|must) {_TAKE}",
        f"(must|have to|obliged to|forced to|need to) (always)? {_TAKE} (a|an|enemy|opponent"
        f"|opposing)? ({_PIECE})? (if|when|whenever|where) (you|they|it)? (be)? (can|able|"
        "possible|offered)?",
        f"(player)? (who|that)? can {_TAKE} must (do)? (so|capture|take)?",
    ),
    *own_negation(
        flag(
            "forced_capture",
            f"{_TAKE} (be)? (optional|voluntary|not (compulsory|mandatory|forced|obligatory"
            "|required))",
            f"(optional|voluntary) {_TAKE}",
            f"(need|must|have to) not {_TAKE}",
            f"not (need|have) to {_TAKE}",
            value=False,
        )
    ),
    *number(
        "max_moves",
        "(at most|up to|maximum of|limit of|after)? <n> move (limit|maximum|at most|in all|in "
        "total)?",
    ),
    *always(
        "pieces step forward, straight or diagonally, one square a turn",
        f"{_PIECE} (that)? (move|step|advance|march|go|walk) (one|1|a)? (square|step|cell"
        "|space)? (straight|diagonally|directly)? (forward|ahead) (or|,)? (diagonally)? (one|1)? "
        "(square|step)?",
        "(move|advance|step|march) (either)? straight (ahead|forward)? (or|and) diagonally "
        "(forward"
        "|ahead)?",
        f"(side|player)? (advance|march|push) (the|their|your)? {_PIECE} (forward)?",
        "(each|every|both) (player|side)? (control|have|command|own|start with) (an army|army"
        f"|set) (of {_PIECE})?",
    ),
    *refused(
        "there are no kings: every piece moves alike",
        "(king|crown|promote|promotion|kinged|crowning|queen)",
    ),
    *refused("pieces do not jump", "(jump|jumping|leap|hop)"),
)

LEXICON = Lexicon(
    family="capture",
    title="capture game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
    context=in_context,
)
