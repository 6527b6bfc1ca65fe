import pytest

from agents.belief.constraint import ConstraintSampler
from agents.belief.zones import zones_of
from games import library
from games.contract import Json
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import (
    exact,
    library_game,
    random_match,
    total_variation,
)
from tests.agents.belief.test_particle import believed, explains
from tests.agents.small_games import KUHN, game


def test_dealt_anew_a_small_population_is_the_whole_posterior() -> None:
    # 64 particles cannot hold the 264 fleets of the start; once facts leave fewer they do.
    sea: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
    rules, namespace, start = library_game("battleship", sea)
    sampler = ConstraintSampler(rules, 0, start, zones_of(namespace), size=64)
    held = []
    for log, _ in random_match(rules, start, 0, seed=1)[:10]:
        sampler.update(log.entries)
        truth = exact(rules, 0, log.entries, start)
        held.append(sampler.complete)
        if sampler.complete:
            assert total_variation(believed(sampler), truth) < 1e-12
    assert held[0] is False
    assert held[-1] is True


@pytest.mark.parametrize("announce_sunk", [False, True])
def test_hits_and_misses_of_a_whole_match_are_respected(*, announce_sunk: bool) -> None:
    sea: dict[str, Json] = {"rows": 7, "columns": 7, "ships": "4,3,2"}
    rules, namespace, start = library_game("battleship", {**sea, "announce_sunk": announce_sunk})
    sampler = ConstraintSampler(rules, 1, start, zones_of(namespace), size=32)
    for log, legal in random_match(rules, start, 1, seed=3)[::3]:
        sampler.update(log.entries)
        assert sampler.particles
        for particle in sampler.particles:
            state, shots = particle.place.state, log.latest()["shots"]
            assert rules.legal_actions(state) == legal
            assert explains(state, shots, shooter=1)  # type: ignore[arg-type]
    assert len({str(p.place.state["fleets"]) for p in sampler.particles}) > 1


def test_voids_and_counts_of_hidden_hands_are_respected() -> None:
    parameters: dict[str, Json] = {"hand_size": 4, "deck": "tiny"}
    rules, namespace, start = library_game("trick_taking", parameters, num_players=3)
    for seed in range(3):
        sampler = ConstraintSampler(rules, 0, start, zones_of(namespace), size=64)
        for log, legal in random_match(rules, start, 0, seed):
            sampler.update(log.entries)
            assert sampler.particles
            for particle in sampler.particles:
                state = particle.place.state
                assert rules.observations(state)[0] == log.latest()
                assert rules.legal_actions(state) == legal


@pytest.mark.parametrize("preset", ["whist", "spades"])
def test_hands_of_thirteen_cards_are_sampled_at_every_decision(preset: str) -> None:
    found = library.preset(preset)
    rules, namespace, start = library_game(
        found.family, dict(found.parameters), num_players=found.players
    )
    sampler = ConstraintSampler(rules, 0, start, zones_of(namespace))
    for log, legal in random_match(rules, start, 0, seed=2)[:6]:
        sampler.update(log.entries)
        hands = {str(particle.place.state["hands"]) for particle in sampler.particles}
        assert len(hands) > 1
        for particle in sampler.particles:
            state = particle.place.state
            assert rules.observations(state)[0] == log.latest()
            assert rules.legal_actions(state) == legal


def test_nothing_but_a_pack_is_hidden_until_a_card_is_dealt_to_another_seat() -> None:
    parameters: dict[str, Json] = {"hand_size": 2, "deck": "tiny"}
    rules, namespace, state = library_game("trick_taking", parameters, num_players=2)
    zones = zones_of(namespace)
    assert zones is not None
    bare = []
    for _ in range(3):  # the first card is seat 0's own
        bare.append((zones.is_bare(state, 0), zones.is_bare(state, 1)))
        state = rules.apply_action(state, rules.legal_actions(state)[0])
    assert bare == [(True, True), (True, False), (False, False)]


def test_a_module_without_zones_is_left_to_the_particle_filter() -> None:
    rules, namespace, start = game(KUHN)
    assert zones_of(namespace) is None
    sampler = ConstraintSampler(rules, 0, start, None)
    sampler.update(logs_of(rules, start, ["deal Q", "deal K"])[0].entries)
    assert sorted(p.weight for p in sampler.particles) == [0.5, 0.5]
