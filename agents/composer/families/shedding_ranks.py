"""Words for what single ranks do in a shedding game."""

from agents.composer.lexicon import Phrase, choice, rank

_NEXT = "(the)? (next|following) (player|person|one|opponent|in turn)?"
_WHOEVER = "(whoever|@who|the one|player who|anyone who)"
_SUPPOSE = "(when|if|after|once|whenever|each time|every time|as soon as)"
_PLAYED = (
    f"({_SUPPOSE} (someone|somebody|you|a player|anyone|anybody|one)? (play|lay|put|throw|drop)? "
    "(down)? (a|an|any|the)? <rank> (be|is|get)? (played|play|laid|laid down|put down|thrown|turn "
    "up"
    "|fall)?|(someone|somebody|you|a player|anyone|anybody|one)? (play|lay|put|throw) (down)? (a"
    "|an|any"
    "|the) <rank>) (,|and)? (then)?"
)
_CARD = "(be|card be|act as|count as|serve as|become|should be|must be|are now)"

RANKS: tuple[Phrase, ...] = (
    *rank(
        "wild_rank",
        "(play|put|lay|place) (a|an|any|the)? <rank> (at any time|any time|anytime|whenever|on "
        "anything|on any card) (like|want|wish|please)?",
        "<rank> (as|for|be|become) (the|a)? wild (card)?",
        "<rank> (card)? (be|become|act as|count as|serve as|work as|function as)? (always)? "
        "(the)? wild "
        "(card)? (now)?",
        "wild (card)? (rank|be|:)? (the|all|every)? <rank>",
        "<rank> (can|may)? (be)? (play|played|go|put|placed) (on|at|over|upon) (anything|any "
        "card|any "
        "time|any other card|everything|whatever|any)",
        "<rank> (can|may|might|will)? (go|be|be played|play|land|be put|be laid|fit) (on top of|on"
        "|over"
        "|upon|onto|with) (anything|everything|any card|any other card|whatever|all)",
        "<rank> (match|fit|go with|go on) (anything|everything|any card|all)",
        "<rank> (let|lets|allow) (you|player|who)? ~ (choose|name|change|pick|call) ~ (suit)",
        "<rank> (can|may)? (be|stand for|count as|represent) (anything|any card|any suit)",
        "<rank> (as|for) (a|the)? (joker|wild|wildcard)",
        "<rank> (be)? (a|the)? wildcard",
        "wildcard (be)? <rank>",
        denied="none",
    ),
    *choice(
        "wild_rank",
        "none",
        "(no|without|never|remove) ~ (wild|wildcard) (card|rank)?",
        "(nothing|no card|no rank) (be)? wild",
    ),
    *rank(
        "skip_rank",
        "<rank> (card)? (make|force|cause|oblige|compel|let) (your|the|a)? (next)? (neighbour"
        "|neighbor|player|opponent|person) (to)? "
        "(skip|miss|pass|lose|sit out|forfeit) (a|their|the|one)? (turn|go)?",
        f"{_WHOEVER} (come|sit|play|follow|go|be) (next|after|behind|left of)? (after|on)? (a|an"
        f"|any|the)? "
        "<rank> ((be|is)? (play|played|laid))? (must|have to)? (be skipped|skip|miss|pass|lose|sit "
        "out|forfeit) (a|their|the|one|his)? (turn|go)?",
        f"{_PLAYED} (the)? (person|player|one|opponent|neighbour) (after|behind|next to|following"
        "|to the left of)? (them|him|you|it)? (must|have to)? (be skipped|skip|miss|pass|lose|sit "
        "out|forfeit) (a|their|the|one|his)? (turn|go)?",
        f"{_PLAYED} {_NEXT} (must|have to)? (be skipped|skip|miss|pass|lose|sit out|forfeit) (a"
        "|their|the|one|his)? (turn|go)?",
        f"<rank> (card)? (make|force|cause|let)? {_NEXT} (be)? (skip|skipped|miss|pass|lose|sit "
        "out|"
        "forfeit) (a|their|the|one|his)? (turn|go|play)?",
        f"<rank> (card)? (be)? (skip|skipping|block|jump) (over|card|rank)? {_NEXT} (turn)?",
        "<rank> (card)? (be)? (skip|skip card)",
        f"(play|playing|throw) (a|an|any)? <rank> (skip|make|force) {_NEXT} (skip|miss|lose)? (a"
        "|their|the)? "
        "(turn|go)?",
        f"{_NEXT} (be)? (skipped|skip|miss|lose) ~ (turn)? (after|when|on|if|by) ~ <rank> (be)? "
        "(played)?",
        "skip (card)? (rank|be|:) <rank>",
        "skip (turn)? (on|with) <rank>",
        denied="none",
    ),
    *choice("skip_rank", "none", "(no|without|never) (skip|skipping) (card|turn|rank)?"),
    *rank(
        "reverse_rank",
        "(each|every|any|a) <rank> (be)? (play|played|laid) (reverse|flip|change|turn|switch"
        "|invert) (around)? (the)? "
        "(direction|order) (of)? (the)? (play|turn|game)?",
        f"{_PLAYED} (the)? (direction|order|turn order|rotation|way) (of|the)? (play|turn|game)? "
        "(be)? (reverse|flip|change|turn|switch|go|swap|invert) (around|round|the other way"
        "|direction|backward)?",
        f"{_PLAYED} (play|the turn|the game|it) (reverse|flip|change|turn|switch|go|run) (around"
        "|round|the other way|direction|in the opposite direction|backward)",
        "<rank> (card)? (be)? (reverse|flip|change|turn|switch|invert|swap) (around|round|the"
        "|card)? (the)? "
        "(direction|order|way|rotation|flow)? (of)? (the)? (play|turn|game|around)?",
        "(direction|order|turn order) (of play)? (reverse|flip|change|switch|turn) (around)? "
        "(after|when|on|with) "
        "~ <rank> (be)? (played)?",
        "(play|playing) (a|an|any)? <rank> (reverse|flip|change|turn|switch) (the)? (direction"
        "|order) (of "
        "play)?",
        "reverse (card)? (rank|be|:) <rank>",
        "reverse (on|with) <rank>",
        denied="none",
    ),
    *choice("reverse_rank", "none", "(no|without|never) (reverse|reversing|reversal) (card|rank)?"),
    *rank(
        "draw_two_rank",
        "<rank> (card)? (make|force|cause|oblige|compel) (your|the|a)? (next)? (neighbour|neighbor"
        "|player|opponent|person) (on|to)? (the|your)? "
        "(left|right)? (to)? (draw|pick up|take|collect) (up)? 2 (card|extra card|more card"
        "|penalty card|more)?",
        f"{_PLAYED} (the)? (person|player|one|opponent|neighbour|next) (player|person)? (after"
        f"|behind|next to|following"
        "|to the left of|in line)? (them|him|you|it)? (must|have to)? (draw|pick up|take|collect) "
        "(up)? 2 (card|extra card|more card|penalty card|more)?",
        f"<rank> (card)? (make|force|cause|oblige)? {_NEXT} (to|must|has to)? (draw|pick up|take"
        "|collect) (up)? "
        "2 (card|extra card|more card|penalty card|more)?",
        f"(play|playing) (a|an|any)? <rank> (make|force|cause) {_NEXT} (to)? (draw|pick up|take) "
        "(up)? 2 (card)?",
        "<rank> (card)? (be)? (draw|pick up|take|plus) 2 (card)?",
        f"{_NEXT} (must|have to|has to)? (draw|pick up|take) (up)? 2 (card)? (after|when|on|if) "
        "~ <rank> (be)? (played)?",
        "draw 2 (card|rank)? (be|:) <rank>",
        denied="none",
    ),
    Phrase(
        f"<rank> (card)? (make|force|cause|oblige)? {_NEXT} (to|must|has to)? (draw|pick up|take"
        "|collect) (up)? "
        "<n> (card|extra card|more card|penalty card|more)?",
        lambda m: {"draw_two_rank": m.ranks[0], "penalty_cards": m.numbers[0]},
    ),
    *choice(
        "draw_two_rank",
        "none",
        "(no|without|never) (draw 2|draw two|pick up 2|penalty) (card|rank)?",
    ),
)
