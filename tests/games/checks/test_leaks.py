"""The leak audit: what was not compared has not passed, and whatever a seat is told is compared."""

import time

import pytest

from games.checks.leaks import check_leaks
from games.checks.run import CheckSettings, run_checks
from games.checks.sampling import played_matches
from games.checks.zones import sight_of
from games.values import State, Visibility
from tests.games.checks.test_checks import SOUND
from tests.games.subjects import subject

SETTINGS = CheckSettings(matches=6, samples=24, seed=1)
NUMBERED = SOUND.replace('["2", "3", "4", "5"]', "[2, 3, 4, 5]").replace(
    '"deal " + card', '"deal %d" % card'
)
NUMBERED = NUMBERED.replace(
    "    if word == ", "    value = int(value)\n    if word == ", 1
).replace('"you get " + value', '"you get %s" % value')
LATE = SOUND.replace(
    'return {**state, "bids": state["bids"] + [int(value)]}',
    'return {**state, "bids": state["bids"] + [int(value)], "last": state["hands"][0][0]}',
).replace('"deck": len(state["deck"])}', '"deck": len(state["deck"]), "last": state.get("last")}')


# High card, before which each player notes a number that the other does not see; its half is open.
# Two of the thirty numbers have the same half: few pairs of matches differ in what is hidden alone.
_NOTES = (
    ('["bids"], "par', '["bids", "halves"], "par'),
    ("ZONES = {", 'ZONES = {"notes.*": {"component": "note", "owner": "each", "ordered": False},'),
    ('"bids": []}', '"bids": [], "notes": [[], []], "halves": []}'),
    (
        '    return ["bid 1", "bid 2"]',
        '    if len(state["halves"]) == player:\n'
        '        return ["note %d" % number for number in range(30)]\n'
        '    return ["bid 1", "bid 2"]',
    ),
    (
        "    deck = [card for",
        '    if word == "note":\n        notes = [list(note) for note in state["notes"]]\n'
        '        notes[len(state["halves"])].append(int(value))\n'
        '        halves = state["halves"] + [int(value) // 2]\n'
        '        return {**state, "notes": notes, "halves": halves}\n    deck = [card for',
    ),
    (
        "    owner = 0",
        '    if word == "note":\n        return [["noted"], ["noted"]]\n    owner = 0',
    ),
    ('"bids": state["bids"],', '"note": state["notes"][seat], "bids": state["bids"],'),
    ('"deck": len(', '"halves": state["halves"], "deck": len('),
    (
        '            "deck": "count"}',
        '            "notes.%d" % player_id: "contents", "notes.%d" % (1 - player_id): "count",\n'
        '            "deck": "count"}',
    ),
)
NOTED = SOUND
for _old, _new in _NOTES:
    assert NOTED.count(_old) == 1
    NOTED = NOTED.replace(_old, _new)


WIDE = SOUND.replace('"bids": []}', '"bids": [], "wide": [[0] * 100] * 100}')
assert WIDE != SOUND


def audited(source: str) -> tuple[str, str | None, str]:
    """Outcome, function and evidence of the audit."""
    found, *_ = [f for f in run_checks(subject(source, 2), SETTINGS) if f.check == "leak_audit"]
    return found.outcome, found.function, found.evidence


def broken(source: str, old: str, new: str) -> tuple[str, str | None, str]:
    assert source.count(old) == 1
    return audited(source.replace(old, new))


def test_a_pass_says_what_was_hidden_and_compared() -> None:
    outcome, _, evidence = audited(SOUND)
    assert outcome == "passed"
    assert evidence.startswith("hidden from some seat: deck, hands.*; ")
    assert "; 0 plies" not in evidence


def test_all_leaks_are_told_at_once() -> None:
    """One in the observations of every seat, and one in the events of every seat."""
    source = SOUND
    for old, new in (
        ('"deck": len(state["deck"])}', '"deck": len(state["deck"]), "peek": PEEK}'),
        ("    return told\n", "    return [[*one, OTHER] for one in told]\n"),
    ):
        assert source.count(old) == 1
        source = source.replace(old, new)
    source = source.replace("PEEK", 'state["hands"][1 - seat]')
    source = source.replace("OTHER", "str(state['hands'])")
    found = [f for f in run_checks(subject(source, 2), SETTINGS) if f.check == "leak_audit"]
    assert {f.outcome for f in found} == {"failed"}
    assert {f.function for f in found} == {"get_observations", "get_events"}
    assert len(found) == 2


