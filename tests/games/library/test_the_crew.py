"""The Crew: rules from hand-made positions, and random play beside a simulation of its own."""

import random
import re
from collections.abc import Callable
from typing import Any, cast

import pytest

from games import library
from games.checks.run import CheckSettings, run_checks
from games.contract import Game
from games.library import specialise
from games.modules import LocalModule
from games.values import CHANCE, TERMINAL, IllegalActionError, ModuleFault
from tests.games.library import crew_floors
from tests.games.subjects import subject

SOURCE = library.source("the_crew")
MODULE = LocalModule(SOURCE)
GAME = Game(MODULE)
State = dict[str, Any]

# Successes of random play in 20,000 deals of the simulation, by mission and number of players.
FLOORS = {
    1: {3: 7456, 4: 6360, 5: 5866},
    2: {3: 2040, 4: 1285, 5: 929},
    3: {3: 1000, 4: 638, 5: 475},
    5: {3: 457, 4: 2456, 5: 5341},
    6: {3: 252, 4: 87, 5: 50},
    9: {3: 2681, 4: 1416, 5: 797},
    13: {3: 1047, 4: 1412, 5: 1434},
    16: {3: 61, 4: 186, 5: 411},
    33: {3: 1545, 4: 4275, 5: 5710},
}


def table(mission: int, *hands: str, **fields: Any) -> State:  # noqa: ANN401 - parts of a state
    """Player 1 commands and leads; these hands are all that is left to play."""
    state: State = GAME.initial_state(len(hands), {"mission": mission, "radio": False})
    held = [hand.split() for hand in hands]
    won = {"leader": 0, "winner": 0, "best": "B2", "cards": []}
    tricks = [{**won, "winner": int(seat)} for seat in fields.pop("winners", "")]
    tasks = [own.split() for own in fields.pop("tasks", [""] * len(hands))]
    state.update(deck=[], commander_seat=0, hands=held, tricks=tricks, tasks=tasks, **fields)
    state["steps"] = [["play", seat] for seat in range(len(hands))]
    return state


def after(state: State, *actions: str) -> State:
    for action in actions:
        state = GAME.apply_action(state, action)
    return state


def play(state: State, cards: str) -> State:
    return after(state, *(f"play {card}" for card in cards.split()))


@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        ("P5 P9 B9 P1", 1),  # the highest card of the colour led
        ("P5 P9 R1 R3", 3),  # the highest rocket
        ("B1 P9 G9 Y9", 0),
    ],
)
def test_the_highest_card_led_or_rocket_wins_and_leads(trick: str, winner: int) -> None:
    hands = [f"{card} Y1" for card in trick.split()]
    state = play(table(26, *hands), trick)
    assert (state["tricks"][-1]["winner"], GAME.current_player(state)) == (winner, winner)


def test_a_colour_or_rocket_led_must_be_followed() -> None:
    state = play(table(9, "P1 R1", "P2 B3 R2", "B4 R3", "Y1"), "P1")
    assert GAME.legal_actions(state) == ["play P2"]
    assert GAME.legal_actions(play(state, "P2")) == ["play B4", "play R3"]
    assert GAME.legal_actions(play(table(9, "R1", "P2 R2", "B4", "Y1"), "R1")) == ["play R2"]


