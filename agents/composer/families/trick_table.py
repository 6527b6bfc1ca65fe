"""Words for bids, passes, partners and the moon."""

from agents.composer.lexicon import (
    Phrase,
    assuming,
    choice,
    flag,
    number,
    own_negation,
)


def _passed(direction: str, words: str) -> tuple[Phrase, ...]:
    """Where cards are passed, with or without how many."""
    return (
        Phrase(
            f"((before|at) (start of)? (each|every|a|the) (deal|hand|round))? (,)? (@who|@each)? "
            f"(pass|passing|give|send|swap|exchange) <n> card {words} ((before|at) (start"
            f"|beginning)? "
            "(of)? (each|every|a|the) (deal|hand|round))?",
            lambda m: {"passing": m.numbers[0], "pass_direction": direction},
        ),
        Phrase(
            f"(always)? (pass|passing|passed) (card)? (always)? (go|be)? (always)? {words}",
            lambda _: {"pass_direction": direction},
        ),
    )


TABLE: tuple[Phrase, ...] = (
    *flag(
        "shoot_the_moon",
        "(you|player|anyone)? (can|may|may also|allow)? (shoot|shot) (the|for the)? moon (allowed"
        "|possible|rule|count)? (@double)?",
        "(@takes) (all|every) (the|of)? (heart|penalty|penalty card|bad card|penalty point) ~~ "
        "(other"
        "|opponent|everybody else|everyone else|rest)",
    ),
    *flag(
        "first_trick_safe",
        "(no|without) (penalty|point|bad|scoring) (card|point)? ~ (in|on|to|during) first trick",
        "(no|not) (heart|blood|bleeding|penalty card|point card) ~ (on|in|to|during) first trick",
        "first trick (be)? (always)? (safe|bloodless|clean|free of penalty card)",
        "(penalty|point) card ~ not ~ (on|in|to|during) first trick",
    ),
    *number(
        "passing",
        "(each|every|all)? (player|everyone|everybody)? (pass|give|swap|exchange|send|hand (on"
        "|over)) (on|over)? "
        "<an> (unwanted|of their)? card (to|with|on|each|before|at|left|right|across)? (the|a"
        "|their|your)? (next|other)? "
        "(player|neighbour|neighbor|opponent|start|before|play)?",
        "<an> card (be|get)? (pass|exchange) (on|over)?",
        "<an> card (be|get) hand (on|over)?",
        "<an> card hand (on|over)",
        "(hand|pass|give|slip) <an> card (on|over|along) (to)? (a|the|your|their)? (next|other)? "
        "(neighbour|neighbor|player|opponent)?",
        "(pass|passing) (of)? <an> card?",
        zero=0,
    ),
    *choice(
        "passing",
        0,
        "(nobody|no one|no player) (pass|passing|give|swap|exchange) (on|over)? (any)? card",
        "(no|without|not|never|skip) ~ (pass|passing|exchange|swap|swapping) ~ card?",
        "(pass|passing|exchange) (be)? (not|none|off|forbidden)",
    ),
    *_passed("left", "(to (the|your|their)?)? left (neighbour|neighbor|player)?"),
    *_passed("right", "(to (the|your|their)?)? right (neighbour|neighbor|player)?"),
    *_passed("across", "(across|opposite|to (the)? (player|one) opposite)"),
    *_passed(
        "rotate", "(rotate|rotating|alternate|alternating|by turn|changing every (deal|hand))"
    ),
    *choice(
        "bidding",
        "exact",
        "(bid|predict|guess|say|announce|forecast|call|declare|estimate|state) ~ (exact|exactly"
        "|number "
        "of|how many|precise|the number of) ~~ trick ~ (take|win|make|get)?",
        "(bid|predict|guess|say|announce|forecast|call|declare|estimate|state) ~ how many trick ~ "
        "(take|win|make|get) (and)? (score|win|earn|get "
        "points) (for|by|only|if)? (hit|hitting|make|making|match|meeting) ~ (exact|exactly"
        "|precise|precisely)",
        "(exact|exactly|precise|precisely) (bid|bidding|prediction|contract)",
        "(bid|predict|guess|forecast) (their|your|the)? trick (exactly|precisely|before play)?",
        denied="none",
    ),
    *choice(
        "bidding",
        "spades",
        "(spade) (style|type|like)? (bid|bidding|contract)",
        "(bag|sandbag) (and nil)?",
        denied="none",
    ),
    *choice(
        "bidding",
        "none",
        "(no|without|not|never) ~ (bid|bidding|contract|auction)",
        "(bid|bidding) (be)? (not used|off|omitted|dropped|skipped)",
    ),
    *number("contract_points", "<n> @points? (for|per) (each|every)? trick (bid|contracted)"),
    *own_negation(
        assuming(
            "a bid of nil stays possible and is worth nothing",
            choice("nil_points", 0, "(no|without) nil (bid|bidding)?", "nil (be)? not allowed"),
        )
    ),
    *number("nil_points", "nil (bid)? (be)? @worth <n> @points?", "<n> @points? for (a)? nil"),
    *number(
        "bid_bonus", "<n> @points? (for|bonus for) (making|hitting|meeting|an exact) (the)? bid"
    ),
    *number("bid_penalty", "(lose|cost|minus) <n> @points? (for) (missing|failing) (the)? bid"),
    *flag(
        "last_bidder_bound",
        "(last bidder|dealer) ~ not ~~ (add up|sum|equal|total|match) ~~ (trick)?",
    ),
    *number("bag_limit", "(every)? <n> (bag|overtrick) (cost|penalty)?"),
    *flag(
        "partnerships",
        "(play|played)? (in|as|with)? (2|two)? (fixed)? (partner|partnership|team|pair) (of 2|of "
        "two)? "
        "(opposite|facing|sit opposite)? (each other|one another)?",
        "(2|two) (against|versus|vs|v|on) (2|two)",
        "(2|two) team (of)? (2|two)?",
        "(sit|sitting) opposite (be)? partner",
        "player (work|play)? (in|as) pair",
        "(fixed|permanent|set) (partner|partnership|team|pair|side)",
        "(couple|pair|partner|team|partnership) (each)? (score|scoring|play|playing|win|work) "
        "(together|jointly|as one|as a side)",
        "(2|two) (couple|pair|partnership) (of 2|of two)?",
        "partner (face|facing|sit) (opposite)? (each other|across)?",
        "(2|two) side of (2|two)",
    ),
    *own_negation(
        flag(
            "partnerships",
            "(no|without|not) (partner|partnership|team)",
            "(individual|solo|single|singles) (play|<game>)",
            "(everyone|each player|every player|all) (play|for)? (for)? (themselves|himself|herself"
            "|themself|individually|alone|himself or herself)",
            "(every man|each|every player) for (himself|themselves|themself)",
            "(cut ?throat|cutthroat|free for all|individually)",
            value=False,
        )
    ),
)
