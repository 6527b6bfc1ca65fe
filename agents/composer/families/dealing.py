"""Words for hands, deals and targets that several card families share."""

from agents.composer.lexicon import Phrase, number, own_negation


def hand_size(name: str = "hand_size") -> tuple[Phrase, ...]:
    """How many cards each player is dealt."""
    return number(
        name,
        "@each? (start|starting|initial|opening|beginning)? hand (size|length)? (be|of|:|with|hold"
        "|contain|have|number|at)? <n> card? @each?",
        "<n> card (starting|initial|opening|beginning)? hand",
        "(start|starting|initial|opening) (hand|deal) (size)? (be|of|:)? <n> card?",
        "@each? (player|person|one)? (@deal) (out|with|off|in)? ~ <n> card (to)? @each? (player)?",
        "<n> card (be)? (@deal)? (out)? @each (to|at)? (start|begin|player|beginning)?",
        "(@deal|dealing|with) (@each)? (player)? <n> card? @each",
        "@deal (everyone|everybody|them|players|all|each|both|every) ~ <n> (card)?",
        "<n> (card)? (be)? dealt (out)? (to)? @each?",
        "<n> card (in|on|into|per) (the|each|every|a)? (starting)? hand",
        "hand size (be|of|:|to)? <n>",
        "<n> (card)? @each <end>",
        "with <n> card <end>",
        "(start|begin|play|open) with <n> card",
    )


def target_score(name: str = "target_score") -> tuple[Phrase, ...]:
    """The score that ends or wins the match."""
    return number(
        name,
        "(first|1st|race|play|playing|game|match|up|go|continue|played) (@who)? (be|go|play|up|race"
        "|continue)? (to|until|till|past|at) (@reach)? ~ <n> @points? (@win (the|a)? (game"
        "|match)?)?",
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
    )


def deals(name: str = "deals") -> tuple[Phrase, ...]:
    """How many deals a match has."""
    hand = "(deal|hand|round)"
    return own_negation(
        number(
            name,
            f"(over|in|of|for|play|played|last|across|after|consist|exactly|comprise|through|run)? "
            f"(of|for|over)? <n> (full|complete|different|separate)? {hand} (long|of play|each"
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
