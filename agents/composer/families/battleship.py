"""Words of battleship."""

from agents.composer.families.boards import rectangle, usual_board
from agents.composer.families.fleets import FLEETS, lengths
from agents.composer.lexicon import (
    Lexicon,
    Name,
    Phrase,
    Settings,
    always,
    choice,
    flag,
    number,
    own_negation,
    refused,
)
from agents.composer.patterns import Match

_SHIP = "(ship|boat|vessel|submarine|destroyer|carrier|cruiser|frigate|warship|fleet)"
_SHOT = "(shot|missile|torpedo|salvo|bomb|turn|go|guess|attack|shell)"
_HIT = "(hit|hitting|score a hit|successful shot|a hit|strike)"


def _ships(match: Match) -> Settings:
    return lengths(*match.numbers)


def _equal_ships(match: Match) -> Settings:
    count, length = match.numbers[0], match.numbers[1]
    return {"ships": ",".join([str(length)] * max(1, min(count, 10)))}


_USUAL = "(usual|customary|standard|normal|classic|traditional|ordinary|familiar|regular|default)"
_FLEET = "5,4,3,3,2"
_CRAFT = "(ship|boat|vessel|submarine|sub|destroyer|carrier|cruiser|frigate|warship|battleship"
_CRAFT += "|patrol boat|gunboat|aircraft carrier|dreadnought|corvette|minesweeper|torpedo boat)"
_ITEM = (
    f"(a|an|one|the|another|1)? {_CRAFT} (of|with|be|at|take|cover|occupy|long|:)? (length|size)? "
    "(of)? <n> (cell|square|space|long|length)? (long)?"
)


def _items(most: int) -> str:
    more = " ".join(f"((,|and|, and|;|plus) {_ITEM})?" for _ in range(most - 2))
    return f"{_ITEM} (,|and|, and|;|plus) {_ITEM} {more}"


def _counted(match: Match) -> Settings:
    count = match.numbers[0] if match.numbers else len(_FLEET.split(","))
    return {"ships": _FLEET if count == len(_FLEET.split(",")) else f"{count} ships"}


_MORE = "((,|and|, and|/)? <n>)?"

_NAMES = (
    Name(
        "(battleship|battle ship|sea battle|naval battle|battleships|naval combat|sink the fleet)",
        weight=20,
    ),
    Name("(naval|ship hunting|ship sinking|fleet|hide and hunt) game", weight=10),
)

_HINTS = {
    "ship": 6,
    "fleet": 6,
    "torpedo": 5,
    "sink": 5,
    "sea": 2,
    "navy": 5,
    "ocean": 3,
    "fire": 2,
    "shot": 3,
    "hit": 1,
    "salvo": 5,
}

