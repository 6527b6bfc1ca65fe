"""Words of capture the flag with hidden ranks."""

from agents.composer.families.boards import rectangle, usual_board
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    always,
    choice,
    flag,
    number,
    own_negation,
    refused,
)

_PIECE = "(piece|soldier|man|unit|figure|troop|army|force)"
_EACH = "(@each|(on|for|per) (a|each|every|either) (side|army|player))"
_HAVE = "(has|have|with|get|command|own)"
_ENEMY = "(the|an|your|their)? (enemy|opponent|opposing|other|rival)? (player|side|army)?"
_EQUAL = "(equal|same|tied|matching) (rank|strength|piece)?"
_FLAG = "(capture the flag|stratego)"
_SMALL = "(small|little|tiny|short|quick)"
_LARGE = "(large|big|full size|full sized|full)"

_NAMES = (
    Name("(stratego|capture the flag|flag capture|barrage stratego)", weight=20),
    Name(f"{_SMALL} (game of)? {_FLAG}", "small_capture_the_flag", weight=21),
    Name(f"{_LARGE} (game of)? {_FLAG}", "large_capture_the_flag", weight=21),
    Name(
        "(jungle|dou shou qi|luzhanqi|land battle chess|l attaque|gunjin shogi)",
        weight=12,
        kin="that game's own board and pieces are not in the library; hidden ranks and a flag are",
    ),
    Name(
        "(hidden|secret|concealed|unknown) (rank|identity|strength) (board|war|army|battle)? game",
        weight=12,
    ),
)

_HINTS = {
    "flag": 6,
    "hidden rank": 6,
    "secret rank": 6,
    "bomb": 3,
    "spy": 5,
    "scout": 5,
    "miner": 5,
    "army": 2,
    "rank": 1,
    "marshal": 6,
    "hidden identity": 5,
}


def _counted(name: str, word: str) -> tuple[Phrase, ...]:
    return (
        *number(
            name,
            f"({_EACH} {_HAVE}?)? <n> {word} {_EACH}?",
            f"(number of)? {word} (:|be|of) <n>",
            zero=0,
        ),
        *choice(name, 1, f"(just|only)? (a|one|single) {word} {_EACH}"),
        *own_negation(
            choice(name, 0, f"(no|without|not any) (any)? {word} (in the game|on the board)?")
        ),
    )


