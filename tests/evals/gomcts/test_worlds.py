"""Deals that fit what a seat knows; and the rules of Hearts, held against OpenSpiel's."""

import random
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from agents.players.registry import PRELOAD
from agents.players.specs import PlayerSpecError
from evals.gomcts.hearts import ONE_DEAL
from evals.gomcts.seatings import card_points
from evals.gomcts.worlds import (
    DealtWorld,
    HeartsRoster,
    OpenSpielWorlds,
    card_number,
    openspiel_actions,
    played_cards,
)
from evals.results import Row
from games import library
from games.information import SeatLog, Seen
from games.modules import load_namespace
from games.values import TERMINAL
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

HEARTS = GameSetup("hearts", library.source("hearts"), 4, ONE_DEAL)
MODULE: Any = load_namespace(HEARTS.source)
STEP = {"left": 1, "right": 3, "across": 2, "keep": 0}  # seats from who passes to who receives


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(preload=PRELOAD) as opened:
        yield opened


def seated(sandbox: Sandbox, seat: int, spec: str = "openspiel-pimc:worlds=4") -> OpenSpielWorlds:
    pytest.importorskip("pyspiel")
    roster = HeartsRoster()
    made = roster.seat(roster.effective(spec), seat=seat, match=0, game=HEARTS, sandbox=sandbox)
    assert isinstance(made, OpenSpielWorlds)
    return made


def positions(seed: int) -> Iterator[tuple[int, Row]]:
    """Every decision of a random match: the seat and the state; at last the final state."""
    chosen = random.Random(seed)
    state = MODULE["initial_state"](4, **ONE_DEAL)
    while (player := MODULE["get_current_player"](state)) != TERMINAL:
        if player >= 0:
            yield player, state
        legal = MODULE["get_legal_actions"](state)
        state = MODULE["apply_action"](state, chosen.choice(legal))
    yield TERMINAL, state


