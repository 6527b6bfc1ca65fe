"""Take the tricks with one's own tasks, and leave the others theirs.

Tasks are taken in colours held high. A card that would take another's task is kept back; without
a task at stake the lowest card is played.
"""

from typing import Any


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    kind, _, card = action.partition(" ")
    hand, seat, trick = observation["hand"], observation["seat"], observation["trick"]
    if kind == "take":
        return float(sum(int(own[1]) for own in hand if own[0] == card[0]))
    if kind != "play":
        return 0.1 * (card.endswith(("9 highest", "9 only", "1 only")) or card == "none")
    table = [*trick, card]
    best = max(table, key=lambda one: (one[0] == "R", one[0] == table[0][0], one[1]))
    place = (observation["player"] - len(trick) + table.index(best)) % len(observation["tasks"])
    value = -int(card[1]) / 10 - (card[0] == "R")
    for owner, tasks in enumerate(observation["tasks"]):
        for task in tasks:
            if task in table and task not in observation["done"]:
                value += 10 if owner == place else -10
            if owner == seat == place and task not in [*table, *hand, *observation["done"]]:
                value += task[0] == table[0][0]
    return value
