"""Words of trick-taking games."""

from agents.composer.families.dealing import full_pack, short_pack
from agents.composer.families.trick_hearts import HEARTS
from agents.composer.families.trick_scoring import SCORING, in_context
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    always,
    choice,
    flag,
    own_negation,
    suit,
)

_GAME = "(game|variant|version|variation|match|style)"
_BEFORE = (
    "(game|variant|variation|version|round|match|form|style|kind|copy|twist|spin|take) (of|on)"
)
_EACH = "(each|every|all|any|a|per|the|one)"


def _named(word: str) -> str:
    return (
        f"({_BEFORE} {word}|{word} {_GAME}|^ (let us|i want to|we|i|to)? (play|make|create)? (me"
        "|us)?"
        f" (a|an|some)? (standard|classic|normal|regular|simple|plain)? {word} <end>"
        f"|<kind> {word} <end>|<start> {word} for|^ {word}|(like|want|let us) (to)? (play)? "
        f"{word} <end>"
        f"|(based on|similar to|like) {word}"
        f"|(standard|classic|normal|regular|ordinary|traditional|usual) {word})"
    )


_NAMES = (
    Name(f"({_named('hearts')}|black (lady|maria))", "hearts"),
    Name(_named("spades"), "spades"),
    Name("(whist|knockout whist|german whist)", "whist"),
    Name(
        "trick (take|taker|winning|based|avoidance|avoiding|capture|play|play) (card)? game?",
        weight=10,
    ),
    Name("(trick game|(card)? game (of|about|with|where|in which) trick)", weight=10),
    Name("oh (hell|well|pshaw)", "oh_hell"),
    Name(
        "(bridge|euchre|pinochle|skat|tarot|jass|belote|pitch|hokm|tressette|briscola|sheepshead)",
        kin="that game's own rules are not in the library; a trick-taking game with the settings "
        "named in the brief is built instead",
    ),
)

_HINTS = {
    "trick": 8,
    "trump": 8,
    "follow suit": 6,
    "no trump": 4,
    "ruff": 6,
    "queen spades": 5,
    "jack diamonds": 4,
    "shoot moon": 8,
    "heart": 2,
    "spade": 2,
    "suit": 1,
    "partner": 2,
    "bid": 2,
    "nil": 2,
    "pass <n> card": 3,
    "nobody lead": 2,
}

_PACKS = {"standard": 52, "short": 32, "tiny": 24}

_DECK: tuple[Phrase, ...] = (
    *short_pack({"deck": "short"}),
    *choice(
        "deck",
        "tiny",
        "(24|tiny|schnapsen|mini) card? (deck|pack)",
        "(deck|pack)? (of)? 24 card?",
        "(deck|pack|card)? (from|of|only|using|start at|start from)? (only)? 9 (up|upward|upwards"
        "|through ace|to ace|and (up|above|higher|better|over)|or (higher|above|better))",
        "(deck|pack|card)? (from|of)? (9|the 9) (to|through) (the)? ace",
        "(with)? (the)? 9 (as|be) (the)? lowest (card)?",
        "(everything|all|card) (below|under|lower than) (the|a)? 9 (be)? (remove|strip|out|gone"
        "|take out|leave out) (out)? (of|from)? (the)? (deck|pack)?",
        "(no|nothing|without) (card)? (below|under|lower than) (the|a)? 9",
    ),
    *full_pack({"deck": "standard"}),
)