ARROWS = {"P1": ">", "P2": ">>"}
TASK_RULES = [
    # (mission, tasks of four players, tokens, what was done before, the trick, result)
    (1, ["P1", "", "", ""], {}, [], "P4 P1 P2 P3", "won"),
    (1, ["P1", "", "", ""], {}, [], "P3 P1 P2 P4", "lost"),
    (2, ["P1", "P2", "", ""], {}, [], "P3 P1 P2 P4", "lost"),
    (2, ["P1", "B2", "", ""], {}, [], "P4 P1 P2 P3", ""),
    (3, ["P1", "B2", "", ""], {"P1": "2", "B2": "1"}, [], "P4 P1 P2 P3", "lost"),
    (3, ["P1", "B2", "", ""], {"P1": "1", "B2": "2"}, [], "P4 P1 P2 P3", ""),
    (3, ["P1 P2", "", "", ""], {"P1": "2", "P2": "1"}, [], "P4 P1 P2 P3", "won"),
    (8, ["P1 P2 B3", "", "", ""], {"P1": "1", "P2": "3", "B3": "2"}, [], "P4 P1 P2 P3", "lost"),
    (21, ["P1 B1 B2 B3 B4", "", "", ""], {"B1": "1", "B2": "2"}, ["B1"], "P4 P1 P2 P3", "lost"),
    (6, ["P1 P2 B1", "", "", ""], ARROWS, [], "P4 P1 P2 P3", ""),
    (6, ["B1 P2 P1", "", "", ""], ARROWS, ["B1"], "P4 P6 P2 P3", "lost"),
    (7, ["P1 B1 B2", "", "", ""], {"P1": "O"}, ["B1"], "P4 P1 P2 P3", "lost"),
    (7, ["P1 P2 B1", "", "", ""], {"P1": "O"}, ["B1"], "P4 P1 P2 P3", "won"),
    (17, ["P1 B1", "", "", ""], {}, [], "P9 P1 P2 P3", "lost"),
    (48, ["P1 B1 B2", "", "", ""], {"P1": "O"}, ["B1", "B2"], "P4 P1 P2 P3", "lost"),
]


@pytest.mark.parametrize(("mission", "tasks", "tokens", "done", "trick", "result"), TASK_RULES)
def test_tasks_belong_to_their_player_and_tokens_to_their_place(
    mission: int, tasks: list[str], tokens: dict[str, str], done: list[str], trick: str, result: str
) -> None:
    hands = [f"{card} G1" for card in trick.split()]
    state = play(table(mission, *hands, tasks=tasks, tokens=tokens, done=done), trick)
    assert state["result"] == result
    assert GAME.rewards(state, 4) == [float(result == "won")] * 4


SPECIAL_RULES = [
    # (mission, winners so far, the trick of four players, who is named, result)
    (5, "", "P4 P1 P2 P3", [0], "lost"),
    (5, "000000000", "P4 P1 P2 P3", [1], "won"),
    (9, "", "P1 B1 B2 B3", [], "won"),
    (9, "000000000", "P4 P1 P2 P3", [], "lost"),
    (13, "", "R4 R1 P2 P3", [], "lost"),
    (16, "", "P9 P1 P2 P3", [], "lost"),
    (16, "000000000", "P8 P1 P2 B9", [], "won"),
    (26, "", "P1 B1 B2 B3", [], ""),
    (29, "01230", "P4 P1 P2 P3", [], "lost"),
    (29, "01230123", "P4 P1 P2 P3", [], ""),
    (33, "0", "P4 P1 P2 P3", [0], "lost"),
    (33, "000000001", "P4 P1 P2 P3", [1], "won"),
    (33, "000000000", "P4 P1 P2 P3", [1], "lost"),
    (33, "", "R1 P1 P2 P3", [0], "lost"),
    (34, "1", "P4 P1 P2 P3", [], "lost"),
    (34, "012301231", "P4 P1 P2 P3", [], "won"),
    (34, "012301230", "P1 P4 P2 P3", [], "lost"),
    (41, "", "P4 P1 P2 P3", [1], "lost"),
    (41, "011111111", "P4 P1 P2 P3", [0], "won"),
    (41, "0", "P4 P1 P2 P3", [0], "lost"),
    (44, "", "R2 P1 P2 P3", [], "lost"),
    (44, "", "R1 P1 P2 P3", [], ""),
    (46, "", "P4 P1 P2 B3", [1], "lost"),
    (46, "", "B4 P1 P2 B3", [0], ""),
    (50, "", "P4 P1 P2 P3", [1, 0], "lost"),
    (50, "1111", "P4 P1 P2 P3", [1, 0], "lost"),
    (50, "111122222", "P4 P1 P2 P3", [1, 0], "won"),
    (50, "1111", "P3 P1 P4 P2", [1, 0], ""),
]


