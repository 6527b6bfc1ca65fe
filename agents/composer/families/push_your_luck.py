"""Words of push-your-luck games (pig and its relatives)."""

from agents.composer.families.dealing import target_score
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
    sets,
)

_NAMES = (
    Name("(game of pig|pig game|pig|pig dice|hog)", "pig"),
    Name("(two dice pig|two dice hog|double pig)", "two_dice_pig", weight=21),
    Name("(push|press) (your|the|one's)? luck (dice|card|type|style)? game?", weight=10),
    Name("(jeopardy dice|risk taking|gamble|gambling) game", weight=6),
    Name(
        "(farkle|can't stop|cant stop|zilch|greed|zombie dice|incan gold|flip 7)",
        kin="that game's own rules are not in the library",
    ),
    Name("(dice|die|roll|dice rolling) game", weight=6),
)

_HINTS = {
    "roll": 5,
    "die": 4,
    "bust": 6,
    "bank": 4,
    "hold": 1,
    "push": 3,
    "luck": 4,
    "press": 2,
    "turn total": 5,
    "stop": 1,
    "snake eye": 4,
    "faces": 1,
    "risk": 2,
}

_BUST = "(bust|busts|busting|end|lose|loses|wipe|wipes|cost|forfeit|zero|fatal|kill|void|scrap)"
_LOST = (
    "(the|your|their|all)? (the|your)? (turn|round|accumulated|unbanked)? (turn|total|point"
    "|score|everything)? (for|of|in)? (the|that)? (turn|round)? (with nothing)?"
)

