"""Shed the dearest cards first, keep wild cards for when nothing else fits.

Playing beats drawing, drawing beats passing. Among ordinary cards the one that would cost the
most points goes first. A wild card is played last, unless it is the only card left or an
opponent is about to go out. The suit or rank named is the one held most.
"""

from typing import Any

NEARLY_OUT = 2  # cards in hand


def _points(rules: dict[str, Any], card: str) -> int:
    if card[0] in "JQK":
        return int(rules["court_points"])
    if card[0] == "A":
        return int(rules["ace_points"])
    return "23456789T".index(card[0]) + 2


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    hand, rules, seat = observation["hand"], observation["rules"], observation["seat"]
    kind, what = action[:4], action[5:]
    if kind == "name":
        place = 0 if rules["match"] == "rank" else 1
        wild = rules["wild_rank"]
        return float(sum(card[place] == what for card in hand if card[0] != wild))
    if kind != "play":
        return -100.0 if kind == "draw" else -200.0
    if len(hand) == 1:
        return 1000.0
    danger = min(n for s, n in enumerate(observation["counts"]) if s != seat) <= NEARLY_OUT
    if what[0] == rules["wild_rank"]:
        return 100.0 if danger else -50.0
    return float(_points(rules, what))
