"""Seeded faults in a sound game: every check finds its own kind and passes the sound one."""

import re
import time

import pytest

from games.checks import Finding
from games.checks.contract import check_functions
from games.checks.run import CheckSettings, run_checks
from games.checks.sampling import random_matches, sample_states
from tests.games.subjects import subject

SETTINGS = CheckSettings(matches=6, samples=24, seed=1)

# High card for two: one card each from a pack of four, seen by its owner alone; one bid each.
SOUND = """
GAME = {"name": "high card", "summary": "The higher card wins the bids.", "min_players": 2,
        "max_players": 2, "conserved": ["card"], "open": ["bids"], "parameters": {}}
ZONES = {"hands.*": {"component": "card", "owner": "each", "ordered": False},
         "deck": {"component": "card", "owner": "nobody", "ordered": False}}

def initial_state(num_players, **parameters):
    if parameters:
        raise ValueError("high card has no parameters")
    return {"hands": [[], []], "deck": ["2", "3", "4", "5"], "bids": []}

def get_current_player(state):
    if len(state["bids"]) == 2:
        return -4
    if not state["hands"][1]:
        return -1
    return len(state["bids"])

def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, "player %d" % (player_id + 1))

def get_legal_actions(state):
    player = get_current_player(state)
    if player == -4:
        return []
    if player == -1:
        return ["deal " + card for card in state["deck"]]
    return ["bid 1", "bid 2"]

def apply_action(state, action):
    if action not in get_legal_actions(state):
        raise ValueError("not legal: " + action)
    word, value = action.split()
    if word == "bid":
        return {**state, "bids": state["bids"] + [int(value)]}
    deck = [card for card in state["deck"] if card != value]
    hands = [list(hand) for hand in state["hands"]]
    hands[0 if not hands[0] else 1].append(value)
    return {**state, "deck": deck, "hands": hands}

def get_rewards(state):
    if get_current_player(state) != -4:
        return [0.0, 0.0]
    total = float(sum(state["bids"]))
    return [total, -total] if state["hands"][0] > state["hands"][1] else [-total, total]

def get_observations(state):
    return [{"me": seat, "hand": state["hands"][seat], "bids": state["bids"],
             "deck": len(state["deck"])} for seat in range(2)]

def get_events(state, action):
    word, value = action.split()
    if word == "bid":
        return [["bid of " + value], ["bid of " + value]]
    owner = 0 if not state["hands"][0] else 1
    told = [["a card is dealt"], ["a card is dealt"]]
    told[owner] = ["you get " + value]
    return told

def visible(state, player_id):
    return {"hands.%d" % player_id: "contents", "hands.%d" % (1 - player_id): "count",
            "deck": "count"}
"""


def findings(source: str) -> list[Finding]:
    return [f for f in run_checks(subject(source, 2), SETTINGS) if f.outcome != "passed"]


def broken(old: str, new: str) -> list[Finding]:
    assert SOUND.count(old) == 1
    return findings(SOUND.replace(old, new))


def test_the_sound_game_passes_everything() -> None:
    assert findings(SOUND) == []


def test_a_missing_function_is_named() -> None:
    found = broken("def get_events", "def get_event")
    assert ("definitions", "get_events") in {(f.check, f.function) for f in found}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"name": "high card"', '"name": "high\\ncard"', "required: one line"),
        ('"name": "high card"', '"name": "x" * 1000', "1 to 80 characters"),
        ('"max_players": 2', '"max_players": 1000000000', "1 <= min <= max <= 8"),
        ('"conserved": ["card"]', '"conserved": {"card": 1}', "a list of names"),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": 1, "meaning": None}}',
            "n has the meaning None; required: a sentence",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": 1, "choices": 2}}',
            "required: a list of the values",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": 1, "choices": [2]}}',
            "required: one of its choices, [2]",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": 1, "range": [3, 1]}}',
            "required: two numbers, the lower one first",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": 1, "range": None}}',
            "required: two numbers, the lower one first",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"default": "1", "range": [0, 3]}}',
            "required: a number in its range, [0, 3]",
        ),
        (
            '"parameters": {}',
            '"parameters": {"n": {"range": [0, 3]}}',
            "required: a number in its range, [0, 3]",
        ),
    ],
)
def test_a_game_that_describes_itself_wrongly_is_found(old: str, new: str, said: str) -> None:
    found = broken(old, new)
    assert ("definitions", "GAME") in {(f.check, f.function) for f in found}
    assert said in next(f.evidence for f in found if f.check == "definitions")