_TRUMP: tuple[Phrase, ...] = (
    *choice(
        "trump",
        "none",
        "(no|not any|never a) (suit|color) (ever)? (outrank|beat|trump|dominate|rank above|be above"
        "|overpower|be higher than|be better than|be stronger than) (the|any|another|an)? (other"
        "|others|rest|another)? (suit)?",
        "(all|every|each)? (the)? (4)? suit (be|have|rank)? (all)? (equal|equally|alike|equal in"
        " rank|the same rank|equally strong|level)",
        "(no|without|not have|lack|zero) ~ trump suit?",
        "trump (suit)? (be)? (none|absent|not exist|not used|forbidden|turned off|off)",
        "trumpless",
        "(leave|do|go) (out|without) (any|a|the)? trump suit?",
        "(nothing|no suit) (is|be)? trump",
        "not (have|use|be) ~ trump suit?",
    ),
    *suit(
        "trump",
        "<suit> (be|as|become|stay|serve)? (always|permanent|permanently|the|fixed)? (be)? trump "
        "suit?",
        "<suit> (act|function|work|count) as trump",
        "(any|a|every)? <suit> (always)? (beat|outrank|trump|defeat|top) (any|every|all)? (the)? "
        "card of (any|another|the|every|all)? "
        "(other)? suit",
        "trump suit? (always|permanently|fixed)? (be|as|to|:)? (always|permanently|fixed)? <suit>",
        "<suit> (always|permanently|automatically)? (beat|outrank|overpower|trump|defeat|top|rank "
        "(above|over|higher than)|win over|win against|overrule|ruff|master|conquer) "
        "(everything|all|every|any|the)? (other|else|another)? (suit|card|rest)?",
        "(any|a|every|each|the lowest|lowest|even)? <suit> (always)? (beat|outrank|trump|defeat) "
        "(any|every|all|each|other)? (other|non <suit>)? (suit|card|rest)",
        "<suit> (always)? (be)? (strongest|most powerful|highest|top|boss|master|superior) (suit"
        "|card)?",
        "(make|with|have|use) <suit> trump",
        "(strongest|most powerful|highest|top|boss|master) suit <suit>",
        "<suit> (always)? (beat|outrank|trump) (any|every|all|the)? other suit (as|being) trump",
    ),
    *choice(
        "trump",
        "turned",
        "(last|top|next|final)? card (that|which)? (be)? (turn|flip|reveal|upturn) (up|over|face "
        "up)? (for|as) trump suit?",
        "trump suit? (be)? (turn|flip|reveal) (up|over|face up)?",
        "(turn|flip|reveal) (up|over)? (a|the)? card (for|as) trump suit?",
        "(last|top|next|final|first)? card (that|which)? (be)? (dealt|deal)? (be)? (turn|flip"
        "|reveal|upturn) (up|over|face up)? (,|and)? "
        "(its|the|that|whose)? suit (be|become) trump suit?",
        "(turn|flip|reveal|cut) (up|over)? (a|the)? (last|top|next)? card (up|over|face up)? "
        "(after|before) "
        "(the)? (deal|dealing)? (to)? (find|discover|see|learn|decide|choose|set|determine|fix"
        "|make|name|get) "
        "(the)? trump suit?",
        "suit (of)? (the|a)? (last|final|next|top)? card (that|which)? (be|is)? (turn|flip|reveal"
        "|upturn|turned face|dealt) (up|over|face up)? (after (the)? deal)? ~~ (be|become|make"
        "|serve as|name|decide)? "
        "(the)? trump suit?",
        "(the|a)? (turned up|upturned|face up|flipped|turn up) card (decide|choose|set|determine"
        "|pick|fix|make|name|give|show|reveal|tell) (what|which|the|suit|be)? trump? suit?",
        "trump suit? (be|as)? (decide|choose|set|determine|pick|select|fix|reveal|found) ~ "
        "(turn|flip|reveal|cut|random|last card|upturned|face up) ~ (card)? (up|over|face up)? (of "
        "the (deck|pack|stock))?",
        "(turn|flip|reveal|upturn) ~ card (up|over)? (to|that|which|and)? (decide|choose|set"
        "|determine|fix|make|name|become|give|show) ~ trump suit?",
        "(turn|flip|reveal) (up|over)? (the|a)? (next|top|last|final|bottom|first)? card "
        "(up|over)? (,|and|, and)? (its|the|that|whose)? suit (be|become|make) trump",
        "(turned up|turn up|flipped|random|randomly chosen) (card)? trump suit?",
        "(turn up|flip|turn) (a)? trump",
        "suit ~ (turn|flip|upturned) ~ card (up|over)? ~ trump",
        "(last|final) (card)? (dealt)? ~ (set|decide|make|fix) ~ trump suit?",
    ),
    *choice(
        "trump",
        "rotate",
        "trump suit? (rotate|change|alternate|move|switch|vary|cycle) (every|each|from|by|with"
        "|after|between)? (every|each)? (deal|hand|round)? (to (deal|hand|round))?",
    ),
    *choice(
        "trump_led",
        "broken",
        "(trump|<suit>) (can|may|must)? not (be)? (led|open) @until (trump|<suit>|they) ~ "
        "(broken|played|used|discarded)",
        "(no|nobody|none|never|not) ~ lead ~ (trump) @until ~~ (broken|played)",
        "trump (must|need|have to)? (be)? broken (before|first) ~ led?",
    ),
    *choice(
        "trump_led",
        "never",
        "trump (can|may)? (never|not ever|not) (be)? led",
        "(nobody|never|not) ~ lead (with)? (a)? trump",
    ),
)

