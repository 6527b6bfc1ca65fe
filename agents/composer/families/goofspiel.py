"""Words of simultaneous bidding for prizes (goofspiel)."""

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
    Name("(goofspiel|goof spiel|game of pure strategy|gops)", ""),
    Name(
        "(simultaneous|secret|sealed|blind|hidden|closed) (bid|bidding|auction) (card)? game"
        "|(sealed"
        "|blind|simultaneous) (auction|bidding)",
        weight=9,
    ),
    Name("(bid|bidding|auction) game", weight=8),
)

_HINTS = {
    "prize": 5,
    "bid": 3,
    "auction": 6,
    "simultaneous": 5,
    "same time": 3,
    "at once": 2,
    "secret": 1,
    "sealed": 4,
}

_PRIZE = "(prize|reward|treasure|jewel|prize card|point card|lot|trophy|card)"
_SOME = "(2|two|several|some|both|the|more|top|best|highest|equal)"
_TIE = (
    f"({_SOME}? (player|bidder|bid)? (be)? (tie|tied|equal|the same)|tie|draw|equal bid|same bid"
    "|tied bid|a tied|bid tie|drawn bid|tied|equal)"
)

_PHRASES: tuple[Phrase, ...] = (
    *number(
        "cards",
        "(each|every)? (player)? (hand|bid|bidding)? (card)? (number|numbered|from|valued|of"
        "|with)? 1 (to|through|–|up to) <n>",
        "(bid|hand|bidding)? card (and|,)? (the)? (prize|prize card)? (both|all|alike)? (run|go"
        "|range)"
        " (from)? 1 (to|through|–|up to) <n>",
        at=-1,
    ),
    *number(
        "cards",
        f"(over|for|with|there be)? <n> (bidding|bid|numbered|different|hidden)? (card|{_PRIZE}) "
        "(each|apiece|per player|in hand|in total|on offer"
        "|up for grabs|to win|in each hand)?",
        "(@who|bidder|@each) (bidder|player)? (@deal|hold|holding|have) (a hand of)? <n> (bid"
        "|bidding|numbered)? card",
        "(each|every|the)? (hand|deck|suit|bid|prize) (card)? (run|go|range|running|ranging"
        "|numbered)"
        " (from)? 1 (to|through|–|up to) <n>",
        "(hand|suit) (size)? (of|be|:) <n> (card)?",
        "<n> card hand",
        "(each|every|both|all) (player)? (@deal) (with|out)? <n> (bidding|bid)? card",
        "<n> (round|bid|auction|turn|trick)",
        f"<n> (bid|bidding)? card (each|apiece|per player)? (and|,) (as many|an equal number of"
        f"|the same number of|<n>) {_PRIZE}",
    ),
    *choice(
        "cards",
        13,
        f"{_PRIZE}? (card)? (run|go|worth|valued)? (from|of)? (ace|1) (to|through|up to) king (in"
        f"|as)? (prize|value)?",
        "(a|one|whole|full|complete|the) suit (of card)? (each|apiece|per player|as hand)?",
        "(usual|standard|customary|normal) (prize|hand|card)",
    ),
    *choice(
        "prize_order",
        "random",
        f"{_PRIZE} (be|come|appear|turned|revealed|offered|drawn)? (up)? (in|at)? (a)? (random"
        "|shuffled|unknown|unpredictable) (order|sequence)?",
        f"(random|shuffled|randomly ordered) (order)? (of)? {_PRIZE}",
        f"(shuffle|shuffling) (the)? {_PRIZE}",
        "(random|shuffled) order",
        f"{_PRIZE}? (be|get)? (well)? (shuffle|shuffled|mixed)",
    ),
    *choice(
        "prize_order",
        "descending",
        f"{_PRIZE} ~ (descending|decreasing|falling|from (high|highest|biggest|largest) (to"
        "|down)) (order|low|lowest|smallest|value|the)? "
        "(low|lowest|smallest)?",
        f"(highest|biggest|largest|best|most valuable) {_PRIZE} (come|go|be|appear|is offered)? "
        f"first "
        "(,|and)? (then|down)? (the)? (next)? (best|highest)? (,|and)? (so on)? (,)? (down)? (to"
        "|until)? "
        "(the)? (lowest|smallest|least|cheapest|last)?",
        "(descending|decreasing) (order)?",
        "(high|highest) to (low|lowest)",
    ),
    *choice(
        "prize_order",
        "ascending",
        f"{_PRIZE} ~ (ascending|increasing|rising|from (low|lowest|smallest) (to|up)) (order"
        "|high|highest|largest|biggest|value|the)? "
        "(high|highest|biggest|largest)?",
        f"(lowest|smallest|least valuable|cheapest) {_PRIZE} (come|go|be|appear|is offered)? "
        f"(auction|offer|turn up)? first",
        "(ascending|increasing) (order)?",
        "(low|lowest) to (high|highest)",
    ),
    *choice(
        "tie",
        "discard",
        f"{_TIE} (throw|discard|burn|lose|remove) (the)? {_PRIZE} (away|out)?",
        f"{_TIE} ~~ (discard|discarded|lost|thrown away|destroyed|removed|burned|burnt|nobody|no "
        "one|wasted|gone|lose) (the)? "
        f"{_PRIZE}? (win|get|take)? (it|{_PRIZE})?",
        "(discard|throw away|burn|nobody (win|get|take)|no (one|player) (win|get|take)) (the"
        f"|a)? {_PRIZE}? (it)? (in case of|in|on|when|if|after|in "
        f"the event of) (a|there|bid)? (be)? {_TIE}",
    ),
    *choice(
        "tie",
        "carry",
        f"(top|highest|best|high) bid (be)? (equal|tied|the same|level|alike) ,? {_PRIZE} (stay"
        f"|remain"
        "|wait|carry|roll|be kept) (over|on)? (,|and)? (be)? (add|go|carry|roll|put)? (over"
        "|on)? (to"
        f"|with|into|onto)? (the)? (next)? (one|round|bid|{_PRIZE})?",
        f"tie (for|at) (the)? (highest|top|best|first) (bid|place)? ,? (the)? {_PRIZE} (carry"
        f"|roll|stay"
        f"|go) (over|on)? (to|with|into|for)? (the)? (next)? (one|round|bid|{_PRIZE})?",
        f"(tie|tied|equal) {_PRIZE} (stay|remain|carry|roll|be kept|go) (over|on)? (on the table"
        f"|in play)? (for|to|into)? (the)? (next)? (one|round|bid|auction)?",
        f"(when|if|after|on|in)? {_TIE} (be)? (equal|the same|identical)? ,? (the)? {_PRIZE}? (be"
        f"|get)? "
        f"(add|carry|roll|put|go|move|kept|keep|left|leave|pile) (over|on|up|forward)? (to|with"
        f"|for|onto|into)? "
        f"(the)? (next|following) (one|{_PRIZE}|round|bid|auction)?",
        f"{_TIE} ~~ (carry|carried|roll|rolled|accumulate|added|stay|pile|stays|kept) (over|to"
        "|up|on|forward)? (the|to)? (next)? "
        f"({_PRIZE}|round|one|bid|auction)? (over|forward)?",
        f"{_PRIZE} (carry|carried|roll|rolled) (over|to|forward) ~ (next)? (one|round)? (in case "
        f"of|in|on|when|if|after) (a|there)? (be)? {_TIE}",
        f"(carry|roll|carrying) (over|forward)? (the)? ({_PRIZE}|tie)? (over|forward) (in case "
        f"of|in|on|when|if|after)? (a)? {_TIE}?",
    ),
    *choice(
        "tie",
        "split",
        f"(tie|tied|equal) {_PRIZE} (be|get)? (split|share|divide|halve) (equally|evenly|between ~ "
        f"tied)?",
        f"(when|if|after|on|in)? {_TIE} (be)? (equal|the same)? ,? (they|players|bidder|both|all)? "
        f"(split"
        f"|share|divide|halve) (the|it)? {_PRIZE}? (equally|evenly|between them|among them)?",
        f"{_TIE} ~~ (split|share|shared|divide|divided|halved) (the)? {_PRIZE}? (equally|evenly"
        "|between them|among them)?",
        f"(split|share|divide) (the)? {_PRIZE} (equally|evenly|between them)? (in case of|in|on"
        "|when|if|after|between)? (a|the)? "
        f"({_TIE}|tied player)?",
        f"{_PRIZE} (be)? (split|shared|divided) (equally|evenly)? (in case of|in|on|when|if"
        f"|after|between|among)? (a|the)? ({_TIE}|tied player)?",
    ),
    *choice(
        "tie",
        "next_unique",
        "(highest|best|largest) (unique|unmatched|untied|different|not tied) bid (@win|take)?",
        f"{_TIE} ~~ (next|second) (highest|best) (unique|single|bid|player|bidder)? (take|win"
        f"|get)? (it|{_PRIZE})?",
    ),
    *choice(
        "returns",
        "points",
        "(score|return|result|payoff|count) (be|with|is)? (own|total|plain)? (point|prize value"
        "|sum)",
        "(point|value) (of|won)? (the)? (prize)? (count|be the score|scored)",
    ),
    *choice(
        "returns",
        "difference",
        "(score|payoff|result|return) (be|is)? (the)? (difference|margin) (in|of|between)? "
        "(points|score)?",
        "(margin|difference) (of victory)? (count|matter)",
        "zero sum",
    ),
    *choice(
        "returns",
        "win",
        "(highest|bigger|biggest|higher|best|larger|largest) (total of)? prize (total)? @win",
        "(most|highest|greatest number of) (point|score|total|prize|prize point) @win",
        "@who (with|have|who)? (the)? (most|highest) (point|score|total|prize) @win",
        "(only)? winning (count|matter)",
    ),
    *flag(
        "hidden_bids",
        "(with|have|use)? hidden bid (card)?",
        "(nobody|no one|no player|never|not|players) (ever|can|may)? (see|learn|know|find out|be "
        "told|be "
        "shown|shown|told) (what|which|how much|the) (card)? (the)? (other|others|rest|opponent"
        "|losing"
        "|loser)? (player)? (bid|play|played|have bid) (card)? (, (only|but)? (who|the winner"
        "|which player)? (win|won)?)?",
        "(only|just) (the)? (name of)? (who|winner|the winner) (win|won|be)? (announce|reveal|told"
        "|known"
        "|said|show)?",
        "(bid|losing bid|card played|played card) (be|stay|remain|kept)? (always)? (face down"
        "|hidden|secret|concealed|unrevealed|not revealed|"
        "never (shown|revealed)) (afterwards|after|throughout|forever|even after the bid)?",
        "(only)? (the)? winner (of (the|each) bid)? (be)? (announced|told|revealed|named) (only)?",
        "(hide|conceal) (the)? (all|losing)? bid",
    ),
    *own_negation(
        flag(
            "hidden_bids",
            "(bid|card) (be)? (always)? (revealed|open|public|shown|turned face up|face up) "
            "(afterwards|after|together|"
            "at once|simultaneously|to all)?",
            "(reveal|show) (the|all|their)? bid",
            value=False,
        )
    ),
    *always(
        "everybody bids a card at the same time and the highest bid takes the prize",
        "(player|everyone|everybody|all|both)? (bid|bidding|play|offer) (a|one)? (card)? "
        "(simultaneously|at the same time|secretly|in secret|at once"
        "|at one time|simultaneous|blind|blindly|face down)",
        f"(highest|best|biggest|largest) (bid|bidder|card) (@win|take|get) (the|each|a)? {_PRIZE}?",
        f"(bid|bidding|compete|auction) (card)? (for|on|over) (the|a|each)? {_PRIZE}",
        "(simultaneous|simultaneously|secret|secretly|sealed) (bid|bidding)?",
        "(each|every)? (bid|card) (can)? (be)? (used|spent|played) (only)? once",
    ),
)

LEXICON = Lexicon(
    family="goofspiel",
    title="bidding game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
