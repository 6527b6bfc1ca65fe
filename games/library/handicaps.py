"""Handicaps that any game can be given beside its own settings, by functions around its own.

`seat_points` pays later seats at the end: the komi of Go. In a game that is won or lost, one point
gives the later of two seats the ties, as draw odds do in chess. `barred_opening` takes an action
from the first decision, as openings of Renju are restricted.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from games.text import bound_by, number_of
from games.values import Json, ModuleFault

if TYPE_CHECKING:
    import ast

_POINTS = '''


def _seat_points(state, rewards):
    """Rewards with each seat's points for those before it. {rules}"""
    middle, points = {middle}, state.get("seat_points", 0)
    return [own + points * (seat - middle) for seat, own in enumerate(rewards)]


def initial_state(num_players, **parameters):
    """The first state, which keeps the points of later seats. {rules}"""
    usual = GAME["parameters"]["seat_points"]["default"]
    points = parameters.pop("seat_points", usual)
    if type(points) is not int or not 0 <= points <= {most}:
        raise ValueError(f"seat_points is {{points!r}}; allowed: 0 to {most}")
    return {{**{before}initial_state(num_players, **parameters), "seat_points": points}}


def apply_action(state, action):
    """The game's own next state. {rules}"""
    return {{**{before}apply_action(state, action), "seat_points": state["seat_points"]}}


def get_rewards(state):
    """The game's own rewards; at the end the points of later seats too. {rules}"""
    rewards = {before}get_rewards(state)
    return _seat_points(state, rewards) if get_current_player(state) == -4 else rewards


def get_observations(state):
    """The game's own observations, with the points, which all know. {rules}"""
    points = {{"seat_points": state.get("seat_points", 0)}}
    return [{{**seen, **points}} for seen in {before}get_observations(state)]


def resample_state(obs_action_history, player_id):
    """The game's own sample, with the points, which all know. {rules}"""
    state = {before}resample_state(obs_action_history, player_id)
    return {{**state, "seat_points": obs_action_history[-1][0]["seat_points"]}}


def value_function(state, player_id):
    """The game's own value; at the end the points of later seats too. {rules}"""
    value = {before}value_function(state, player_id)
    if get_current_player(state) != -4:
        return value
    return value + _seat_points(state, [0] * len({before}get_rewards(state)))[player_id]
'''
_BARRED = '''


def _barred_opening(state):
    """The action that the first decision may not be. {rules}"""
    number = state.get("barred_opening", 0) if state.get("is_opening") else 0
    return {before}get_legal_actions(state)[number - 1 : number] if number else []


def initial_state(num_players, **parameters):
    """The first state, which keeps what its decision may not be. {rules}"""
    usual = GAME["parameters"]["barred_opening"]["default"]
    number = parameters.pop("barred_opening", usual)
    state = {before}initial_state(num_players, **parameters)
    there = len({before}get_legal_actions(state)) if get_current_player(state) >= 0 else 0
    most = min(there, {most}) if there > 1 else 0
    if type(number) is not int or not 0 <= number <= most:
        why = "" if there else "; the first decision comes after chance"
        raise ValueError(f"barred_opening is {{number!r}}; allowed: 0 to {{most}}{{why}}")
    return {{**state, "barred_opening": number, "is_opening": True}}


def get_legal_actions(state):
    """The game's own legal actions, less what is barred. {rules}"""
    barred = _barred_opening(state)
    return [action for action in {before}get_legal_actions(state) if action not in barred]


def apply_action(state, action):
    """The game's own next state, unless the action is barred. {rules}"""
    if action in _barred_opening(state):
        raise ValueError(f"{{action!r}} is barred from the first decision")
    after = {{**{before}apply_action(state, action), "is_opening": False}}
    return {{**after, "barred_opening": state.get("barred_opening", 0)}}


def get_observations(state):
    """The game's own observations, with what is barred, which all know. {rules}"""
    known = {{key: state.get(key, 0) for key in ("barred_opening", "is_opening")}}
    return [{{**seen, **known}} for seen in {before}get_observations(state)]


def resample_state(obs_action_history, player_id):
    """The game's own sample, with what is barred, which all know. {rules}"""
    seen = obs_action_history[-1][0]
    known = {{key: seen[key] for key in ("barred_opening", "is_opening")}}
    return {{**{before}resample_state(obs_action_history, player_id), **known}}
