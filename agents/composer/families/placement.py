"""Words of games in which marks are placed and never moved."""

from agents.composer.families.boards import rectangle
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    always,
    choice,
    flag,
    number,
    own_negation,
)

_LINE = "(row|line|streak|sequence|chain|column|diagonal|file|succession)"
_HUE = "(red|yellow|black|white|blue|green)"
_MARK = "(piece|disc|disk|stone|token|mark|checker|chip|symbol|coin|ball|man|one|x|o)"

_NAMES = (
    Name(
        "(connect (four|4)|connect4|4 in a row|captain's mistress|score four|plot four)",
        "connect_four",
    ),
    Name("(gomoku|gobang|go moku|omok|caro|five stone|wuziqi|renju)", "gomoku"),
    Name(
        "(tic tac toe|tictactoe|nought and cross|noughts and cross|naughts and cross|x and o|xs "
        "and os)",
        weight=18,
        settings={"rows": 3, "columns": 3, "connect": 3, "gravity": False},
    ),
    Name(f"(in a {_LINE}|alignment|line up|placement|m n k|mnk) game", weight=10),
    Name("connect (a)? (row|line)? game", weight=8),
    Name("connection game", weight=6, kin="connecting sides of the board"),
)

_HINTS = {
    "in a row": 6,
    "in a line": 6,
    "connect <n>": 8,
    "line of <n>": 6,
    "align": 5,
    "gravity": 5,
    "drop": 2,
    "pie rule": 4,
    "swap rule": 4,
    "place": 1,
    "stone": 2,
    "disc": 2,
    "mark": 1,
    "cylinder": 2,
    "wrap": 2,
    "consecutive": 2,
    "row of <n>": 5,
}

