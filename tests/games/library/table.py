"""Small hands for the library tests: open a game, play given moves, seat heuristics."""

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev
from typing import cast

from games import library
from games.checks import Finding
from games.checks.run import CheckSettings, run_checks
from games.checks.sampling import trusted_subject
from games.contract import Game
from games.modules import LocalModule
from games.values import CHANCE, TERMINAL, Action, Json, Observation, State

_LEAST = 40  # matches before a gain is believed

Score = Callable[[Observation, Action], float]
Chooser = Callable[[Observation, Sequence[Action], random.Random], Action]


def load(name: str) -> Game:
    """A family or preset of the library, in this process."""
    return Game(LocalModule(library.source(name), name))


def after(game: Game, state: State, actions: Sequence[Action]) -> State:
    """The state after these actions, chance outcomes included."""
    for action in actions:
        state = game.apply_action(state, action)
    return state


def unpassed(name: str, num_players: int, parameters: Mapping[str, Json]) -> list[Finding]:
    """The checks that a few random matches of this variant do not pass."""
    subject = trusted_subject(library.source(name), num_players, parameters)
    findings = run_checks(subject, CheckSettings(matches=4, samples=16))
    return [finding for finding in findings if finding.outcome != "passed"]


def heuristic(name: str, family: str) -> Score:
    """One of a family's heuristics as a function."""
    module = LocalModule(library.heuristic_sources(family)[name], name)
    return cast("Score", module.namespace["score"])


def greedy(score: Score) -> Chooser:
    """Always one of the best-scored actions."""

    def choose(observation: Observation, legal: Sequence[Action], rng: random.Random) -> Action:
        scored = [(score(observation, action), action) for action in legal]
        best = max(value for value, _ in scored)
        return rng.choice([action for value, action in scored if value == best])

    return choose


def at_random(_seen: Observation, legal: Sequence[Action], rng: random.Random) -> Action:
    """Any legal action."""
    return rng.choice(legal)


def play(
    game: Game,
    choosers: Sequence[Chooser],
    rng: random.Random,
    parameters: Mapping[str, Json],
) -> list[float]:
    """The returns of one match, one a seat."""
    count = len(choosers)
    state = game.initial_state(count, parameters)
    totals = [0.0] * count
    while (player := game.current_player(state)) != TERMINAL:
        legal = game.legal_actions(state)
        if player == CHANCE:
            action = rng.choices(legal, game.chance_probabilities(state, legal))[0]
        else:
            action = choosers[player](game.observations(state, count)[player], legal, rng)
        state = game.apply_action(state, action)
        for seat, reward in enumerate(game.rewards(state, count)):
            totals[seat] += reward
    return totals


def mean_against_random(
    family: str,
    name: str,
    *,
    num_players: int = 2,
    matches: int = 200,
    parameters: Mapping[str, Json] | None = None,
) -> tuple[float, float]:
    """Mean return of a heuristic in rotating seats among random players, and of those players."""
    game, skilled = load(family), greedy(heuristic(name, family))
    mine, theirs = 0.0, 0.0
    for match in range(matches):
        seat = match % num_players
        choosers = [skilled if s == seat else at_random for s in range(num_players)]
        returns = play(game, choosers, random.Random(f"{name}/{match}"), parameters or {})
        mine += returns[seat]
        theirs += (sum(returns) - returns[seat]) / (num_players - 1)
    return mine / matches, theirs / matches


def beats_random(family: str, name: str, num_players: int, most: int) -> bool:
    """Whether a heuristic in rotating seats gains more than the random players about it.

    It plays until its gain is four standard errors above zero, and at least 40 matches; after
    `most` matches two standard errors are enough.
    """
    game, skilled = load(family), greedy(heuristic(name, family))
    gains: list[float] = []
    for match in range(most):
        seat = match % num_players
        choosers = [skilled if s == seat else at_random for s in range(num_players)]
        returns = play(game, choosers, random.Random(f"{name}/{match}"), {})
        gains.append(returns[seat] - (sum(returns) - returns[seat]) / (num_players - 1))
        if len(gains) >= _LEAST and fmean(gains) > 4 * stdev(gains) / len(gains) ** 0.5:
            return True
    return bool(fmean(gains) > 2 * stdev(gains) / len(gains) ** 0.5)