'''
_OPTIONAL = ("resample_state", "value_function")  # of a module, which need not have them


@dataclass(frozen=True)
class Handicap:
    """One handicap; its value 0 changes nothing.

    Attributes:
        name: Of its setting.
        most: The largest value that a family takes.
        section: Of the rulebook, where its rule stands.
        meaning: Of the setting; `{less}` is for games that pay a fixed sum.
        rule: With `{points}` or `{action}`, as the setting's value or name is said.
        functions: Around the module's own.
        keys: What it keeps in the state, open to all.
        versus: True where it needs seats that do not win together.
    """

    name: str
    most: int
    section: str
    meaning: str
    rule: str
    functions: str
    keys: tuple[str, ...]
    versus: bool

    def field(self, game: Mapping[str, Json], most: int = 0) -> dict[str, Json]:
        """Its declaration in a `GAME`, up to `most`, or to what a family takes."""
        return {
            "default": 0,
            "range": [0, most or self.most],
            "meaning": self.meaning.format(less=_less(game)),
        }

    def said(self, value: Json, game: Mapping[str, Json], action: Callable[[Json], str]) -> str:
        """Its rule for a value, or for the setting's name; `action` says that of a number."""
        points = number_of(value, "point") if isinstance(value, int) else f"{value} points"
        found = action(value) if "{action}" in self.rule else ""
        return self.rule.format(points=points, action=found, less=_less(game))


_KNOWN = (
    Handicap(
        name="seat_points",
        most=1000,
        section="Scoring",
        meaning="Points at the end that each player is paid for each player seated before them"
        "{less}.",
        rule="At the end each player is paid {points} for each player seated before them{less}.",
        functions=_POINTS,
        keys=("seat_points",),
        versus=True,
    ),
    Handicap(
        name="barred_opening",
        most=400,
        section="Legal Actions",
        meaning="Number of the action that the first decision may not be, in the order in which "
        "the game lists its actions; 0 for none.",
        rule="The first decision of a match may not be {action}.",
        functions=_BARRED,
        keys=("barred_opening", "is_opening"),
        versus=False,
    ),
)
HANDICAPS: Mapping[str, Handicap] = {one.name: one for one in _KNOWN}


def handicaps_of(game: Mapping[str, Json]) -> dict[str, Handicap]:
    """The handicaps that a game takes, by the names of their settings."""
    return {
        name: one
        for name, one in HANDICAPS.items()
        if not (one.versus and "best_score" in game) and name not in _declared(game)
    }


def handicapped(
    source: str,
    most: Mapping[str, int],
    rulebook: str,
    parsed: "tuple[dict[str, Json], ast.Module]",
) -> str:
    """A module whose `GAME` and functions have more settings; without values it is as it was.

    Args:
        source: The module: it is not run here.
        most: Names of handicaps, with the ends of their ranges.
        rulebook: Without rules on them: these are numbered on from its last.
        parsed: The module's `GAME` and its tree.

    Raises:
        ModuleFault: If its seats win together, or it has such a setting.
    """
    from games.library import rewritten

    game, tree = parsed
    defined = {name for node in tree.body for name in bound_by(node)}
    for name in most:
        if name in _declared(game) or f"_{name}" in defined:
            raise ModuleFault("bad_value", "GAME", f"has {name} already")
        if name not in handicaps_of(game):
            raise ModuleFault("bad_value", "GAME", "is of seats that win together: none is behind")
    declared, open_ = _declared(game), game.get("open")
    keys = [key for name in most for key in HANDICAPS[name].keys]
    after = {
        **game,
        "parameters": {
            **declared,
            **{name: HANDICAPS[name].field(game, top) for name, top in most.items()},
        },
        "open": [*(open_ if isinstance(open_, list) else ()), *keys],
    }
    module = rewritten(source, tree, after).rstrip()
    for number, (name, top) in enumerate(most.items(), _last_rule(rulebook) + 1):
        before = "_own_"
        while before in module:
            before = f"_{before}"
        functions = [
            f"\n\n\ndef {part}"
            for part in HANDICAPS[name].functions.rstrip().split("\n\n\ndef ")[1:]
            if (own := part.partition("(")[0]) not in _OPTIONAL or own in defined
        ]
        parts = "".join(functions)
        wrapped = dict.fromkeys(re.findall(r"{before}(\w+)", parts))
        kept = "".join(f"\n{before}{own} = {own}" for own in wrapped)
        middle = "(len(rewards) - 1) / 2" if "total" in game else "0"
        said = {"rules": f"Rules: R{number}.", "middle": middle, "most": top, "before": before}
        module += f"\n\n{kept}{parts.format(**said)}"
    return f"{module}\n"


def with_handicap_rules(
    rulebook: str,
    values: Mapping[str, Json],
    game: Mapping[str, Json],
    action: Callable[[Json], str],
) -> str:
    """A rulebook with a rule for each handicap, in its section, numbered on from its last.

    Args:
        rulebook: Without them.
        values: Of the handicaps, or their settings' names.
        game: The `GAME`.
        action: Says the action of a number of the list.
    """
    for number, (name, value) in enumerate(values.items(), _last_rule(rulebook) + 1):
        one = HANDICAPS[name]
        said = one.said(value, game, action)
        rule, heading = f"- R{number}: {said}", f"## {one.section}\n"
        head, found, rest = rulebook.partition(heading)
        own, after, others = rest.partition("\n## ")
        section = f"{own.strip()}\n{rule}\n" if found else f"{rule}\n"
        rulebook = f"{head.rstrip()}\n\n{heading}\n{section.lstrip()}{after}{others}"
    return rulebook


def _declared(game: Mapping[str, Json]) -> dict[str, Json]:
    found = game.get("parameters") or {}
    if not isinstance(found, dict):
        raise ModuleFault("bad_value", "GAME", "has bad parameters; required: a dict")
    return found


def _last_rule(rulebook: str) -> int:
    return max(map(int, re.findall(r"^- R(\d+): ", rulebook, re.MULTILINE)), default=0)


def _less(game: Mapping[str, Json]) -> str:
    return ", less the average of these points" if "total" in game else ""
