"""Compensation of seats: a game whose later seats are paid points at the end, by one more setting.

In a game that is won or lost, one point gives the later of two seats the ties, as draw odds do in
chess. Where points are counted it is the komi of Go.
"""

import re

from games.library import rewritten
from games.text import bound_by
from games.values import Json, ModuleFault
from tools.sandbox.reading import foreign_game, foreign_tree

SEAT_POINTS = "seat_points"
_WRAPPED = '''


def _seat_points(state, rewards):
    """Rewards with each seat's points for those before it. {rules}"""
    middle = {middle}
    return [own + state["seat_points"] * (seat - middle) for seat, own in enumerate(rewards)]


def initial_state(num_players, seat_points=0, **parameters):
    """The first state, which keeps the points of later seats. {rules}"""
    if type(seat_points) is not int or not 0 <= seat_points <= {most}:
        raise ValueError(f"seat_points is {{seat_points!r}}; allowed: 0 to {most}")
    state = {before}initial_state(num_players, **parameters)
    return {{**state, "seat_points": seat_points}}


def apply_action(state, action):
    """The game's own next state. {rules}"""
    return {{**{before}apply_action(state, action), "seat_points": state["seat_points"]}}


def get_rewards(state):
    """The game's own rewards; at the end the points of later seats too. {rules}"""
    rewards = {before}get_rewards(state)
    return _seat_points(state, rewards) if get_current_player(state) == -4 else rewards


def get_observations(state):
    """The game's own observations, with the points, which all know. {rules}"""
    points = {{"seat_points": state["seat_points"]}}
    return [{{**seen, **points}} for seen in {before}get_observations(state)]
'''
_RESAMPLED = '''

def resample_state(obs_action_history, player_id):
    """The game's own sample, with the points, which all know. {rules}"""
    state = {before}resample_state(obs_action_history, player_id)
    return {{**state, "seat_points": obs_action_history[-1][0]["seat_points"]}}
'''
_VALUED = '''

def value_function(state, player_id):
    """The game's own value; at the end the points of later seats too. {rules}"""
    value = {before}value_function(state, player_id)
    if get_current_player(state) != -4:
        return value
    return value + _seat_points(state, [0] * len({before}get_rewards(state)))[player_id]
'''


def compensated(source: str, most: int, rulebook: str = "") -> tuple[str, str]:
    """A game in which each seat may be paid points at the end for each seat before it.

    Where `GAME` says what all are paid together, the average is taken off, and that sum stays.

    Args:
        source: The module, which nobody has to trust: it is not run here.
        most: The range of the setting `seat_points` ends there; it is 0 where none is given.
        rulebook: Its rules; empty where there are none.

    Returns:
        The module, and its rulebook with the rule.

    Raises:
        ModuleFault: If it cannot be read, its seats win together, or it has such a setting.
    """
    game, tree = foreign_game(source), foreign_tree(source)
    defined = {name for node in tree.body for name in bound_by(node)}
    declared = game.get("parameters") or {}
    if not isinstance(declared, dict) or SEAT_POINTS in declared or f"_{SEAT_POINTS}" in defined:
        raise ModuleFault("bad_value", "GAME", f"has {SEAT_POINTS} already, or bad parameters")
    if "best_score" in game:
        raise ModuleFault("bad_value", "GAME", "is of seats that win together: none is behind")
    number = max(map(int, re.findall(r"^- R(\d+): ", rulebook, re.MULTILINE)), default=0) + 1
    meaning = "Points at the end that each player is paid for each player seated before them"
    meaning += ", less the average of these points." if "total" in game else "."
    open_ = game.get("open")
    setting: dict[str, Json] = {"default": 0, "range": [0, most], "meaning": meaning}
    after = {
        **game,
        "parameters": {**declared, SEAT_POINTS: setting},
        "open": [*(open_ if isinstance(open_, list) else ()), SEAT_POINTS],
    }
    before = "_own_"
    while before in source:
        before = f"_{before}"
    parts = _WRAPPED
    for name, part in (("resample_state", _RESAMPLED), ("value_function", _VALUED)):
        parts += part if name in defined else ""
    wrapped = dict.fromkeys(re.findall(r"{before}(\w+)", parts))
    kept = "".join(f"\n{before}{name} = {name}" for name in wrapped)
    said = parts.format(
        before=before,
        most=most,
        rules=f"Rules: R{number}.",
        middle="(len(rewards) - 1) / 2" if "total" in game else "0",
    )
    module = rewritten(source, tree, after).rstrip() + f"\n\n{kept}{said}"
    rule = f"- R{number}: {meaning} They are the setting {SEAT_POINTS}, 0 to {most}.\n"
    return module, f"{rulebook.rstrip()}\n\n## Compensation\n\n{rule}" if rulebook else ""
