"""Hidden histories of gin rummy, drawn evenly among those that fit what one seat saw.

All that the other player did shows sooner or later: from which pile it drew, what it threw away and
what it laid. Only the cards that it was dealt or drew from the stock are unknown; those that it
showed later lay in one of the places it had filled by then, each place as likely as any other.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from games.values import Action

_HAND = 10
_STOCK, _WALL = 31, 2  # cards in the stock: once all are dealt, and when no more are drawn
_CARDS = [rank + suit for suit in "scdh" for rank in "A23456789TJQK"]


@dataclass
class _Past:
    """A history with places where a card is not known yet.

    Attributes:
        seat: Whose view it is.
        actions: All so far; an int stands for the draw of the unknown card of that place.
        shown: Cards that were shown by the other player, with the places that it had by then.
        places: How many unknown cards the other one has had.
        taken: Upcards that the other one holds.
        stock: Cards left in it.
    """

    seat: int
    actions: list[Action | int] = field(default_factory=list)
    shown: list[tuple[str, int]] = field(default_factory=list)
    places: int = _HAND
    taken: set[str] = field(default_factory=set)
    stock: int = _STOCK

    def other_acts(self, *names: str) -> None:
        """Note actions of the other seat, in OpenSpiel's words."""
        self.actions += [f"Player: {1 - self.seat} Action: {name}" for name in names]

    def other_draws(self, upcard: str | None, *, from_stock: bool) -> None:
        """The other one drew, or took the upcard."""
        if from_stock:
            self.other_acts("Draw stock")
            self.actions.append(self.places)
            self.places, self.stock = self.places + 1, self.stock - 1
            return
        if self.stock > _WALL:  # at the wall the upcard comes with the knock
            self.other_acts("Draw upcard")
        self.taken |= {upcard} if upcard else set()

    def other_shows(self, card: str) -> None:
        """A card left the hand of the other one, or lies open in it."""
        if card in self.taken:
            self.taken.remove(card)
        else:
            self.shown.append((card, self.places))


def drawn_history(obs_action_history: Sequence[Sequence[Any]], player_id: int) -> list[Action]:
    """All actions of a hand, chance included, that a seat's view may have come from.

    Args:
        obs_action_history: `[[observation, action], ..., [newest observation, None]]` of the seat,
            which is to move.
        player_id: The seat.
    """
    past = _Past(player_id)
    views = [view for view, _ in obs_action_history]
    first = views[0]
    start = first["upcard"] if first["phase"] == "FirstUpcard" else first["prev_upcard"]
    upcard, cur, phase = start, 0, "FirstUpcard"
    for index, (view, action) in enumerate(obs_action_history):
        if cur != player_id:
            _infer(past, view, phase, upcard)
        cur, phase, upcard = player_id, view["phase"], view["upcard"]
        if action is None:
            break
        past.actions.append(action)
        said = action.rpartition(": ")[2]
        if said == "Draw stock":
            (card,) = {*views[index + 1]["hands"][player_id]} - {*view["hands"][player_id]}
            past.actions.append(f"Chance outcome: {card}")
            past.stock -= 1
        elif phase == "Discard" and said != "Knock":
            cur, phase, upcard = 1 - player_id, "Draw", said
        elif phase == "FirstUpcard" and said == "Pass":
            cur = 1 - player_id
    return _dealt(past, first["hands"][player_id], start)


def _infer(past: _Past, view: dict[str, Any], phase: str, upcard: str | None) -> None:
    """Note the other seat's actions until this seat is to move again."""
    other = 1 - past.seat
    if phase == "FirstUpcard" and view["pass_on_first_upcard"][other]:
        has_passed = f"Player: {other} Action: Pass" in past.actions
        if not has_passed:
            past.other_acts("Pass")
        if view["phase"] == "FirstUpcard":
            return
    knocked = view["knocked"][other]
    drew = past.stock != view["stock_size"]
    past.other_draws(upcard, from_stock=drew)
    thrown = view["discard_pile"][-1] if knocked else view["upcard"]
    past.other_shows(thrown)
    if not knocked:
        past.other_acts(thrown)
        return
    melds = view["layed_melds"][other]
    for card in (card for cards in (*melds, view["hands"][other]) for card in cards):
        past.other_shows(card)
    past.other_acts("Knock", thrown, *("".join(meld) for meld in melds), "Pass")


def _dealt(past: _Past, hand: list[str], start: str) -> list[Action]:
    """The history with every card."""
    filled: dict[int, str] = {}
    for card, places in past.shown:
        filled[random.choice([place for place in range(places) if place not in filled])] = card
    told = [str(one).rpartition(": ")[2] for one in past.actions if str(one).startswith("Chance")]
    known = {*hand, *told, start, *filled.values()}
    unseen = [card for card in _CARDS if card not in known]
    free = [place for place in range(past.places) if place not in filled]
    filled |= dict(zip(free, random.sample(unseen, len(free)), strict=True))
    other = [filled[place] for place in range(_HAND)]
    first, second = (hand, other) if past.seat == 0 else (other, hand)
    chance = "Chance outcome: "
    later = [one if isinstance(one, str) else chance + filled[one] for one in past.actions]
    return [*(chance + card for card in (*first, *second, start)), *later]
