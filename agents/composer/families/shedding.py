"""Words of shedding games (the crazy-eights family)."""

from agents.composer.families.dealing import full_pack, short_pack
from agents.composer.families.shedding_ranks import RANKS
from agents.composer.families.shedding_scores import SCORES
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    choice,
    flag,
    number,
    own_negation,
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
            "(draw|drawing) (be)? (optional|voluntary|allowed|permitted) (even|also)? (if|when"
            "|though)? (they|you)? (can|could|able)? (to)? (play)?",
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
        "(shuffle|mix|combine)? <n> (standard|full|whole|shuffled)? (deck|pack) (of card)? "
        "(shuffled|mixed|combined)? (into one|together)?",
    ),
    *choice("decks", 2, "(double|both) (deck|pack)"),
    *choice("decks", 1, "(a|just)? (single|one) (deck|pack) (of card)?"),
    *flag(
        "reshuffle",
        "(reshuffle|reshuffling|shuffle) (the|of)? (discard|discard pile|pile|stock) ~ (out|empty"
        "|new"
        "|again|back)?",
        "reshuffle",
        "(discard|discards) ~ (reshuffled|shuffled) ~ (stock|pile|deck)?",
    ),
)

LEXICON = Lexicon(
    family="shedding",
    title="shedding game",
    players=4,
    names=_NAMES,
    hints=_HINTS,
    phrases=(*RANKS, *_PLAY, *SCORES),
)
