"""Library games enumerated for the tests, and OpenSpiel's names for their information states."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import cast

import pyspiel

from agents.solving.enumeration import enumerate_game
from agents.solving.form import Behaviour, SequenceForm
from games import library
from games.modules import bind, load_namespace
from games.values import Action, Json, State
from tests.agents.small_games import game as small_game

Translate = Callable[[Action, "pyspiel.State"], int]


def enumerated(
    source: str, num_players: int = 2, parameters: Mapping[str, Json] | None = None
) -> SequenceForm:
    namespace = load_namespace(source)
    start = cast("Callable[..., State]", namespace["initial_state"])
    return enumerate_game(bind(namespace, num_players), start(num_players, **(parameters or {})))


@cache
def preset(name: str, num_players: int = 2) -> SequenceForm:
    """A preset of the library; with other than two players, the family with its parameters."""
    if num_players == 2:
        return enumerated(library.source(name))
    chosen = library.preset(name)
    return enumerated(library.source(chosen.family), num_players, chosen.parameters)


def small(source: str, num_players: int = 2) -> SequenceForm:
    rules, _, initial = small_game(source, num_players)
    return enumerate_game(rules, initial)


def kuhn_action(action: Action, state: "pyspiel.State") -> int:
    if action.startswith("deal"):
        return "9TJQK"[-(int(state.num_players()) + 1) :].index(action[5])
    return 1 if action in ("bet", "call") else 0


def leduc_action(action: Action, state: "pyspiel.State") -> int:
    if action.startswith("deal"):
        return 2 * "JQK".index(action[5]) + "HS".index(action[6])
    return {"fold": 0, "call": 1, "check": 1, "bet": 2, "raise": 2}[action]


TRANSLATE: dict[str, Translate] = {"kuhn_poker": kuhn_action, "leduc_poker": leduc_action}


def their_policy(
    game: SequenceForm, name: str, behaviours: tuple[Behaviour, ...]
) -> dict[str, list[tuple[int, float]]]:
    """The behaviours under OpenSpiel's information state strings and action numbers."""
    spiel = pyspiel.load_game(name, {"players": len(game.seats)})
    translate, policy = TRANSLATE[name], {}
    for seat, form in enumerate(game.seats):
        for first, state in zip(form.firsts, form.states, strict=True):
            theirs = spiel.new_initial_state()
            for action in state.plies:
                theirs.apply_action(translate(action, theirs))
            policy[theirs.information_state_string(seat)] = [
                (translate(action, theirs), float(behaviours[seat][first + number]))
                for number, action in enumerate(state.actions)
            ]
    return policy


def their_nash_conv(game: SequenceForm, name: str, behaviours: tuple[Behaviour, ...]) -> float:
    spiel = pyspiel.load_game(name, {"players": len(game.seats)})
    policy = their_policy(game, name, behaviours)
    assert len(policy) == game.num_states
    return float(pyspiel.nash_conv(spiel, policy))