@pytest.mark.parametrize("seed", range(3))
def test_worlds_fit_the_cards_sizes_passes_and_voids_that_the_seat_has_seen(
    sandbox: Sandbox, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    players = {seat: seated(sandbox, seat) for seat in range(4)}
    for number, (seat, state) in enumerate(positions(seed)):
        if seat == TERMINAL or number % 3:
            continue
        seen = MODULE["get_observations"](state)[seat]
        for world in players[seat].worlds(seen, 3, generator):
            assert sorted(card for hand in world.dealt for card in hand) == sorted(
                rank + suit for rank in "23456789TJQKA" for suit in "CDHS"
            )
            assert {len(hand) for hand in world.dealt} == {13}
            held = _held(world, seen)
            assert sorted(held[seat]) == sorted([*seen["hand"], *seen["passing"]])
            sizes = zip(seen["hand_counts"], seen["passing_counts"], strict=True)
            assert [len(hand) for hand in held] == [sum(both) for both in sizes]
            assert not any(held[other] & void for other, void in enumerate(_voids(seen)))
            if seen["passed"]:
                step = STEP[seen["direction"]]
                assert world.passes[seat] == tuple(seen["passed"])
                assert world.passes[(seat - step) % 4] == tuple(seen["received"])
                assert {len(cards) for cards in world.passes} == {3}
                for giver, cards in enumerate(world.passes):
                    assert {*cards} <= {*world.dealt[giver]}
    for player in players.values():
        player.close()


def _held(world: DealtWorld, seen: Row) -> list[set[str]]:
    """The cards of each seat now, played forward from the deal by the rules."""
    held = [{*hand} for hand in world.dealt]
    if seen["phase"] == "play":
        for giver, cards in enumerate(world.passes):
            held[giver] -= {*cards}
        for giver, cards in enumerate(world.passes):
            held[(giver + STEP[seen["direction"]]) % 4] |= {*cards}
    for seat, card in played_cards(seen):
        held[seat].remove(card)  # it must have held it
    return held


def _voids(seen: Row) -> list[set[str]]:
    """By seat, cards that it has shown not to hold, as it did not follow suit."""
    voids: list[set[str]] = [set() for _ in range(4)]
    for trick in [*seen["tricks"], {"leader": seen["leader"], "cards": seen["trick"]}]:
        for place, card in enumerate(trick["cards"]):
            if card[1] != (led := trick["cards"][0][1]):
                cards = {rank + led for rank in "23456789TJQKA"}
                voids[(trick["leader"] + place) % 4] |= cards
    return voids


@pytest.mark.parametrize("seed", range(6))
def test_a_deal_is_the_same_in_openspiel_by_seats_legal_cards_and_scores(seed: int) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    for seat, state in positions(seed):
        real = DealtWorld.of(state, [state["hands"], state["passing"], state["passed"]])
        theirs = pyspiel.load_game("hearts").new_initial_state()
        for action in openspiel_actions(state, real):
            theirs.apply_action(action)
        legal = MODULE["get_legal_actions"](state)
        assert {*theirs.legal_actions()} == {card_number(one.split()[1]) for one in legal}
        assert theirs.is_terminal() if seat == TERMINAL else theirs.current_player() == seat
    points: list[float] = card_points(MODULE["get_rewards"](state))
    moon = 26 if sum(points) < 0 else 0
    assert [26 - paid for paid in theirs.returns()] == [one + moon for one in points]


def test_the_moon_is_scored_as_in_the_paper_and_apart_by_as_much_as_in_openspiel() -> None:
    """A seat with every club leads them all: it must take every trick."""
    pyspiel = pytest.importorskip("pyspiel")
    ranks = "23456789TJQKA"
    hands = [[rank + suit for rank in ranks] for suit in "DCHS"]  # seat 1 has the clubs
    state = MODULE["initial_state"](4, **ONE_DEAL)
    for action in ["direction keep", *(f"deal {hands[n % 4][n // 4]}" for n in range(52))]:
        state = MODULE["apply_action"](state, action)
    while MODULE["get_current_player"](state) != TERMINAL:
        state = MODULE["apply_action"](state, MODULE["get_legal_actions"](state)[0])
    world = DealtWorld.of(state, [state["hands"], state["passing"], state["passed"]])
    theirs = pyspiel.load_game("hearts").new_initial_state()
    for number in openspiel_actions(state, world):
        theirs.apply_action(number)
    assert theirs.returns() == [0, 26, 0, 0]
    assert card_points(MODULE["get_rewards"](state)) == [0, -26, 0, 0]


def test_pimc_plays_legal_cards_the_same_for_the_same_stream(sandbox: Sandbox) -> None:
    for number, (seat, state) in enumerate(positions(11)):
        if number % 12 or seat == TERMINAL:
            continue
        player = seated(sandbox, seat, "openspiel-pimc:worlds=5,simulations=20")
        log = SeatLog(seat, [Seen(MODULE["get_observations"](state)[seat])])
        legal = sorted(MODULE["get_legal_actions"](state))
        once, again = (player.choose(log, legal, np.random.default_rng(3)) for _ in range(2))
        player.close()
        assert once == again
        assert once.action in legal


def test_pimc_finds_the_better_of_two_last_cards(sandbox: Sandbox) -> None:
    """Last in the last but one trick all else is forced: the mean over all deals is exact."""
    found = 0
    for seed in range(360):
        for seat, state in positions(seed):
            if seat == TERMINAL or len(state["tricks"]) != 11 or len(state["trick"]) != 3:
                continue
            legal = sorted(MODULE["get_legal_actions"](state))
            exact = [_mean_paid(state, seat, action) for action in legal]
            if len(legal) == 2 and abs(exact[0] - exact[1]) > 3:
                player = seated(sandbox, seat, "openspiel-pimc:worlds=60,simulations=14")
                log = SeatLog(seat, [Seen(MODULE["get_observations"](state)[seat])])
                decision = player.choose(log, legal, np.random.default_rng(seed))
                player.close()
                assert decision.action == legal[exact.index(max(exact))], (seed, legal, exact)
                found += 1
    assert found >= 5


def _mean_paid(state: Row, seat: int, action: str) -> float:
    """What a seat is paid in the mean, over every way in which the others hold the last cards."""
    seen = MODULE["get_observations"](state)[seat]
    voids, others = _voids(seen), [other for other in range(4) if other != seat]
    owner = {card: (seat + STEP[seen["direction"]]) % 4 for card in seen["passed"]}
    paid: list[float] = []
    for cards in permutations(state["hands"][other][0] for other in others):
        pairs = [*zip(others, cards, strict=True)]
        if any(card in voids[o] or owner.get(card, o) != o for o, card in pairs):
            continue
        held = {other: [card] for other, card in pairs} | {seat: state["hands"][seat]}
        chosen, after = action, {**state, "hands": [held[place] for place in range(4)]}
        while MODULE["get_current_player"](after) != TERMINAL:
            after = MODULE["apply_action"](after, chosen)
            chosen = next(iter(MODULE["get_legal_actions"](after)), "")
        paid.append(MODULE["get_rewards"](after)[seat])
    return sum(paid) / len(paid)


def test_a_spec_that_cannot_be_is_refused() -> None:
    for spec in ("openspiel-pimc:worlds=0", "openspiel-pimc:simulations=2", "openspiel-pimc:x=1"):
        with pytest.raises(PlayerSpecError):
            HeartsRoster().effective(spec)
    assert HeartsRoster().effective("greedy").name == "greedy:heuristic=ensemble"
