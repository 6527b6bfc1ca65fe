"""Words for what cards left in hand cost, and for the end of a shedding game."""

from agents.composer.families.dealing import bare_hand, deals, hand_size, single_deal, target_score
from agents.composer.lexicon import (
    Phrase,
    always,
    choice,
    flag,
    number,
    refused,
)

SCORES: tuple[Phrase, ...] = (
    *flag(
        "penalty_points",
        "(card|point) (leave|remaining|still|remain|stuck|held|that remain)? (left|in)? (in|over"
        "|with)? (the|your|their|a)? "
        "(hand|loser)? (at the end)? (@cost|count against|score against|worth|count|be) (you"
        "|them|the loser)? "
        "(penalty|negative|minus)? @points? (against (you|them))?",
        "(penalty|negative) @points? (for|per) (each|every|the)? card (left|remaining|still) (in"
        "|over)? (hand)?",
        "(lose|pay) @points? (for|per) (each|every)? card (left|remaining)? (in)? (hand)?",
        "(add|count) (up)? (the)? (point|card|value) (left|remaining) (in|of) (the)? (hand|loser)",
    ),
    *choice(
        "penalty_points",
        False,
        "going out (@worth) (1|one) point (only)?",
        "(winner|whoever go out) (score|get) (1|one) point",
    ),
    *flag(
        "winner_collects",
        "@who (who)? (go out|win|first out|going out)? (collect|get|gain|score|receive|earn) "
        "(all)? "
        "(the)? @points? (left|in|of|that|from|for)? (in|the|all)? (other|opponent|loser"
        "|everyone else|rest) (hand|lose|"
        "player)? (still)? (hold)?",
        "@who? (who)? (go out|win)? (he|she|they)? (score|collect|get|gain) (what|whatever|all) "
        "(the)? "
        "(other|others|rest|opponent) (player)? (still)? (hold|have|keep) (still)? (in hand)?",
        "@who? (who)? (go out)? score (the)? card (left)? (in|of) (the)? (all)? other (hand"
        "|player)",
        "@who (who)? (go out|win|first out|going out)? (collect|get|gain|score|receive|earn) (what"
        "|whatever) "
        "(be|is)? (left)? (in|with)? (the|all)? (other|opponent|loser|everyone else|rest|others) "
        "(player)? (still)? (hold|have|hand)?",
    ),
    *number(
        "wild_points",
        "(wild|wildcard|wild card|8) (be|card)? (left)? (@worth|@cost) <n> @points?",
        zero=0,
    ),
    *number(
        "court_points",
        "(court|face|picture) card (left)? (be)? (@worth|@cost) <n> @points? (each)?",
        zero=0,
    ),
    *number("ace_points", "ace (left)? (be)? (@worth|@cost) <n> @points? (each)?", zero=0),
    *hand_size(),
    *bare_hand(),
    *target_score(),
    *deals(),
    *single_deal(),
    *always(
        "whoever plays the last card first wins the deal",
        "(@who)? (first)? (to|player|who|that)? (get rid of|shed|empty|discard|play|run out of"
        "|dump|lose|use up) ~ "
        "(all)? (their|your|the|of)? (card|hand|everything) (first)? (@win (the)? (game|deal"
        "|hand|match|round)?)?",
        "first (to|player|who|one)? (go|run|be)? out (of card)? (@win)?",
        "(empty|emptying) (your|their|the)? hand (first)? (@win)?",
        "@who (go|run) out (of card)? (first)? @win?",
    ),
    *always(
        "a card must fit the top card of the discard pile",
        "(play|put|lay|place) (a|one)? (card|matching card) (on|onto|to) (the)? (discard)? (pile"
        "|top card)?",
        "(match|matching) (the)? top card (of (the)? (discard)? pile)?",
    ),
    *refused(
        "there is no call for the last card",
        "(call|say|announce|shout|declare) ~ (last card|uno|one card|mau)",
    ),
    *refused("the pack has no jokers", "joker"),
)
