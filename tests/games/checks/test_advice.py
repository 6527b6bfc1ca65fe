"""The leak audit's advice where it cannot judge: whoever follows it is judged."""

import pytest

from tests.games.checks.test_leaks import audited

# One sets a code of two pegs; after each of at most three guesses the hits are told.
CODE = '''
import json

GAME = {"name": "code", "summary": "Guess.", "min_players": 2, "max_players": 2, "parameters": {},
        "open": ["turn"]}
ZONES = {"code": {"component": "mark", "owner": "nobody", "ordered": True}}
START = {"code": [], "hits": [], "turn": 0}


def get_current_player(state):
    """The setter, then the guesser. Rules: R1."""
    return -4 if 2 in state["hits"] or state["turn"] == 4 else int(state["turn"] > 0)


def get_legal_actions(state):
    """Two pegs. Rules: R1."""
    pegs = [a + b for a in "RGB" for b in "RGB"]
    return [] if get_current_player(state) == -4 else ["name " + two for two in pegs]


def apply_action(state, action):
    """Set or guess. Rules: R1, R2."""
    if action not in get_legal_actions(state):
        raise ValueError(action)
    after = {**state, "turn": state["turn"] + 1}
    if not state["turn"]:
        return {**after, "code": list(action[5:])}
    return {**after, "hits": state["hits"] + [_hits(state, action)]}


def _hits(state, action):
    return sum(peg == other for peg, other in zip(action[5:], state["code"]))


def get_rewards(state):
    """Two hits win. Rules: R2."""
    won = int(2 in state["hits"])
    return [1 - won, won] if get_current_player(state) == -4 else [0, 0]


def get_observations(state):
    """The setter sees the code. Rules: R1, R2."""
    both = {"hits": state["hits"], "turn": state["turn"]}
    return [{"you": 0, "code": state["code"], **both}, {"you": 1, **both}]


def get_events(state, action):
    """Hits are told. Rules: R2."""
    if state["turn"]:
        return [[f"{action}: {_hits(state, action)}"]] * 2
    return [[action], ["a code is set"]]


def visible(state, player_id):
    """The setter sees the code. Rules: R1."""
    return {"code": "count" if player_id else "contents"}


def get_player_name(player_id):
    """Names. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def initial_state(num_players, **parameters):
    """Nothing was done. Rules: R1."""
    if parameters or num_players != 2:
        raise ValueError("required: 2 players")
    return json.loads(json.dumps(START))
'''

OPENED = CODE.replace('"open": ["turn"]', '"open": ["turn", "hits"]')
ZONED = CODE.replace("ZONES = {", 'ZONES = {"hits": {"component": "counter"},').replace(
    'return {"code"', 'return {"hits": "contents", "code"'
)
BOXED = (
    CODE.replace('"hits": [], "turn"', '"hits": [], "box": ["spare"], "turn"')
    .replace("ZONES = {", 'ZONES = {"box": {"component": "mark"},')
    .replace('"open": ["turn"]', '"open": ["turn", "hits"]')
    .replace('return {"code"', 'return {"box": "nothing", "code"')
)


@pytest.mark.parametrize(
    ("source", "advice", "followed"),
    [
        (CODE, 'put "hits" into GAME["open"]', OPENED),
        (CODE, 'put "hits" into ZONES and visible', ZONED),
        (BOXED, 'let `visible` show it as "contents"', BOXED.replace('"nothing"', '"contents"')),
    ],
)
def test_the_declaration_that_is_advised_makes_the_audit_judge(
    source: str, advice: str, followed: str
) -> None:
    outcome, _, evidence = audited(source)
    assert outcome == "could_not_judge"
    assert advice in evidence
    assert audited(followed)[0] == "passed"


def test_an_open_place_that_nobody_is_told_of_is_the_fault_of_the_declaration() -> None:
    untold = OPENED.replace('"hits": state["hits"], ', "").replace(
        "{_hits(state, action)}", "no more is told"
    )
    outcome, function, evidence = audited(untold)
    assert (outcome, function) == ("failed", "GAME")
    assert evidence.startswith("open shows seat 1 a difference in hits")