@pytest.mark.parametrize(("mission", "winners", "trick", "named", "result"), SPECIAL_RULES)
def test_missions_without_tasks_are_decided_by_who_wins_and_how(
    mission: int, winners: str, trick: str, named: list[int], result: str
) -> None:
    hands = [f"{card} G2" for card in trick.split()]
    state = play(table(mission, *hands, winners=winners, named=named), trick)
    assert state["result"] == result


def started(mission: int, players: int, rng: random.Random) -> State:
    """Play at random up to the first trick."""
    state: State = GAME.initial_state(players, {"mission": mission})
    while state["steps"][0][0] not in ("talk", "play"):
        state = after(state, rng.choice(GAME.legal_actions(state)))
    return state


# Tasks of missions 1 to 50 in the printed logbook.
TASKS = (
    "1 2 2 3 0 3 3 3 0 4 4 4 0 4 4 0 2 5 5 2 5 5 5 6 6 "
    "0 3 6 0 6 6 7 0 0 7 7 4 8 8 8 0 9 9 0 9 0 10 3 10 0"
)


@pytest.mark.parametrize("mission", range(1, 51))
def test_every_mission_deals_its_tasks_with_the_tokens_that_its_rulebook_names(
    mission: int,
) -> None:
    state = started(mission, 4, random.Random(mission))
    told = library.rulebook("the_crew", {"mission": mission}, 4)
    (drawn,) = re.findall(r"chance draws (\d+)", told) or ["0"]
    assert sum(map(len, state["tasks"])) == int(drawn) == int(TASKS.split()[mission - 1])
    named = re.findall(r"in the order (.+); whoever", told)
    assert sorted(state["tokens"].values()) == sorted(", ".join(named).split(", ") if named else [])
    assert sum(map(len, state["hands"])) == 40
    assert "R4" in state["hands"][state["commander_seat"]]


@pytest.mark.parametrize(
    ("mission", "seats", "shares"), [(24, 4, [1, 1, 2, 2]), (43, 4, [2, 2, 2, 3])]
)
def test_the_commander_s_distribution_is_even(mission: int, seats: int, shares: list[int]) -> None:
    for seed in range(5):
        state = started(mission, seats, random.Random(seed))
        assert sorted(map(len, state["tasks"])) == shares


@pytest.mark.parametrize("mission", [5, 20, 27, 33, 37])
def test_the_commander_names_another_player(mission: int) -> None:
    for seed in range(8):
        state = started(mission, 3, random.Random(seed))
        assert len(state["named"]) == 1
        assert state["commander_seat"] not in state["named"]


def test_only_a_card_is_shown_or_the_highest_or_lowest_and_no_rocket() -> None:
    state = {**table(1, "P2 P5 P9 B3 R1", "G1", "G2", "G3"), "steps": [["talk", 0], ["play", 0]]}
    shown = ["silent", "show P2 lowest", "show P9 highest", "show B3 only"]
    assert GAME.legal_actions(state) == shown
    assert after(state, "show B3 only")["radio"] == [["B3", "only"], [], [], []]
    dead = {**state, "rules": {**state["rules"], "mission": 6}}
    assert GAME.legal_actions(dead) == ["silent", "show P2", "show P9", "show B3"]


@pytest.mark.parametrize(("mission", "first"), [(1, 1), (18, 2), (19, 3), (38, 3)])
def test_a_disruption_ends_with_its_trick(mission: int, first: int) -> None:
    for tricks in range(3):
        state = table(mission, *["G1 G2"] * 4, winners="0" * tricks)
        state["steps"] = [["hand", 0]]
        state["rules"]["radio"] = True
        assert (after(state, "hand none")["steps"][0][0] == "talk") == (tricks + 1 >= first)


def test_who_has_shown_a_card_or_was_muted_is_not_asked_again() -> None:
    state = table(11, *["G1 G2"] * 4, named=[2], radio=[["G1", "only"], [], [], []])
    state["steps"] = [["hand", 0]]
    state["rules"]["radio"] = True
    talk = [seat for kind, seat in after(state, "hand none")["steps"] if kind == "talk"]
    assert talk == [1, 3]


