from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Protocol

import numpy as np
import pytest

from agents.belief.belief import PopulationTracker
from agents.belief.constraint import constraint_strategy
from agents.belief.filter import Branching
from agents.belief.follow import Guide, uniform_opponent
from agents.belief.population import Capacity, Particle, Population, systematic_draws
from agents.belief.zones import zones_of
from games.information import Seen
from games.modules import Rules
from games.values import CHANCE, Action, Json, State, canonical_key
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import (
    Distribution,
    exact,
    frequencies,
    library_game,
    random_match,
    require_fitting,
    sampling_bound,
    total_variation,
)
from tests.agents.small_games import KUHN, game

SMALL_SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
SEA: dict[str, Json] = {"rows": 6, "columns": 6, "ships": "3,3,2"}


class SamplerOf(Protocol):
    def __call__(
        self,
        rules: Rules,
        namespace: dict[str, object],
        start: State,
        seat: int,
        *,
        size: int = 512,
        seed: int = 0,
    ) -> PopulationTracker: ...


def particle(
    rules: Rules,
    namespace: dict[str, object],
    start: State,
    seat: int,
    *,
    size: int = 512,
    seed: int = 0,
) -> PopulationTracker:
    del namespace
    return PopulationTracker(rules, seat, start, size=size, seed=seed)


def constraint(
    rules: Rules,
    namespace: dict[str, object],
    start: State,
    seat: int,
    *,
    size: int = 512,
    seed: int = 0,
) -> PopulationTracker:
    strategy = partial(constraint_strategy, zones=zones_of(namespace))
    return PopulationTracker(rules, seat, start, strategy, size=size, seed=seed)


def believed(sampler: PopulationTracker) -> Distribution:
    weights: Distribution = {}
    for particle in sampler.population.particles:
        key = canonical_key(particle.place.state)
        weights[key] = weights.get(key, 0.0) + particle.weight
    return weights


def samples_of(sampler: PopulationTracker) -> Iterator[State]:
    states = [particle.place.state for particle in sampler.population.particles]
    return systematic_draws(states, sampler.population.weights, np.random.default_rng(0))


@pytest.mark.parametrize("sampler_of", [particle, constraint])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("name", "parameters", "most", "matches"),
    [("poker", {}, 5, 4), ("battleship", SMALL_SEA, 264, 1)],
)
def test_samples_are_near_the_exact_posterior_at_every_decision(
    name: str,
    parameters: dict[str, Json],
    most: int,
    matches: int,
    seat: int,
    sampler_of: SamplerOf,
) -> None:
    rules, namespace, start = library_game(name, parameters)
    for seed in range(matches):
        sampler = sampler_of(rules, namespace, start, seat)
        for log, _ in random_match(rules, start, seat, seed):
            sampler.update(log.entries)
            truth = exact(rules, seat, log.entries, start)
            assert len(truth) <= most
            assert sampler.population.is_whole
            given = samples_of(sampler)
            samples = frequencies(islice(given, 4096))
            assert total_variation(samples, truth) < sampling_bound(len(truth), 4096)


@pytest.mark.parametrize("sampler_of", [particle, constraint])
def test_a_population_far_too_small_is_right_on_average(sampler_of: SamplerOf) -> None:
    rules, namespace, start = library_game("battleship", SMALL_SEA)
    decisions = random_match(rules, start, 0, seed=1)[:5]
    means: list[Distribution] = [{} for _ in decisions]
    effective = [0.0 for _ in decisions]
    for seed in range(30):
        sampler = sampler_of(rules, namespace, start, 0, size=64, seed=seed)
        for index, (log, _) in enumerate(decisions):
            sampler.update(log.entries)
            effective[index] += sampler.population.effective_size
            for key, weight in believed(sampler).items():
                means[index][key] = means[index].get(key, 0.0) + weight / 30
    for (log, _), mean, samples in zip(decisions, means, effective, strict=True):
        truth = exact(rules, 0, log.entries, start)
        assert total_variation(mean, truth) < sampling_bound(len(truth), samples)


