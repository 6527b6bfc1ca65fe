"""Words for what tricks and cards are worth, for bids, passes and partners."""

from collections.abc import Callable, Sequence

from agents.composer.families.dealing import bare_hand, deals, hand_size, single_deal, target_score
from agents.composer.families.trick_table import TABLE
from agents.composer.lexicon import (
    Phrase,
    Settings,
    choice,
    flag,
    minus,
    number,
    own_negation,
    sets,
)
from games.contract import Json

LOWEST_SCORE = "lowest_score"
"""Resolved by `in_context`: no parameter of the family, it says which way points count."""

_SIGNED = ("heart_points", "queen_of_spades_points", "jack_of_diamonds_points")
_WORTH = " worth"

_LAST = "(last|final|closing|concluding) trick"
_QUEEN = "(queen (of)? spade|black (lady|queen|maria)|spade queen)"
_JACK = "(jack (of)? diamond|diamond jack|knave of diamond)"


def _card(name: str, card: str) -> tuple[Phrase, ...]:
    """Points for one card: penalties where the words say so."""
    return (
        *minus(
            name,
            f"@takes? {card} (you|they|that|which)? (be|is)? (@takes)? @cost (you|them|player"
            "|whoever take it)? <n> @points?",
            f"{card} (@takes)? (@worth|be) (you|them)? <n> (penalty|negative|minus|bad"
            "|demerit) @points?",
            f"{card} (@takes)? @worth <n> @points? against (you|them|player)?",
            "<n> (penalty|negative|minus|bad|demerit) @points? (be)? (given)? (for|per)? "
            f"(@takes)? {card}",
            "(lose|cost|deduct|subtract|minus|pay|forfeit) <n> @points? (for|with)? (@takes)? "
            f"{card}",
            f"@takes {card} @cost <n> @points?",
        ),
        *number(
            name + _WORTH,
            f"<n> @points? (for|with) (@takes)? {card}",
            f"(@takes)? {card} (be)? (@takes)? (be|worth|count|score|value|carry|cost) (you)? "
            "(as|for"
            "|at)? <n> @points?",
            f"{card} (:|=)? <n> @points?",
            f"<n> point {card}",
        ),
        *number(
            name,
            f"(@takes)? {card} (be)? (@takes)? @worth (you)? (plus|a bonus of|bonus of) <n> (bonus"
            "|plus|positive|extra)? @points?",
            f"(@takes)? {card} (be)? (@takes)? @worth (you)? <n> (bonus|plus|positive|extra) "
            "@points?",
            f"(@takes)? {card} (earn|gain|give|award|bring|reward|pay|add) (you|their taker)? "
            "<n> @points?",
            f"(get|gain|earn|score|win|award|bonus of) <n> (bonus|extra|plus)? @points? (for|with) "
            f"(@takes)? {card}",
            f"<n> (bonus|extra|plus) @points? (for|with) (@takes)? {card}",
            f"{card} (be|as) (a)? (bonus|reward) (of|worth)? <n> @points?",
            zero=0,
        ),
        *own_negation(
            choice(
                name,
                0,
                f"(no|without|not|minus) {card} (penalty|point|bonus|rule|be special)",
                f"{card} (carry|have|cost|bring|give|get|score|be) (no|not|zero) (any)? (extra"
                "|special)? (penalty|point|bonus|value)",
                f"{card} (be)? (not|no longer) (special|penalised|penalized|@worth anything)",
                f"(no|without) (penalty|point|bonus) (for|on) (@takes)? {card}",
            )
        ),
    )