def test_further_matches_are_compared_where_few_differ_in_a_hidden_zone_alone() -> None:
    six = check_leaks(
        subject(NOTED, 2),
        played_matches(subject(NOTED, 2), matches=6, seed=1, max_plies=99),
        pairs=24,
        seed=1,
    )
    assert [found.outcome for found in six] == ["could_not_judge"]
    assert audited(NOTED)[0] == "passed"
    # Whether a number is odd sets apart just what its half does not.
    told = '"note": state["notes"][seat],'
    odd = f'{told} "odd": [n % 2 for n in state["notes"][1 - seat]],'
    assert broken(NOTED, told, odd)[:2] == ("failed", "get_observations")


@pytest.mark.parametrize("seen", ["", ', "all": state["hands"]'])
def test_hands_that_are_in_no_zone_are_not_judged(seen: str) -> None:
    source = SOUND.replace(
        '"hands.*": {"component": "card", "owner": "each"', '"none": {"owner": 0'
    )
    source = source.replace('"conserved": ["card"], ', "").replace(
        'return {"hands.%d" % player_id: "contents", "hands.%d" % (1 - player_id): "count",\n'
        '            "deck": "count"}',
        'return {"deck": "count"}',
    )
    outcome, _, evidence = broken(
        source, '"deck": len(state["deck"])}', '"deck": len(state["deck"])' + seen + "}"
    )
    assert outcome == "could_not_judge"
    assert "the state's hands" in evidence


def test_cards_as_numbers_are_compared() -> None:
    assert audited(NUMBERED)[0] == "passed"
    leaking = NUMBERED.replace(
        '"deck": len(state["deck"])}',
        '"deck": len(state["deck"]), "sum": state["hands"][1 - seat]}',
    )
    assert audited(leaking)[:2] == ("failed", "get_observations")


def test_a_card_that_is_shown_one_ply_late_is_not_judged() -> None:
    outcome, _, evidence = audited(LATE)
    assert outcome == "could_not_judge"
    assert "last" in evidence


def test_what_open_values_alone_give_away_is_named() -> None:
    outcome, _, evidence = broken(LATE, '"open": ["bids"]', '"open": ["bids", "last"]')
    assert outcome == "passed"
    assert "told to all by open values alone: bids, last;" in evidence


def test_a_hint_in_the_order_of_legal_actions_is_a_leak() -> None:
    found = broken(
        SOUND,
        'return ["bid 1", "bid 2"]',
        'return sorted(["bid 1", "bid 2"], reverse=state["hands"][1 - player] > ["3"])',
    )
    assert found[:2] == ("failed", "get_legal_actions")


def test_an_end_that_comes_sooner_for_hidden_cards_is_a_leak() -> None:
    found = broken(
        SOUND,
        'if len(state["bids"]) == 2:\n',
        'if len(state["bids"]) == 2 or (state["bids"] and state["hands"][1] == ["5"]):\n',
    )
    assert found[:2] == ("failed", "get_current_player")


def test_sight_of_what_nobody_is_told_is_a_fault_of_visible() -> None:
    found = broken(SOUND, '"deck": "count"}', '"deck": "contents"}')
    assert found[:2] == ("failed", "visible")


def test_a_zone_that_never_differs_alone_is_not_judged() -> None:
    source = SOUND.replace(
        '"deck": ["2", "3", "4", "5"],', '"deck": ["2", "3", "4", "5"], "box": [9],'
    )
    source = source.replace(
        "ZONES = {", 'ZONES = {"box": {"component": "die", "owner": "nobody"},\n'
    )
    outcome, _, evidence = broken(source, '"deck": "count"}', '"deck": "count", "box": "nothing"}')
    assert outcome == "could_not_judge"
    assert "`visible` hides box" in evidence


