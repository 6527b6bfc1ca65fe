"""Words for what hearts cost and when they may be led."""

from agents.composer.lexicon import (
    Phrase,
    choice,
    flag,
    minus,
    number,
    own_negation,
)

_EACH = "(each|every|all|any|a|per|the|one)"

HEARTS: tuple[Phrase, ...] = (
    *minus(
        "heart_points",
        f"@takes {_EACH}? heart (card)? ~ @cost (you|them|player)? <an>? @points?",
        f"{_EACH}? heart (card)? (you|they|that|which|player)? (be|is)? (@takes)? (be)? @cost (you"
        "|them|player)? <an>? (penalty|negative)? @points? (each|apiece|off)?",
        f"{_EACH}? heart (card)? (@takes)? (@worth|be) <an>? (penalty|negative|minus|bad"
        "|demerit|black) @points? (each|apiece)?",
        "<an>? (penalty|negative|minus|bad|demerit) @points? (be)? (given|scored|awarded)? (for"
        "|per)? "
        f"{_EACH}? (of the)? heart (card)? (@takes)?",
        "(lose|cost|deduct|subtract|dock|minus|pay|forfeit) <an>? @points? (for|per|with)? "
        f"{_EACH}? "
        "heart (card)? (you|they)? (@takes)?",
        "@avoid ~ heart",
        "heart (be)? (card)? (to be)? (avoided|shunned|dodged|bad|poison|poisonous|evil|nasty"
        "|undesirable|harmful|bad news|penalty card|penalty)",
        "<an> point against @who (for|per) {_EACH}? heart".replace("{_EACH}", _EACH),
        f"{_EACH}? heart (card)? (@takes)? @worth <an>? @points? against (you|them|player|who)? "
        "(take|taker)?",
    ),
    *number(
        "heart_points worth",
        f"{_EACH}? heart (card)? (@takes)? (be)? (be|worth|count|score|value|carry) <an> "
        "@points? (each|apiece)?",
        f"{_EACH}? heart (card)? (@takes)? (:|=) <an> @points?",
        f"<an> @points? (for|per|a) {_EACH}? heart (card)? (@takes)?",
        zero=0,
    ),
    *number(
        "heart_points",
        f"{_EACH}? heart (card)? (@takes)? (be)? @worth (plus|bonus) <an> (bonus|plus|positive)? "
        "@points? (each|apiece)?",
        f"{_EACH}? heart (card)? (@takes)? (be)? @worth <an> (bonus|plus|positive) @points? (each"
        "|apiece)?",
        f"{_EACH}? heart (card)? (@takes)? (earn|gain|give|award|bring|reward|pay|add) (you)? <an> "
        "@points? (each|apiece)?",
        "(get|gain|earn|score|win|award) <an> (bonus|plus|positive)? @points? (for|per) "
        f"{_EACH}? heart "
        "(card)? (you|they)? (@takes)?",
        f"<an> (bonus|plus|positive) @points? (for|per|a) {_EACH}? heart (card)? (@takes)?",
        zero=0,
    ),
    *choice(
        "heart_points",
        1,
        "(@takes) heart (@worth|be worth|win) @points?",
        "heart (be)? (good|desirable|rewarded|worth @points|worth taking)",
        denied=0,
    ),
    *own_negation(
        flag(
            "hearts_broken",
            "@nobody ~~ (play|lead|open|led|start|use) ~ heart @until ~~ (broken|discarded|thrown"
            "|played|broke|break|sloughed|appear|shown|fall|fallen|out|dropped) (already|before)?",
            "heart (may|can|must|be)? (not|never) (be)? (play|led|lead|open) @until ~~ (broken"
            "|discarded|thrown|played|sloughed|break|appear|fall|dropped) (already|before)?",
            "heart (must|have to|need to)? (be)? broken (before|first) ~ (lead|led|play|open)?",
            "heart (must|have to|need to)? (be)? broken first?",
            "breaking (of)? heart (be)? (required|needed|on)?",
            "(lead|play) heart (be)? (forbid|forbidden|prohibited|banned|not allowed) @until ~~ "
            "(broken|discarded|played)",
        )
    ),
    *own_negation(
        flag(
            "hearts_broken",
            "heart (may|can)? (be)? (led|play|lead) (at any time|any time|anytime|from the start"
            "|whenever|freely|immediately|right away|straight away|from the beginning|from the "
            "first"
            " trick)",
            "(may|can|allowed to|free to)? (lead|play|open) (with|a|any)? heart (at any time|any "
            "time|anytime|from the start|whenever|freely"
            "|immediately|right away|straight away|from the beginning) (like|want|wish|please"
            "|choose)?",
            "heart (do)? not (need|have) (to)? (be)? broken",
            "(no|without) (need to)? (break|breaking) (of)? heart",
            value=False,
        )
    ),
    *flag(
        "queen_breaks_hearts",
        "queen (of)? spade (also)? break heart",
    ),
)
