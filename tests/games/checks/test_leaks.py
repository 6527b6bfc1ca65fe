"""The leak audit: what was not compared has not passed, and whatever a seat is told is compared."""

import pytest

from games.checks.run import CheckSettings, run_checks
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


def audited(source: str) -> tuple[str, str | None, str]:
    """Outcome, function and evidence of the audit."""
    (found,) = [f for f in run_checks(subject(source, 2), SETTINGS) if f.check == "leak_audit"]
    return found.outcome, found.function, found.evidence


def broken(source: str, old: str, new: str) -> tuple[str, str | None, str]:
    assert source.count(old) == 1
    return audited(source.replace(old, new))


def test_a_pass_says_what_was_hidden_and_compared() -> None:
    outcome, _, evidence = audited(SOUND)
    assert outcome == "passed"
    assert evidence.startswith("hidden from some seat: deck, hands.*; ")
    assert "; 0 plies" not in evidence


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


def test_visible_must_speak_of_every_zone_and_of_no_other_place() -> None:
    assert broken(SOUND, '"deck": "count"}', "}")[:2] == ("failed", "visible")
    assert broken(SOUND, '"deck": "count"}', '"deck": "count", "dack": "count"}')[1] == "visible"


def test_open_paths_must_be_texts() -> None:
    assert broken(SOUND, '"open": ["bids"]', '"open": [3]')[:2] == ("failed", "GAME")


# A public bid that only events tell; hands that all see but their owner; a hint about them.
UNTRACED = SOUND.replace('state["bids"] + [int(value)]', 'state["bids"] + [0]')
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
HINTED = BLIND.replace(TOLD, f'[["bid of " + value + {HINT}]] * 2')


@pytest.mark.parametrize("source", [UNTRACED, BLIND], ids=["untraced", "blind"])
def test_a_public_action_that_only_events_tell_is_no_leak(source: str) -> None:
    assert audited(source)[0] == "passed"
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
