"""Random play of The Crew by its printed rules alone: no line of the game module is used.

`python -m tests.games.library.crew_floors` prints the figures that `test_the_crew.py` holds.
A card is a pair (suit, rank); suit 4 are the rockets.
"""

import random
import sys
from collections.abc import Callable

Card = tuple[int, int]
Trick = tuple[int, Card, list[Card]]  # who took it, with which card, all cards
ROCKET = 4
DECK = [(suit, rank) for suit in range(4) for rank in range(1, 10)]
ROCKETS = [(ROCKET, rank) for rank in range(1, 5)]
DEALS, SEED = 20_000, 11


def play(seats: int, rng: random.Random) -> tuple[int, list[Trick]]:
    """Deal, and play all cards at random: the commander, and the tricks."""
    pack = DECK + ROCKETS
    rng.shuffle(pack)
    hands = [pack[seat::seats] for seat in range(seats)]
    commander = leader = next(seat for seat in range(seats) if (ROCKET, 4) in hands[seat])
    tricks: list[Trick] = []
    for _ in range(len(pack) // seats):
        table: list[tuple[Card, int]] = []
        for step in range(seats):
            hand = hands[(leader + step) % seats]
            same = [card for card in hand if table and card[0] == table[0][0][0]]
            card = rng.choice(same or hand)
            hand.remove(card)
            table.append((card, (leader + step) % seats))
        able = [one for one in table if one[0][0] == ROCKET]
        able = able or [one for one in table if one[0][0] == table[0][0][0]]
        best, leader = max(able)
        tricks.append((leader, best, [card for card, _ in table]))
    return commander, tricks


def tasks(number: int, in_order: int = 0) -> Callable[[int, random.Random], bool]:
    """A mission of so many tasks, drafted at random; the first so many drawn have an order."""

    def attempt(seats: int, rng: random.Random) -> bool:
        commander, tricks = play(seats, rng)
        wanted = rng.sample(DECK, number)
        draft = rng.sample(wanted, number)
        owner = {card: (commander + turn) % seats for turn, card in enumerate(draft)}
        at = {card: when for when, (_, _, cards) in enumerate(tricks) for card in cards}
        if any(card not in at or tricks[at[card]][0] != owner[card] for card in wanted):
            return False
        first = wanted[:in_order]
        return all(at[a] <= at[b] for a, b in zip(first, first[1:], strict=False))

    return attempt


def chosen(wins: int) -> Callable[[int, random.Random], bool]:
    """Another player than the commander, named at random, takes so many tricks, by no rocket."""

    def attempt(seats: int, rng: random.Random) -> bool:
        commander, tricks = play(seats, rng)
        named = (commander + rng.randrange(1, seats)) % seats
        own = [best for winner, best, _ in tricks if winner == named]
        return len(own) == wins and all(suit != ROCKET for suit, _ in own)

    return attempt


def best_cards(judge: Callable[[list[Card]], bool]) -> Callable[[int, random.Random], bool]:
    """A mission of which cards take tricks."""
    return lambda seats, rng: judge([best for _, best, _ in play(seats, rng)[1]])


MISSIONS = {
    1: tasks(1),
    2: tasks(2),
    3: tasks(2, in_order=2),
    5: chosen(0),
    6: tasks(3, in_order=2),
    9: best_cards(lambda best: any(card[1] == 1 and card[0] != ROCKET for card in best)),
    13: best_cards(lambda best: set(ROCKETS) <= set(best)),
    16: best_cards(lambda best: all(card[1] != 9 for card in best)),
    33: chosen(1),
}


def successes(mission: int, seats: int, deals: int) -> int:
    """How many of the first so many deals are won."""
    draws = (random.Random(f"{SEED} {seats} {deal}") for deal in range(deals))
    return sum(MISSIONS[mission](seats, rng) for rng in draws)


if __name__ == "__main__":
    for number in MISSIONS:
        won = {seats: successes(number, seats, DEALS) for seats in (3, 4, 5)}
        sys.stdout.write(f"{number}: {won},\n")
