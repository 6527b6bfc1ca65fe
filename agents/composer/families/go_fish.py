"""Words of go fish."""

from agents.composer.families.dealing import full_pack, hand_size, short_pack
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

_NAMES = (
    Name("go fish"),
    Name(
        "(happy families|authors|quartets|quartett)",
        kin="that game's own pack is not in the library",
    ),
    Name("(asking|fishing) (card)? game", weight=8),
)

_HINTS = {
    "fish": 4,
    "ask": 4,
    "collect book": 4,
    "book": 2,
    "4 of a kind": 3,
    "collect pair": 3,
    "pond": 4,
}

_CATCH = (
    "(catch|catching|succeed|success|successful|hit|get|receive|correct|right|given|obtain"
    "|be given|obtaining)"
)

_PHRASES: tuple[Phrase, ...] = (
    *hand_size(),
    *number(
        "book_size",
        "(book|set|group|collection) (be|consist|made|contain|need|require|size)? (up)? (of|:"
        "|is)? <n> (card)? (of (a kind|"
        "the same (rank|value|number|kind)|one rank))?",
        "<n> (card)? of (a kind|the same (rank|value|number|kind)|one rank) (be|make|form"
        "|complete|as)? (a|each)? (book|set)?",
        "<n> (card)? (be|make|form|complete) (a)? (book|set)",
        "(collect|make|gather|complete|form|match) <n> of a kind",
        "(collect|gather|make) <n> <stop>",
        "<n> card (book|set)",
    ),
    *choice(
        "book_size",
        2,
        "(match|matching|collect|having|get)? (2|two) (card)? of (a|one|the same) (rank|kind) (be"
        "|make|count)? (enough)? (for|as)? (a)? (book|set)",
        "(just|only)? (2|two) (card)? (of (a kind|the same (rank|value|number))) (be|make|form"
        "|complete|count as)? (a)? (book|set)?",
        "(book|set) (be|are)? (of|made of)? (just)? (a|in)? pair",
        "(collect|make|gather|match|form|lay down|complete|with|of|for|count|score) (the|most"
        "|matching|as many)? pair (of "
        "(the same|equal) (rank|value))? (as book|instead of (book|four))?",
        "pair (be|count as|make|form) (a|the)? (book|set)",
    ),
    *choice(
        "book_size",
        3,
        "(book|set) (be|are)? (of|be made of|consist of)? 3 (card|of a kind)?",
        "3 (card)? of (a kind|the same (rank|value)) (be|make|form|complete|count as)? (a)? (book"
        "|set)?",
        "(book|set) (be|are)? (of)? (triple|triplet|trio)",
        "(collect|make|gather|match) (triple|triplet)",
    ),
    *choice("book_size", 4, "(collect|make|gather|complete|form)? (quartet|foursome|all 4 suit)"),
    *flag(
        "extra_turn_on_catch",
        f"@who? (who|that|you|if|when|after|a)? {_CATCH} (a|the|some|of)? (catch|card|one|ask"
        "|request|what (they|you) ask "
        "for)? (give|let|mean|earn|grant|allow|get|have|take)? (you|them)? (an|another)? (extra"
        "|another|additional|second|"
        "more) (turn|go|ask|question|try)",
        "(extra|another|additional|more|bonus) (turn|go|ask) (on|after|for|when|if|following"
        "|upon) (a|an|they|you)? "
        f"{_CATCH} (catch|ask|card|guess|request)?",
        f"(ask|go|play|turn) again (on|after|when|if|for) (a|they|you)? {_CATCH} (card|catch|ask)?",
        f"@who? (who)? {_CATCH} (a)? (card|catch)? (ask|go|play|move) again",
        f"{_CATCH} (a)? (card|catch)? (keep|retain) (the|their|your)? turn",
        f"(@who|child)? (if|when|whenever|who)? (you|they)? {_CATCH} (the|a)? (card|what|one"
        f"|rank)? "
        "(that|you|they)? ask (for)? ,? (you|they)? (may|can)? (go|ask|play|move|turn) again",
        f"(@who|child)? (if|when|whenever|who)? (you|they|u)? {_CATCH} (the|a)? (card|what|one"
        f"|rank)? "
        "(that|you|they|u)? ask (for)? ,? (you|they|u)? (get|take|have) (another|extra|one more) "
        "(turn|go)",
        "ask (well|right|successfully) (,|and)? (you|they)? (may|can)? ask again",
    ),
    *own_negation(
        flag(
            "extra_turn_on_catch",
            "(turn)? (always)? (end|over|pass|pass on|finish) (after|with|even after) (each"
            "|every|one|a single|any|an|a|1) (ask|"
            f"question|request|{_CATCH}) (whether|even|regardless)?",
            "(no|without|not|never) (get|have)? (an|any)? (extra|another|additional|bonus) "
            "(turn|go|ask) ((on|after|for|when|if|"
            f"following|upon) ~ {_CATCH} (card|catch|ask|guess)?)?",
            "(one|1|only one|a single) (ask|question|request) (per|a|each|every) turn",
            f"{_CATCH} (catch|ask|card|guess|request)? (do)? (not|never) (give|earn|mean|bring"
            f"|grant|get"
            "|allow|entitle|buy|win) (you|a player|the asker|them)? (to)? (an|another|any)? (extra"
            "|another|second|more)? (turn|go|ask)",
            f"(even)? (if|when|after|whenever)? (you|@who)? {_CATCH} (a|the|any)? (card|match)? ,? "
            f"(the|your)? "
            "(turn|play|it) (still|always)? (move|pass|go|end) (on|over|to)? (the)? (next)? "
            "(player)?",
            "(even)? (after|if|when) (a)? successful ask ,? (the)? (turn|play) (pass|go|move) "
            "(on)? (to)? "
            "(the)? (next)? (player)?",
            f"(no|not|never) (ask|go|play) again (after|when|if|on)? ~ {_CATCH}? (card|catch)?",
            value=False,
        )
    ),
    *flag(
        "extra_turn_on_fish",
        "(draw|fish|drawing|fishing) (the|what|a|up)? (card|rank|what)? (you|they|just)? (ask"
        "|asked|want|wanted|requested) (for)? "
        "~ (extra|another|again|additional) (turn|go|ask)?",
        "(extra|another|additional|bonus) (turn|go) ~ (draw|fish|drawing|fishing) ~ (rank|card"
        "|asked|wanted)",
    ),
    *flag(
        "end_when_out",
        "(game|match|it|play)? (end|over|stop|finish) (as soon as|when|once|if|the moment) (a|any"
        "|one|some|the first)? "
        "@who (be|run|go|have|has) (out|no card|no more card|empty|nothing) (of card|card)? "
        "(left)?",
        "(game|match|it|play)? (end|over|stop|finish) (as soon as|when|once|if|the moment) (a"
        "|any|one|some)? "
        "(player|@who) (be|run|go|have|has|lay)? (out|no card|no more card|empty|last) (of card"
        "|left|hand)?",
    ),
    *number("ranks", "<n> (different|distinct)? (rank|value)", "(deck|pack) (of|with) <n> rank"),
    *number(
        "suits",
        "<n> (suit|copy|copies) (of|for)? (each|every)? (rank|card)?",
        "<n> card of (each|every) rank",
    ),
    *full_pack({"ranks": 13, "suits": 4}),
    *short_pack({"ranks": 8, "suits": 4}),
    *choice(
        "scoring",
        "most_books",
        "(most|greatest number of) (book|set|pair) @win?",
        "@who (with|have|collect|hold|make) (the)? most (book|set|pair) @win?",
        "(@who)? (with)? (the)? (most|largest number of|biggest number of) (book|set|4) (of 4)? "
        "(be)? "
        "(the)? (@win|winner)",
    ),
    *choice(
        "scoring",
        "books",
        "(each|every|a) (book|set|pair) (be)? (@worth|score) (1|a|one) @points?",
        "(1|one|a) point (per|for|a|each) (each|every)? (book|set|pair)",
    ),
    *always(
        "a player asks another for a rank and draws when there is none",
        "(ask|asking|request|beg) (each other|one another|another player|other player|other"
        "|opponent|someone|for)? (for)? (card|"
        "rank|a rank|number|a number|specific card|particular rank)? (of (a|the same) rank)?",
        "(draw|fish|take|pick) (a|one|up)? (card)? (from (the)? (pile|pond|pool|stock|deck))? "
        "(if|when) (they|the|there|you|the answer)? "
        "(other|opponent|answer)? (not have|have none|is no|be none|say no)? (it|any|one|none)?",
        "(the)? (other|opponent|player|he|she|they|one)? (if|when) (the)? (other|opponent|player"
        "|he|she"
        "|they|one|you)? (have|has|be) (none|no|nothing|out|not any|without) ,? (you|he|they)? "
        "(must|have to)? (go fish|fish|draw|take a card)?",
        "(ask|asking|request) (a|any|another|the|your)? (other)? (player|opponent|neighbour"
        "|somebody|someone|friend)? (for|about)? (a|the|some)? (rank|card|number|value)",
        "(collect|collecting|gather|make|lay down|complete) (the|full|complete)? (book|set) (of "
        "(card|rank))?",
    ),
)

LEXICON = Lexicon(
    family="go_fish",
    title="go-fish game",
    players=3,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
