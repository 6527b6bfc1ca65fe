"""Words for hands, deals and targets that several card families share."""

from agents.composer.lexicon import Phrase, Settings, number, own_negation, sets

_HEAD = (
    "(apiece|each|(per|a|every) (player|person|head|hand|seat|man|side|one)|everyone|everybody"
    "|(to|for|in|into|on) (a|the|each|every) (player|person|head|hand|seat|man|side|one)"
    "|(to|for) (everyone|everybody|each|all|them all|all of them))"
)
_LOW = "(low|lower|lowest|small|smaller|little) card"
_GONE = (
    "(remove|strip|strip out|take out|leave out|left out|taken out|without|drop|throw out|thrown"
    " out|discard|set aside|minus|out|gone|missing|no)"
)


def full_pack(settings: Settings) -> tuple[Phrase, ...]:
    """The standard pack of 52, by its name or by what is in it."""
    kind = "(52|standard|ordinary|normal|regular|full|french|whole|complete|poker|usual|customary)"
    return sets(
        settings,
        f"(full|single|1|one|standard|ordinary|normal|regular)? {kind} card? (playing)? card? "
        f"(deck|pack)",
        "all? (the)? 52 card?",
        "(deck|pack) (of|with)? (all)? 52 card?",
        f"{kind} (playing)? card",
        "(from)? (2|ace) (to|through|up to) (ace|king) (in|of)? (each|every|the)? (4)? (suit)?",
        "(club|diamond|heart|spade) ,? (club|diamond|heart|spade) ,? (club|diamond|heart|spade) ,? "
        "and (club|diamond|heart|spade)",
        "(all|the)? 4 suit (of 13 (card|rank)? (each)?)?",
        "13 (rank|card) (in|per|of) (each|a|every|4)? suit",
        "(one|1|single|just one) (standard|normal|usual|ordinary|regular) (deck|pack)",
    )


def short_pack(settings: Settings) -> tuple[Phrase, ...]:
    """The pack of 32, by its name, by its lowest card or by what is left out."""
    up = "(up|upward|upwards|through ace|to ace|and up|and above|or (higher|above|better|more)|and "
    up += "(higher|above|better|more))"
    pack = "(deck|pack|card)"
    return sets(
        settings,
        f"(32|short|skat|piquet|shortened|reduced|small|smaller|stripped) card? card? {pack}",
        f"{pack}? (of|with)? (just|only)? 32 card?",
        f"{pack}? (from|of|only|using|start|start at|start from|begin at)? (only)? 7 {up} (only)?",
        f"{pack}? (from|of)? (7|the 7) (to|through) (the)? ace",
        "(only|just)? (the)? 32 card from (the)? 7 (up|through) (to)? (the)? ace",
        "(only)? (card)? (from)? 7 (as|is|be) (the)? lowest (card)?",
        f"{_GONE} ~ (2|two) (through|to|–|up to) (the)? 6 {_GONE}? ({pack})?",
        f"{_LOW} (,)? ((from)? 2 (through|to|–|up to) (the)? 6 ,?)? (be)? {_GONE} ({pack})?",
        f"(2|two) (through|to|–|up to) (the)? 6 (be|are)? {_GONE} ({pack})?",
        f"(everything|all|all card|any card|card|anything) (below|under|beneath|lower than|less "
        f"than|smaller than) (the|a)? 7 (be)? {_GONE} (from|of)? {pack}?",
        f"{_GONE} (of)? (everything|all|all card|any card|card|anything)? (below|under|beneath"
        f"|lower than|less than|smaller than) (the|a)? 7 (from|of)? {pack}?",
        "(no|nothing|without) (card)? (below|under|lower than) (the|a)? 7",
        f"{pack}? {_GONE} (of|from)? (all|its|the)? {_LOW}",
        f"{_LOW} {_GONE}",
        "card (lower|below|under|smaller|beneath) (than)? (the|a)? 7 (be)? (not|never) (use|play"
        "|deal|include|need|in play)",
        "(2|two|low card) ((through|to|–|up to) (the)? 6)? (be|stay|remain)? (leave|put|stay|set) "
        "(in|aside|behind|away) (box)?",
    )


