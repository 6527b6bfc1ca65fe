"""Let who was named win as many tricks as that player has to, and no more.

Who was named to win nothing, or once, throws high cards away; the others play above.
"""

from typing import Any

COLOURS = "PBGY"
PACK = [f"{colour}{number}" for colour in COLOURS for number in range(1, 10)]
PACK += [f"R{number}" for number in range(1, 5)]
GOOD = {"good", "yes"}
ONCE = {5: 0, 33: 1, 41: 1}  # tricks that who is named has to win, by mission


def score(observation: dict[str, Any], action: str) -> float:
    """Larger is better."""
    kind, _, card = action.partition(" ")
    hand = observation["hand"]
    if kind == "reply":
        is_weak = sum(int(one[1]) + 9 * (one[0] == "R") for one in hand) < 5 * len(hand)
        return float((is_weak == (observation["rules"]["mission"] in ONCE)) == (card in GOOD))
    if kind == "name":
        return float(not GOOD.isdisjoint(observation["replies"][int(card) - 1]))
    if kind != "play" or not observation["named"]:
        return 0.0
    trick = _Trick(observation, card)
    return trick.low() + trick.named()


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

    def named(self) -> float:
        wanted = ONCE.get(self.told["rules"]["mission"])
        if wanted is None:
            return 0.0
        seat = int(self.told["named"][0].split(" ")[1]) - 1
        won = sum(trick["winner"] == seat for trick in self.told["tricks"])
        if won < wanted:
            return 10 * self.wins(seat) * (self.card[0] != "R" or self.seat != seat)
        high = int(self.card[1]) / 10 + (self.card[0] == "R") / 2
        return (high if self.seat == seat or seat in self.later else 0) - 20 * self.wins(seat)
