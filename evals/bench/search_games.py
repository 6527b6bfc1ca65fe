"""Six games that the library and OpenSpiel both have, at a first decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from agents.search.rules import Rules, bind
from agents.solving.logs import log_after
from games import library
from games.contract import CHANCE, Action, Json, State, load_namespace
from games.information import SeatLog

_HEARTS: Mapping[str, Json] = {
    "points_per_trick": 0,
    "heart_points": -1,
    "queen_of_spades_points": -13,
    "shoot_the_moon": True,
    "first_trick_safe": True,
    "hearts_broken": True,
    "queen_breaks_hearts": True,
    "passing": 3,
    "pass_direction": "random",
    "lead": "two_of_clubs",
}


@dataclass(frozen=True)
class Contest:
    """A game to search, ours and theirs.

    Attributes:
        name: OpenSpiel's name of it.
        preset: The library's.
        players: Seats.
        simulations: A decision.
        parameters: Of the library's game.
        theirs: Parameters of OpenSpiel's game.
        hidden: Whether seats do not see everything.
        resampled: Whether OpenSpiel can sample what a seat does not see, which its search over
            information sets needs.
    """

    name: str
    preset: str
    players: int
    simulations: int
    parameters: Mapping[str, Json] = field(default_factory=dict)
    theirs: Mapping[str, Any] = field(default_factory=dict)
    hidden: bool = False
    resampled: bool = False


CONTESTS = (
    Contest("tic_tac_toe", "tic_tac_toe", 2, 1000),
    Contest("connect_four", "connect_four", 2, 1000),
    Contest("breakthrough", "breakthrough", 2, 100),
    Contest("leduc_poker", "leduc_poker", 2, 1000, hidden=True, resampled=True),
    Contest(
        "goofspiel",
        "goofspiel",
        2,
        200,
        {"cards": 13, "prize_order": "random", "returns": "win"},
        {"imp_info": True, "num_cards": 13, "points_order": "random", "returns_type": "win_loss"},
        hidden=True,
    ),
    Contest("hearts", "trick_taking", 4, 40, _HEARTS, hidden=True, resampled=True),
)


@dataclass(frozen=True)
class Start:
    """A first decision in the library's game.

    Attributes:
        namespace: The module's names.
        rules: Its functions.
        initial: The state before any ply.
        plies: The chance outcomes before the decision.
        state: The state of the decision.
    """

    namespace: dict[str, object]
    rules: Rules
    initial: State
    plies: tuple[Action, ...]
    state: State

    @property
    def seat(self) -> int:
        """Who decides."""
        return self.rules.current_player(self.state)

    def log(self) -> SeatLog:
        """What the seat that decides has seen."""
        return log_after(self.rules, self.initial, self.plies, self.seat)


def start(contest: Contest, seed: int) -> Start:
    """The library's game, dealt at random up to its first decision with a choice."""
    namespace = load_namespace(library.source(contest.preset))
    rules = bind(namespace, contest.players)
    initial_state = cast("Callable[..., State]", namespace["initial_state"])
    initial = initial_state(contest.players, **contest.parameters)
    generator = np.random.default_rng(seed)
    state, plies = initial, list[Action]()
    while rules.current_player(state) == CHANCE:
        legal = rules.legal_actions(state)
        plies.append(legal[int(generator.integers(len(legal)))])
        state = rules.apply_action(state, plies[-1])
    return Start(namespace, rules, initial, tuple(plies), state)


def their_start(contest: Contest, seed: int) -> Any:  # noqa: ANN401 - OpenSpiel has no types
    """The same in OpenSpiel: its game's first decision, by turns."""
    import pyspiel

    generator = np.random.default_rng(seed)
    state = pyspiel.load_game_as_turn_based(contest.name, dict(contest.theirs)).new_initial_state()
    while state.is_chance_node():
        outcomes = state.legal_actions()
        state.apply_action(outcomes[int(generator.integers(len(outcomes)))])
    return state