_PHRASES: tuple[Phrase, ...] = (
    *rectangle(),
    *usual_board(10, 10),
    Phrase(_items(7), _ships),
    *FLEETS,
    Phrase(
        f"fleet (of)? (@each)? (be|with|have|of|:)? (a)? <n> (,|and) (a)? <n> {_MORE} {_MORE} "
        f"{_MORE}",
        _ships,
    ),
    Phrase(
        f"(just|only)? (a|one|1)? (single|lone) <n> (cell|square|space|unit) (long)? {_CRAFT}",
        _ships,
    ),
    Phrase(
        f"{_CRAFT} , {_CRAFT} , {_CRAFT} , {_CRAFT} (,|and|, and) {_CRAFT}",
        lambda _: {"ships": _FLEET},
    ),
    Phrase(
        f"<n> <n> (cell|square|space|length|unit|long) (long)? {_CRAFT} (each|apiece)?",
        _equal_ships,
    ),
    Phrase(
        f"{_USUAL} (fleet|ship|set of ship) (of <n> (ship|boat|vessel)?)? (each|apiece)?", _counted
    ),
    Phrase("fleet of <n> (ship|boat|vessel)? (each|apiece)?", _counted),
    Phrase("<n> (ship|boat|vessel) (in|per|for) (each|a|the|every) (fleet|player|side)", _counted),
    Phrase(
        f"<n> {_CRAFT} (each|apiece|per (player|side))? (,|and)? (each|all|every one|every)? (be"
        "|of|with|cover|occupy|take)? (length|size)? (of)? (up)? <n> (cell|square|space|long"
        "|length) (long|in length|each)?",
        _equal_ships,
    ),
    Phrase(
        f"{_CRAFT} (be|with|have|has|of|in)? (length|size|long)? (of|:|be|are)? <n> {_MORE} "
        f"{_MORE} {_MORE} {_MORE} {_MORE} (cell|square|long|space|length)?",
        _ships,
    ),
    Phrase(f"(length|size) (of|:|be|are)? <n> {_MORE} {_MORE} {_MORE} {_MORE} {_MORE}", _ships),
    Phrase(
        f"(a|an)? <n> (cell|square|long)? (,|and|/) <n> {_MORE} {_MORE} {_MORE} (cell|square"
        f"|long)? {_SHIP}",
        _ships,
    ),
    Phrase(
        f"<n> {_SHIP} (each)? (of|with)? (length|size)? (of)? <n> (cell|square|space|long"
        "|length)? (each|long)?",
        _equal_ships,
    ),
    Phrase(
        f"<n> {_SHIP} (each)? (cover|covering|occupy|occupying|take|taking|have|with) (up)? <n> "
        "(cell|square|space)?",
        _equal_ships,
    ),
    Phrase(
        f"(only|just)? (a|one|single) {_SHIP} (each)? (of)? (length|size)? <n> (cell|square|long)?",
        _ships,
    ),
    *flag(
        "extra_shot_on_hit",
        f"{_HIT} (a|any|the)? (ship|boat)? (give|grant|earn|win|bring|mean|award) (you|them|the "
        f"shooter)? (an|a)? "
        f"(extra|another|additional|bonus|second|free|more) {_SHOT}",
        f"(keep|continue|go on) (fire|shoot|firing|shooting|play) (as long as|while|until|so long "
        f"as|whenever|if) (you|they|@who)? ({_HIT}|miss)",
        f"(if|when|after|whenever|once|every time|each time)? @who? (who)? {_HIT} (a ship|something"
        "|anything|a boat)? ,? (you|@who|they|he)? (may|can|get to|must)? (shoot|fire|go|play|move"
        "|take a shot) (again|once more|one more time|another time)",
        f"@who? (who)? (if|after|when|every|each|a|on)? (you|a)? {_HIT} (give|grant|earn|mean"
        "|let|allow|get|win|have|gain|bring)? (you|them|the shooter|shooter|player)? (an|a|to)? "
        f"(extra|another|additional|bonus|second|free|more) {_SHOT}",
        f"(extra|another|additional|bonus|free) {_SHOT} (on|after|for|when|if|following|upon) (a"
        f"|each|every|you|they|make)? {_HIT}",
        "(shoot|fire|go|play|move|turn) again (on|after|when|if|for|following|upon) (a|each"
        f"|every|you|they)? {_HIT}",
        f"@who? (who)? (after|when|if|on)? (you|a)? {_HIT} (you|a ship|anything|something"
        "|player)? (may|can|get to)? (shoot|fire|go|play|move) again",
        f"{_HIT} (keep|retain) (the|your|their) turn",
    ),
    *own_negation(
        flag(
            "extra_shot_on_hit",
            "(no|without|not|never) (get)? (an|any)? (extra|another|additional|bonus|free) "
            f"{_SHOT} (on|after|for|when|if|following|upon)? (a|each|every)? {_HIT}?",
            "(one|1|only one|a single|just one|only 1) (shot) (a|per|each|every) turn (even"
            f"|regardless|whatever) (after|of|on)? (a)? {_HIT}?",
            "(turn)? (always)? (pass|end|alternate) (after|even after) (each|every|a|one) (shot"
            f"|{_HIT})",
            value=False,
        )
    ),
    *number(
        "salvo",
        "<n> (shot|missile|torpedo|shell|bomb|guess|attack) (a|per|each|every|in a|in each|at) "
        "(turn|round|go|time|player)?",
        "(fire|shoot|launch|take) <n> (shot|missile|torpedo|shell|bomb|time)? (a|per|each|every"
        "|in a|at a)? (turn|round|go|time|once)?",
        "salvo (of|be|size|:)? <n> (shot)?",
        "<n> shot salvo",
        "<n> shot (each|every|at a|a) (time|turn|go)",
    ),
    *choice("salvo", 1, "single shot (each|every|at a|a|per) (time|turn|go)?"),
    *flag(
        "announce_sunk",
        "(must|have to|need to)? (announce|tell|say|declare|admit|call out) (it|so|this)? (when|if"
        "|that|once|whenever) (a|one of|your|any|one|the)? (ship|boat|vessel) (of (yours|theirs|you"
        "|them))? (go down|go under|be lost|sink|destroyed|be sunk)",
        "(announce|announcing|announced|tell|say|declare|reveal|call out|report|know) (when"
        f"|that|if|which|it|out)? (a|the|your|which)? {_SHIP}? (be|has been|is|get|go)? (sink"
        "|down|destroyed)",
        f"{_SHIP} (that)? (be)? (sink)? (be)? (announced|declared|revealed|called|told) (when|as"
        "|once)? (sink)?",
        "(sink|sinking) (be)? (announced|declared|revealed|called out|reported)",
        "(say|call|shout) (you sunk my battleship|sunk)",
    ),
    *own_negation(
        flag(
            "announce_sunk",
            "(not|never|nobody|without|no) ~ (announce|announcing|announced|tell|told|say"
            "|declare|declared|reveal|revealed|announcement|report|know|learn) ~~ (sink|sinking"
            f"|destroyed) ({_SHIP})?",
            f"(sink|sunk|sinking) {_SHIP}? (be|is|are|stay)? (kept)? (not|never)? (secret|hidden"
            "|unannounced|announced|silent)",
            "(no|without) (sunk|sinking) (announcement|message|call|report)",
            value=False,
        )
    ),
    *always(
        "each player has a fleet",
        "(@each|both|your|my|the)? (navy|admiral|captain|side) (each)? (have|command|consist of"
        "|own)",
    ),
    *always(
        "ships are placed at random, hidden, and shots are called at cells",
        f"{_SHIP} (be)? (placed|hidden|positioned|arranged)? (at random|randomly|secretly|hidden)",
        f"(hidden|secret) {_SHIP}",
        f"(hide|place|position) (your|their|the|a)? {_SHIP}",
        "(guess|guessing|shoot|fire|firing|shooting|call|calling|bomb|attack) (at|on)? (the"
        f"|each other|a|enemy|opponent|other)? (cell|square|coordinate|grid|{_SHIP}|player|board)?",
    ),
    *always(
        "whoever sinks the whole opposing fleet first wins",
        "(@who|first)? (first)? (to|who)? (sink|destroy|hit) (all|every|the|the whole|the "
        "entire)? (of)? (the|enemy|opponent|other|your|opposing)? (player)? (whole|entire"
        f"|enemy)? {_SHIP} (first)? (@win)?",
        "last (ship|fleet|player) (afloat|floating) (@win)?",
    ),
    *own_negation(
        flag(
            "touching",
            f"(no|not any|never) (2|two)? {_SHIP} (may|can|must|be|are)? (be|lie)? (next to|touch"
            "|touching|adjacent|beside|border|side by side) (to)? (each other|one another"
            "|another)? (ship)?",
            f"{_SHIP} (may|can|must|be|do)? (not|never) (be|lie|allowed to)? (next to|touch"
            f"|touching"
            "|adjacent|beside|border|side by side) (to)? (each other|one another|another)? (ship)?",
            f"(at least)? (a|one|1) (empty|free)? (cell|square|gap|space) (of (water|sea))? "
            f"between "
            f"(any|the|all|two|2)? {_SHIP}",
            "without (touch|touching) (each other|one another)?",
            value=False,
        )
    ),
    *flag(
        "touching",
        f"{_SHIP} (may|can|be allowed to|might)? (also)? (touch|be adjacent|lie next to|be next to"
        "|lie side by side) (each other|one another)?",
    ),
    *refused(
        "ships lie where chance puts them, and never overlap",
        f"{_SHIP} (may|can|must)? not overlap",
        f"(choose|place|arrange) (where)? (your|their) own {_SHIP}",
    ),
)

LEXICON = Lexicon(
    family="battleship",
    title="battleship game",
    players=2,
    names=_NAMES,
    hints=_HINTS,
    phrases=_PHRASES,
)
