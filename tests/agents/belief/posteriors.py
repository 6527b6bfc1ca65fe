"""Library games played at random, their exact posteriors, and how far samples are from them."""

from collections import Counter
from collections.abc import Iterable
from math import log, sqrt

import numpy as np

from agents.belief.belief import PopulationTracker
from agents.belief.exact import posterior
from agents.belief.follow import Entries, Follower
from games import library
from games.information import SeatLog
from games.modules import Rules, bind, load_namespace
from games.values import Action, Json, State, canonical_key

Distribution = dict[str, float]


def library_game(
    name: str, parameters: dict[str, Json] | None = None, num_players: int = 2
) -> tuple[Rules, dict[str, object], State]:
    """A library game's functions, its namespace and its first state."""
    namespace = load_namespace(library.source(name))
    start = namespace["initial_state"]
    assert callable(start)
    return bind(namespace, num_players), namespace, start(num_players, **(parameters or {}))


def random_match(
    rules: Rules, start: State, seat: int, seed: int
) -> list[tuple[SeatLog, list[Action]]]:
    """The log and the legal actions at each decision of one seat in a uniformly random match."""
    generator = np.random.default_rng(seed)
    logs = [SeatLog(player) for player in range(rules.num_players)]
    for log_, seen in zip(logs, rules.observations(start), strict=True):
        log_.see(seen, [])
    state, decisions = start, []
    while legal := rules.legal_actions(state):
        player = rules.current_player(state)
        if player == seat:
            decisions.append((SeatLog(seat, list(logs[seat].entries)), legal))
        action = legal[int(generator.integers(len(legal)))]
        if player >= 0:
            logs[player].act(action)
        events = rules.events(state, action)
        state = rules.apply_action(state, action)
        for log_, seen, told in zip(logs, rules.observations(state), events, strict=True):
            log_.see(seen, told)
    return decisions


def require_fitting(sampler: PopulationTracker, log: SeatLog, legal: list[Action]) -> list[State]:
    """The states of a population, which must be such that their seat sees and may do just this."""
    states = [particle.place.state for particle in sampler.population.particles]
    assert states
    for state in states:
        assert sampler.rules.observations(state)[sampler.seat] == log.latest()
        assert sampler.rules.legal_actions(state) == legal
    return states


def exact(rules: Rules, seat: int, entries: Entries, start: State) -> Distribution:
    """The enumerated posterior by state."""
    found = posterior(Follower(rules, seat, entries), start, limit=20_000)
    return {canonical_key(state): probability for state, probability in found}


def frequencies(states: Iterable[State | None]) -> Distribution:
    """How often each state came; fails where there was none."""
    counts: Counter[str] = Counter()
    for state in states:
        assert state is not None
        counts[canonical_key(state)] += 1
    return {key: count / counts.total() for key, count in counts.items()}


def total_variation(first: Distribution, second: Distribution) -> float:
    """Half the sum of the differences."""
    return sum(abs(first.get(k, 0.0) - second.get(k, 0.0)) for k in first.keys() | second) / 2


def sampling_bound(states: int, samples: float, risk: float = 1e-6) -> float:
    """What the frequencies of independent draws exceed with probability `risk` at most.

    The mean of the total variation is at most `sqrt(K / n) / 2` (Jensen, Cauchy-Schwarz), and one
    draw changes it by `1 / n`: McDiarmid's inequality adds `sqrt(log(1 / risk) / (2 n))`.
    """
    return sqrt(states / samples) / 2 + sqrt(log(1 / risk) / (2 * samples))
