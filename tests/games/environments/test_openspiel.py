"""OpenSpiel environments: states that tell all that follows, observations that tell no secret."""

import json
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from games.environments import EnvironmentNotFoundError
from games.environments.openspiel.adapter import (
    ENCODINGS,
    NativePosition,
    OpenSpielEnvironment,
    of_openspiel,
)
from games.environments.registry import TwinEnvironment, environment_named
from games.table import Position
from games.values import CHANCE, TERMINAL, canonical_key, require_json

# OpenSpiel can draw another state that fits what a seat knows, for these.
RESAMPLED = ("kuhn_poker", "leduc_poker", "bargaining", "gin_rummy", "hearts")
STEPS = 800


def opened(name: str) -> OpenSpielEnvironment:
    return of_openspiel(name, "")


def played(environment: OpenSpielEnvironment, seed: int) -> Iterator[tuple[Position, str]]:
    """Positions with the action taken in them; "" at the end."""
    generator = random.Random(seed)
    position = environment.open(environment.num_players, environment.parameters)
    while position.legal:
        action = generator.choice(position.legal)
        yield position, action
        position = environment.advance(position, action)
    yield position, ""


def after(name: str, *actions: str) -> Position:
    environment = opened(name)
    position = environment.open(environment.num_players, environment.parameters)
    for action in actions:
        position = environment.advance(position, action)
    return position


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_state_tells_all_that_follows_from_it(name: str) -> None:
    environment = opened(name)
    shown: dict[str, str] = {}
    led: dict[tuple[str, str], str] = {}
    steps = seed = 0
    while steps < STEPS:
        before: tuple[str, str] | None = None
        for position, action in played(environment, seed):
            key = canonical_key(position.state)
            value = canonical_key(
                [position.player, *position.legal, *position.observations, *position.rewards]
            )
            assert shown.setdefault(key, value) == value
            if before:
                assert led.setdefault(before, key) == key
            before = key, action
            steps += 1
        seed += 1
    assert steps - seed <= len(led) * 40, "too few different steps to tell anything"


@pytest.mark.parametrize("name", ENCODINGS)
def test_a_match_is_a_match_of_the_contract(name: str) -> None:
    environment = opened(name)
    seats = environment.num_players
    for position, _ in played(environment, 5):
        require_json([position.state, *position.observations], name)
        assert position.player in (CHANCE, TERMINAL, *range(seats))
        assert (position.player == TERMINAL) == (not position.legal)
        assert len(position.rewards) == len(position.observations) == seats
        if position.player == CHANCE:
            assert sum(position.probabilities) == pytest.approx(1)
    assert position.player == TERMINAL


@pytest.mark.parametrize("name", RESAMPLED)
def test_seats_that_know_the_same_are_shown_the_same(name: str) -> None:
    """OpenSpiel's resampler changes what a seat cannot know; nothing it sees may change."""
    environment = opened(name)
    draws, changed = random.Random(8), 0
    for seed in range(4):
        for number, (position, _) in enumerate(played(environment, seed)):
            if position.player < 0 or number % 3:
                continue
            assert isinstance(position, NativePosition)
            other = position.native.resample_from_infostate(position.player, draws.random)
            if position.state.get("phase") == "Pass":
                continue  # there its resampler of hearts gives a hand too many cards
            state, observations = environment.encoding.view(other)
            assert observations[position.player] == position.observations[position.player]
            changed += state != position.state
    assert changed


def held(state: Mapping[str, object]) -> list[set[str]]:
    hands = state["hands"]
    assert isinstance(hands, list)
    return [set(hand) for hand in hands]


@pytest.mark.parametrize("name", ["skat", "crazy_eights", "gin_rummy", "hearts"])
def test_no_card_in_another_hand_is_named_to_a_seat(name: str) -> None:
    """A card that somebody still holds was seen by others only where the rules show it."""
    environment = opened(name)
    known = {"gin_rummy": ("upcard", "prev_upcard", "layed_melds"), "hearts": ("passed_cards",)}
    for position, _ in played(environment, 2):
        if position.player == TERMINAL:
            continue
        hands = held(position.state)
        for seat, seen in enumerate(position.observations):
            shown = {key: value for key, value in seen.items() if key not in known.get(name, ())}
            for other, hand in enumerate(hands):
                told = [card for card in hand - hands[seat] if f'"{card}"' in json.dumps(shown)]
                top = shown.get("top_card")
                assert other == seat or set(told) <= {top}, (seat, told, seen)


