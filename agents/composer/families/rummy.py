"""Words of rummy games."""

from agents.composer.families.dealing import (
    bare_hand,
    deals,
    full_pack,
    hand_size,
    short_pack,
    single_deal,
    target_score,
)
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    always,
    choice,
    flag,
    number,
    own_negation,
    rank,
    refused,
)

_NAMES = (
    Name("gin (rummy)? (game)?", "gin_rummy"),
    Name(
        "((knock|knocking|basic)? rummy|rommy|romme|draw and discard|melding|meld making|meld) "
        "(card)? (game|style|type)?",
        weight=11,
    ),
    Name(
        "(canasta|rummikub|tonk|conquian|kalooki|rumino|500 rum|contract rummy)",
        kin="that game's own rules are not in the library",
    ),
)

_HINTS = {
    "meld": 6,
    "deadwood": 8,
    "knock": 7,
    "gin": 6,
    "set and run": 6,
    "run and set": 6,
    "undercut": 6,
    "set or run": 5,
    "run": 2,
    "draw and discard": 5,
    "unmatched": 4,
    "discard": 1,
    "laying off": 3,
    "lay off": 3,
}

_DEAD = "(deadwood|unmatched|unmelded|loose|ungrouped|leftover|remaining)"

_PHRASES: tuple[Phrase, ...] = (
    *hand_size(),
    *short_pack({"deck": "short"}),
    *full_pack({"deck": "standard"}),
    *choice(
        "melds",
        "sets_and_runs",
        "(with|of|use|form|make)? (set|group) (and|or|as well as) (run|sequence|straight) (as meld"
        "|be meld|count)?",
        "(set|group|triplet) (and|or|as well as) (run|sequence|straight)",
        "(run|sequence|straight) (and|or|as well as) (set|group)",
        "(both|either) (set|run) (and|or) (run|set)",
    ),
    *choice(
        "melds",
        "sets",
        "(only|just|nothing but) (set|group) (count|be allowed|be|make|form|as)? (as)? (meld)? ((,"
        "|and|but)? (no|not) run)?",
        "(set|group) (only|alone) (count|be allowed|as meld|be meld)?",
        "(set|group) (,|and|but)? (no|not) (run|sequence)",
        "(run|sequence) (do|be|may)? (not|never) (be)? (count|allowed|permit|permitted|valid|legal"
        "|form|use|good|meld|as)? (as)? (valid|legal)? (meld)?",
        "(no|without|not) (run|sequence)",
        "meld (be|must be)? (only|just)? (set|group)",
    ),
    *choice(
        "melds",
        "runs",
        "(only|just|nothing but) (run|sequence) (count|be allowed|be|make|form|as)? (as)? (meld)? "
        "((,|and|but)? (no|not) set)?",
        "(run|sequence) (only|alone) (count|be allowed|as meld|be meld)?",
        "(run|sequence) (,|and|but)? (no|not) (set|group)",
        "(set|group) (do|be|may)? (not|never) (be)? (count|allowed|permit|permitted|valid|legal"
        "|form|use|good|meld|as)? (as)? (valid|legal)? (meld)?",
        "(no|without|not) (set|group)",
        "meld (be|must be)? (only|just)? (run|sequence)",
    ),
    *number(
        "min_meld",
        "(meld|set|run|sequence|group) (of|be|need|have|contain|with) (at least|minimum)? <n> "
        "(card)? (or (more|longer))?",
        "(at least|minimum of|minimum)? <n> card (in|to|for|per|make) (a|each|every)? (meld|set"
        "|run)",
        "meld (of|be|need|must have|have|require|with)? (at least|minimum)? <n> "
        "(card|or more|card or more)?",
        "<n> card (meld|minimum)",
        "(minimum|smallest|shortest) meld (size|be|of|length)? <n> (card)?",
    ),
    *choice(
        "ace",
        "both",
        "ace (be|count|can be|may be)? (either|both|high or low|high and low|low or high)",
        "ace (either)? high or low",
    ),
    *choice("ace", "high", "ace (be|count|always)? (only)? (high|above king)"),
    *choice("ace", "low", "ace (be|count|always)? (only)? (low|below 2)"),
    *rank(
        "wild_rank",
        "<rank> (card)? (be|act as|count as|serve as|as|work as)? (always)? (the|a)? (wild|joker"
        "|wildcard) (card)?",
        "wild (card)? (rank|be|:)? (the|all|every)? <rank>",
        "<rank> (stand|substitute|can stand|replace) (in)? (for)? (any|anything|every) (other)? "
        "(card)?",
        denied="none",
    ),
    *choice(
        "wild_rank",
        "none",
        "(no|without|never) ~ (wild|wildcard) (card|rank)?",
        "(nothing|no card) (be)? wild",
    ),
    *number(
        "wild_points", "(wild|wild card) (left|unmatched)? (be|count|@worth|@cost) <n> @points?"
    ),
    *number(
        "knock_limit",
        f"(only)? (hand|player|those)? (with|of|have|hold)? (at most|up to)? <n> @points? (of)? "
        f"{_DEAD} (or (fewer|less))? (may|can) (only)? knock",
        f"(may|can)? (only)? knock (allowed)? (once|when|if|with|as soon as|after)? (your|the"
        f"|their|his)? "
        f"{_DEAD} (card|point|total|count"
        "|value)? (be|at|come to|fall to|down to|drop to)? (at most|no more than|under|down to|not "
        "more than)? <n> (or "
        "(fewer|less|lower|under|below))? @points?",
        "(knock|knocking|go down) (with|at|on|be|limit|allowed|when|if|only|possible|you)* "
        "(holding|have|has)? (at most|up to|no more than|under|a maximum of|only)? <n> (or "
        f"(fewer|less))? (point|of|in)? (of)? {_DEAD}?".replace(
            "(with|at|on|be|limit|allowed|when|if|only|possible|you)*",
            "(with|at|on|be|limit|allowed|when|if|only|possible|you)? (with|at|on|be|when|if|you"
            "|they|only)?",
        ),
        "(@who)? (may|can)? knock (with|at|on|when|if|once|whenever|as soon as)? ~~ (at most|up "
        f"to|no more than|less than|under|maximum|of)? <n> (or (fewer|less))? {_DEAD}? @points? "
        f"(or (fewer|less))? (of|in)? {_DEAD}? (card|left)?",
        f"knock (with|at|on) <n> @points? (of)? {_DEAD}? (or (less|fewer|under|below|lower))?",
        f"knock (allowed)? (when|once|if) (your|their|the)? {_DEAD} card? (add|sum|come|total"
        f"|be) (up)? "
        "(to)? <n> @points? (or (less|fewer|under|below|lower))?",
        f"{_DEAD} (of|limit|be|at|must be)? (at most|up to|no more than|limit)? <n> (or (fewer"
        "|less))? (point)? (to|for) knock",
        "(knock|knocking) (limit|threshold|value|number) (of|be|:|at)? <n> @points?",
        f"<n> (or (fewer|less))? @points? (of)? {_DEAD}? (or (fewer|less))? (to|for|before) "
        "(knock|knocking)",
    ),
    *own_negation(
        number(
            "knock_limit",
            f"(no|never|not|nobody) (may|can)? knock (be)? (allowed)? (above|over|with more than"
            f"|with over|at more "
            f"than|beyond) <n> @points? (of)? {_DEAD}?",
        )
    ),
    *own_negation(
        choice(
            "knock_limit",
            0,
            "(no|nobody|without|not|never|cannot) ~ (knock|knocking) (allowed)?",
            "(must|have to|need to|only) (win by)? (go|going|reach|get|make|knock with) gin "
            "(only|to win|to end)?",
            "(only)? (go|going) gin (only)? (end|win|count|finish)?",
            "knock (be)? (not|forbidden|off|not allowed|disallowed)",
            "gin only",
            "(all|every) card must be melded (to|before)? ~ (go out|win|end)?",
        )
    ),
    *number(
        "gin_bonus",
        "(go|going|for|a|make|declare)? gin (@worth|earn|pay|bring|add) (you)? (an|a)? (extra"
        "|bonus|further|additional"
        "|more)? (of)? <n> (bonus|extra|more)? @points?",
        "(go|going|for|a|make)? gin (bonus)? (be|of|:)? (@worth)? (bonus of)? <n> (bonus|extra)? "
        "@points?",
        "<n> (bonus|extra)? @points? (bonus)? (for) (go|going|a)? gin",
        "(bonus) (of)? <n> @points? (for) (going)? gin",
        zero=0,
    ),
    *choice("gin_bonus", 0, "(no|without) ~ gin bonus", "(no|without) bonus for (going)? gin"),
    *number(
        "undercut_bonus",
        "(undercut|undercutting) (the knocker)? (bonus)? (be|of|:)? (@worth)? (bonus of)? <n> "
        "(bonus|extra)? @points?",
        "<n> (bonus|extra)? @points? (bonus)? (for) (an|a)? (undercut|undercutting)",
        zero=0,
    ),
    *choice("undercut_bonus", 0, "(no|without) ~ (undercut|undercutting) (bonus)?"),
    *flag(
        "draw_from_discard",
        "(may|can|allowed to|also)? (draw|take|pick up|pick|taking|drawing) (the|a|card)? (top)? "
        "(card|discard)? (from|off|of)? (the)? (top|discard|discard pile|previous discard|pile)? "
        "(of the)? discard (pile)? (as well|too|instead|allowed)?",
        "(draw|take) (from)? (either|stock or discard|deck or discard|discard or (stock|deck))",
    ),
    *own_negation(
        flag(
            "draw_from_discard",
            "(may|can|must)? (not|never) (be)? (draw|take|pick up|picked up|taken|taking"
            "|drawing) (up)? (the|a|from)? (card|top)? (from|off|of)? (the)? (discard|top "
            "discard) (pile)?",
            "(discard|discard pile) (be)? (never|not|may not|cannot|can not) (be)? (taken|picked "
            "up|drawn|used|touched|available)",
            "discard (be)? (dead|closed|off limits|out of play|untouchable)",
            "(only|always|just) (draw|take|drawing) (from)? (the)? (stock|deck|pile|draw pile"
            "|face down pile)",
            "(every|each|all|any|the)? draw (must)? (come|be|be made|go) (only|always)? from "
            "(the)? (stock"
            "|deck|pile|draw pile) (only|alone|always)? ((,|and|but)? (never|not) from (the)? "
            "discard (pile)?)?",
            "(never|not) from (the)? discard (pile)?",
            "(draw|take) only from (the)? (stock|deck|pile|draw pile)",
            "(draw|take|drawing) from (the)? (stock|deck|draw pile) (only|alone|always)",
            "(no|without) (draw|drawing|taking|picking up|pickup) (from|of|up)? (the)? (discard"
            "|discard pile)",
            value=False,
        )
    ),
    *number(
        "pile_left",
        "(deal|hand|round)? (end|over|stop) (when)? (only)? <n> card (be)? (left|remain) (in"
        "|the)? (pile|stock|deck)?",
    ),
    *choice(
        "no_knock",
        "nobody",
        "(nobody|no one|no player|none) (score|win) (if|when) (nobody|no one|no player|none) "
        "(knock|knocks)",
        "(deal|hand|round) (be)? (void|a draw|drawn) (if|when) ~ (knock|stock run out|pile)",
    ),
    *target_score(),
    *bare_hand(),
    *deals(),
    *single_deal(),
    *always(
        "a turn is a draw and then a discard",
        "(draw|take) (a|one) card",
        "(throw|lay|put) (a|one) (card)? (away)?",
        "knock (when|whenever|if|as soon as) (you|they)? (can|may|like|able|ready|want)",
        "(draw|take|pick up) (a|one)? (card)? (,|and|then|and then) (discard|throw away) (a|one)? "
        "(card)?",
        "(discard) (a|one) (card)? (each|every|per|a)? (turn)?",
    ),
    *always(
        "melds are formed in hand and shown when a player knocks",
        "(form|make|build|collect|laying|lay|melding|arrange) (down)? (meld|set|group)? (in|of)? "
        "(card|hand)? (meld)?",
        "meld (card)?",
    ),
    *refused(
        "melds stay in hand until somebody knocks",
        "(lay|laying|put|place) ~ (off|table|down during|on the table)",
    ),
    *refused("the pack has no jokers", "joker"),
)

LEXICON = Lexicon(
    family="rummy",
    title="rummy game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
