"""Win what one has to, and leave the others what they have to win.

A card that is at stake is played where its owner's card is likely to stay the best, and kept back
elsewhere. Whoever lacks an own task leads what its holder can throw it on: rockets, and high cards
of its colour. Who was named to win nothing, or once, throws high cards away; the others play above.
"""

from typing import Any

COLOURS = "PBGY"
PACK = [f"{colour}{number}" for colour in COLOURS for number in range(1, 10)]
PACK += [f"R{number}" for number in range(1, 5)]
ONCE = {5: 0, 33: 1, 41: 1}  # tricks that who is named has to win, by mission


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    kind, _, card = action.partition(" ")
    if kind == "take":
        return float(sum(int(own[1]) for own in observation["hand"] if own[0] == card[0]))
    if kind != "play":
        return 0.0
    trick = _Trick(observation, card)
    return trick.low() + trick.tasks() + trick.named()


class _Trick:
    """The trick as it stands once a card is played."""

    def __init__(self, observation: dict[str, Any], card: str) -> None:
        self.told, self.card, self.seat = observation, card, observation["seat"]
        self.table = [*observation["trick"], card]
        count = len(observation["tasks"])
        first = (self.seat - len(self.table) + 1) % count
        best = max(self.table, key=self._rank)
        self.winner = (first + self.table.index(best)) % count
        self.later = [(self.seat + step) % count for step in range(1, count - len(self.table) + 1)]
        gone = [one for trick in observation["tricks"] for one in trick["cards"]]
        known = {*observation["hand"], *self.table, *gone}
        above = [one for one in PACK if one not in known and self._rank(one) > self._rank(best)]
        # Each of those who follow beats it with a few cards of the many that are not known.
        self.stays = (1 - len(above) / len(PACK)) ** (3 * len(self.later))

    def _rank(self, card: str) -> tuple[bool, bool, str]:
        return card[0] == "R", card[0] == self.table[0][0], card[1]

    def low(self) -> float:
        return -int(self.card[1]) / 20 - (self.card[0] == "R") / 2

    def wins(self, seat: int) -> float:
        """About how likely a seat is to win the trick."""
        if seat == self.winner:
            return self.stays
        return (1 - self.stays) / len(self.later) if seat in self.later else 0.0

    def tasks(self) -> float:
        hand, value = self.told["hand"], 0.0
        for owner, tasks in enumerate(self.told["tasks"]):
            for task in tasks:
                if task in self.told["done"]:
                    continue
                if task in self.table:
                    value += 20 * (2 * self.wins(owner) - 1)
                elif owner == self.seat == self.winner and task not in hand:
                    value += 4 * self.stays * (self.table[0][0] in (task[0], "R"))
        return value

    def named(self) -> float:
        wanted = ONCE.get(self.told["rules"]["mission"])
        if wanted is None or not self.told["named"]:
            return 0.0
        seat = int(self.told["named"][0].split(" ")[1]) - 1
        won = sum(trick["winner"] == seat for trick in self.told["tricks"])
        if won < wanted:
            return 10 * self.wins(seat) * (self.card[0] != "R" or self.seat != seat)
        high = int(self.card[1]) / 10 + (self.card[0] == "R") / 2
        return (high if self.seat == seat or seat in self.later else 0) - 20 * self.wins(seat)