_VALUES: tuple[Phrase, ...] = (
    *_card("queen_of_spades_points", _QUEEN),
    *_card("jack_of_diamonds_points", _JACK),
    *choice(
        "last_trick_multiplier",
        2,
        f"(@takes)? {_LAST} (be)? (@worth)? (for)? @double (as much|the points|point|the value"
        "|score)?",
        f"@double @points? (for|in|on|at) {_LAST}",
        f"{_LAST} (be)? (doubled|double)",
        f"{_LAST} (be)? (worth|count|score) (as|for)? 2 (time|trick)? <end>",
        f"(double|doubling) (of)? (the)? (value|points|score)? (of|for)? {_LAST}",
        f"(point|score|everything|card|value) (in|of|from) {_LAST} (be)? (@worth)? @double",
        f"everything in {_LAST} (@worth)? @double",
        denied=1,
    ),
    *choice(
        "last_trick_multiplier",
        3,
        f"(@takes)? {_LAST} (be)? (@worth)? (for)? @triple (as much|the points|point|the value)?",
        f"@triple @points? (for|in|on) {_LAST}",
        denied=1,
    ),
    *number(
        "last_trick_multiplier",
        f"{_LAST} (be)? (@worth) <n> (time|x|fold) (as much|the points|the value|over)?",
        zero=1,
    ),
    *number(
        "last_trick_bonus",
        f"(@takes)? {_LAST} (be)? (@worth|bonus of|bring) (a bonus of|bonus of)? <n> (bonus|extra"
        "|additional|more)? @points?",
        "(bonus|extra|additional)? (of)? <n> (bonus|extra|additional|more)? @points? (go)? "
        "(to)? (for"
        f"|to|on|with) (@who)? (who|that)? (@takes)? {_LAST}",
        f"{_LAST} bonus (be|of|:)? <n> @points?",
        f"@takes {_LAST} (@worth) <n> (bonus|extra|additional|more)? @points?",
        zero=0,
    ),
    *minus(
        "last_trick_bonus",
        f"@takes? {_LAST} @cost (you|them|player)? <n> @points?",
        f"(lose|cost|deduct|subtract) <n> @points? (for|with) (@takes)? {_LAST}",
        f"<n> (penalty|negative|minus) @points? (for) (@takes)? {_LAST}",
    ),
    *number(
        "points_per_trick",
        "(each|every|a|per|one|all|any) trick (@takes)? (be)? @worth (you)? <an> @points?",
        "(get|gain|earn|score|win|award|receive)? <an> @points? (for|per|a|each) (each|every)? "
        "trick "
        "(@takes|you win)?",
        "trick (be)? @worth <an> @points? (each|apiece)?",
        zero=0,
    ),
    *minus(
        "points_per_trick",
        "(each|every|a|per|one|any) trick (@takes)? @cost (you|them|player)? <an>? @points?",
        "(lose|cost|deduct|subtract) <an>? @points? (for|per) (each|every|a)? trick (@takes)?",
        "<an>? (penalty|negative|minus) @points? (for|per) (each|every|a)? trick (@takes)?",
        "(taking|winning) trick @cost @points?",
    ),
    *choice("points_per_trick", 0, "trick (themselves)? (score|be worth|worth|count for) nothing"),
    *choice(
        "card_points",
        "ace_ten",
        "ace ~ 11 ~ 10 ~ king ~ 4 ~ queen ~ 3 ~ jack ~ 2",
        "(ace ten|skat|schafkopf|german|central european) (card)? (point|value|scoring)",
    ),
    *flag(
        "misere",
        "(fewest|least|lowest number of|smallest number of|minimum) trick @win?",
        "@avoid (to)? (@takes)? trick",
        "@who (with|take|win|who|that|have)? (@takes)? (the)? (fewest|least) trick @win?",
        "(take|win|capture) (as)? (few|fewest|least|as few) trick (as possible)?",
        "(not|never) (want)? (to)? (take|win) (any)? trick",
        "(object|aim|goal)? (is)? (to)? avoid (taking|winning)? (any)? trick",
        "(misere|misere|nullo|trick avoidance|reverse scoring)",
    ),
    *flag(
        LOWEST_SCORE,
        "(lowest|smallest|least|fewest) (score|total|number of point|point|point total) (@win"
        "|best|good)",
        "@who (with|have)? (the)? (lowest|smallest|fewest|least) (score|total|point|point total"
        "|number "
        "of point) @win?",
        "low (score|scorer|total) @win",
    ),
    *own_negation(
        flag(
            "misere",
            "(most|greatest number of|highest number of) trick @win?",
            "@who (with|take|win|who|that|have)? (@takes)? (the)? most trick @win?",
            "(highest|biggest|largest|most) (score|total|point|point total|number of point) @win",
            "(highest|high|best) (score|total) ~~ @win",
            "@who (with|have)? (the)? (highest|biggest|largest|most) (score|total|point|point "
            "total) "
            "@win?",
            "(take|win|capture) (as many|most|more) trick (as possible|than (anyone|everyone"
            "|anybody)"
            " else|than the (other|others))?",
            value=False,
        )
    ),
)

SCORING = (
    *_VALUES,
    *TABLE,
    *hand_size(),
    *choice(
        "hand_size",
        0,
        "(whole|full|entire|complete|all (of)? the|all) (deck|pack|card) (be|is|are)? dealt (out)? "
        "(evenly|equally)? (to|among|between)? @each?",
        "(@deal) (out)? (the|all)? (whole|entire|full|complete|all)? (of)? (the)? (deck|pack) "
        "(evenly"
        "|equally|out)?",
        "(deal|dealt) all (the)? card (out|evenly|equally)?",
    ),
    *target_score(),
    *bare_hand(),
    *deals(),
    *single_deal(),
    *sets({"target_score": 0}, "(no|without) target score?"),
)


def in_context(base: Settings, said: Sequence[Settings]) -> Callable[[Settings], Settings]:
    """Points that a card is "worth" are penalties where the game counts penalties."""
    merged: dict[str, Json] = {**base}
    for settings in said:
        merged |= settings
    low = merged.get(LOWEST_SCORE) is True
    penal = low or _negative(base.get("heart_points")) or _negative(merged.get("heart_points"))

    def understood(settings: Settings) -> Settings:
        result: dict[str, Json] = {}
        for name, value in settings.items():
            plain = name.removesuffix(_WORTH)
            if name == LOWEST_SCORE:
                plain, value = "misere", bool(value) and not _negative(base.get("heart_points"))
            elif (
                name != plain
                and penal
                and isinstance(value, int)
                or low
                and plain in _SIGNED
                and isinstance(value, int)
            ):
                value = -abs(value)
            result[plain] = value
        return _counted_deals(result, said)

    return understood


def _negative(value: Json) -> bool:
    return isinstance(value, int) and value < 0


def _counted_deals(settings: dict[str, Json], said: Sequence[Settings]) -> dict[str, Json]:
    """A number of deals ends the match only where no target score does."""
    if "deals" not in settings:
        return settings
    if any("target_score" in other for other in said):
        return {**settings, "max_deals": settings["deals"]}
    return {**settings, "target_score": 0}