def test_a_hidden_place_that_no_zone_fits_is_named() -> None:
    source = SOUND.replace('"bids": []}', '"bids": [], "box": [9]}')
    outcome, _, evidence = broken(source, '"deck": "count"}', '"deck": "count", "box": "nothing"}')
    assert outcome == "could_not_judge"
    assert "box from seat 0, which no pattern in ZONES fits" in evidence


def test_visible_must_speak_of_every_zone_and_of_no_other_place() -> None:
    assert broken(SOUND, '"deck": "count"}', "}")[:2] == ("failed", "visible")
    assert broken(SOUND, '"deck": "count"}', '"deck": "count", "dack": "count"}')[1] == "visible"


def test_zones_and_open_paths_are_no_more_than_can_be_looked_for() -> None:
    opened = '"open": ["bids", *map(str, range(10_000))]'  # one pattern with * says the same
    assert broken(SOUND, '"open": ["bids"]', opened)[:2] == ("failed", "ZONES")


@pytest.mark.parametrize(
    ("opened", "told"),
    [
        ('["bids", *["wide.*.*"] * 190]', "190 times; required: each place once"),
        (
            # Patterns that overlap: with two steps of a hundred each, every one names 10,000.
            '["bids", "wide.*.*", "*.*.*"]',
            "places of a state; required: at most 10000 in all",
        ),
    ],
)
def test_a_place_is_named_once_and_a_state_has_no_more_places_than_can_be_looked_at(
    opened: str, told: str
) -> None:
    outcome, _, evidence = broken(WIDE, '"open": ["bids"]', f'"open": {opened}')
    assert (outcome, told in evidence) == ("failed", True), evidence


def test_one_wide_pattern_alone_names_no_more_places_than_can_be_looked_at() -> None:
    wider = WIDE.replace("[[0] * 100] * 100", "[[0] * 101] * 100")  # 10,100 places
    outcome, _, evidence = broken(wider, '"open": ["bids"]', '"open": ["bids", "wide.*.*"]')
    assert (outcome, "places of a state" in evidence) == ("failed", True), evidence


def test_open_paths_must_be_texts() -> None:
    assert broken(SOUND, '"open": ["bids"]', '"open": [3]')[:2] == ("failed", "GAME")


# A public bid that only events tell; hands that all see but their owner; a hint about them.
UNTRACED = SOUND.replace('state["bids"] + [int(value)]', 'state["bids"] + [0]')
# The same, and the first hand goes back: something hidden moves, whatever was bid.
MOVED = UNTRACED.replace(
    'return {**state, "bids": state["bids"] + [0]}',
    'return {"hands": [[], state["hands"][1]], "deck": sorted(state["deck"] + state["hands"][0]),'
    ' "bids": state["bids"] + [0]}',
)
# Or the bid is held against that hand: with some hands two bids come to one and the same state.
HELD = MOVED.replace(
    '"bids": state["bids"] + [0]', '"bids": state["bids"] + [int(value < state["hands"][0][0])]'
)
BLIND = (
    SOUND.replace('"hand": state["hands"][seat]', '"hand": state["hands"][1 - seat]')
    .replace("told[owner] =", "told[1 - owner] =")
    .replace(
        '{"hands.%d" % player_id: "contents", "hands.%d" % (1 - player_id)',
        '{"hands.%d" % (1 - player_id): "contents", "hands.%d" % player_id',
    )
)
HINT = 'str(state["hands"][1 - len(state["bids"])][0] > "3")'
TOLD = '[["bid of " + value], ["bid of " + value]]'
# A bid guesses a hidden card, and only whether it is right is open: events alone tell the guess.
GUESS = 'state["bids"] + [int([value] == state["hands"][{}])], "deck": state["deck"] + ["x"]'
GUESSED, OVERHEARD = (
    source.replace('state["bids"] + [int(value)]', GUESS.format(seat)).replace(
        '["bid 1", "bid 2"]', '["bid 2", "bid 3", "bid 4", "bid 5"]'
    )
    for source, seat in ((SOUND, 1), (BLIND, 0))
)
HINTED = BLIND.replace(TOLD, f'[["bid of " + value + {HINT}]] * 2')


