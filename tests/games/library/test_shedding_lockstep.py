"""The crazy-eights family in lockstep with OpenSpiel."""

from typing import Any

import pyspiel
import pytest

from games import library
from tests.games.library.lockstep import Pairing, SpielState, play_in_lockstep

State = dict[str, Any]


class Corrected:
    """OpenSpiel's crazy eights from the deal on, less its departures from its own description.

    The last seat deals. A wild starter is put back there and excluded here, which is the same
    distribution. A number card left in hand costs its card id plus two there ("4D", id 9, costs
    11), and its face value in the description and here. A penalty draw that takes exactly the
    last cards of the pile counts as a pass there; `ahead` while a blocked deal may end early.
    """

    def __init__(self, game: pyspiel.Game, players: int) -> None:
        self.state = game.new_initial_state()
        self.state.apply_action(52 + players - 1)
        self.hands: list[list[int]] = [[] for _ in range(players)]
        self.size = 7 if players == 2 else 5
        self.started, self.drawer, self.ahead = False, 0, False

    def current_player(self) -> int:
        return int(self.state.current_player())

    def is_terminal(self) -> bool:
        return bool(self.state.is_terminal())

    def legal_actions(self) -> list[int]:
        legal = list(self.state.legal_actions())
        turning = len(self.hands[-1]) == self.size and not self.started
        return [number for number in legal if number // 4 != 6] if turning else legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        legal = set(self.legal_actions())
        kept = [(n, p) for n, p in self.state.chance_outcomes() if n in legal]
        return [(n, p / sum(q for _, q in kept)) for n, p in kept]

    def action_to_string(self, player: int, action: int) -> str:
        return str(self.state.action_to_string(player, action))

    def apply_action(self, action: int) -> None:
        if not self.state.is_chance_node():
            self.drawer = self.current_player()
            if action < 52:
                self.hands[self.drawer].remove(action)
        elif self.started:
            self.hands[self.drawer].append(action)
        elif len(self.hands[-1]) < self.size:
            min(self.hands, key=len).append(action)
        else:
            self.started = True
        chance = self.state.is_chance_node()
        self.state.apply_action(action)
        if not chance and action != PASS:
            self.ahead = False
        elif chance and self.started and not self.state.is_chance_node():
            self.ahead = self.current_player() != self.drawer

    def returns(self) -> list[float]:
        numbers = [[n for n in hand if n // 4 < 9 and n // 4 != 6] for hand in self.hands]
        wrong = [sum(n - n // 4 for n in hand) for hand in numbers]
        return [paid + more for paid, more in zip(self.state.returns(), wrong, strict=True)]


PASS = 53


def their_action(action: str, state: SpielState) -> int:
    if action in ("draw", "pass"):
        return 52 if action == "draw" else PASS
    if action.startswith("name"):
        return 54 + "CDHS".index(action[5])
    return "23456789TJQKA".index(action[5]) * 4 + "CDHS".index(action[6])


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("players", [2, 3, 5])
def test_lockstep_with_openspiel(players: int, special: bool) -> None:
    spiel = pyspiel.load_game(
        "crazy_eights", {"players": players, "use_special_cards": special, "reshuffle": False}
    )

    tables: list[Corrected] = []

    class Start:
        def new_initial_state(self) -> SpielState:
            tables[:] = [Corrected(spiel, players)]
            return tables[0]

    def last_pass(state: State) -> str | None:
        theirs = tables[0]
        early = theirs.is_terminal() and theirs.ahead and state["passes"] == players
        return "pass" if early and state["phase"] == "play" else None

    parameters: dict[str, Any] = {
        "hand_size": 7 if players == 2 else 5,
        "must_play": False,
        "draws_per_turn": 5,
        "reshuffle": False,
        "ace_points": 10,
    }
    if special:
        parameters.update(skip_rank="Q", reverse_rank="A", draw_two_rank="2")
    compared = play_in_lockstep(
        library.source("shedding"),
        parameters=parameters,
        num_players=players,
        spiel=Start(),
        pairing=Pairing(their_action, only_ours=last_pass),
    )
    assert compared > 200 * 30