def test_passed_hearts_are_told_once_everybody_has_passed() -> None:
    phases = set()
    for seed in range(3):
        for position, _ in played(opened("hearts"), seed):
            phase = position.state["phase"]
            received = [seen["received_cards"][seat] for seat, seen in _seen(position)]
            if phase == "Pass" or position.state["pass_direction"] == "No Pass":
                assert {card for cards in received for card in cards} <= {"XX"}
            elif phase == "Play":
                assert all(len(cards) == 3 and "XX" not in cards for cards in received)
                phases.add(phase)
    assert phases


def _seen(position: Position) -> list[tuple[int, dict[str, Any]]]:
    return [*enumerate(position.observations)]


def test_where_the_other_fleet_lies_is_not_told() -> None:
    def fleet(column: int) -> list[str]:
        turns = []
        for row, lies in enumerate(range(0, 10, 2)):
            turns += [
                f"Pl0: place ship horizontally with top-left corner in ({lies}, 0)",
                f"Pl1: place ship horizontally with top-left corner in ({row}, {column})",
            ]
        return turns

    shots = ["Pl0: shoot at (9, 9)", "Pl1: shoot at (0, 0)"]
    one, two = after("battleship", *fleet(0), *shots), after("battleship", *fleet(5), *shots)
    assert one.observations[0] == two.observations[0]
    assert one.observations[1] != two.observations[1]
    assert one.observations[0]["my_shots"] == [[9, 9, "W"]]
    assert one.observations[1]["my_shots"] == [[0, 0, "H"]]


def test_phantom_marks_are_seen_once_they_are_met() -> None:
    dark = after("phantom_ttt", "x(1,1)")
    assert dark.observations[1] == {
        "current_player": "o",
        "my_attempts": [],
        "my_mark": "o",
        "view": ["."] * 9,
    }
    met = environment_after = after("phantom_ttt", "x(1,1)", "o(1,1)")
    assert environment_after.player == 1, "who meets a mark tries again"
    assert met.observations[1]["view"] == [*["."] * 4, "x", *["."] * 4]


def test_leduc_is_shown_in_words() -> None:
    """The written example of a position of Leduc poker."""
    position = after("leduc_poker", "Deal K2", "Deal Q2", "Raise")
    shared = {"betting": [["Raise"], []], "current_player": "1", "money": [97, 99], "pot": 4}
    shared |= {"public_card": None, "round": 1}
    assert position.state == shared | {"private_cards": ["K2", "Q2"]}
    assert position.observations[0] == shared | {"my_player_id": 0, "private_card": "K2"}
    assert set(position.legal) == {"Fold", "Call", "Raise"}
    assert after("leduc_poker", "Deal K2", "Deal Q2", "Raise", "Fold").rewards == (1, -1)


def test_bargaining_shares_are_those_of_the_seats() -> None:
    """1,3,1 with values 3,2,1 and 6,1,1: player 0 keeps 0,0,1 (worth 1), 1 gets 1,3,0 (worth 9)."""
    end = after("bargaining", "1,3,1;3,2,1;6,1,1", "player 0 offers 0,0,1", "player 1 agrees")
    assert end.rewards == (1, 9)
    assert end.state["agreement"] == [{"X": 0, "Y": 0, "Z": 1}, {"X": 1, "Y": 3, "Z": 0}]
    assert end.observations[1]["values"] == {"X": 6, "Y": 1, "Z": 1}
    assert "player_0_values" not in end.observations[1]


def test_gin_rummy_ends_at_its_fiftieth_upcard_and_counts_them() -> None:
    environment, generator = opened("gin_rummy"), random.Random(0)
    position = environment.open(2, environment.parameters)
    before = 0
    while position.legal:
        upcard = [action for action in position.legal if action.endswith("Draw upcard")]
        before = max(before, int(str(position.state["num_draw_upcard"])))
        position = environment.advance(position, (upcard or [generator.choice(position.legal)])[0])
    assert (before, position.state["num_draw_upcard"]) == (49, 50)
    assert position.state["phase"] == "GameOver"
    assert position.rewards == (0, 0)


