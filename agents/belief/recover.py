"""Perfect information: does what a seat saw determine the full state, and which one is it?"""

from collections.abc import Callable, Sequence

import numpy as np

from agents.belief.exact import TooManyStatesError, posterior
from agents.belief.follow import Follower
from agents.search.rollouts import uniforms
from agents.search.rules import Rules
from games.contract import CHANCE, TERMINAL, Action, Observation, State
from games.engine import sample_index
from games.information import SeatLog

CANDIDATES = 64  # states that may fit for a while, such as a choice revealed a ply later
CHECKED_PLIES = 200
CHECKED_DECISIONS = 6


class HiddenInformationError(Exception):
    """What the seat saw does not determine the full state."""


def known_state(follower: Follower, initial: State) -> State:
    """The one full state that a seat's log allows at its decision.

    The log is followed from the initial state; every ply of chance or another seat that would
    have looked the same to this seat is kept. Nothing but the log is read.

    Raises:
        HiddenInformationError: If several states fit, or none does.
    """
    try:
        states = posterior(follower, initial, limit=CANDIDATES)
    except TooManyStatesError as error:
        raise HiddenInformationError(str(error)) from error
    if len(states) != 1:
        raise HiddenInformationError(
            f"{len(states)} full states fit what seat {follower.seat} saw; required: exactly one"
        )
    return states[0][0]


def require_perfect_information(
    rules: Rules, initial: State, generator: np.random.Generator, matches: int = 2
) -> None:
    """Hold a game against perfect information, by random play.

    In each match the state is recovered from the log of the seat to move at up to
    `CHECKED_DECISIONS` decisions, evenly spread over its plies. Passing is evidence, no proof.

    Raises:
        HiddenInformationError: At the first decision where the log leaves several states.
    """
    draw = uniforms(generator).__next__
    for _ in range(matches):
        decisions = _random_decisions(rules, initial, draw)
        stride = max(1, len(decisions) // CHECKED_DECISIONS)
        for log in decisions[::-stride]:
            known_state(Follower(rules, log.seat, log.entries), initial)


def _random_decisions(rules: Rules, initial: State, draw: Callable[[], float]) -> list[SeatLog]:
    """The log of the seat to move at every decision of one random match."""
    logs = [SeatLog(seat) for seat in range(rules.num_players)]
    _tell(logs, rules.observations(initial), [[] for _ in logs])
    state, decisions = initial, []
    for _ in range(CHECKED_PLIES):
        player = rules.current_player(state)
        if player == TERMINAL:
            break
        action = _random_action(rules, state, draw)
        if player != CHANCE:
            decisions.append(SeatLog(player, list(logs[player].entries)))
            logs[player].act(action)
        events = rules.events(state, action)
        state = rules.apply_action(state, action)
        _tell(logs, rules.observations(state), events)
    return decisions


def _random_action(rules: Rules, state: State, draw: Callable[[], float]) -> Action:
    legal = rules.legal_actions(state)
    if rules.chance_probabilities is not None and rules.current_player(state) == CHANCE:
        return legal[sample_index(rules.chance_probabilities(state), draw())]
    return legal[int(draw() * len(legal))]


def _tell(
    logs: Sequence[SeatLog], observations: Sequence[Observation], events: Sequence[Sequence[str]]
) -> None:
    for log, observation, perceived in zip(logs, observations, events, strict=True):
        log.see(observation, perceived)