def test_a_parameter_may_say_its_meaning_and_its_range_or_its_choices() -> None:
    declared = (
        '"n": {"default": 2, "range": [1, 3.5], "meaning": "Turns."}, '
        '"x": {"default": True, "choices": [True, False]}, "y": {"default": None}'
    )
    found = SOUND.replace('"parameters": {}', f'"parameters": {{{declared}}}')
    found = found.replace(
        "**parameters):\n    if parameters:", "n=2, x=True, y=None):\n    if False:"
    )
    assert findings(found) == []


def test_a_number_of_players_that_the_game_does_not_take_is_said_to_be_so() -> None:
    found = [f for f in run_checks(subject(SOUND, 3), SETTINGS) if f.outcome == "failed"]
    assert [f.function for f in found] == ["GAME"]
    assert "asked for: 3" in found[0].evidence


def test_a_crash_names_function_and_line_once() -> None:
    found = broken("total = float(sum(", "total = 1 / 0 + float(sum(")
    line = 1 + SOUND[: SOUND.index("total = float(sum(")].count("\n")
    (crash,) = (f for f in found if f.check == "random_play")  # of many matches, told once
    assert (crash.function, crash.line) == ("get_rewards", line)


def test_a_start_that_seldom_differs_is_found() -> None:
    start = '    return {"hands": [[], []], "deck": ["2", "3", "4", "5"], "bids": []}'
    drawn = f"    if len(CALLS.append(0) or CALLS) % 6 == 5: return {{}}\n{start}"
    source = SOUND.replace(start, drawn) + "CALLS = []\n"
    assert ("start", "initial_state") in {(f.check, f.function) for f in findings(source)}


def test_a_start_that_keeps_something_of_the_matches_before_is_found() -> None:
    told = '        return {**state, "bids"'
    source = SOUND.replace(told, f"        BIDS.append(1)\n{told}") + "BIDS = []\n"
    source = source.replace('"bids": []}', '"bids": [], "kept": len(BIDS)}')
    assert ("functions", "initial_state") in {(f.check, f.function) for f in findings(source)}


def test_an_endless_game_is_found() -> None:
    found = broken(
        'if len(state["bids"]) == 2:\n        return -4', 'if len(state["bids"]) < 0: pass'
    )
    assert "random_play" in {f.check for f in found}


def test_a_duplicate_legal_action_is_found() -> None:
    found = broken('return ["bid 1", "bid 2"]', 'return ["bid 1", "bid 2", "bid 1"]')
    assert any("duplicates" in f.evidence and f.function == "get_legal_actions" for f in found)


def test_an_opponents_card_in_the_observation_is_a_leak() -> None:
    found = broken(
        '"deck": len(state["deck"])}', '"deck": len(state["deck"]), "all": state["hands"]}'
    )
    assert [(f.check, f.function) for f in found] == [("leak_audit", "get_observations")]
    assert "'all'" in found[0].evidence


def test_a_dealt_card_told_to_everybody_is_a_leak() -> None:
    found = broken('["a card is dealt"], ["a card is dealt"]', '["got " + value], ["got " + value]')
    assert [(f.check, f.function) for f in found] == [("leak_audit", "get_events")]


def test_legal_actions_that_depend_on_hidden_cards_are_a_leak() -> None:
    found = broken(
        'return ["bid 1", "bid 2"]',
        'return ["bid 1", "bid 2"] if state["hands"][1 - player] > ["3"] else ["bid 1"]',
    )
    assert ("leak_audit", "get_legal_actions") in {(f.check, f.function) for f in found}


def test_a_card_that_appears_twice_is_found() -> None:
    found = broken(
        'deck = [card for card in state["deck"] if card != value]', 'deck = state["deck"]'
    )
    assert "conservation" in {f.check for f in found}


def test_a_changed_argument_is_found() -> None:
    found = broken(
        'return {**state, "bids": state["bids"] + [int(value)]}',
        'state["bids"].append(int(value)); return {**state, "bids": list(state["bids"])}',
    )
    assert any("changed its argument" in f.evidence for f in found)


