"""Pot odds: count how often the own hand beats an unseen one, and put in what that is worth.

The chance to win is counted over the cards not seen, for one opponent, and raised to the number
of opponents still in. Each action is then worth the pot it may win less the chips it puts in.
"""

from itertools import combinations, islice
from typing import Any

ORDER = "23456789TJQKA"
MOST_HANDS = 1500


def score(observation: dict[str, Any], action: str) -> float:
    """Expected chips of the action if everybody else calls it; more is better."""
    kind = action.partition(" ")[0]
    if kind == "fold":
        return 0.0
    seat, paid = observation["seat"], observation["paid"]
    rivals = observation["num_players"] - 1 - sum(observation["folded"])
    chance = _win_chance(observation) ** max(1, rivals)
    owed = max(paid) - paid[seat]
    pot = sum(paid) + owed
    if kind in ("check", "call"):
        return float(chance * pot - owed)
    size = observation["rules"]["bets"][observation["round"]]
    return float(chance * (pot + size * (1 + rivals)) - owed - size)


def _win_chance(observation: dict[str, Any]) -> float:
    rules, hand, board = observation["rules"], observation["hand"], observation["board"]
    top = len(ORDER) if rules["ranks"] == len(ORDER) else len(ORDER) - 1
    pack = [r + s for r in ORDER[top - rules["ranks"] : top] for s in "CDHS"[-rules["suits"] :]]
    unseen = [card for card in pack if card not in hand and card not in board]
    own = _strength(hand + board)
    won = total = 0.0
    for other in islice(combinations(unseen[::-1], len(hand)), MOST_HANDS):
        theirs = _strength([*other, *board])
        better = own < theirs if rules["lowest_wins"] else own > theirs
        won += 1.0 if better else 0.5 * (own == theirs)
        total += 1
    return won / total if total else 0.5


def _strength(cards: list[str]) -> list[tuple[int, int]]:
    ranks = [ORDER.index(card[0]) for card in cards]
    return sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