_PLAY: tuple[Phrase, ...] = (
    *flag(
        "must_follow",
        "(need|have|must|require|oblige|force|compel|bound)? (to)? follow (the)? (lead)? suit "
        "(led)? "
        "(if|when|where|whenever)? (they|you|possible|able)? (can|able)?",
        "(must|have to|need to) (play|match) ~ (same|led|leading) suit (led)? (if|when)? (able"
        "|can)?",
        "following suit (be)? (compulsory|mandatory|obligatory|required|a must)",
        "play ~ suit (that)? (was)? led (if|when) (able|possible|can)?",
    ),
    *own_negation(
        flag(
            "must_follow",
            "following suit (be)? (not (compulsory|mandatory|obligatory|required|needed|necessary)"
            "|optional|voluntary)",
            "(not|nobody|never|no (one|player)) (need|have|must|require|oblige|force|compel"
            "|bound)? "
            "(to)? follow (the)? (lead)? suit (led)? (if|when|where)? (possible|able)?",
            "no (need|obligation|requirement|duty) (to)? follow suit",
            "without (having|need)? (to)? follow suit",
            "(any|whatever|whichever) card (they|you)? (like|want|may|can|wish|please)? (be)? "
            "(played)? "
            "(to|on|in)? (any|the|a)? (trick|time)",
            "(be)? (free|allow|allowed|permit|permitted|may|can) (to)? play (any|whatever"
            "|whichever)"
            " card (they|you)? (like|want|wish|please|choose)? (at any time)?",
            "play (any|whatever) card (they|you)? (like|want|wish|please|choose)? (at any time)?",
            "(free|freely|may|can) (to)? (ignore|disregard) (the)? suit (led)?",
            value=False,
        )
    ),
    *flag(
        "must_trump",
        "(if|when)? (you|@who|they)? (be)? (cannot|can not|unable to|not able to|fail to) follow "
        "(suit)? ,? (you|they)? (must|have to|be "
        "forced to|be obliged to) (play)? (a)? trump",
        "(if|when)? (you|@who|they)? (be)? (void|unable|not able) (to)? (follow)? (suit)? ,? (you"
        "|they)? (must|have to|be forced to) "
        "(play)? (a)? trump",
        "(must|have to|need to|obliged to|required to|compelled to) (play)? trump ~ (when|if) ~~ "
        "(follow|void) (suit)?",
        "(void|cannot follow|out of the suit|not follow) ~ (must|have to) (play)? trump",
    ),
    *flag(
        "lowest_wins",
        "lowest (card)? (of the)? (suit)? (led|played)? (always)? (win|take) (the|each|every)? "
        "trick?",
        "(trick|tricks) (be)? (won|taken|go) (by|to) ~ (lowest|smallest|weakest) (card)?",
        "(smallest|weakest) card (win|take) (the|each|every)? trick?",
        "low card (win|take) (the|each)? trick?",
    ),
    *choice(
        "ranking",
        "ace_low",
        "ace (be|count|rank|as)? (always)? (low|lowest|the lowest|below 2|under 2) (card)?",
        "king (be)? (high|highest)",
    ),
    *choice(
        "ranking",
        "ace_high",
        "ace (be|count|rank|as)? (always)? (high|highest|top|best) (card)?",
    ),
    *choice(
        "ranking",
        "ten_second",
        "10 (rank|be|count)? (just|right)? (below|under|second to|after) (the)? ace",
        "10 (outrank|beat) (the)? king",
        "10 (be|rank)? second (highest|best)",
    ),
    *choice(
        "lead",
        "two_of_clubs",
        "(2|lowest) (of)? club (lead|start|open|begin|go|play) (first|off)? (the)? (first trick)?",
        "@who (with|hold|have) (the)? (2|lowest) (of)? club (lead|start|open|begin) (first|off)?",
        "(lead|start|open|begin) (with)? (the)? 2 (of)? club",
    ),
    *choice(
        "lead",
        "left_of_dealer",
        "@who (to|on|at)? (the)? left (of)? (the)? dealer (lead|start|open|begin|go) (first|off)?",
        "left (of)? (the)? dealer (lead|start)",
    ),
    *always(
        "the highest card of the suit led, or the highest trump, takes the trick",
        "highest (card|trump)? (of the suit led|of the led suit)? (win|take) (the|each|every)? "
        "trick",
        "winner (of)? (the|a|each)? trick (lead|start|open) (to)? (the)? next (one|trick)?",
        "@who (who)? (win|take) (the|a|each)? trick (lead|start|open) (to)? (the)? next (one"
        "|trick)?",
        "(try)? (play|win|winning|take|collect|play for|add up|sum|count) (the|their|your)? trick",
        "(play|put) (one|1) card (each)? (to|in) (each|a|every|the) trick",
    ),
)

LEXICON = Lexicon(
    family="trick_taking",
    title="trick-taking game",
    players=4,
    names=_NAMES,
    hints=_HINTS,
    phrases=(*_DECK, *_TRUMP, *_PLAY, *HEARTS, *SCORING),
    context=in_context,
    usual=lambda players, said: {"hand_size": _PACKS[str(said["deck"])] // players},
)
