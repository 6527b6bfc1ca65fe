"""Pairs of matches that stay near each other, and what tells the two apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np

from games.checks.sampling import PlayedMatch
from games.checks.zones import Sight
from games.contract import CHANCE, TERMINAL, Action, Json, canonical_key
from games.table import Position
from games.values import show

_TRIES = 6  # outcomes tried in the place of one


@dataclass(frozen=True)
class Step:
    """An action, the positions around it, and what the audit's seat may see of the second."""

    before: Position
    action: Action
    after: Position
    sight: Sight


def in_turn(*lists: Sequence[int]) -> list[int]:
    """One of each list, then the next of each, as long as there are any.

    >>> in_turn([1, 2, 3], [7])
    [1, 7, 2, 3]
    """
    mixed = chain.from_iterable(zip_longest(*lists))
    return [item for item in mixed if item is not None]


def all_told(position: Position, seat: int) -> dict[str, str]:
    """All that a seat is told when a position is reached, by the function that tells it."""
    mine = position.player in (seat, TERMINAL)
    return {
        "get_observations": canonical_key(position.observations[seat]),
        "get_events": canonical_key([*position.events[seat]]),
        "get_current_player": str(position.player if mine else None),
        "get_legal_actions": canonical_key([*position.legal] if position.player == seat else []),
    }


def near_choices(
    match: PlayedMatch,
    step: int,
    here: Position,
    first: bool,  # noqa: FBT001
    generator: np.random.Generator,
) -> list[Action]:
    """What to try in a match that is to stay near a recorded one, the nearest first.

    Such as a card that was dealt elsewhere: what the recorded match could not do here. To begin
    with, what it does not do later on: two matches that differ in that are alike for longer.
    """
    taken, later = match.plies[step].action, match.plies[step + 1 :]
    could = {ply.action for ply in later} if first else set(match.positions[step].legal)
    others = [here.legal[int(i)] for i in generator.permutation(len(here.legal))]
    others = sorted((a for a in others if a != taken), key=lambda action: action in could)
    same = [taken] if taken in here.legal and not first else []
    return [*same, *others][:_TRIES]


def first_difference(one: Json, other: Json) -> str:
    """The path of the first value in which two states differ.

    >>> first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]})
    'a.1.b'
    """
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        one, other = ({str(i): item for i, item in enumerate(part)} for part in (one, other))
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return ""
    key = next(k for k in one if canonical_key(one[k]) != canonical_key(other[k]))
    return f"{key}.{first_difference(one[key], other[key])}".rstrip(".")


def how_told(function: str, one: Position, other: Position, seat: int) -> str:
    """How a function tells a seat two positions apart, as the end of a sentence about the seat."""
    if function == "get_observations":
        seen = one.observations[seat], other.observations[seat]
        keys = sorted(
            key
            for key in seen[0].keys() | seen[1].keys()
            if canonical_key(seen[0].get(key)) != canonical_key(seen[1].get(key))
        )
        names = ", ".join(map(repr, keys))
        return f"sees hidden contents: its observation changes in {names}"
    if function == "get_events":
        events = [list(position.events[seat]) for position in (one, other)]
        return f"is told {show(events[0])} or {show(events[1])}"
    if function == "get_legal_actions":
        return "has other legal actions"
    return "is to move, or at the end, in one of them alone"


def how_to_mend(step: Step) -> str:
    """What may be done about a seat that was told of a hidden difference by a step."""
    told = "do not tell it; or, where the rules tell it (a clue), keep what was told at a "
    told += 'path that GAME["open"] names'
    if step.before.player == CHANCE:
        told += ", or a component that is dealt face up in a zone of its kind that `visible` shows"
    return told


def how_to_compare(beside: Iterable[str]) -> str:
    """What may be done about hidden zones that never differ alone, but with values beside them."""
    told = "see that these zones hold the hidden components themselves, and that no open value "
    told += "tells them"
    if names := ", ".join(sorted(beside)):
        told += f"; {names} differed with them: where that is dealt from them face up, make it a "
        told += "zone of the same component, which `visible` shows"
    return told