def test_cards_of_a_distress_signal_go_to_the_neighbour_and_no_rocket_goes() -> None:
    state = table(1, "P1 R1", "B1", "G1", "Y1")
    state = after({**state, "steps": [["signal", 0]]}, "signal left")
    assert GAME.legal_actions(state) == ["pass P1"]
    state = after(state, "pass P1", "pass B1", "pass G1")
    events = GAME.events(state, "pass Y1", 4)
    assert events[0] == ["Player 4 passes a card.", "You receive Y1."]
    assert after(state, "pass Y1")["hands"] == [["Y1", "R1"], ["P1"], ["B1"], ["G1"]]


def test_after_the_first_trick_of_mission_12_each_draws_from_the_right() -> None:
    hands = ["P4 B1 B9", "P1 G1", "P2 Y1", "P3 R1"]
    state = table(12, *hands, tasks=["B5", "", "", ""], radio=[["B9", "only"], [], [], []])
    state = play(state, "P4 P1 P2 P3")
    assert GAME.current_player(state) == -1
    assert GAME.legal_actions(state) == ["draw R1"]  # Player 1 from Player 4
    state = after(state, "draw R1")
    assert GAME.legal_actions(state) == ["draw B1"]  # B9 lies open
    told = GAME.events(state, "draw B1", 4)
    assert told[:3] == [
        ["Player 2 draws your B1."],
        ["You draw B1."],
        ["Player 2 draws a card from Player 1."],
    ]
    state = after(state, "draw B1", "draw G1", "draw Y1")
    assert state["hands"] == [["B9", "R1"], ["B1"], ["G1"], ["Y1"]]


def test_tokens_are_swapped_or_moved_before_the_draft_where_the_mission_says_so() -> None:
    row = {"row": ["P1", "P2", "P3"], "tokens": {"P1": "1", "P2": "2"}}
    swap = {**table(23, "", "", "", "", **row), "steps": [["swap", 0], ["take", 0]]}
    assert after(swap, "swap 1 2")["tokens"] == {"P1": "2", "P2": "1"}
    move = {**swap, "steps": [["move", 0], ["take", 0]]}
    assert GAME.legal_actions(move) == ["move none", "move 1 P3", "move 2 P3"]
    assert after(move, "move 1 P3")["tokens"] == {"P2": "2", "P3": "1"}
    assert "hand none" in GAME.legal_actions({**move, "steps": [["hand", 0]]})