@pytest.mark.parametrize("sampler_of", [particle, constraint])
def test_read_decision_by_decision_or_at_once_the_population_is_the_same(
    sampler_of: SamplerOf,
) -> None:
    rules, namespace, start = library_game(
        "battleship", {"rows": 6, "columns": 6, "ships": "3,3,2"}
    )
    decisions = random_match(rules, start, 1, seed=4)[:9]
    piecemeal = sampler_of(rules, namespace, start, 1, size=32)
    for log, _ in decisions:
        piecemeal.update(log.entries)
        at_once = sampler_of(rules, namespace, start, 1, size=32)
        at_once.update(log.entries)
        assert at_once.population.particles == piecemeal.population.particles
    assert not piecemeal.population.is_whole
    other = sampler_of(rules, namespace, start, 1, size=32, seed=1)
    other.update(decisions[-1][0].entries)
    assert believed(other) != believed(piecemeal)


def test_another_log_starts_over() -> None:
    rules, _, start = game(KUHN)
    sampler = PopulationTracker(rules, 0, start)
    for own, others in (("Q", "JK"), ("K", "JQ")):
        sampler.update(logs_of(rules, start, [f"deal {own}", f"deal {others[0]}"])[0].entries)
        hands = {str(particle.place.state["hands"]) for particle in sampler.population.particles}
        assert hands == {f"['{own}', '{card}']" for card in others}


def test_a_stated_opponent_model_is_what_choices_are_weighed_by() -> None:
    rules, _, start = game(KUHN)

    def bold(state: State, legal: Sequence[Action]) -> list[float]:
        hands = state["hands"]
        assert isinstance(hands, list)
        return [0.0, 1.0] if hands[-1] == "K" else [0.75, 0.25]

    log = logs_of(rules, start, ["deal Q", "deal K", "p", "b"])[0]
    for model, king in ((uniform_opponent, 0.5), (bold, 0.8)):  # 1 / (1 + 0.25)
        sampler = PopulationTracker(rules, 0, start, opponents=model)
        sampler.update(log.entries)
        chances = {p.place.state["hands"][1]: p.weight for p in sampler.population.particles}  # type: ignore[index]
        assert chances == pytest.approx({"J": 1 - king, "K": king})


def test_a_population_that_dies_out_is_revived_from_earlier_choices() -> None:
    rules, _, start = library_game("battleship", {"rows": 5, "columns": 5, "ships": "3,2"})
    sampler = PopulationTracker(rules, 0, start, size=24)
    for log, legal in random_match(rules, start, 0, seed=2):
        sampler.update(log.entries)
        for state in require_fitting(sampler, log, legal):
            assert explains(state, log.latest()["shots"])  # type: ignore[arg-type]


# Seat 1 draws one of CARDS cards and chooses one of CHOICES buttons. Seat 0 hears the bell where it
# presses the first one, or holds one of the RARE last cards: then every button rings it.
BELL = """
CARDS, RARE, CHOICES = {cards}, {rare}, {choices}
ZONES = {{"hand": {{"component": "card", "owner": "player", "ordered": False}}}}


def initial_state(num_players):
    return {{"ply": 0, "hand": []}}


def get_current_player(state):
    return [-1, 1, 0, -4][state["ply"]]


def get_legal_actions(state):
    counts = [CARDS, CHOICES, 1, 0]
    return [f"{{'cbe-'[state['ply']]}}{{i}}" for i in range(counts[state["ply"]])]


def apply_action(state, action):
    hand = [action] if state["ply"] == 0 else state["hand"]
    return {{"ply": state["ply"] + 1, "hand": hand}}


def get_rewards(state):
    return [0.0, 0.0]


def get_observations(state):
    return [{{"ply": state["ply"]}}, {{"ply": state["ply"], "hand": state["hand"]}}]


def get_events(state, action):
    if state["ply"] == 0:
        return [["a card is drawn"], ["you draw " + action]]
    rings = action == "b0" or int(state["hand"][0][1:]) >= CARDS - RARE
    return [["the bell rings" if rings else "silence"], [action]]


def visible(state, player_id):
    return {{"hand": "contents" if player_id == 1 else "count"}}
"""