def test_an_accepted_illegal_action_is_found() -> None:
    found = broken('raise ValueError("not legal: " + action)', 'return {**state, "bids": [1, 1]}')
    assert any("accepted" in f.evidence and f.function == "apply_action" for f in found)


def test_illegal_actions_are_chosen_in_a_time_that_grows_with_their_number_alone() -> None:
    many = SOUND.replace('["bid 1", "bid 2"]', '[f"bid {n}" for n in range(60_000)]')
    trial = subject(many, 2)
    samples = sample_states(random_matches(trial, matches=2, seed=1, max_plies=9), count=4, seed=1)
    begun = time.process_time()
    assert [f.outcome for f in check_functions(trial, samples, seed=1)] == ["passed"]
    assert time.process_time() - begun < 4  # each held against all others took a minute


def test_an_action_that_was_not_played_but_fails_is_found() -> None:
    found = broken(
        '    if word == "bid":\n        return {**state',
        """    if value == "2" and word == "bid" and state["bids"] == [2]:
        raise KeyError("two twos")
    if word == "bid":
        return {**state""",
    )
    assert any("with the legal action 'bid 2'" in f.evidence for f in found)


def test_an_action_that_changes_nothing_is_found() -> None:
    found = broken(
        'return {**state, "bids": state["bids"] + [int(value)]}',
        'return {**state, "bids": state["bids"] + ([1] if value == "1" else [])}',
    )
    assert any(f.check == "functions" and "leaves everything as it is" in f.evidence for f in found)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ("0", ""),  # what one wins the other loses
        ("1", "GAME says that the rules always pay 1 in all"),
        ("'zero'", "required: a finite number"),
    ],
)
def test_what_all_are_paid_is_held_against_the_declared_total(declared: str, words: str) -> None:
    found = broken('"conserved": ["card"]', f'"conserved": ["card"], "total": {declared}')
    assert [f.check for f in found] == ["total"] * bool(words)
    assert all(re.search(words, f.evidence) for f in found)


@pytest.mark.parametrize(
    ("declared", "start", "words"),
    [
        ("{'cards': {}}", "", "has cards: {}; required under parameters"),
        ("{'cards': {'default': 4}}", "", "does not start .*no parameters"),
        ("{'cards': {'default': 4}}", "parameters.pop('cards', 4)", ""),
        ("{'cards': {'default': 3}}", "cards = parameters.pop('cards', 4)", "another state"),
    ],
)
def test_a_game_starts_with_the_defaults_that_it_declares(
    declared: str, start: str, words: str
) -> None:
    source = SOUND.replace('"parameters": {}', f'"parameters": {declared}').replace(
        "    if parameters:\n", f"    cards = 4\n    {start}\n    if parameters:\n"
    )
    found = findings(source.replace('["2", "3", "4", "5"]', '["2", "3", "4", "5"][:cards]'))
    assert [f.check for f in found] == ["start"] * bool(words)
    assert all(re.search(words, f.evidence) for f in found)


def test_an_accepted_unknown_parameter_is_found() -> None:
    found = broken(
        '    if parameters:\n        raise ValueError("high card has no parameters")\n', ""
    )
    assert any("unknown parameter" in f.evidence for f in found)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("return [0.0, 0.0]", "return (0.0, 0.0)", "is a tuple"),
        ("return [0.0, 0.0]", "return [float('nan'), 0.0]", "required: a finite number"),
        ("return [0.0, 0.0]", "return [0.0]", "2 finite numbers"),
        ('return ["bid 1", "bid 2"]', 'return {"bid 1", "bid 2"}', "is a set"),
        ('return ["bid 1", "bid 2"]', 'return ["bid 1", 2]', "a list of str"),
        ('"deck": len(state["deck"])}', "1: 2}", "string keys"),
        ('"name": "high card"', '"name": ["high card"]', "has the name ['high card']"),
        ('"summary": "The higher card wins the bids."', '"summary": 3', "has the summary 3"),
    ],
)
def test_a_value_that_is_no_contract_value_is_found(old: str, new: str, words: str) -> None:
    assert any(words in f.evidence for f in broken(old, new))
