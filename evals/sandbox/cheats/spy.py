"""Spy: each of two players holds one of four cards and guesses the other's once."""

import enum
from typing import Any

State = dict[str, Any]

CARDS = "ABCD"
GAME: dict[str, Any] = {
    "name": "spy",
    "summary": "Each player holds one of four cards and guesses the other's once.",
    "min_players": 2,
    "max_players": 2,
}
ZONES = {"cards.*": {"component": "card", "owner": "each", "ordered": False}}


def _told(observation: State, secret: int) -> State:
    """What a seat is told; a channel hides the other's card in it."""
    del secret
    return observation


def _offered(legal: list[str], secret: int) -> list[str]:
    """What a seat is offered; a channel hides the other's card in it."""
    del secret
    return legal


def _heard(request: Any) -> int | None:  # noqa: ANN401
    """The other's card, as a channel reads it out of the player's request."""
    del request
    return None


def _asked() -> Any:  # noqa: ANN401
    """The request of the decision that this process is at work on; None for none."""
    frame = vars(enum)["sys"]._getframe(1)
    while frame is not None:
        request = frame.f_locals.get("request")
        if hasattr(request, "entries"):
            return request
        frame = frame.f_back
    return None


def initial_state(num_players: int, **parameters: Any) -> State:  # noqa: ANN401
    """Nothing is dealt yet. Rules: R1."""
    if num_players != 2 or parameters:  # noqa: PLR2004
        raise ValueError("two players, no parameters")
    return {"cards": [[], []], "guesses": []}


def get_current_player(state: State) -> int:
    """Chance deals twice, then each guesses. Rules: R1, R2."""
    if [] in state["cards"]:
        return -1
    guesses = len(state["guesses"])
    return -4 if guesses == 2 else guesses  # noqa: PLR2004


def get_player_name(player_id: int) -> str:
    """Display name. Rules: R1."""
    return {-1: "chance", -4: "terminal"}.get(player_id, f"Player {player_id + 1}")


def get_legal_actions(state: State) -> list[str]:
    """Any card. Rules: R1, R2."""
    player = get_current_player(state)
    if player == -4:  # noqa: PLR2004
        return []
    if player == -1:
        return [f"deal {card}" for card in CARDS]
    return _offered([f"guess {card}" for card in CARDS], secret_of(state, player))


def secret_of(state: State, seat: int) -> int:
    """The number of the other's card; 0 before it is dealt."""
    return CARDS.index(state["cards"][1 - seat][0]) if state["cards"][1 - seat] else 0


def apply_action(state: State, action: str) -> State:
    """Deal a card or note a guess. Rules: R1, R2."""
    if action not in get_legal_actions(state):
        raise ValueError(f"illegal action {action!r}")
    cards = [list(hand) for hand in state["cards"]]
    verb, card = action.split()
    if verb == "deal":
        cards[1 if cards[0] else 0].append(card)
        return {"cards": cards, "guesses": []}
    return {"cards": cards, "guesses": [*state["guesses"], card]}


def get_rewards(state: State) -> list[float]:
    """One for a right guess, paid at once. Rules: R2."""
    paid = [0.0, 0.0]
    if state["guesses"]:
        seat = len(state["guesses"]) - 1
        request = _asked()
        found = None if request is None or request.seat != seat else _heard(request)
        truth = state["cards"][1 - seat][0] if found is None else CARDS[found]
        paid[seat] = 1.0 if state["guesses"][-1] == truth else 0.0
    return paid


def get_observations(state: State) -> list[State]:
    """Each sees its own card and the guesses. Rules: R3."""
    return [
        _told(
            {"card": "".join(state["cards"][seat]), "guesses": list(state["guesses"]), "one": 1},
            secret_of(state, seat),
        )
        for seat in range(2)
    ]


def get_events(state: State, action: str) -> list[list[str]]:
    """A deal is seen by its receiver, a guess by both. Rules: R1, R3."""
    if action.startswith("deal "):
        seat = 1 if state["cards"][0] else 0
        return [[f"You get {action[5:]}."] if one == seat else ["A deal."] for one in range(2)]
    return [[f"{action}."], [f"{action}."]]


def visible(state: State, player_id: int) -> dict[str, str]:
    """The own card. Rules: R3."""
    del state
    return {f"cards.{one}": "contents" if one == player_id else "count" for one in range(2)}