def rare_share(sampler_of: SamplerOf, cards: int, rare: int, choices: int, seeds: int) -> float:
    """How likely a rare card is after the bell, on average over populations."""
    rules, namespace, start = game(BELL.format(cards=cards, rare=rare, choices=choices))
    log = logs_of(rules, start, ["c0", "b0"])[0]
    found = 0.0
    for seed in range(seeds):
        sampler = sampler_of(rules, namespace, start, 0, seed=seed)
        sampler.update(log.entries)
        for each in sampler.population.particles:
            card = str(each.place.state["hand"][0])  # type: ignore[index]
            found += each.weight * (int(card[1:]) >= cards - rare) / seeds
    return found


@pytest.mark.parametrize("sampler_of", [particle, constraint])
def test_a_state_that_every_action_fits_weighs_as_much_as_it_has_actions(
    sampler_of: SamplerOf,
) -> None:
    # Bayes' rule: the rare card rings by 10 buttons of 10, each of the other nine by one of 10.
    assert rare_share(sampler_of, 10, 1, 10, seeds=1) == pytest.approx(10 / 19)


@pytest.mark.parametrize("sampler_of", [particle, constraint])
def test_one_action_that_fits_is_not_all_that_does_where_the_others_look_alike(
    sampler_of: SamplerOf,
) -> None:
    # Any of 50 buttons rings by two cards, one by each of the other 98.
    found = rare_share(sampler_of, 100, 2, 50, seeds=20)
    assert found == pytest.approx(100 / 198, abs=0.1)


def explains(state: State, shots: list[list[str]], shooter: int = 0) -> bool:
    """Whether the other fleet would have been hit and missed just so."""
    fleets = state["fleets"]
    assert isinstance(fleets, list)
    fleet = fleets[1 - shooter]
    assert isinstance(fleet, list)
    cells: set[str] = set()
    for ship in fleet:
        (x, y), (to_x, to_y) = ((end[0], end[1:]) for end in str(ship).split("-"))
        columns, rows = range(ord(x), ord(to_x) + 1), range(int(y), int(to_y) + 1)
        cells |= {f"{chr(column)}{row}" for column in columns for row in rows}
    told = [shot.split()[:2] for shot in shots[shooter]]
    return all((cell in cells) == (result != "miss") for cell, result in told)


def test_a_log_that_no_play_gives_leaves_nothing() -> None:
    rules, _, start = game(KUHN)
    log = logs_of(rules, start, ["deal Q", "deal K"])[0]
    log.entries[-1] = Seen(log.latest(), ("A trumpet sounds.",))
    sampler = PopulationTracker(rules, 0, start)
    sampler.update(log.entries)
    assert sampler.population.particles == []
    assert not sampler.population.is_whole
    assert next(samples_of(sampler), None) is None


def test_a_place_with_more_branches_than_are_tried_is_sampled_without_loss() -> None:
    rules = Rules(
        num_players=1,
        current_player=lambda state: CHANCE if state["drawn"] is None else 0,
        legal_actions=lambda state: [f"draw {number}" for number in range(40)],
        apply_action=lambda state, action: {"drawn": action},
        rewards=lambda state: [0.0],
        observations=lambda state: [{}],
        events=lambda state, action: [[]],
    )
    guide = Guide(rules, 0, [Seen({})], np.random.default_rng(0))
    place = guide.follower.start({"drawn": None})
    assert place is not None
    before = Population([Particle(place, 0.25, 0.0, None)] * 4, is_whole=True)
    after = Branching(guide, branches=60).propose(before, Capacity(whole=16, sampled=8))
    assert not after.is_whole
    # Each stands for as much, and all together for as much as before: nothing seen rules one out.
    assert after.weights.tolist() == [1 / 8] * 8
    assert len({canonical_key(particle.place.state) for particle in after.particles}) > 4
