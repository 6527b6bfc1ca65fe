"""Throw high unmatched cards first and knock at the first chance.

The top discard is taken only where it completes a meld with cards in hand, or is wild. Of the
unmatched cards the dearest goes first, unless it has partners: cards of its rank, or near it in
its suit. Any knock beats any discard.
"""

from typing import Any

ORDER = "A23456789TJQK"


def _points(rules: dict[str, Any], card: str) -> int:
    if card[0] == rules["wild_rank"]:
        return 50
    return min(ORDER.index(card[0]) + 1, 10)


def _completes(rules: dict[str, Any], hand: list[str], card: str) -> bool:
    need = rules["min_meld"]
    if rules["melds"] != "runs" and sum(own[0] == card[0] for own in hand) >= need - 1:
        return True
    if rules["melds"] == "sets":
        return False
    places = {ORDER.index(own[0]) for own in hand if own[1] == card[1]}
    low = high = ORDER.index(card[0])
    while low - 1 in places:
        low -= 1
    while high + 1 in places:
        high += 1
    return bool(high - low + 1 >= need)


def _partners(rules: dict[str, Any], hand: list[str], card: str) -> int:
    place = ORDER.index(card[0])
    ranks = sum(own[0] == card[0] for own in hand) - 1 if rules["melds"] != "runs" else 0
    if rules["melds"] == "sets":
        return ranks
    gaps = [abs(ORDER.index(own[0]) - place) for own in hand if own[1] == card[1]]
    return ranks + gaps.count(1) + gaps.count(2)


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    rules, hand = observation["rules"], observation["hand"]
    kind, _, card = action.partition(" ")
    if kind == "take":
        top = observation["discards"][-1]
        return 1.0 if top[0] == rules["wild_rank"] or _completes(rules, hand, top) else -1.0
    if kind == "draw":
        return 0.0
    matched = any(card in meld for meld in observation["melds"])
    worth = -100.0 if matched else float(_points(rules, card))
    if card[0] == rules["wild_rank"]:
        worth = -200.0
    elif not matched:
        worth -= 3 * _partners(rules, hand, card)
    return worth + (1000.0 if kind == "knock" else 0.0)
