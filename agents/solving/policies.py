"""Policies by information key, and as arrays over a game's sequences."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from agents.solving.form import Behaviour, InformationState, SequenceForm
from games.contract import Action

Policy: TypeAlias = Mapping[str, Mapping[Action, float]]
"""Probabilities of actions by `games.information.information_key`; an action left out has 0."""

TOLERANCE = 1e-9


def uniform(game: SequenceForm) -> tuple[Behaviour, ...]:
    """`[num_players]` behaviours in which every legal action is equally likely."""
    return tuple(form.normalised(np.zeros(form.size)) for form in game.seats)


def behaviours_of(game: SequenceForm, policy: Policy) -> tuple[Behaviour, ...]:
    """A policy as arrays, one a seat.

    Raises:
        ValueError: If an information state is missing, an action is not legal there, or its
            probabilities are no distribution. Keys that the game does not have are let be.
    """
    behaviours = []
    for form, keys in zip(game.seats, game.keys, strict=True):
        behaviour = np.ones(form.size)
        for first, state, key in zip(form.firsts, form.states, keys, strict=True):
            chances = _distribution(policy, key, state)
            behaviour[first : first + len(chances)] = chances
        behaviours.append(behaviour)
    return tuple(behaviours)


def policy_of(
    game: SequenceForm, behaviours: Sequence[Behaviour]
) -> dict[str, dict[Action, float]]:
    """Behaviours of all seats as one policy by information key."""
    return {
        key: {
            action: float(behaviour[first + number]) for number, action in enumerate(state.actions)
        }
        for form, keys, behaviour in zip(game.seats, game.keys, behaviours, strict=True)
        for first, state, key in zip(form.firsts, form.states, keys, strict=True)
    }


def _distribution(policy: Policy, key: str, state: InformationState) -> list[float]:
    where = f"seat {state.seat} after {', '.join(state.plies) or 'nothing'}"
    if key not in policy:
        raise ValueError(f"the policy says nothing for {where}; it must cover every state")
    chances = policy[key]
    unknown = sorted(chances.keys() - set(state.actions))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not legal for {where}; legal: {list(state.actions)}")
    if min(chances.values(), default=0.0) < 0 or not math.isclose(
        math.fsum(chances.values()), 1.0, abs_tol=TOLERANCE
    ):
        raise ValueError(
            f"the probabilities for {where} are {dict(chances)}; required: at least 0, sum 1"
        )
    return [chances.get(action, 0.0) for action in state.actions]
