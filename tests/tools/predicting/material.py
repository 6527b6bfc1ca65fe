"""Random matches of a library or OpenSpiel game as trajectories, and a source that predicts one."""

from functools import lru_cache
from pathlib import Path

from games.engine import sample_index
from games.environments.registry import environment_named
from games.streams import stream
from games.trajectories import OpenTrajectory, trajectory_of
from games.values import TERMINAL

TIC_TAC_TOE = (Path(__file__).parents[2] / "models" / "tic_tac_toe.py").read_text("utf-8")


COIN = """
def get_current_player(state):
    return -4 if state["face"] else -1

def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))

def get_legal_actions(state):
    return [] if state["face"] else ["tails", "heads"]

def apply_action(state, action):
    return {"face": action}

def get_rewards(state):
    return [0.0]

def get_observations(state):
    return [state]
"""
ODDS = "\ndef get_chance_probabilities(state):\n    return [0.25, 0.75]\n"


@lru_cache
def matches_of(name: str, count: int, seed: int = 0) -> tuple[OpenTrajectory, ...]:
    environment = environment_named(name)
    found = []
    for number in range(count):
        generator = stream(seed, "test matches", match=number)
        positions = [environment.open(environment.num_players, environment.parameters)]
        actions: list[str] = []
        while positions[-1].player != TERMINAL:
            here = positions[-1]
            shares = here.probabilities or (1 / len(here.legal),) * len(here.legal)
            actions.append(here.legal[sample_index(shares, float(generator.random()))])
            positions.append(environment.advance(here, actions[-1]))
        found.append(trajectory_of(number, positions, actions))
    return tuple(found)


def changed(source: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


def memorising(matches: tuple[OpenTrajectory, ...]) -> str:
    """A source that knows these matches by heart, and nothing of the game."""
    known: dict[str, object] = {}
    for match in matches:
        for step, here in enumerate(match.positions):
            key = repr(sorted(here.state.items()))
            known[key] = [here.player, list(here.legal), list(here.rewards), [*here.observations]]
            if step < len(match.actions):
                known[key + match.actions[step]] = match.positions[step + 1].state
    return f"""
KNOWN = {known!r}

def row(state):
    return KNOWN[repr(sorted(state.items()))]

def get_current_player(state):
    return row(state)[0]

def get_player_name(player_id):
    return {{-1: "chance", -4: "terminal"}}.get(player_id, str(player_id))

def get_legal_actions(state):
    return row(state)[1]

def apply_action(state, action):
    return KNOWN[repr(sorted(state.items())) + action]

def get_rewards(state):
    return row(state)[2]

def get_observations(state):
    return row(state)[3]
"""


KUHN = """
import random

INITIAL_STATE = {"betting": [], "cards": [None, None], "current_player": "chance"}
PLAYERS = {"chance": -1, "0": 0, "1": 1, "terminal": -4}


def get_current_player(state):
    return PLAYERS[state["current_player"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))


def get_legal_actions(state):
    player = get_current_player(state)
    if player == -1:
        return [f"Deal {card}" for card in "JQK" if card not in state["cards"]]
    return ["Pass", "Bet"] if player >= 0 else []


def apply_action(state, action):
    cards, betting = list(state["cards"]), list(state["betting"])
    if action.startswith("Deal "):
        cards[cards.index(None)] = action[5:]
    else:
        betting.append(action)
    over = len(betting) > 1 and betting[-2:] != ["Pass", "Bet"]
    turn = "chance" if None in cards else "terminal" if over else str(len(betting) % 2)
    return {"betting": betting, "cards": cards, "current_player": turn}


def get_rewards(state):
    betting = state["betting"]
    if get_current_player(state) != -4:
        return [0.0, 0.0]
    pot, first = 1.0 + (betting[-1] == "Bet"), "JQK".index(state["cards"][0])
    wins = first > "JQK".index(state["cards"][1])
    if betting[-2:] == ["Bet", "Pass"]:
        wins = len(betting) == 2
    return [pot, -pot] if wins else [-pot, pot]


def get_observations(state):
    shared = {"betting": state["betting"], "current_player": state["current_player"]}
    return [shared | {"card": state["cards"][seat], "my_player_id": seat} for seat in (0, 1)]
"""

HISTORY = """
def resample_history(obs_action_history, player_id, last_is_terminal=False):
    seen = obs_action_history[-1][0]
    other = random.choice([card for card in "JQK" if card != seen["card"]])
    deal = [seen["card"], other] if player_id == 0 else [other, seen["card"]]
    return [f"Deal {card}" for card in deal] + seen["betting"]
"""

ARRAYS = """
import numpy


def observation_to_tensor(observation):
    row = [float(observation['card'] == c) for c in 'JQK'] + [float(observation["my_player_id"])]
    betting = observation["betting"] + [None] * (3 - len(observation["betting"]))
    row += [float(move == name) for move in betting for name in ("Pass", "Bet")]
    return numpy.array(row)


def tensor_to_observation(tensor):
    seat = int(tensor[3])
    pairs = [tensor[4 + 2 * place : 6 + 2 * place] for place in range(3)]
    betting = ["Bet" if pair[1] else "Pass" for pair in pairs if pair.any()]
    return {'card': 'JQK'[int(tensor[:3].argmax())], "betting": betting, "my_player_id": seat,
            "current_player": str(seat)}
"""
