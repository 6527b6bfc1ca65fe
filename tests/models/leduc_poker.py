"""Leduc poker as OpenSpiel plays it, in the form of a learned source; written by hand."""

import random

DECK = ["J1", "J2", "Q1", "Q2", "K1", "K2"]
PLAYERS = {"chance": -1, "terminal": -4, "0": 0, "1": 1}
STAKE = 100


def get_current_player(state):
    return PLAYERS[state["current_player"]]


def get_player_name(player_id):
    return {-1: "chance", -4: "terminal"}.get(player_id, str(player_id))


def get_legal_actions(state):
    who = state["current_player"]
    if who == "terminal":
        return []
    if who == "chance":
        held = [*state["private_cards"], state["public_card"]]
        return ["Deal " + card for card in DECK if card not in held]
    seat, money = int(who), state["money"]
    actions = ["Fold"] if money[seat] > money[1 - seat] else []
    actions.append("Call")
    if state["betting"][state["round"] - 1].count("Raise") < 2:
        actions.append("Raise")
    return actions


def apply_action(state, action):
    if state["current_player"] == "chance":
        return dealt(state, action.split()[1])
    seat, stage = int(state["current_player"]), state["round"] - 1
    betting = [list(taken) for taken in state["betting"]]
    betting[stage].append(action)
    after = {**state, "betting": betting}
    if action == "Fold":
        return paid(after, [1 - seat])
    money = list(state["money"])
    money[seat] = money[1 - seat] - (2 * (stage + 1) if action == "Raise" else 0)
    after["money"] = money
    after["pot"] = 2 * STAKE - sum(money)
    if action == "Raise" or betting[stage] == ["Call"]:
        after["current_player"] = str(1 - seat)
    elif stage == 0:
        after["round"] = 2
        after["current_player"] = "chance"
    else:
        return paid(after, winners(after))
    return after


def dealt(state, card):
    cards = list(state["private_cards"])
    if None not in cards:
        return {**state, "public_card": card, "current_player": "0"}
    cards[cards.index(None)] = card
    return {**state, "private_cards": cards, "current_player": "chance" if None in cards else "0"}


def winners(state):
    public = state["public_card"][0]
    ranks = [(card[0] == public, "JQK".index(card[0])) for card in state["private_cards"]]
    return [seat for seat in (0, 1) if ranks[seat] == max(ranks)]


def paid(state, seats):
    money = [
        held + (state["pot"] // len(seats) if seat in seats else 0)
        for seat, held in enumerate(state["money"])
    ]
    return {**state, "money": money, "pot": 0, "current_player": "terminal"}


def get_rewards(state):
    if state["current_player"] != "terminal":
        return [0.0, 0.0]
    return [float(money - STAKE) for money in state["money"]]


def get_observations(state):
    shared = {key: value for key, value in state.items() if key != "private_cards"}
    return [
        {**shared, "my_player_id": seat, "private_card": state["private_cards"][seat]}
        for seat in (0, 1)
    ]


def resample_history(obs_action_history, player_id):
    seen = obs_action_history[-1][0]
    mine, public = seen["private_card"], seen["public_card"]
    other = random.choice([card for card in DECK if card not in (mine, public)])
    cards = [mine, other] if player_id == 0 else [other, mine]
    first, second = seen["betting"]
    board = [] if public is None else ["Deal " + public]
    return ["Deal " + card for card in cards] + list(first) + board + list(second)