_PHRASES: tuple[Phrase, ...] = (
    *number(
        "connect",
        f"(get|make|form|line up|place|have|connect|create|complete|build|first to|need|require|put"
        "|whoever get|achieve|reach)? (get|make|form|line up|place|connect)? <n> (of)? (your"
        "|their|the"
        f"|same|own)? {_MARK}? (be)? (in|into|as|form) (a|an|one)? (unbroken|straight|single"
        "|continuous)? "
        f"{_LINE} (@win (the)? (game)?)?",
        f"(row|line|streak|sequence|chain) of <n> (or more)? (of)? (your|their|same)? {_MARK}? "
        "(@win (the)? (game)?)?",
        f"connect <n> (of)? (your|their|own)? {_MARK}? (in)? (a)? (row|line)? (to)? (@win)?",
        f"(line up|align|lining up|aligning) <n> (of)? (your|their|own)? {_MARK}? (to)? (@win)?",
        "<n> (consecutive|adjacent|aligned|connected|neighbouring|successive|contiguous) "
        f"{_MARK} (@win)?",
        "(winning)? (row|line) (length|be)? (of|be|:) <n> (long)? (@win)?",
        f"<n> (long)? {_MARK}? (row|line) (@win)",
        "<n> to @win",
        "<n> (aligned|connected|in line) (@win)?",
        "<n> (mark|piece|stone|disc) @win",
    ),
    *flag(
        "gravity",
        "(with|has|use|there be|turn on|apply|add)? gravity (pull|make|drag|bring|cause|apply"
        "|on|rule"
        f"|work|act|take)? (the|all|every)? {_MARK}? (to)? (down|fall|drop|downward|effect"
        "|hold)? (to)? "
        "(the)? (bottom|lowest)? (free|empty)? (cell|square|space|row)?",
        f"(drop|slide|let|insert)? {_MARK} (that|which|are|be)? (always)? (fall|drop|sink|slide"
        f"|dropped|tumble|settle) (down"
        "|downward"
        "|to|into|onto)? (the)? (bottom|lowest)? (free|empty|available|open)? (cell|square|space"
        "|slot"
        "|position|spot|row)? (of|in)? (the|a|its|their)? (board|grid|column)?",
        f"(drop|slide) (your|their|a|the)? {_MARK}? (into|in|down) (a|the|one|any)? column",
        f"{_MARK} (stack|pile) (up|on top)?",
    ),
    *own_negation(
        flag(
            "gravity",
            "(no|without|not have|zero|turn off|remove|minus) gravity",
            "gravity (be)? (off|not|none|disabled|absent|removed)",
            f"(place|put|go|play|placed|lay) (a|your|their|the|each)? {_MARK}? (on|in|at|onto)? "
            "(any|"
            "anywhere|whichever|whatever) (free|empty|open|vacant|unoccupied|they|you|of)? (like"
            "|want)? "
            "(cell|square|space|point|intersection|spot|position|place)?",
            f"{_MARK} (do not|not|never) (fall|drop)",
            f"(nothing|no {_MARK}) (ever)? (fall|drop|slide) (down)?",
            "(use|take|choose|pick|on|in|at)? any (free|empty|open|vacant|unoccupied) (cell"
            "|square|space"
            "|point|intersection|spot|position|place)",
            "anywhere (on (the)? board)?",
            value=False,
        )
    ),
    Phrase(
        f"@who? (that|to)? (make|complete|form|get|connect|finish|line up|create) <n> in a {_LINE} "
        "(be)? (lose|out)",
        lambda m: {"connect": m.numbers[0], "misere": True},
    ),
    Phrase(
        f"<n> in a {_LINE} (be)? (lose|loser) (the)? (game|match)?",
        lambda m: {"connect": m.numbers[0], "misere": True},
    ),
    Phrase(
        f"(you|@who|they) lose (the game)? (if|when|by|for) (you|they)? (make|get|complete|form"
        f"|making|getting) (a|the|any)? <n> in a {_LINE}",
        lambda m: {"connect": m.numbers[0], "misere": True},
    ),
    *flag(
        "misere",
        f"(you|@who|they) lose (the game)? (if|when|by|for) (you|they)? (make|get|complete|form"
        f"|making|getting) (a|the|any)? {_LINE}",
        "(@who|first|player|the one)? (who|that|to)? (make|complete|form|get|connect|finish"
        "|line up"
        f"|completing|making|forming|getting|create)? (a|an|the|one|such)? (line|row|{_LINE}"
        "|it)? (first)? "
        "(lose|loses|losing|is out) (the)? (game|match)?",
        "(misere|misere play|reverse|inverse|suicide|anti) (version|form|rule|play|game)?",
        "@avoid (make|complete|form|get)? (a|an|the)? (line|row)",
        "(complete|completing|making|make|form|forming) (a|the|such)? (line|row) (mean|is|result "
        "in|"
        "cause)? (lose|loss|losing|defeat)",
    ),
    *flag(
        "wrap",
        f"(line|row|board|edge|side|grid|column|it|they|{_LINE})? (can|may)? (wrap|wrapping|loop"
        "|wrapped"
        "|wraparound|continue|carry on|go) (a)? (around|round|over|across)? (the|at|past|from"
        "|between|over)? "
        "(left|side|right|board|horizontal|vertical|the)? (and|to|or)? (right|left)? (edge|side"
        "|board|border"
        "|boundary)?".replace("|continue|carry on|go) ", ") "),
        "(line|row|they)? (can|may)? (run|go|leave) (off|over|past) (one|a|the|the right|the left) "
        "(side|edge) (and)? (continue|go on|carry on"
        "|come back|come in|return) (on|at|from) (the)? (other|opposite|left|right) (side|edge)?",
        "(cylindrical|cylinder|tube|tubular|wraparound|wrap around) (shape|shaped)? (board|grid"
        "|edge)?",
        "(on|around) (a|the)? (cylinder|tube)",
        "(left|right) (edge|side) (and|to|with|meet|join|connect) (the)? (right|left) (edge"
        "|side)? (be|are)? "
        "(joined|connected|glued|touch|adjacent|meet|neighbour)?",
    ),
    *flag(
        "exact",
        "(line|row|streak|chain) (of|with)? (more|longer|greater) than <n> (be|do)? (not|never) "
        "(count|win|score|valid|good)?",
        "(more|longer) than <n> (in a row)? (be|do)? (not|never) (count|win|score|valid|good)?",
        "(exactly|precisely) (that many|the required number|the length|<n> in a row) (count|win)",
        "(longer|over) (line|row|streak|long line|one) (do)? not (count|win|score)",
        "(no )?overline (do not|not) (count|win)",
        "(no|without) overline",
        "exact length (only)?",
    ),
    *number(
        "marks_per_turn",
        f"(place|put|drop|play|lay) <n> {_MARK} (each|every|a|per|in|at) (a|each)? (turn|time|go"
        "|move)",
        f"<n> (place|placement|{_MARK}|move) (each|every|a|per) (turn|go|player|move)",
    ),
    *flag(
        "pie",
        "(with|use|using|there be|the|has|include|apply)? (pie|swap) (rule|option)",
        "(after (the)? first (move|turn|mark|stone|piece|disc))? ,? (the)? second (player|one) "
        "(may|can) (swap|take over|switch|steal|adopt|take it over|take that over) ~ (first)? "
        "(mark|move|side"
        "|piece|"
        "stone|colour|place)?",
        "second player (may|can) (choose|elect|opt|decide|want)? (to)? (swap|switch) (side|colour"
        "|place)? "
        "(after (the)? (first|opening) (move|turn|mark|stone))?",
        "(swap|switch) (side|colour|place) after (the)? first (move|turn|mark|stone)",
        "i cut you choose",
    ),
    *choice("connect", 4, "in a row of four"),
    *rectangle(),
    *always(
        "each player has marks of one colour",
        f"{_HUE} (and|or|against|versus|vs) {_HUE} {_MARK}?",
        f"{_HUE} {_MARK}",
        "upright",
    ),
    *always(
        "the first player begins",
        "(player 1|first player|x|white|black|red|yellow) (go|move|start|begin|play) first?",
    ),
    *always(
        "the board filling up without a line is a draw",
        "(full|filled) board (be|mean)? (a)? (draw|tie)",
        "(draw|tie) (if|when) (the)? board (be|is)? (full|filled|fills)",
    ),
    *always(
        "a line may run across, down or diagonally",
        "(horizontal|vertical|diagonal|horizontally|vertically|diagonally|across|down) (,|or|and)? "
        "(horizontal|vertical|diagonal|horizontally|vertically|diagonally|down|across)? (,|or"
        "|and|, or)? "
        "(horizontal|vertical|diagonal|horizontally|vertically|diagonally)?",
        "in any direction",
        "(straight|horizontal|vertical|orthogonal) or diagonal",
    ),
    *always(
        "marks are placed by turns and stay where they are",
        f"(player|they|you|each)? (place|put|drop|lay|add) (a|one|1|their|your)? (single)? {_MARK} "
        "(each|per|a|every|on|in|by)? (the)? (turn|board|time|go|column)?",
    ),
)

LEXICON = Lexicon(
    family="placement",
    title="n-in-a-row game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
    base={"gravity": False},
)