_PHRASES: tuple[Phrase, ...] = (
    *rectangle(),
    *usual_board(6, 5),
    *_counted("bombs", "(bomb|mine)"),
    *_counted("scouts", "scout"),
    *_counted("spies", "spy"),
    *number(
        "home_rows",
        f"<n> (home|starting|back|full|filled)? (row|rank|line) of {_PIECE} {_EACH}?",
        f"<n> (home|starting|back) (row|rank|line) {_EACH}?",
        f"{_PIECE} (fill|occupy|take|cover) (the)? (first|nearest|closest)? <n> (row|rank|line)",
    ),
    *number(
        "top_rank",
        "(top|highest|best|strongest) (rank|soldier|piece) (be|of|:|number)? <n>",
        "rank (go|run|range)? (up to|from 3 to) <n>",
    ),
    *number(
        "no_progress",
        "<n> (move|turn) (in a row)? without (a|any) (fight|attack|combat|capture) "
        "(be|mean|end in|make)? (a)? draw?",
        "draw after <n> (quiet|peaceful)? (move|turn) (without (a|any) (fight|attack|capture))?",
    ),
    *choice(
        "setup",
        "chosen",
        f"@each? (may|can|to)? (secretly)? (place|set up|arrange|position|deploy|choose where) "
        f"(your|their|the|its|his) (own)? {_PIECE} (to)? (stand|go)? (secretly|freely|as they like"
        "|as they wish|themselves|yourself)?",
        f"{_PIECE} (be)? (placed|set up|arranged|positioned|deployed) by (the|each)? player",
    ),
    *choice(
        "setup",
        "random",
        f"{_PIECE} (be)? (placed|set up|arranged|positioned|deployed|shuffled|start) "
        "(at random|randomly|by chance|by lot)",
        f"(random|shuffled) (setup|set up|start|starting position|placement|arrangement) "
        f"(of (the)? {_PIECE})?",
    ),
    *flag(
        "miners",
        "(miner|rank 3|three) (can|may)? (defuse|clear|remove|disarm|take|clear away) (the|a)? "
        "(bomb|mine)",
        "(with|have|there be) miner",
    ),
    *own_negation(
        flag(
            "miners",
            "(no|without) (any)? miner",
            "(nobody|nothing|no (piece|one)) (can|may)? (defuse|clear|remove|disarm|take|clear "
            "away) (a|the)? (bomb|mine)",
            value=False,
        )
    ),
    *flag(
        "bomb_stays",
        "(bomb|mine) (stay|remain) (on the board|where (it|they) (be|lie|stand))? "
        "(after (an|exploding|the|it) (attack|explode|explosion|go off)?)?",
    ),
    *flag(
        "bomb_stays",
        "(bomb|mine) (explode|go off|work|be used|destroy) (only|just)? once (only)?",
        "(bomb|mine) (be)? (removed|destroyed|used up|gone|spent) (after|when|once|with) (it|they"
        "|an|the)? (explode|go off|attack|attacker|explosion)?",
        value=False,
    ),
    *choice(
        "equal_ranks",
        "both",
        f"{_EQUAL} (remove|destroy|kill|eliminate|take) (each other|one another|both)",
        f"(if|when)? {_EQUAL} (fight|meet|tie|be equal)? ,? both (be)? (lose|lost|removed|die"
        "|destroyed|taken|go|eliminated)",
        "(tie|a tie) (remove|destroy|kill) both",
    ),
    *choice(
        "equal_ranks",
        "attacker",
        f"(if|when|in|on)? (a|the)? (tie|rank be equal|{_EQUAL}) ,? (the)? (attacker) (be)? "
        "(lose|lost|die|removed|taken)",
        f"(the)? defender win (a|the|all|in|on)? (tie|{_EQUAL})",
    ),
    *choice(
        "equal_ranks",
        "defender",
        f"(if|when|in|on)? (a|the)? (tie|rank be equal|{_EQUAL}) ,? (the)? (defender) (be)? "
        "(lose|lost|die|removed|taken)",
        f"(the)? attacker win (a|the|all|in|on)? (tie|{_EQUAL})",
    ),
    *always(
        "ranks are hidden from the opponent until a piece fights",
        f"(with)? (hidden|secret|concealed|unknown) (rank|identity|strength|{_PIECE})",
        f"(rank|identity|{_PIECE}) (be|stay|remain|that be)? (hidden|secret|concealed|unknown) "
        f"(from {_ENEMY})? (until|till)? (it|they)? (fight|attack|combat|revealed)? (in)? "
        "(combat|fight|battle)?",
        f"(rank|identity|{_PIECE})? (be)? (revealed|shown|known) (only)? (in|by|when|after) "
        "(it|they|a)? (combat|fight|battle|attack)",
    ),
    *always(
        "whoever takes the other flag wins",
        f"(@who)? (first)? (to|who)? (capture|take|find|seize|steal|get) {_ENEMY} flag "
        "(first)? (@win)?",
    ),
    *always(
        "the higher rank wins a fight",
        f"(the)? (higher|stronger|better) (rank|{_PIECE})? (@win|beat|take) (the)? (lower|weaker"
        f"|fight|combat)? (rank|{_PIECE})?",
    ),
    *always(
        "the flag and bombs never move",
        "(the)? (flag|bomb) (and|or)? (the)? (bomb|flag)? (can|may|do)? (not|never) move",
        "(immobile|unmoving|fixed|stationary) (flag|bomb)",
    ),
    *always(
        "scouts move any distance in a straight line",
        "scout (can|may)? (move|run|go) (any|many|several|far|as far) (distance|number of)? "
        "(square|cell)? (in a (straight)? line|straight)?",
    ),
    *always(
        "a spy that attacks the highest rank takes it",
        "(the)? spy (can|may)? (beat|take|kill|defeat|capture) (the)? (marshal|highest rank"
        "|top rank|highest|strongest|general) (if it attack)?",
    ),
    *refused(
        "the board has no lakes or other obstacles",
        "(<n>|a|the|with|two)? (lake|river|obstacle|water|mountain) (in the (middle|centre|center)"
        ")?",
    ),
)

LEXICON = Lexicon(
    family="capture_the_flag",
    title="capture the flag",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
