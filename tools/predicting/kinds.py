"""Phases and action types: the words of a match with what varies taken out."""

import re
from collections.abc import Iterable, Sequence

from games.trajectories import OpenTrajectory
from games.values import CHANCE, TERMINAL, State, type_of

_NAMED = ("phase", "stage", "round", "step")
_MOST_TYPES = 40
_LONGEST = 60


def phase_of(state: State, player: int) -> str:
    """The phase of a position: who decides, and what the state itself calls its phase.

    >>> phase_of({"phase": "Knock"}, 1), phase_of({}, -1), phase_of({"round": 2}, -4)
    ('Knock', 'chance', 'end')
    >>> phase_of({"round": 2}, 0)
    'round 2'
    """
    if player == TERMINAL:
        return "end"
    held = {name: state[name] for name in _NAMED if isinstance(state.get(name), str | int)}
    said = [one if isinstance(one, str) else f"{name} {one}" for name, one in held.items()]
    who = ["chance"] if player == CHANCE else []
    return ", ".join([*who, *said])[:_LONGEST] or "play"


def counted_as(types: Iterable[str]) -> dict[str, str]:
    """What each type is counted as: itself, or where there are too many its first word.

    >>> counted_as(["fold", "call"])
    {'fold': 'fold', 'call': 'call'}
    """
    distinct = list(dict.fromkeys(types))
    if len(distinct) <= _MOST_TYPES:
        return {name: name for name in distinct}
    return {name: (re.split(r"[\s(:;,]", name) or [name])[0] or name for name in distinct}


def offered(matches: Sequence[OpenTrajectory]) -> set[tuple[str, str]]:
    """Phases with the types of action that were legal there."""
    return {
        (phase_of(here.state, here.player), type_of(action))
        for match in matches
        for here in match.positions
        for action in here.legal
    }


def taken(matches: Sequence[OpenTrajectory]) -> set[tuple[str, str]]:
    """Phases with the types of action that were played there."""
    return {
        (phase_of(here.state, here.player), type_of(action))
        for match in matches
        for here, action in zip(match.positions, match.actions, strict=False)
    }


def phases(matches: Sequence[OpenTrajectory]) -> set[str]:
    """Phases that were met."""
    return {phase_of(here.state, here.player) for m in matches for here in m.positions}
