"""Kuhn poker as OpenSpiel plays it, in the form of a learned source; written by hand."""

import random

PLAYERS = {"chance": -1, "terminal": -4, "0": 0, "1": 1}
ENDS = (["Pass", "Pass"], ["Bet", "Pass"], ["Bet", "Bet"])


def get_current_player(state):
    return PLAYERS[state["current_player"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))


def get_legal_actions(state):
    who = state["current_player"]
    if who == "chance":
        return ["Deal " + card for card in "JQK" if card not in state["cards"]]
    return [] if who == "terminal" else ["Pass", "Bet"]


def apply_action(state, action):
    cards, betting = state["cards"], state["betting"]
    if state["current_player"] == "chance":
        card = action.split()[1]
        first = cards[0] is None
        cards = [card, None] if first else [cards[0], card]
        return {"betting": betting, "cards": cards, "current_player": "chance" if first else "0"}
    betting = [*betting, action]
    over = betting[-2:] in ENDS
    now = "terminal" if over else str(len(betting) % 2)
    return {"betting": betting, "cards": cards, "current_player": now}


def get_rewards(state):
    if state["current_player"] != "terminal":
        return [0.0, 0.0]
    betting, (mine, other) = state["betting"], state["cards"]
    if betting[-2:] == ["Bet", "Pass"]:
        won = 1.0 if len(betting) % 2 == 0 else -1.0
    else:
        won = (2.0 if "Bet" in betting else 1.0) * (
            1 if "JQK".index(mine) > "JQK".index(other) else -1
        )
    return [won, -won]


def get_observations(state):
    return [
        {
            "betting": state["betting"],
            "card": state["cards"][seat],
            "current_player": state["current_player"],
            "my_player_id": seat,
        }
        for seat in (0, 1)
    ]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    mine = seen["card"]
    other = random.choice([card for card in "JQK" if card != mine])
    cards = [mine, other] if player_id == 0 else [other, mine]
    return ["Deal " + card for card in cards] + list(seen["betting"])
