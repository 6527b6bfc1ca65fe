"""Seats that a program set apart in library games are told; the games themselves are not blamed."""

import random
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from games import library
from games.checks.sampling import random_matches
from games.checks.seats import LEVEL, SeatFact, _never, _seldom, even_handed, seat_facts
from tests.games.subjects import subject

MATCHES = 16
SOME = [("shedding", 3), ("go_fish", 3), ("goofspiel", 3), ("push_your_luck", 3)]
# What sets the seats of these games apart by their rules: the marks of a board.
MEANT = {"tic_tac_toe": {"may choose 'x'", "may choose 'o'"}}

# A planted fault is a function put over the sound one; {n} is the table's last seat.
PLANTS = {
    "one seat's reward is forgotten": """
_sound_paid = get_rewards
def get_rewards(state):
    return [0.0 if seat == {n} else paid for seat, paid in enumerate(_sound_paid(state))]
""",
    "the last seat is skipped": """
_sound_play = apply_action
def apply_action(state, action):
    state = _sound_play(state, action)
    while get_current_player(state) == {n}:
        state = _sound_play(state, get_legal_actions(state)[0])
    return state
_sound_said = get_events
def get_events(state, action):
    try:
        return _sound_said(state, action)
    except ValueError:  # what was played for the last seat
        return [[] for _ in range({n} + 1)]
""",
    "one seat is shown a field more": """
_sound_shown = get_observations
def get_observations(state):
    return [{{**o, "peek": 1}} if seat == {n} else o for seat, o in enumerate(_sound_shown(state))]
""",
    "one seat is told nothing": """
_sound_told = get_events
def get_events(state, action):
    return [[] if seat == {n} else told for seat, told in enumerate(_sound_told(state, action))]
""",
    "one seat may never draw": """
_sound_all = get_legal_actions
def get_legal_actions(state):
    legal = _sound_all(state)
    kept = [action for action in legal if action != "draw"]
    return kept if kept and get_current_player(state) == {n} else legal
""",
    "the first seat is dealt a card more": """
_sound_begin = apply_action
def apply_action(state, action):
    dealt = get_current_player(state) == -1
    state = _sound_begin(state, action)
    hands, deck = state["hands"], state["deck"]
    if dealt and get_current_player(state) >= 0 and not state["turns"]:
        state = {{**state, "hands": [[*hands[0], deck[-1]], *hands[1:]], "deck": deck[:-1]}}
    return state
""",
}
# How a plant is told, the seats it leaves with the kind, and whether no turn order explains it.
TOLD = {
    "one seat's reward is forgotten": ("is paid ", "others", False),
    "the last seat is skipped": ("ever has to decide anything", "others", True),
    "one seat is shown a field more": ("is shown the field 'peek'", "last", True),
    "one seat is told nothing": ("is told of anything that happens", "others", True),
    "one seat may never draw": ("may choose 'draw'", "others", False),
    "the first seat is dealt a card more": (
        "has 8 in hands.* at the first decision",
        "first",
        False,
    ),
}
CASES = [*product(SOME, [*TOLD][:4]), (("rummy", 2), [*TOLD][4]), (("rummy", 3), [*TOLD][4])]
CASES += [(("rummy", 3), [*TOLD][5]), (("shedding", 3), [*TOLD][5])]


@cache
def told(name: str, players: int, plant: str = "") -> tuple[SeatFact, ...]:
    source = library.source(name) + PLANTS.get(plant, "").format(n=players - 1)
    sub = subject(source, players)
    matches = random_matches(sub, matches=MATCHES, seed=5, max_plies=2000)
    return seat_facts(matches, sub.game.module.constant("ZONES"))


@pytest.mark.parametrize("name", library.families())
def test_no_library_game_is_blamed(name: str) -> None:
    facts = told(name, library.preset(name).players)
    assert not [fact for fact in facts if fact.whole]
    assert {fact.kind for fact in facts} == MEANT.get(name, set())


@pytest.mark.parametrize(("table", "plant"), CASES)
def test_a_planted_difference_is_told(table: tuple[str, int], plant: str) -> None:
    kind, who, whole = TOLD[plant]
    every = range(table[1])
    seats = {"others": every[:-1], "last": every[-1:], "first": every[:1]}[who]
    found = [f for f in told(*table, plant) if f.kind.startswith(kind) and f.seats == tuple(seats)]
    assert found
    assert all(fact.whole == whole for fact in found)


def test_bounds_are_the_share_of_turned_tables_that_look_so() -> None:
    """Every way of turning each of three tables of three, counted one by one."""
    sets = [frozenset({0}), frozenset({0, 1}), frozenset({0, 1})]
    turns = [[frozenset((s + r) % 3 for s in one) for r in range(3)] for one in sets]
    inside = [all(one <= {0, 1} for one in turned) for turned in product(*turns)]
    counted = Fraction(sum(inside), len(inside))
    assert _never("", sets, 3).bound == pytest.approx(min(1.0, float((2**3 - 2) * counted)))
    alone = [0, 0, 0, 2]
    drawn = [turned.count(0) >= 3 for turned in product(range(3), repeat=4)]
    assert _seldom("", alone, 3).bound == pytest.approx(3 * sum(drawn) / len(drawn))


def test_alike_seats_are_told_apart_no_more_often_than_the_level_says() -> None:
    """Twelve matches in which one of two seats has each of forty kinds by the toss of a coin."""
    coin = random.Random(8)
    wrong = 0
    for _ in range(400):
        sets = [[frozenset({coin.randrange(2)}) for _ in range(12)] for _ in range(40)]
        wrong += any(_never("", one, 2).bound * 40 <= LEVEL for one in sets)
    assert wrong / 400 <= 3 * LEVEL


@pytest.mark.parametrize(
    ("rules", "alike"),
    [
        (["The game has two players.", "Player 1 makes the first move."], True),
        (["Player 2 acts after Player 1, and Player 1 after Player 2."], True),
        (["Player 2 draws two cards."], False),
        (["The dealer plays last."], False),
        (["One of the players is the dragon."], False),
    ],
)
def test_rules_are_even_handed_where_only_the_first_turn_is_anybodys_own(
    rules: list[str], alike: bool
) -> None:
    assert even_handed(rules, 2) == alike


def test_no_match_and_a_single_seat_tell_nothing() -> None:
    assert seat_facts([], {}) == ()
    sub = subject(library.source("push_your_luck"), 1)
    assert seat_facts(random_matches(sub, matches=2, seed=1, max_plies=500), {}) == ()