def hand_size(name: str = "hand_size") -> tuple[Phrase, ...]:
    """How many cards each player is dealt."""
    return number(
        name,
        f"(@who|@each)? (@deal|hold|holding|dealing|dealt|go|handed|given)? <n> card? (be|is|are)? "
        f"(@deal|go|handed|given|dealt)? (out|over)? {_HEAD} (@deal|begin|start)?",
        "(@who|@each) (hold|holding|have|having|carry|keep|get|getting|receive|start with|begin "
        "with|own|given|dealt|be dealt|be given) (out|a hand of|hand of)? <n> (card)? (in hand)?",
        "(with|of|use|from|in|deal|dealing)? hand (of|be|with|size|contain) (just|only)? <n> card?",
        "(hold|holding|with) (a hand of)? <n> card (in hand)?",
        "(hold|holding) <n> <end>",
        "(start|begin|deal|open) (with|out)? (@each)? (hand of)? <n> card? (in hand|to begin with"
        "|to start with|at the start)?",
        "(@who|@each)? (receive|get|have|hold|dealt|given) <n> card to (begin|start) with?",
        "@each? (start|starting|initial|opening|beginning)? hand (size|length) (be|of|:|with|at)? "
        "<n> card? @each?",
        "@each? (start|starting|initial|opening|beginning)? hand (be|of|:|with|hold|contain|have"
        "|number"
        "|consist|make|made) (up)? (of)? <n> card? @each?",
        "(play|played|with)? (with)? <n> card (starting|initial|opening|beginning)? hand",
        "(start|starting|initial|opening) (hand|deal) (size)? (be|of|:)? <n> card?",
        "@each? (player|person|one)? (@deal) (out|with|off|in)? ~ <n> card (to)? @each? (player)?",
        "<n> card (be)? (@deal)? (out)? @each (to|at)? (start|begin|player|beginning)?",
        "(@deal|dealing|with) (@each)? (player)? <n> card? @each",
        "@deal (everyone|everybody|them|players|all|each|both|every) ~ <n> (card)?",
        "<n> (card|be) dealt (out)? (to)? @each?",
        "<n> card (in|on|into|per|a|to) (the|each|every|a)? (starting)? hand",
        "hand size (be|of|:|to)? <n>",
        "<n> (card)? @each <end>",
        "with <n> card <end>",
        "<start> <n> card to (start|begin) (with)?",
        "<n> card to (start|begin) with",
        "<n> card (game of|match of)? <game>",
        "(full)? deal of <n> card?",
        "(start|begin|play|open) with <n> card",
    )


def bare_hand(name: str = "hand_size") -> tuple[Phrase, ...]:
    """A part of the brief that is a number of cards and no more: "four players, 7 cards"."""
    return number(name, "<start> (with)? <n> card <end>")


