"""Words of shedding games (the crazy-eights family)."""

from agents.composer.families.dealing import full_pack, short_pack
from agents.composer.families.shedding_scores import SCORES
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    choice,
    flag,
    number,
    own_negation,
    rank,
)

_NAMES = (
    Name("crazy (8|eights)", "crazy_eights"),
    Name(
        "(uno|mau mau|maumau|switch game|game of switch|play switch|taki|last card game|black jack "
        "switch|whot|pesten|czech eights|macau)",
        kin="that game's own pack and special cards are not in the library",
    ),
    Name("(shedding|shed|climbing) (card|type|style)? game?", weight=10),
    Name("(shed|shedding) (your|their|all|the)? (hand|card)", weight=6),
)

_HINTS = {
    "wild": 5,
    "skip": 4,
    "reverse": 4,
    "draw 2": 4,
    "get rid of": 5,
    "shed": 5,
    "empty hand": 4,
    "discard pile": 2,
    "match": 2,
    "color": 1,
    "run out of card": 4,
    "go out": 2,
    "8 be wild": 3,
    "miss turn": 3,
    "miss a turn": 3,
    "out of card": 3,
}

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

_RANKS: tuple[Phrase, ...] = (
    *rank(
        "wild_rank",
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
        "<rank> (let|allow) (you|player|who)? ~ (choose|name|change|pick|call) ~ (suit)",
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

_PLAY: tuple[Phrase, ...] = (
    *flag(
        "stacking",
        "(draw|penalty|pick up|plus) (2|two|card) (card)? (can|may)? (be)? (stack|stacked|pass"
        "|passed|add up)"
        " (on)?",
        "(stack|stacking|chain) (be|of)? (draw 2|penalty|allow|allowed|permitted|the penalty"
        "|draw card)? (card)?",
    ),
    *flag(
        "must_play",
        "(player)? (must|have to|obliged to|forced to) play (a card)? (if|when|whenever) (they"
        "|you|it)? ("
        "can|possible|able)?",
        "(forced|compulsory|mandatory|obligatory) play",
    ),
    *own_negation(
        flag(
            "must_play",
            "(may|can|allowed to|free to) (choose to)? draw (even)? (if|when|though|although) "
            "(they|you)? ~ "
            "(can|could|able) (to)? play",
            "(play|playing) (be)? (optional|voluntary|not compulsory|not mandatory)",
            "draw (a card)? instead of play",
            value=False,
        )
    ),
    *number(
        "draws_per_turn",
        "(draw|drawing|pick up|take) (up to|at most|only|a maximum of|just)? <an> (card)? (if"
        "|when|a|per|each|every"
        "|in|whenever|before) (a|the|they|you|player|nothing|your)? (turn|stuck|not|no|pass"
        "|passing|play)? "
        "(can)? (not)? (play|match|fit|playable|move|go|follow)? (card)? (possible)?",
        "(draw|drawing|take|pick up) (up to|at most|only|a maximum of|just) <an> card",
        "<an> (draw|card) (limit|maximum) (per|a|each) turn",
    ),
    *flag(
        "draw_until_playable",
        "(@who|anyone) (who)? (cannot|can not|not able to|unable to|have nothing to) (go|play|move"
        "|match|follow|fit)? (must|have to)? (keep|continue|go on) (draw|take|pick up|picking"
        "|taking|drawing) (up)? (card)? (until|till) (one|it|a card|something|they|you|he)? (be"
        "|can|get)? (fit|match|go|play|playable|work|suitable|possible)",
        "(keep|continue|go on)? (draw|drawing|pick up|pick|take|picking) (up)? (card)? until ~~ "
        "(play|playable|match"
        "|fit|go|playing|usable|suitable|legal|possible)",
        "(keep|continue|go on) (draw|drawing|picking up|taking) (card)? (until|till)? ~~ (play"
        "|playable|match)?",
        "draw (card)? (as (many|long) as)? (until|till|need|needed|necessary|required) ~ (play"
        "|playable|match)?",
    ),
    *own_negation(
        flag(
            "draw_until_playable",
            "(not|never|no need to) (keep|continue) (draw|drawing|picking up)",
            value=False,
        )
    ),
    *choice(
        "match",
        "suit_or_rank",
        "(match|matching|same|share) ~ (suit|color|colour) or (rank|number|value|face)",
        "(match|matching|same|share) ~ (rank|number|value|face) or (suit|color|colour)",
        "(follow|by|on) suit or (rank|number|value)",
        "(follow|by|on) (rank|number|value) or suit",
    ),
    *choice(
        "match",
        "suit",
        "(match|matching|play|follow|playable)? (only|just) ~ (by|on|the|same|in)? suit (only"
        "|alone|match|count|matter)?",
        "(match|matching|same) (by|on|the|in)? suit (only|alone|not rank|and not rank)?",
        "suit (only|alone) (count|matter|match)?",
        "(rank|number|value) (do)? not (count|matter|match)",
        "(match|follow) (the)? suit (of)? (the)? (top|previous|last) (card)?",
    ),
    *choice(
        "match",
        "rank",
        "(match|matching|same) (only)? (by|on|the|in)? (rank|number|value) (only|alone)?",
        "(rank|number|value) (only|alone) (count|matter|match)?",
        "suit (do)? not (count|matter|match)",
        "(match|follow) (the)? (rank|number|value) (of)? (the)? (top|previous|last) (card)?",
    ),
    *choice(
        "direction",
        "counterclockwise",
        "(counter clockwise|counterclockwise|anticlockwise|anti clockwise|"
        "to the right|widdershins)",
        "(play|turn|game|order|direction) (pass|go|move|run|rotate|travel|passing|going) (to"
        "|around)? "
        "(the)? (right|counterclockwise|anticlockwise)",
    ),
    *choice(
        "direction",
        "clockwise",
        "clockwise",
        "(play|turn|game) (pass|go|move|run|rotate|travel|passing|going) (to)? (the)? left",
        "(play|turn) (go|pass|move|run) clockwise",
    ),
    *short_pack({"deck": "short"}),
    *full_pack({"deck": "standard"}),
    *number(
        "decks",
        "<n> (standard|full|whole|shuffled)? (deck|pack) (of card)? (shuffled|mixed)? (together)?",
    ),
    *choice("decks", 2, "(double|both) (deck|pack)"),
    *choice("decks", 1, "(a|just)? (single|one) (deck|pack) (of card)?"),
    *flag(
        "reshuffle",
        "(reshuffle|reshuffling|shuffle) (the|of)? (discard|discard pile|pile|it|stock)? ~ (out"
        "|empty|"
        "new|again|back)?",
        "(discard|discards) ~ (reshuffled|shuffled) ~ (stock|pile|deck)?",
    ),
)

LEXICON = Lexicon(
    family="shedding",
    title="shedding game",
    players=4,
    names=_NAMES,
    hints=_HINTS,
    phrases=(*_RANKS, *_PLAY, *SCORES),
)
