"""Words of small poker games."""

from collections.abc import Callable, Sequence

from agents.composer.lexicon import (
    PLAYERS,
    Lexicon,
    Name,
    Phrase,
    Settings,
    always,
    choice,
    flag,
    number,
    refused,
)
from agents.composer.patterns import Match
from games.contract import Json

_NAMES = (
    Name("kuhn (poker)?", "kuhn_poker", weight=22),
    Name("leduc (holdem|hold em|hold|poker)? (poker)?", "leduc_poker", weight=22),
    Name("(poker|bluffing game|betting game|bluff game|game of bluff)", weight=10),
)

_HINTS = {
    "bluff": 6,
    "bet": 5,
    "ante": 6,
    "fold": 6,
    "raise": 4,
    "call": 1,
    "pot": 5,
    "showdown": 5,
    "chip": 2,
    "wager": 5,
    "stake": 2,
    "community card": 5,
}


def _bets(match: Match) -> Settings:
    return {"bets": ",".join(str(n) for n in match.numbers)}


def _deck(match: Match) -> Settings:
    return {_CARDS: match.numbers[0]}


def in_context(base: Settings, said: Sequence[Settings]) -> Callable[[Settings], Settings]:
    """How many ranks a number of cards is; as many ranks as the game has anyway are left so."""
    merged: dict[str, Json] = {**base}
    for settings in said:
        merged |= settings
    copies, players = merged.get("suits"), merged.get(PLAYERS, LEXICON.players)

    def understood(settings: Settings) -> Settings:
        result = {**settings}
        cards = result.pop(_CARDS, None)
        if isinstance(cards, int):
            whole = isinstance(copies, int) and copies > 0 and cards % copies == 0
            many = copies if isinstance(copies, int) and whole and cards // copies > _FEW else 1
            result |= {"ranks": cards // many, "suits": many}
        usual = base.get("ranks") == 0 and isinstance(players, int)
        if usual and isinstance(players, int) and result.get("ranks") == players + 1:
            result["ranks"] = 0
        return result

    return understood


def _ladder(match: Match) -> Settings:
    return {"ranks": match.numbers[0]}


_CARDS = "deck_cards"
"""Resolved by `in_context`: no parameter of the family, the size of the deck."""
_FEW = 2
_CHIP = "(chip|coin|unit|token|point|dollar|pound|euro|cent)"
_ROUND = "(betting|bet|bidding|wagering)"

_PHRASES: tuple[Phrase, ...] = (
    *number(
        "ranks",
        "<n> (different|distinct|unique)? (card)? (rank|value)",
        "(deck|pack) (of|with|has|contain|uses)? <n> (different)? rank",
    ),
    Phrase("(with)? <n> card (deck|pack)", _deck),
    Phrase("<n> card in (the|a)? (deck|pack)", _deck),
    Phrase(
        "(deck|pack) (of|with|contain|have|hold) (only|just)? <n> (different)? card",
        _deck,
    ),
    Phrase("(deck|pack) (be|consist of|number|count) (only|just)? <n> card", _deck),
    Phrase("(only|just)? <n> card (only|in all|altogether)? <stop>", _deck),
    Phrase(
        "10 ,? jack (,)? queen (,)? (and)? king",
        lambda _: {"ranks": 4},
    ),
    Phrase("(only)? king (,)? queen (,)? (and)? jack", lambda _: {"ranks": 3}),
    Phrase("<n> card poker", lambda m: {"ranks": m.numbers[0], "suits": 1}),
    Phrase(
        "(only)? (a)? (the)? jack (,)? (a)? queen (,)? (and)? (a)? king", lambda _: {"ranks": 3}
    ),
    Phrase(
        "<n> jack (,|and)? <n> queen (,|and|, and)? <n> king",
        lambda m: {"ranks": 3, "suits": m.numbers[0] if len(set(m.numbers)) == 1 else 0},
    ),
    *number(
        "suits",
        "<n> (copy|suit|copies) (of|for)? (each|every)? (rank|card|value)?",
        "(each|every) (rank|card|value) (appear|come|be|exist)? <n> (time|copy|copies)",
        "<n> suit",
    ),
    *choice(
        "suits",
        2,
        "(each|every) (rank|card) (appear|come|be)? twice",
        "2 of (each|every) (rank|card)?",
        "pair of (each|every) (rank|card)",
    ),
    *choice(
        "suits",
        1,
        "(each|every) (rank|card) (appear|come|be)? once",
        "(one|1|single) (copy|card) of (each|every) (rank|card)?",
        "(only)? (a|one)? single suit",
    ),
    *number(
        "hand_size",
        "<n> (hidden|private|hole|secret|face down) card (each|apiece|per player|in hand)?",
        "@each? (player)? (@deal) ~ <n> (hidden|private|hole|secret|face down)? card (each"
        "|apiece|per player)?",
        "<n> card (each|apiece|per player|in hand)",
        "(hand|hand size) (size)? (of|be|:) <n> (card)?",
        "<n> card hand",
    ),
    *choice(
        "hand_size", 1, "(a|one|single) (hidden|private|hole|secret) card (each|apiece|per player)?"
    ),
    *number(
        "rounds",
        f"<n> (round|street) (of)? {_ROUND}?",
        f"<n> {_ROUND} (round|street)",
        f"number of {_ROUND}? round (be|of|:)? <n>",
    ),
    *choice(
        "rounds", 1, f"(a|one|only|just)? (single|one) {_ROUND}? (round|street) (of {_ROUND})?"
    ),
    *choice("board", "0", "(no|without) (community|board|shared|open|public|common|table) card"),
    Phrase(
        "<n> (community|board|shared|public|common|open|face up) card (be)? (turned|dealt"
        "|revealed|shown|opened)? (up)? "
        "(after|before|between|in|on)? (the)? (first|second|1st)? (round)?",
        lambda m: {"board": f"0,{m.numbers[0]}"},
    ),
    Phrase(
        "(a|one|single) (community|board|shared|public|common|open|face up) card",
        lambda _: {"board": "0,1"},
    ),
    *number(
        "ante",
        f"(cost|pay|price be) <n> {_CHIP}? (to|for) (be|get|have)? (dealt|deal|play|a hand|a card"
        f"|in|enter) (in)?",
        f"<n> {_CHIP}? (each|apiece|per (player|head))? (to|for) (enter|join|start|open|get into"
        f"|buy into|be in|enter into) (the|a)? (pot|hand|deal|game)?",
        f"(before (the|each|every)? (deal|hand|card)? (be|is)? (deal|dealt)?)? ,? (each|every|all"
        f"|everyone|everybody|both)? "
        f"(player)? (must|have to)? (put|pay|place|throw|chip|contribute) (in)? <n> {_CHIP}? "
        "(in|into|to|towards)? (the)? (pot|ante|middle|centre)? (before (the|each|every)? (deal"
        "|hand))?",
        f"(an)? ante (of|be|:|is)? <n> {_CHIP}?",
        f"<n> {_CHIP}? ante",
        f"(each|every|all)? (player)? (ante|antes) (up|is|of)? <n> {_CHIP}?",
        f"(each|every) (player)? (put|pay|place|throw) (in)? <n> {_CHIP}? (in|into)? (the)? (pot"
        "|ante)?",
        zero=0,
    ),
    *choice(
        "ante",
        0,
        "(no|without|zero) ante",
        "(nobody|no one|no player) (pay|put|place|post) (an|any)? ante",
    ),
    *number("ante", f"ante (be)? (raise|set|fix|increase|lower) (to|at) <n> {_CHIP}?"),
    Phrase(
        "(bet|wager|stake) (size)? (of|be|:|is|are|worth|fixed at|fixed)? <n> (and|then|,|or|/) "
        f"<n> {_CHIP}?",
        _bets,
    ),
    Phrase(
        "(all|every|each|fixed)? (bet|wager|raise|stake) (size)? (of|be|:|is|worth|fixed at"
        f"|cost)? <n> {_CHIP}?",
        _bets,
    ),
    Phrase(
        f"(bet|raise|wager) <n> {_CHIP}? (in the first round)? (and|then) <n> {_CHIP}? (in the "
        "second)?",
        _bets,
    ),
    Phrase(f"<n> {_CHIP}? (bet|raise|wager)", _bets),
    *number(
        "max_raises",
        "(at most|up to|no more than|maximum of|max|limit of|only)? <n> (bet and)? raise (each|a"
        "|per|in a|every|allowed)? "
        "(round|street)?",
        "(raise|raising) (limit|cap) (of|be|:)? <n>",
        "<n> (bet|raise) (maximum|at most|limit|cap) (each|a|per)? (round)?",
    ),
    *choice(
        "max_raises",
        1,
        "(re)? (raise|raising|reraise) (be)? (not|never) (be)? (allow|allowed|permit|permitted"
        "|possible)?",
        "(nobody|no one|no player) (may|can)? (raise|reraise)",
        "(no more than|at most|only|just) (a|1|one)? (single)? raise (in|per|a|each)? (a|each"
        "|every)? (betting)? (round)?",
        "(no|without|never|not) (re)? (raise|raising|reraise|reraising)",
        "(single|one) (bet|raise) (per|a|each|in) (round|deal)?",
    ),
    *flag(
        "lowest_wins",
        "(pot|chip|money|stake) (go|be won|fall|be paid|belong|be taken) (to|by)? (the|whoever "
        "hold the|whoever have"
        " the)? (lowest|worst|weakest|low|smallest|poorest) (hand|card)?",
        "(lowest|worst|weakest|low|smallest) (hand|card) (take|win|get)? (the)? (pot|showdown"
        "|game)? @win?",
        "(lowball|low ball)",
    ),
    *always(
        "the best hand left wins the pot at the showdown",
        "(highest|best|strongest|high|higher) (hand|card) (take|win|get) (the)? (pot|showdown"
        "|game|it|all)?",
        "(highest|best|strongest|high|higher) (hand|card) @win",
        "bluff (allow|allowed|be)? (possible|each other|about (their|your)? (card|hand))?",
        "(may|can|player)? (bet|check|call|fold|raise) (,|or|and|/) (bet|check|call|fold|raise) "
        "((,|or|and|, or|/) (bet"
        "|check|call|fold|raise))? ((,|or|and|, or|/) (bet|check|call|fold|raise))?",
        "(bet|wager) (chip|money|on (their|your) (card|hand))",
    ),
    *flag(
        "show_folded",
        "(folded|fold) (card|hand|player|who fold)? (be|their)? (show|shown|reveal|revealed|face "
        "up|public) (card|hand)?",
    ),
    *number(
        "deals",
        "(over|in|of|play|played|last|across|after)? <n> (full)? (deal|hand) (long|of play|in "
        "total)?",
    ),
    *choice("deals", 1, "(a|one|just|only)? (single|one) (deal|hand)"),
    *refused(
        "hands are compared by rank and pairs alone",
        "(flush|straight|full house|4 of a kind|royal)",
    ),
    *refused("bets are of fixed size", "(no limit|pot limit|all in)"),
)

LEXICON = Lexicon(
    family="poker",
    title="poker game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
    context=in_context,
)