_PHRASES: tuple[Phrase, ...] = (
    *choice(
        "kind",
        "cards",
        "(draw|drawing|flip|flipping|turn over|with|using) card",
        "card (game|version|instead of dice)",
        "(draw|flip) (a|one) card",
        "card (push|luck)",
    ),
    *own_negation(choice("kind", "cards", "(not|no|without|never) die", "card ,? not die")),
    *choice("kind", "dice", "(roll|rolling|throw|with|using) (a|the)? die", "dice (game|version)"),
    *number(
        "sides",
        "(roll|rolling|with|using)? (a|an)? <n> (sided|sider|face|faced) (die)?",
        "(die|dice) (with|of|have|has) (only|just)? <n> (side|face)",
        "d <n>",
        "<n> face",
    ),
    Phrase(
        "(1|one|single) <n> (sided|face|faced) die",
        lambda m: {"dice": 1, "sides": m.numbers[-1]},
    ),
    Phrase(
        "(1|one|single) (standard|normal|ordinary|regular)? die (of|with|have) <n> (side|face)",
        lambda m: {"dice": 1, "sides": m.numbers[-1]},
    ),
    *choice("sides", 20, "d20"),
    *choice("sides", 10, "d10"),
    *choice("sides", 8, "d8"),
    *choice("sides", 12, "d12"),
    *choice("sides", 4, "d4"),
    *choice("sides", 6, "(d6|ordinary die|standard die|normal die|regular die|cubic die)"),
    *number(
        "dice",
        "(with|using|use|roll|rolling|throw|throwing)? <n> (standard|normal|ordinary|regular)? "
        "die (at once|together|at a time|each turn|per turn|a time)?",
        "(roll|throw) <n> die",
    ),
    *choice(
        "dice",
        2,
        "(roll|throw|with|use|rolling|throwing)? (pair of|both|double) die (at once|together|at a "
        "time|each"
        " turn|per turn|a time)?",
    ),
    *choice("dice", 1, "(a|only|just)? (single|one) (standard|normal|ordinary|regular)? die"),
    *own_negation(
        number(
            "bust_face",
            "(if|when|whenever)? (you|@who|one)? (roll|rolling|throw|throwing) (a|an)? <n> ,? "
            "(you|they)? "
            "(lose|forfeit|wipe out|drop|give up) (all|everything|the points|what|points)? (that"
            "|which)? (you|they)? (have)? "
            "(gather|score|collect|roll|earn|make|accumulate|gain|win|build)? (up|together)? (so "
            "far)? (in|during|on)? "
            "(this|the|that)? (turn|go|round)? (@points)?",
            "(roll|rolling|throw|throwing|a|any|every|if you roll)? (a|an)? <n> (roll|be|face"
            f"|rolled|mean|make|come up|show|thrown)? (you)? {_BUST} {_LOST}",
            f"{_BUST} {_LOST} (on|with|when|if|by)? (a|you|they|roll|rolling|throw)? (roll"
            "|rolling|throw)? (a|an)? <n> (be rolled|come up)?",
            "<n> (be)? (the)? (one|number|face|roll)? (that|which) (bust|end|lose|kill) (you|your"
            "|the)? (turn)?",
            "(bust|losing|fatal|bad) (face|number|roll) (be|of|:)? <n>",
            "<n> (be)? (the)? (bust|losing|fatal|bad|unlucky) (face|number|roll)",
            zero=0,
        )
    ),
    *choice("bust_face", 0, "(no|nothing|without|never) ~ (bust|busting) (face)?"),
    *flag(
        "double_bust",
        "(2|double|pair of|both) (1|one|bust|bust face|bust face) (lose|wipe|wipe out|cost|erase"
        "|forfeit|reset) (out)? (the|your|their|all)? (whole|entire|total|full|banked"
        "|overall|everything)? (score|point|total|everything|bank)?",
        "snake eye (lose|wipe|wipe out|cost|erase|forfeit|reset) (out)? (the|your|their|all)? "
        "(whole|entire|total|full|banked|everything)? (score|point|total|everything)?",
        "(roll|rolling|throw) (double|2|snake) (1|one|eye|bust face) (lose|wipe|cost|erase"
        "|reset) (out)? (the|your|their)? (whole|entire|total|full|banked|everything)? "
        "(score|point|total|everything)?",
        "lose (the|your|their)? (whole|entire|total|full|banked) (score|total|point)? (on|when"
        "|with|if) ~ (double|2|snake) (1|one|eye|bust face)",
    ),
    *number(
        "bonus_face",
        "(a|an|each|every|any|roll|rolling)? (roll|of)? <n> (be|face|roll|card)? (count|worth"
        "|score|@worth) @double (point|value|score)?",
        "@double (point|value|score)? (for|on) (a|each|every|rolling)? (roll|card)? <n>",
        "(bonus|double) (face|number|card) (be|of|:)? <n>",
        "<n> (be)? doubled",
        zero=0,
    ),
    *number(
        "max_rolls",
        "<n> (roll|throw|draw|flip) (be) (the)? (most|maximum|limit) (you|@who)? (may|can)? (take"
        "|make|have)? (in)? (a|one|each|per)? (turn)?",
        "after <n> (roll|throw|draw|flip) (your|the|a)? turn (be)? (over|end|finish|pass|stop)",
        "(turn)? (end|stop|finish|over) after <n> (roll|throw|draw|flip)",
        "(nobody|no one|no player|you|@who) (may|can|be allowed to)? (not)? (roll|draw|throw|flip) "
        "(the die)? (more"
        "|oftener) (often)? than <n> (time|roll|throw)? (a|per|in a|each|in one|in any)? (turn|go"
        "|row)?",
        "(at most|up to|no more than|maximum of|max|only|limit of|just)? <n> (roll|throw|draw"
        "|flip) (a|per|each|in a|every|allowed|at most|maximum|limit) (turn|go)?",
        "(at most|up to|no more than|maximum of|max|only|limit of) <n> (roll|throw|draw|flip)",
        "(may|can)? (only)? (roll|draw|throw) (at most|up to|no more than|only|a maximum of) <n> "
        "time (a|per|each|in a)? (turn)?",
        "(roll|throw|draw) (limit|cap) (of|be|:)? <n>",
        zero=0,
    ),
    *choice(
        "max_rolls",
        0,
        "(as many|as often|any number of|unlimited|no limit on) (roll|throw|draw|time)? (as|you"
        "|they)? (like|want|wish|per turn|dare|please)?",
        "(roll|draw) as (many|often|long) (time)? as (you|they) (like|want|wish|dare|please)",
    ),
    *flag(
        "must_roll",
        "(must|have to) (roll|draw|throw) (at least)? (once|one|1 time|first)?",
        "(at least|minimum) (one|1) (roll|draw) (a|per|each)? (turn)?",
        "(turn)? (must)? (begin|start) with (a)? (roll|draw)",
    ),
    *number(
        "highest_card",
        "(card)? (number|numbered|valued)? (from)? 1 (to|through|–|up to) <n>",
        at=-1,
    ),
    *number("highest_card", "highest card (be|of|:)? <n>"),
    *number("copies", "<n> (copies|copy) (of)? (each|every)? (card|number)?"),
    *flag(
        "final_round",
        "(final|last) (round|turn|chance|lap) (for|after|to|be|is)? (everyone|everybody|all|the "
        "others|played|other player|when|once)? ~ (target|reach|out|end)?",
        "(everyone|everybody|other|others|all player) (get|have|has) (a|one) (final|last|more) "
        "(turn|chance|go|round)",
        "(the)? round (be)? (played to its end|finished|completed)",
        "equal (number of)? turn",
    ),
    *target_score(),
    *always(
        "a player may stop at any time and keep the turn's points",
        "(bank|hold|stop|keep|stick|pass|cash) (in|on)? (the|your|their|any time|at any time)? "
        "(turn|accumulated|point|score|total)? (point|total|score)?",
        "(keep|continue|go on)? (roll|draw|flip|throw) (until|or|as long as|again) ~ (stop|hold"
        "|bank|bust|like|want|dare|busting|stopping)",
        "(roll|draw) (again)? or (stop|hold|bank|stick)",
        "(push|press) (your|their|one's) luck",
        "(roll|rolling|throw) (a|the|one)? die (on|in|each|every)? (turn)?",
        "add (up)? (the)? (roll|number|point|pip)",
        "how far (to|they|you) push",
    ),
    *sets({"copies": 0}, "as many copies as (its|the) number"),
    *refused("no side bets", "(bet|wager)"),
)

LEXICON = Lexicon(
    family="push_your_luck",
    title="push-your-luck game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