def target_score(name: str = "target_score") -> tuple[Phrase, ...]:
    """The score that ends or wins the match."""
    return number(
        name,
        "(first|1st|race|play|playing|game|match|up|go|continue|played) (@who)? (be|go|play|up|race"
        "|continue)? (to|until|till|past|at) (@reach)? ~ <n> @points? (@win (the|a)? (game"
        "|match)?)?",
        "(keep|go on|continue) (deal|play) (new|more|further|another)? (round|hand|deal)? until ~ "
        "@reach <n> @points?",
        "first (@who)? (to|who|that)? @reach (to|at|up)? (or|past|over|a total of|at least)? (pass"
        "|exceed)? <n> @points? (@win (the|a)? (game|match|it|all)?)?",
        "(whoever|@who|team|the first) (to|who|that)? @reach (to|at)? <n> @points? (first)? (@win) "
        "(the|a)? (game|match)?",
        "(target|goal|winning|end|ending|final|limit|finishing) (score|total|of|point|threshold"
        "|number)? (score|total|point)? (be|of|:|at)? <n> @points?",
        "<n> @points? (be)? (need|require|enough|necessary|the target|target|goal)? (to|for)? "
        "(the)? "
        "(@win|victory|the win) (the|a)? (game|match)?",
        "(@win|game end|match end|game over|ends|stop|finish|over|conclude) (is|comes)? (at|on"
        "|when|once"
        "|as soon as|after|with|by|upon)? ~ (@reach|reaching|scoring)? <n> @points",
        "(game|match|play) (is|be)? (end|over|stop|finish|conclude) ~~ (@reach) <n> @points?",
        "(until|till) ~ (@reach) <n> @points?",
        "(need|require) <n> @points? (to)? @win?",
        "(to|for) <n> @points (@win (the)? (game|match)?)?",
        "<n> point (game|match)",
        "(reach|reaching) <n> @points? (first)? (@win) (the)? (game)?",
        "(score|point) limit (be|of|:)? <n>",
        "(reach|get to|score|collect) <n> @points? first (@win)?",
        "(game|match|play)? to <n> @points? <end>",
        "(game|match|target|goal|limit|score to reach|winning post|finish line) (score)? (be|stand"
        "|lie|sit)? (set|fixed)? "
        "(at|to)? <n> @points? <end>",
        "(@who|somebody|someone) (who|that)? (@reach|get|hit|come|climb|arrive|make it|pass|cross) "
        "(to|at|up to)? (a total of|a score of)? <n> @points? (first)? (@win|be)? (the)? (game"
        "|match|winner)?",
        "(winner|victory|victor|champion) (be|go|belong)? (to)? (@who)? (who|that)? (@reach|get|hit"
        "|come|climb|arrive|make it) (to|at|up to)? <n> @points? (first)?",
        "(as soon as|when|once|until|till|the moment|after) (@who|somebody|someone|a side|one side"
        "|team)? (have|has)? (@reach|get|hit|come to|climb to|pass|cross) (to|at|up to)? <n> "
        "@points?",
        "(@win|game end|match end|game over|ends|ending|stop|stopping|finish|over|conclude) (is"
        "|comes)? (at|on|when|once|as soon as|after|with|by|upon|the moment)? (@who|somebody"
        "|someone|a side|one side|team)? (@reach|reaching|hit|get to|come to|pass) <n> @points?",
        "(play|go|race|playing|racing|played|run|last|continue|carry on) (up)? (to|until|till) "
        "(someone|somebody|a player|anyone|one side)? (@reach|have|hit)? (a score of|a total of)? "
        "<n> @points?",
        "(need|require|want|take) <n> @points? (to|for) (the)? @win",
        "(up to|at) <n> @points <end>",
        "<n> @points? (be) (the)? (goal|target|aim|limit|winning score|finish line|finish)",
        "first (@who)? (be|get|go)? (over|across|past) (the|a)? (line|post|mark) (at|of) <n> "
        "@points? (@win)?",
    )


def deals(name: str = "deals") -> tuple[Phrase, ...]:
    """How many deals a match has."""
    hand = "(deal|hand|round)"
    return own_negation(
        number(
            name,
            f"(over|in|of|for|play|played|last|across|after|consist|exactly|comprise|through|run"
            f"|stop after|end after|altogether)? (of|for|over|at)? <n> (full|complete|different"
            f"|separate)? {hand} (long|of play|each"
            "|in total|total|are played)?",
            f"(best|total|sum) (of|over|total)? <n> {hand}",
            f"(game|match) (end|be over|finish|stop) (after|with) <n> {hand}",
            f"number of {hand} (be|of|:)? <n>",
        )
    )


def single_deal(name: str = "deals") -> tuple[Phrase, ...]:
    """A match of one deal only."""
    return own_negation(
        tuple(
            Phrase(pattern, lambda _: {name: 1})
            for pattern in (
                "(a|just|only)? (single|lone|sole) (deal|hand|round)",
                "(just|only) (1|a) (deal|hand|round)",
            )
        )
    )