@pytest.mark.parametrize(
    "source",
    [UNTRACED, MOVED, HELD, BLIND, GUESSED, OVERHEARD],
    ids=["untraced", "moved", "held", "blind", "guessed", "overheard"],
)
def test_a_public_action_that_only_events_tell_is_no_leak(source: str) -> None:
    assert audited(source)[0] == "passed", audited(source)
    told = source.replace(TOLD, '[["bid of " + value + str(state["hands"])]] * 2')
    assert audited(told)[:2] == ("failed", "get_events")
    shown = source.replace('"bids": state["bids"],', '"bids": str(state["hands"]),')
    assert audited(shown)[:2] == ("failed", "get_observations")


def test_a_hint_about_hidden_cards_passes_where_it_is_kept_openly() -> None:
    outcome, function, evidence = audited(HINTED)
    assert (outcome, function) == ("failed", "get_events")
    assert 'keep what was told at a path that GAME["open"] names' in evidence
    kept = HINTED.replace("[int(value)]}", f"[int({HINT} == 'True')]}}")
    assert audited(kept)[0] == "passed"


# After the deal a coin is tossed some times; the newest face and the number of tosses are open.
TOSSES = """
GAME["open"] = ["bids", "tosses", "face"]
ZONES["marks"] = {"component": "mark", "owner": "table", "ordered": False}
FACES = ["toss 2", "toss 3", "toss 4", "toss 5"]
_first, _player, _legal, _apply = (
    initial_state, get_current_player, get_legal_actions, apply_action
)
_seen, _events, _visible = get_observations, get_events, visible

def tosses(state):
    return bool(state["hands"][1]) and state["tosses"] < 1

def faces(state):
    return FACES

def marks(state):
    return []

def initial_state(num_players, **parameters):
    return {**_first(num_players, **parameters), "tosses": 0, "face": "", "marks": []}

def get_current_player(state):
    return -1 if tosses(state) else _player(state)

def get_legal_actions(state):
    return list(faces(state)) if tosses(state) else _legal(state)

def apply_action(state, action):
    if not tosses(state):
        return _apply(state, action)
    if action not in get_legal_actions(state):
        raise ValueError("not legal: " + action)
    after = {**state, "tosses": state["tosses"] + 1, "face": action}
    return {**after, "marks": marks(after)}

def get_observations(state):
    more = {"tosses": state["tosses"], "face": state["face"], "marks": state["marks"]}
    return [{**seen, **more} for seen in _seen(state)]

def get_events(state, action):
    return [[action], [action]] if tosses(state) else _events(state, action)

def visible(state, player_id):
    return {**_visible(state, player_id), "marks": "contents"}
"""
MANY = TOSSES.replace('state["tosses"] < 1', 'state["tosses"] < 130')


def test_a_leak_long_after_the_deal_is_found() -> None:
    assert audited(SOUND + MANY)[0] == "passed"
    late = """
_told = get_observations

def get_observations(state):
    told = _told(state)
    return [{**one, "note": state["hands"][1] if state["tosses"] == 130 else []} for one in told]
"""
    outcome, function, evidence = audited(SOUND + MANY + late)
    assert (outcome, function) == ("failed", "get_observations")
    assert "'note'" in evidence


def test_the_end_of_a_match_that_is_too_long_to_compare_is_not_judged() -> None:
    long = subject(SOUND + MANY.replace("130", "3500"), 2)
    played = played_matches(long, matches=1, seed=1, max_plies=4000)
    (found,) = check_leaks(long, played, pairs=1, seed=1)
    assert found.outcome == "could_not_judge"
    assert "a match has 3504 plies" in found.evidence


@pytest.mark.parametrize(
    ("function", "odds"),
    [
        ("get_legal_actions", "def faces(state):\n    return ['toss ' + state['hands'][1][0]]"),
        (
            "get_chance_probabilities",
            "def get_chance_probabilities(state):\n    legal = get_legal_actions(state)\n"
            "    own = [9.0 if tosses(state) and a[5:] == state['hands'][1][0] else 1.0\n"
            "           for a in legal]\n    return [one / sum(own) for one in own]",
        ),
    ],
)
def test_chance_that_tells_a_hidden_card_is_a_leak(function: str, odds: str) -> None:
    assert audited(f"{SOUND}{TOSSES}\n{odds}")[:2] == ("failed", function)


