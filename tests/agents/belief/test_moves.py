"""Moves of plays, held against posteriors that are enumerated."""

from collections import Counter

import numpy as np
import pytest

from agents.belief.filter import propose
from agents.belief.follow import Guide
from agents.belief.moves import (
    ActionProposal,
    Splice,
    changed,
    differences,
    metropolis_hastings_step,
    renamed,
)
from agents.belief.population import Particle
from games.information import SeatLog
from games.modules import Rules
from games.values import Json, State, canonical_key
from tests.agents.belief.logs import logs_of
from tests.agents.belief.posteriors import exact, library_game, random_match, total_variation

SMALL_SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
PAIRS: dict[str, Json] = {"rows": 3, "columns": 2, "home_rows": 1, "bombs": 1, "scouts": 1}


def a_play(rules: Rules, log: SeatLog, start: State, seed: int) -> tuple[Guide, Particle]:
    """A random play that reproduces a log."""
    guide = Guide(rules, log.seat, log.entries, np.random.default_rng(seed))
    for _ in range(2000):
        place = guide.follower.start(start)
        assert place is not None
        play: Particle | None = Particle(place, 1.0, 0.0, None)
        while play is not None and not guide.follower.is_present(play.place):
            play = propose(play, guide)
        if play is not None:
            return guide, play
    raise AssertionError("no play was found")


def visited(guide: Guide, play: Particle, moves: int) -> dict[str, float]:
    """How often a chain of moves was in each state."""
    proposals, counts = ActionProposal(guide), Counter[str]()
    for _ in range(moves):
        play = metropolis_hastings_step(play, guide, guide.follower.is_present, proposals) or play
        counts[canonical_key(play.place.state)] += 1
    return {key: count / moves for key, count in counts.items()}


@pytest.mark.parametrize(
    ("name", "parameters", "decision"),
    # After a few shots, few enough fleets are left for one chain to see them all.
    [("battleship", SMALL_SEA, 4), ("poker", {}, 1)],
)
def test_a_chain_of_moves_visits_states_as_the_exact_posterior_says(
    name: str, parameters: dict[str, Json], decision: int
) -> None:
    rules, _, start = library_game(name, parameters)
    log, _ = random_match(rules, start, 0, seed=1)[decision]
    truth = exact(rules, 0, log.entries, start)
    assert len(truth) > 3
    assert total_variation(visited(*a_play(rules, log, start, 0), 12000), truth) < 0.15


def test_cards_of_two_hidden_hands_change_places() -> None:
    rules, _, start = library_game("trick_taking", {"hand_size": 2, "deck": "tiny"}, num_players=3)
    log, _ = random_match(rules, start, 0, seed=0)[0]
    guide, play = a_play(rules, log, start, 1)
    hands = set()
    proposals = ActionProposal(guide)
    for _ in range(400):
        play = metropolis_hastings_step(play, guide, guide.follower.is_present, proposals) or play
        assert rules.observations(play.place.state)[0] == log.latest()
        hands.add(str(play.place.state["hands"]))
    assert len(hands) > 20


def test_the_log_prior_of_a_play_is_the_probability_of_its_plies() -> None:
    rules, _, start = library_game("battleship", SMALL_SEA)
    actions = ["ship a1-a3", "ship b1-b2", "ship c1-c3", "ship d1-d2"]
    log = logs_of(rules, start, actions)[0]
    guide, play = a_play(rules, log, start, 3)
    play = (
        metropolis_hastings_step(play, guide, guide.follower.is_present, ActionProposal(guide))
        or play
    )
    fleet = play.place.state["fleets"][1]  # type: ignore[index]
    # 16 places for the ship of 3 on an empty sea; then as many as the rules leave.
    state, chance = start, 1.0
    for action in [*actions[:2], *[f"ship {ship}" for ship in fleet]]:  # type: ignore[union-attr]
        legal = rules.legal_actions(state)
        chance /= len(legal)
        state = rules.apply_action(state, action)
    assert np.exp(play.log_prior) == pytest.approx(chance)


def test_words_that_were_exchanged_change_places_in_later_choices() -> None:
    assert renamed("draw 7H", "deal 7H", "deal TC") == "draw TC"
    assert renamed("pass", "deal 7H", "deal TC") == "pass"


def test_a_state_that_holds_something_else_is_not_spliced() -> None:
    changes = list(differences({"fleet": ["a", "b"]}, {"fleet": ["a", "c"]}))
    assert changed({"fleet": ["a", "b"], "shots": 9}, changes) == {"fleet": ["a", "c"], "shots": 9}
    assert changed({"fleet": ["a", "x"]}, changes) is None
    assert changed({"fleet": ["a"]}, changes) is None


def test_one_end_that_was_wrong_ends_all_splicing() -> None:
    rules, _, start = library_game("battleship", SMALL_SEA)
    log, _ = random_match(rules, start, 0, seed=1)[3]
    _, play = a_play(rules, log, start, 0)
    splice = Splice()
    splice.verify(play, play)
    assert not splice.is_off
    splice.verify(play, None)
    assert splice.is_off
    last = play.last
    assert last is not None
    assert splice.end(play, last, play) is None
