def _card(observation, action):
    """Card value of "choose N" while choosing, else None."""
    if not isinstance(action, str) or not action.startswith("choose "):
        return None
    if observation.get("phase") != "choose" or not observation.get("current"):
        return None
    try:
        return int(action.split()[-1])
    except ValueError:
        return None


def _treasure(observation):
    return int(observation["current"][0])


def _others(observation):
    """Cards that each other player held when this round began."""
    you = observation.get("you")
    return [
        sorted({1, 2, 3, 4, 5} - {int(card) for card in own})
        for seat, own in enumerate(observation.get("played", []))
        if seat != you
    ]


def _own(observation):
    return sorted(int(card) for card in observation.get("hand", []))


def _face_down(observation):
    gone = {int(past["treasure"]) for past in observation.get("history", [])}
    gone.update(int(worth) for worth in observation.get("current", []))
    return sorted({1, 2, 3, 4, 5} - gone)


def score(observation, action):
    card = _card(observation, action)
    if card is None:
        return 0.0
    worth = _treasure(observation)
    rest = _face_down(observation)
    stake = 0.05 * (worth - 3)
    if rest:
        smaller = sum(1 for other in rest if other < worth)
        stake += (2.0 * smaller - len(rest)) / len(rest)
    if abs(stake) < 0.01:
        stake = -0.05
    holders = sum(1 for held in _others(observation) if card in held)
    keep = card + 1.5 * (2 - holders)  # worth of the card for a large treasure
    return stake * keep - 0.001 * card
