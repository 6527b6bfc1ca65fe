import numpy as np
import pytest

from agents.belief.belief import Belief, DecisionPoint
from agents.belief.zones import Fill, RandomSampler, Zones, heat_map, heated, zones_of
from games.streams import uniforms
from games.values import Json, State
from tests.agents.belief.posteriors import (
    exact,
    frequencies,
    library_game,
    random_match,
    sampling_bound,
    total_variation,
)
from tests.agents.belief.test_evidence import after
from tests.agents.belief.test_filter import explains

SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}


def test_fleets_are_placed_as_the_game_places_them_whatever_was_hit() -> None:
    rules, namespace, start = library_game("battleship", SEA)
    first, *_, (log, legal) = random_match(rules, start, 0, seed=1)[:7]
    here = DecisionPoint(rules, namespace, start, log, tuple(legal))
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


def zones() -> Zones:
    patterns: dict[str, dict[str, Json]] = {"cells.*": {"component": "ship"}}
    seen = {"cells.0": "contents", "cells.1": "count"}
    return Zones(patterns, lambda _state, _seat: seen, frozenset())


def states(*contents: list[Json]) -> list[State]:
    return [{"cells": [["mine"], cells]} for cells in contents]


def test_heat_is_the_weighted_share_of_states_that_have_it_there() -> None:
    sampled = states(["a", "b"], ["a", "c"], ["d", "c"])
    heat = heat_map(zones(), 0, sampled, [0.5, 0.3, 0.2])
    assert heat == pytest.approx(
        {("cells.1", "a"): 0.8, ("cells.1", "b"): 0.5, ("cells.1", "c"): 0.5, ("cells.1", "d"): 0.2}
    )


def test_states_are_favoured_by_the_mean_heat_of_what_they_hide() -> None:
    sampled = states(["a", "b"], ["a", "c"], ["d", "c"])
    favoured = heated(zones(), 0, sampled, [0.5, 0.3, 0.2])
    assert favoured.tolist() == pytest.approx([0.5 * 0.65, 0.3 * 0.65, 0.2 * 0.35])
    assert heated(zones(), 0, states([], []), [0.5, 0.5]).tolist() == [0.5, 0.5]


def test_the_map_is_fresh_at_every_decision() -> None:
    rules, namespace, start = library_game("battleship", {"rows": 4, "columns": 4, "ships": "3,2"})
    for log, legal in random_match(rules, start, 0, seed=5)[2::3]:
        here = DecisionPoint(rules, namespace, start, log, tuple(legal))
        belief = Belief(here, "heatmap", 0, np.random.default_rng(0))
        for _ in range(20):
            assert explains(belief.sample(), log.latest()["shots"])  # type: ignore[arg-type]
        assert belief.effort()["belief"] == "heatmap"


def test_what_a_deal_puts_where_is_read_off_the_declared_zones() -> None:
    rules, namespace, start = library_game("poker")
    zones = zones_of(namespace)
    assert zones is not None
    first = after(rules, start, "deal QH")
    second = after(rules, first, "deal KS")
    assert zones.filled(start, first, seat=0) is None  # it sees its own card
    assert zones.filled(start, first, seat=1) == Fill("hands.0", "QH")
    assert zones.filled(first, second, seat=0) == Fill("hands.1", "KS")
    exchanged = zones.exchanged(second, "hands.1", "KS", "JH", seat=0)
    assert exchanged is not None
    assert exchanged["hands"] == [["QH"], ["JH"]]
    assert sorted(map(str, exchanged["deck"])) == sorted(["KH", "QS", "JS", "KS"])  # type: ignore[arg-type]
    assert zones.exchanged(second, "hands.1", "KS", "QH", seat=0) is None  # lies open


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
