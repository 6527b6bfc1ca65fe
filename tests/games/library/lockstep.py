"""Plays a library game and OpenSpiel's version of it side by side, ply by ply."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from games.contract import Game
from games.modules import LocalModule
from games.values import CHANCE, TERMINAL, Action, Json, State


class SpielState(Protocol):
    """The part of a `pyspiel.State` that the comparison needs."""

    def current_player(self) -> int: ...
    def is_terminal(self) -> bool: ...
    def legal_actions(self) -> list[int]: ...
    def chance_outcomes(self) -> list[tuple[int, float]]: ...
    def action_to_string(self, player: int, action: int) -> str: ...
    def apply_action(self, action: int) -> None: ...
    def returns(self) -> list[float]: ...


class SpielGame(Protocol):
    """The part of a `pyspiel.Game` that the comparison needs."""

    def new_initial_state(self) -> SpielState: ...


def _same(returns: list[float]) -> list[float]:
    return returns


def _never_ours(_state: State) -> Action | None:
    return None


def _never_theirs(_state: SpielState) -> int | None:
    return None


@dataclass(frozen=True)
class Pairing:
    """How our game's values read in OpenSpiel's.

    Attributes:
        their_action: Our legal action in their state -> their action id.
        our_returns: Our summed rewards -> the returns they should show.
        only_ours: Our state -> the action of a ply that they do not have, or None.
        only_theirs: Their state -> the id of a ply that we do not have, or None.
        their_legal: Their legal ids that ours must equal; all of them unless told.
        choose: Picks the ply that both play; uniform unless told.
    """

    their_action: Callable[[Action, SpielState], int]
    our_returns: Callable[[list[float]], list[float]] = _same
    only_ours: Callable[[State], Action | None] = _never_ours
    only_theirs: Callable[[SpielState], int | None] = _never_theirs
    their_legal: Callable[[SpielState], list[int]] = lambda state: list(state.legal_actions())
    choose: Callable[[random.Random, Sequence[Action]], Action] = lambda rng, legal: rng.choice(
        legal
    )


def by_text(text: Callable[[Action, int], str]) -> Callable[[Action, SpielState], int]:
    """A mapping through OpenSpiel's action strings; `text` takes our action and the player."""

    def their_action(action: Action, state: SpielState) -> int:
        player = state.current_player()
        wanted = text(action, player)
        for number in state.legal_actions():
            if state.action_to_string(player, number) == wanted:
                return number
        raise AssertionError(f"our action {action!r} reads {wanted!r}, which OpenSpiel forbids")

    return their_action


def play_in_lockstep(
    source: str,
    *,
    parameters: Mapping[str, Json],
    num_players: int,
    spiel: SpielGame,
    pairing: Pairing,
    matches: int = 200,
    seed: int = 0,
) -> int:
    """Play random matches of both at once; every ply and every return must agree.

    Returns:
        The number of plies compared.

    Raises:
        AssertionError: Naming the match and ply where current player, legal actions, chance
            probabilities or returns differ.
    """
    game = Game(LocalModule(source))
    compared = 0
    for match in range(matches):
        rng = random.Random(f"{seed}/{match}")
        compared += _play_one(game, parameters, num_players, spiel, pairing, rng, f"match {match}")
    return compared


def _play_one(
    game: Game,
    parameters: Mapping[str, Json],
    num_players: int,
    spiel: SpielGame,
    pairing: Pairing,
    rng: random.Random,
    name: str,
) -> int:
    ours = game.initial_state(num_players, parameters)
    theirs = spiel.new_initial_state()
    totals = [0.0] * num_players
    history: list[Action] = []

    def step(action: Action) -> None:
        nonlocal ours
        ours = game.apply_action(ours, action)
        for seat, reward in enumerate(game.rewards(ours, num_players)):
            totals[seat] += reward
        history.append(action)

    compared = 0
    while True:
        while (action := pairing.only_ours(ours)) is not None:
            step(action)
        while (number := pairing.only_theirs(theirs)) is not None:
            theirs.apply_action(number)
        where = f"{name} after {history}"
        player = game.current_player(ours)
        expected = TERMINAL if theirs.is_terminal() else theirs.current_player()
        assert player == expected, f"{where}: player {player}, OpenSpiel has {expected}"
        if player == TERMINAL:
            break
        mapping = _compare_legal(game, ours, theirs, pairing, where)
        action = pairing.choose(rng, list(mapping))
        theirs.apply_action(mapping[action])
        step(action)
        compared += 1
    returns, wanted = pairing.our_returns(totals), list(theirs.returns())
    close = all(abs(a - b) < 1e-9 for a, b in zip(returns, wanted, strict=True))
    assert close, f"{name} after {history}: returns {returns}, OpenSpiel has {wanted}"
    return compared


def _compare_legal(
    game: Game, ours: State, theirs: SpielState, pairing: Pairing, where: str
) -> dict[Action, int]:
    legal = game.legal_actions(ours)
    mapping = {action: pairing.their_action(action, theirs) for action in legal}
    wanted = sorted(pairing.their_legal(theirs))
    assert sorted(mapping.values()) == wanted, f"{where}: legal {mapping}, OpenSpiel {wanted}"
    if game.current_player(ours) == CHANCE:
        chances = dict(theirs.chance_outcomes())
        for action, chance in zip(legal, game.chance_probabilities(ours, legal), strict=True):
            gap = abs(chance - chances[mapping[action]])
            assert gap < 1e-9, f"{where}: {action} has probability {chance}"
    return mapping


__all__ = ["Pairing", "SpielGame", "SpielState", "by_text", "play_in_lockstep"]