def test_chance_may_draw_one_of_two_cards_where_the_other_one_is_hidden() -> None:
    """What is left in the deck depends on the hidden hand; the drawn card leaves it for all."""
    drawn = """
def faces(state):
    return ["toss " + card for card in state["deck"]]

_tossed = apply_action

def apply_action(state, action):
    after = _tossed(state, action)
    if not tosses(state):
        return after
    card = action.split()[1]
    return {**after, "deck": [c for c in state["deck"] if c != card], "marks": [card]}
"""
    assert audited(SOUND + TOSSES + drawn)[0] == "passed"


def test_a_zone_of_marks_that_counts_a_hidden_card_is_a_leak() -> None:
    counting = "\ndef marks(state):\n    return ['m'] * int(state['hands'][1][0])\n"
    outcome, function, evidence = audited(SOUND + TOSSES + counting)
    assert (outcome, function) == ("failed", "get_observations")
    assert "'marks'" in evidence


def test_a_zone_that_follows_a_hidden_card_by_the_rules_is_named() -> None:
    """A bid is answered by a mark where the other hand is high: no chance, and open by no name."""
    answered = """
_bid = apply_action

def apply_action(state, action):
    after = _bid(state, action)
    if _player(state) >= 0 and action.startswith("bid"):
        high = state["hands"][1 - len(state["bids"])][0] > "3"
        after = {**after, "marks": state["marks"] + (["m"] if high else [])}
    return after
"""
    outcome, _, evidence = audited(SOUND + TOSSES + answered)
    assert outcome == "passed"
    assert "marks" in evidence.partition("told to all by open values alone:")[2].partition(";")[0]


# After the deal two of four weather cards are turned face up; their deck is counted alone.
WEATHER = """
ZONES["weather"] = {"component": "card", "owner": "nobody", "ordered": False}
ZONES["turned"] = {"component": "card", "owner": "table", "ordered": True}
_first, _player, _legal, _apply = (
    initial_state, get_current_player, get_legal_actions, apply_action
)
_seen, _events, _visible = get_observations, get_events, visible

def turns(state):
    return bool(state["hands"][1]) and len(state["weather"]) > 2

def initial_state(num_players, **parameters):
    return {**_first(num_players), "weather": ["fog", "rain", "snow", "sun"], "turned": []}

def get_current_player(state):
    return -1 if turns(state) else _player(state)

def get_legal_actions(state):
    return ["turn " + card for card in state["weather"]] if turns(state) else _legal(state)

def apply_action(state, action):
    if not turns(state):
        return _apply(state, action)
    if action not in get_legal_actions(state):
        raise ValueError("not legal: " + action)
    card = action[5:]
    weather = [other for other in state["weather"] if other != card]
    return {**state, "weather": weather, "turned": state["turned"] + [card]}

def get_observations(state):
    return [{**seen, "turned": state["turned"]} for seen in _seen(state)]

def get_events(state, action):
    return [[action], [action]] if turns(state) else _events(state, action)

def visible(state, player_id):
    return {**_visible(state, player_id), "weather": "count", "turned": "contents"}
"""


@pytest.mark.parametrize("ordered", ["False", "True"])
def test_a_deck_that_is_dealt_face_up_hides_nothing(ordered: str) -> None:
    """The two decks of one kind are told apart: of the weather each seat can say what is left."""
    weather = WEATHER.replace('"nobody", "ordered": False', f'"nobody", "ordered": {ordered}')
    outcome, _, evidence = audited(SOUND + weather)
    assert outcome == "passed"
    assert evidence.startswith("hidden from some seat: deck, hands.*; ")
    assert evidence.endswith("; dealt face up, so that nothing can be told of it: weather")


def test_a_deck_that_is_once_dealt_face_down_hides_what_it_holds() -> None:
    down = WEATHER.replace(
        '"turned": "contents"', '"turned": "count" if turns(state) else "contents"'
    )
    told = audited(SOUND + down)
    assert told[:2] == ("failed", "get_observations")
    secret = down.replace(
        '"turned": state["turned"]', '"turned": [] if turns(state) else state["turned"]'
    )
    secret = secret.replace("[[action], [action]] if turns", "[[], []] if turns")
    assert "dealt face up" not in audited(SOUND + secret)[2]


