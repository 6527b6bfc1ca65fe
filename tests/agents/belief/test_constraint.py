from functools import partial

import pytest

from agents.belief.belief import SIZE, PopulationTracker
from agents.belief.constraint import constraint_strategy
from agents.belief.zones import Zones, zones_of
from evals.cardiverse.recorded import RECORDINGS, recorded_generation
from games import library
from games.modules import Rules, bind, first_state, load_namespace
from games.values import Json, State
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import (
    exact,
    library_game,
    random_match,
    require_fitting,
    total_variation,
)
from tests.agents.belief.test_filter import believed, explains
from tests.agents.small_games import KUHN, game


def constraint_tracker(
    rules: Rules, seat: int, start: State, zones: Zones | None, *, size: int = SIZE
) -> PopulationTracker:
    strategy = partial(constraint_strategy, zones=zones)
    return PopulationTracker(rules, seat, start, strategy, size=size)


def test_dealt_anew_a_small_population_is_the_whole_posterior() -> None:
    # 64 particles cannot hold the 264 fleets of the start; once facts leave fewer they do.
    sea: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
    rules, namespace, start = library_game("battleship", sea)
    sampler = constraint_tracker(rules, 0, start, zones_of(namespace), size=64)
    held = []
    for log, _ in random_match(rules, start, 0, seed=1)[:10]:
        sampler.update(log.entries)
        truth = exact(rules, 0, log.entries, start)
        held.append(sampler.population.is_whole)
        if sampler.population.is_whole:
            assert total_variation(believed(sampler), truth) < 1e-12
    assert held[0] is False
    assert held[-1] is True


@pytest.mark.parametrize("announce_sunk", [False, True])
def test_hits_and_misses_of_a_whole_match_are_respected(*, announce_sunk: bool) -> None:
    sea: dict[str, Json] = {"rows": 7, "columns": 7, "ships": "4,3,2"}
    rules, namespace, start = library_game("battleship", {**sea, "announce_sunk": announce_sunk})
    sampler = constraint_tracker(rules, 1, start, zones_of(namespace), size=32)
    for log, legal in random_match(rules, start, 1, seed=3)[::3]:
        sampler.update(log.entries)
        assert sampler.population.particles
        for particle in sampler.population.particles:
            state, shots = particle.place.state, log.latest()["shots"]
            assert rules.legal_actions(state) == legal
            assert explains(state, shots, shooter=1)  # type: ignore[arg-type]
    assert len({str(p.place.state["fleets"]) for p in sampler.population.particles}) > 1


def test_voids_and_counts_of_hidden_hands_are_respected() -> None:
    parameters: dict[str, Json] = {"hand_size": 4, "deck": "tiny"}
    rules, namespace, start = library_game("trick_taking", parameters, num_players=3)
    for seed in range(3):
        sampler = constraint_tracker(rules, 0, start, zones_of(namespace), size=64)
        for log, legal in random_match(rules, start, 0, seed):
            sampler.update(log.entries)
            require_fitting(sampler, log, legal)


def test_a_card_is_followed_to_whichever_place_a_player_lays_it_in() -> None:
    made = recorded_generation(RECORDINGS / "smugglers.json")
    namespace = load_namespace(made.sources[-1])
    rules, start = bind(namespace, made.players), first_state(namespace, made.players)
    sampler = constraint_tracker(rules, 0, start, zones_of(namespace), size=64)
    for log, legal in random_match(rules, start, 0, seed=4)[:14]:
        sampler.update(log.entries)
        require_fitting(sampler, log, legal)


@pytest.mark.parametrize("preset", ["whist", "spades"])
def test_hands_of_thirteen_cards_are_sampled_at_every_decision(preset: str) -> None:
    found = library.preset(preset)
    rules, namespace, start = library_game(
        found.family, dict(found.parameters), num_players=found.players
    )
    sampler = constraint_tracker(rules, 0, start, zones_of(namespace), size=128)
    for log, legal in random_match(rules, start, 0, seed=2)[:3]:
        sampler.update(log.entries)
        assert len({str(s["hands"]) for s in require_fitting(sampler, log, legal)}) > 1


def test_a_module_without_zones_is_left_to_the_particle_filter() -> None:
    rules, namespace, start = game(KUHN)
    assert zones_of(namespace) is None
    sampler = constraint_tracker(rules, 0, start, None)
    sampler.update(logs_of(rules, start, ["deal Q", "deal K"])[0].entries)
    assert sorted(p.weight for p in sampler.population.particles) == [0.5, 0.5]