def test_backgammon_moves_are_numbered_from_the_movers_side() -> None:
    """The opening 3-1: both sides make their five point from 8 and 6."""
    move = "Move checker at 8 using higher roll, Move checker at 6 using lower roll"
    for start, mark in (("x starts, roll 1,3", "x"), ("o starts, roll 3,1", "o")):
        position = after("backgammon", start)
        assert position.state["current_player"] == mark
        assert move in position.legal
        board = after("backgammon", start, move).state["board"]
        assert isinstance(board, list)
        own = board["xo".index(mark)]
        # Index 19 is x's five point, index 4 is o's.
        assert own[19 if mark == "x" else 4] == 2  # type: ignore[index]


def test_every_openspiel_environment_has_rules_and_a_name() -> None:
    for name in ENCODINGS:
        environment = environment_named(f"openspiel:{name}")
        assert environment.name == f"openspiel:{name}"
        assert environment.rules.startswith("# ")
        assert "open_spiel" in environment.versions


def test_what_is_unknown_is_refused_with_what_is_known() -> None:
    for text in ("openspiel:nowhere", "openspiel:", "library:nothing", "nothing"):
        with pytest.raises(EnvironmentNotFoundError, match=r"known|there are"):
            environment_named(text)
    with pytest.raises(EnvironmentNotFoundError, match="own parameters"):
        environment_named("openspiel:kuhn_poker", {"players": 3})
    with pytest.raises(EnvironmentNotFoundError, match="own parameters"):
        environment_named("openspiel:kuhn_poker", players=3)
    environment = opened("kuhn_poker")
    with pytest.raises(EnvironmentNotFoundError, match="own parameters"):
        environment.open(3, {})


def test_where_openspiel_is_missing_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(EnvironmentNotFoundError, match=r"rulewright\[openspiel\]"):
        opened("kuhn_poker")


@pytest.mark.parametrize("seed", range(3))
def test_the_search_takes_a_win_and_stops_one(seed: int) -> None:
    environment = opened("tic_tac_toe")
    wins = after("tic_tac_toe", "x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)")
    assert environment.best(wins, 200, seed) == "x(0,2)"
    threatened = after("tic_tac_toe", "x(0,0)", "o(1,1)", "x(0,1)")
    assert environment.best(threatened, 200, seed) == "o(0,2)"
    twin = environment_named("twin:2:openspiel:tic_tac_toe")
    assert isinstance(twin, TwinEnvironment)
    position = twin.open(2, twin.parameters)
    for action in ("x(0,0)", "o(1,0)", "x(0,1)", "o(1,1)"):
        position = twin.advance(position, twin.renamed(action))
    assert twin.best(position, 200, seed) == twin.renamed("x(0,2)")


def least_deadwood(position: Position, generator: random.Random) -> str:
    """Knocks where it can, and throws away what leaves the least deadwood."""
    knocks = [action for action in position.legal if action.endswith("Knock")]
    if knocks or position.state["phase"] != "Discard":
        return knocks[0] if knocks else generator.choice(position.legal)
    environment = opened("gin_rummy")

    def left(action: str) -> int:
        deadwood: Any = environment.advance(position, action).state["deadwood"]
        return int(deadwood[position.player])

    return min(position.legal, key=left)


@pytest.mark.parametrize(("seed", "knocking"), [(1, False), (13, True), (36, True)])
def test_a_drawn_history_of_gin_rummy_shows_what_the_seat_saw(seed: int, knocking: bool) -> None:
    environment, draws = opened("gin_rummy"), random.Random(seed)
    history = environment.encoding.history
    assert history is not None
    position = environment.open(2, environment.parameters)
    past: list[list[list[Any]]] = [[], []]
    met, hidden = set(), set()
    random.seed(seed)
    while position.legal:
        if position.player < 0:
            position = environment.advance(position, draws.choice(position.legal))
            continue
        seat, seen = position.player, position.observations[position.player]
        action = least_deadwood(position, draws) if knocking else draws.choice(position.legal)
        if len(past[seat]) % 4 == 0 or position.state["phase"] in ("Knock", "Layoff", "Wall"):
            again = environment.open(2, environment.parameters)
            for ply in history([*past[seat], [seen, None]], seat):
                again = environment.advance(again, ply)
            assert (again.player, again.observations[seat]) == (seat, seen)
            met.add(position.state["phase"])
            hidden.add(canonical_key(again.state) != canonical_key(position.state))
        past[seat].append([seen, action])
        position = environment.advance(position, action)
    assert True in hidden, "it drew what was so, and nothing else"
    assert not knocking or {"Knock", "Layoff"} & met
