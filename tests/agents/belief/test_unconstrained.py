import numpy as np

from agents.belief.beliefs import Belief, Situation
from agents.belief.unconstrained import RandomSampler
from agents.belief.zones import zones_of
from agents.search.rollouts import uniforms
from games.contract import Json, State
from tests.agents.belief.posteriors import (
    exact,
    frequencies,
    library_game,
    random_match,
    sampling_bound,
    total_variation,
)
from tests.agents.belief.test_particle import explains

SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}


def test_fleets_are_placed_as_the_game_places_them_whatever_was_hit() -> None:
    rules, namespace, start = library_game("battleship", SEA)
    first, *_, (log, legal) = random_match(rules, start, 0, seed=1)[:7]
    here = Situation(rules, namespace, start, log, tuple(legal))
    belief = Belief(here, "random", 0, np.random.default_rng(0))
    states = [belief.sample() for _ in range(3000)]
    fleets = frequencies({"fleets": [state["fleets"]]} for state in states)
    # The prior, enumerated at the first decision, before any shot.
    at_first = exact(rules, 0, first[0].entries, start)
    assert len(fleets) == len(at_first) == 264
    contradicting = [s for s in states if not explains(s, log.latest()["shots"])]  # type: ignore[arg-type]
    assert len(contradicting) > 1000
    assert all(s["shots"] == log.latest()["shots"] for s in states)
    assert belief.effort()["belief"] == "random"


def test_unseen_cards_are_dealt_by_count_alone() -> None:
    rules, namespace, start = library_game("poker")
    state = start
    for action in ("deal QH", "deal KS"):
        state = rules.apply_action(state, action)
    zones = zones_of(namespace)
    assert zones is not None
    draw = uniforms(np.random.default_rng(0)).__next__
    sampler = RandomSampler(rules, zones, 0, start, lambda: state, draw)
    states = [sampler.sample() for _ in range(2000)]
    hands = frequencies({"hands": s["hands"]} for s in states if s is not None)
    assert total_variation(hands, dict.fromkeys(hands, 1 / 5)) < sampling_bound(5, 2000)
    assert len(hands) == 5
    assert all(s is not None and len(s["deck"]) == 4 for s in states)  # type: ignore[arg-type]


def test_without_a_state_to_fill_there_is_none() -> None:
    rules, namespace, start = library_game("poker")
    zones = zones_of(namespace)
    assert zones is not None

    def nothing() -> State | None:
        return None

    assert RandomSampler(rules, zones, 0, start, nothing, lambda: 0.5).sample() is None