@pytest.mark.parametrize(
    ("players", "parameters", "words"),
    [
        (2, {}, "allowed: 3 to 5"),
        (4, {"mission": 51}, "mission is 51"),
        (4, {"mission": True}, "mission is True"),
        (4, {"distress": "left"}, "distress is 'left'"),
        (4, {"level": 1}, "known: mission, radio, distress"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(
    players: int, parameters: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModuleFault, match=words):
        GAME.initial_state(players, parameters)


def test_an_illegal_action_is_refused() -> None:
    state = play(table(1, "P1", "P2 B1", "P3", "P4"), "P1")
    for action in ("play B1", "play P3", "silent", ""):
        with pytest.raises(IllegalActionError):
            GAME.apply_action(state, action)


@pytest.mark.parametrize(
    ("players", "parameters"),
    [
        (3, {"mission": 3, "radio": False}),
        (3, {"mission": 12, "distress": True}),
        (4, {"mission": 46}),
        (5, {"mission": 25}),
    ],
)
def test_variants_pass_every_check(players: int, parameters: dict[str, Any]) -> None:
    source = specialise(
        SOURCE, name="crew", summary="Crew.", num_players=players, parameters=parameters
    )
    settings = CheckSettings(matches=4, samples=12, seed=3)
    findings = run_checks(subject(source, players), settings)
    assert [one for one in findings if one.outcome != "passed"] == []


@pytest.mark.parametrize(
    ("mission", "players"), [(m, n) for m in FLOORS for n in (3, 4, 5) if n == 4 or m in (1, 5, 33)]
)
def test_random_play_succeeds_as_often_as_in_the_simulation(mission: int, players: int) -> None:
    matches, rng = 400, random.Random(f"{mission} {players}")
    call: Any = MODULE.namespace
    won = 0
    for _ in range(matches):
        state = call["initial_state"](players, mission=mission)
        while legal := call["get_legal_actions"](state):
            state = call["apply_action"](state, rng.choice(legal))
        won += state["result"] == "won"
    floor = FLOORS[mission][players] / crew_floors.DEALS
    error = (floor * (1 - floor) * (1 / matches + 1 / crew_floors.DEALS)) ** 0.5
    assert abs(won / matches - floor) < 3 * error


@pytest.mark.parametrize("mission", [1, 5, 33])
def test_the_simulation_gives_its_figures_again(mission: int) -> None:
    """The first 500 of its 20,000 deals agree with them."""
    deals, floor = 500, FLOORS[mission][4] / crew_floors.DEALS
    won = crew_floors.successes(mission, 4, deals)
    assert abs(won / deals - floor) < 3 * (floor * (1 - floor) / deals) ** 0.5


@pytest.mark.parametrize(("mission", "seats"), [(9, 3), (9, 4), (26, 5)])
def test_a_sampled_table_keeps_to_what_was_shown_and_not_followed(mission: int, seats: int) -> None:
    rng, sample = random.Random(mission + seats), cast("Any", MODULE.namespace["resample_state"])
    state: State = GAME.initial_state(seats, {"mission": mission})
    while (player := GAME.current_player(state)) != TERMINAL:
        if player != CHANCE:
            seen = GAME.observations(state, seats)[player]
            drawn = sample([[seen, None]], player)
            assert GAME.observations(drawn, seats)[player] == seen
            assert GAME.legal_actions(drawn) == GAME.legal_actions(state)
            for seat, colour in not_followed(state):
                assert seat == player or not any(c[0] == colour for c in drawn["hands"][seat])
            for hand, (card, word) in zip(drawn["hands"], shown_of(state), strict=True):
                same = [own for own in hand if own[0] == card[:1] and own != card]
                assert word != "only" or not same
                assert word != "highest" or all(own < card for own in same)
                assert word != "lowest" or all(own > card for own in same)
        state = after(state, rng.choice(GAME.legal_actions(state)))


def not_followed(state: State) -> set[tuple[int, str]]:
    """Seats with the colours that they did not follow."""
    tricks = [*state["tricks"], {"leader": state["leader"], "cards": state["trick"]}]
    places = [
        (trick["leader"], trick["cards"], at)
        for trick in tricks
        for at in range(len(trick["cards"]))
    ]
    seats = len(state["hands"])
    return {
        ((lead + at) % seats, cards[0][0])
        for lead, cards, at in places
        if cards[at][0] != cards[0][0]
    }


def shown_of(state: State) -> list[list[str]]:
    return [shown or ["", ""] for shown in state["radio"]]


def succeeds(mission: int, seed: int) -> bool:
    """True if four who play by the heuristics succeed; of equal actions one is drawn."""
    sources = library.heuristic_sources("the_crew").values()
    found = [LocalModule(source).namespace["score"] for source in sources]
    heuristics = cast("list[Callable[..., float]]", found)
    rng = random.Random(seed)
    state = GAME.initial_state(4, {"mission": mission})
    while (player := GAME.current_player(state)) != TERMINAL:
        best = actions = GAME.legal_actions(state)
        if player != CHANCE and len(actions) > 1:
            seen = GAME.observations(state, 4)[player]
            scores = [sum(score(seen, action) for score in heuristics) for action in actions]
            best = [a for a, worth in zip(actions, scores, strict=True) if worth == max(scores)]
        state = GAME.apply_action(state, rng.choice(best))
    return GAME.rewards(state, 4)[0] > 0


@pytest.mark.parametrize("mission", [1, 5, 33])
def test_the_heuristic_fails_half_as_often_as_random_play(mission: int) -> None:
    failed = sum(not succeeds(mission, seed) for seed in range(60)) / 60
    assert failed <= (1 - FLOORS[mission][4] / crew_floors.DEALS) / 2


@pytest.mark.parametrize("mission", [2, 3, 16])
def test_where_successes_are_rare_the_heuristic_has_four_times_as_many(mission: int) -> None:
    succeeded = sum(succeeds(mission, seed) for seed in range(60)) / 60
    assert succeeded >= 4 * FLOORS[mission][4] / crew_floors.DEALS