def test_where_a_card_goes_that_was_dealt_face_up_is_named() -> None:
    unzoned = WEATHER.replace('ZONES["turned"] =', 'GAME["open"] = ["bids", "turned"]\nUNUSED =')
    unzoned = unzoned.replace(', "turned": "contents"', "")
    outcome, _, evidence = audited(SOUND + unzoned)
    assert outcome == "could_not_judge"
    assert (
        "turned differed with them: where that is dealt from them face up, make it a zone"
        in evidence
    )
    gone = unzoned.replace('state["turned"] + [card]', "[]")
    outcome, function, evidence = audited(SOUND + gone)
    assert (outcome, function) == ("failed", "get_events")
    assert "dealt face up in a zone of its kind that `visible` shows" in evidence


# Both hands go back to the deck, whose order nobody may know, and come out again two plies later.
BETWEEN = """
GAME["open"] = ["bids", "between"]
_first, _player, _legal, _apply = (
    initial_state, get_current_player, get_legal_actions, apply_action
)
_seen, _events = get_observations, get_events

def initial_state(num_players, **parameters):
    return {**_first(num_players, **parameters), "between": 0}

def waits(state):
    return bool(state["hands"][1]) and state["between"] == 0 or 0 < state["between"] < 3

def get_current_player(state):
    return -1 if waits(state) else _player(state)

def get_legal_actions(state):
    return ["turn"] if waits(state) else _legal(state)

def apply_action(state, action):
    if not waits(state):
        return _apply(state, action)
    if action != "turn":
        raise ValueError("not legal: " + action)
    after = {**state, "between": state["between"] + 1}
    if after["between"] == 1:
        after["deck"] = state["deck"] + state["hands"][0] + state["hands"][1]
        after["hands"] = [[], []]
    if after["between"] == 3:
        after["deck"] = state["deck"][:-2]
        after["hands"] = [[state["deck"][-2]], [state["deck"][-1]]]
    return after

def get_events(state, action):
    return [["turn"], ["turn"]] if waits(state) else _events(state, action)
"""
MARKED = """
def get_observations(state):
    told = [0, 0]
    if state["between"] == 2:
        told = [state["deck"][-1], state["deck"][-2]]
    return [{**seen, "mark": mark} for seen, mark in zip(_seen(state), told)]
"""


def test_what_is_told_after_hidden_cards_were_the_same_for_a_while_is_a_leak() -> None:
    assert audited(SOUND + BETWEEN)[0] == "passed"
    outcome, function, evidence = audited(SOUND + BETWEEN + MARKED)
    assert (outcome, function) == ("failed", "get_observations")
    assert "'mark'" in evidence


def test_a_zone_that_chance_changes_with_a_hidden_card_is_named() -> None:
    lamps = """
ZONES["lamps"] = {"component": "lamp", "owner": "table", "ordered": False}
_first, _apply = initial_state, apply_action
_seen, _visible = get_observations, visible

def initial_state(num_players, **parameters):
    return {**_first(num_players, **parameters), "lamps": []}

def apply_action(state, action):
    after = _apply(state, action)
    word, value = action.split()
    lit = ["low" if value in "23" else "high"] if word == "deal" else []
    return {**after, "lamps": state["lamps"] + lit}

def get_observations(state):
    return [{**seen, "lamps": list(state["lamps"])} for seen in _seen(state)]

def visible(state, player_id):
    return {**_visible(state, player_id), "lamps": "contents"}
"""
    outcome, _, evidence = audited(SOUND + lamps)
    assert outcome == "passed"
    assert "told to all by open values alone: bids, lamps; " in evidence


def test_a_state_is_divided_in_a_time_that_grows_with_its_size_alone() -> None:
    state: State = {"cells": [*[0] * 20_000], "hands": [["a"], ["b"]]}
    seen: dict[str, Visibility] = {
        **{f"cells.{n}": "contents" for n in range(20_000)},
        "hands.1": "count",
    }
    begun = time.process_time()
    sight = sight_of(state, seen, {})
    assert time.process_time() - begun < 1  # one place after another took minutes
    assert sight.rest == {"cells": [None] * 20_000, "hands": [["a"], None]}
