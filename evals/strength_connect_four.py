"""Connect four at equal simulations against OpenSpiel's C++ MCTSBot, from random openings."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from agents.search.algorithms import Plan
from agents.search.rules import Rules, bind
from agents.search.trees import tree_search
from games import library
from games.contract import State, load_namespace
from games.streams import stream

if TYPE_CHECKING:
    import pyspiel

OPENING = (0, 8)  # plies played at random before the searches begin: least and most
UCT_C = 2.0  # with returns in [-1, 1], as in OpenSpiel's own example
MEMORY_MB = 1000
COLUMNS = 7


class Opponent:
    """OpenSpiel's MCTSBot with its solver, one random rollout a simulation."""

    def __init__(self, simulations: int, seed: int) -> None:
        """A bot for one game.

        Raises:
            ImportError: If OpenSpiel is not installed.
        """
        import pyspiel  # noqa: PLC0415 - the extra "openspiel"

        self.game = pyspiel.load_game("connect_four")
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        self.bot = pyspiel.MCTSBot(
            self.game, evaluator, UCT_C, simulations, MEMORY_MB, True, seed, False
        )

    def start(self, columns: list[int]) -> "pyspiel.State":
        """The position after a column a ply."""
        state = self.game.new_initial_state()
        for column in columns:
            state.apply_action(column)
        return state


def pairs(plan: Plan, simulations: int, seed: int) -> Iterator[float]:
    """Our share of the points of one pair of games after another, without end.

    Both games of a pair begin with the same random opening, which ends before the game does; we
    have the first seat in one of them and the second in the other.
    """
    namespace = load_namespace(library.source("connect_four"))
    rules = bind(namespace, 2)
    start = cast("Callable[[int], State]", namespace["initial_state"])(2)
    number = 0
    while True:
        opening = _opening(rules, start, stream(seed, "opening", match=number))
        points = [
            _game(rules, start, opening, plan, simulations, (seed, number, seat)) for seat in (0, 1)
        ]
        yield sum(points) / 2
        number += 1


def _opening(rules: Rules, start: State, generator: np.random.Generator) -> list[str]:
    """Actions of a random opening after which the game goes on."""
    while True:
        plies = int(generator.integers(OPENING[0], OPENING[1] + 1))
        state, actions = start, list[str]()
        while len(actions) < plies and rules.current_player(state) >= 0:
            legal = rules.legal_actions(state)
            actions.append(legal[int(generator.integers(len(legal)))])
            state = rules.apply_action(state, actions[-1])
        if rules.current_player(state) >= 0:
            return actions


def _column(action: str) -> int:
    """OpenSpiel's action: the column, from 0."""
    return int(action.split()[-1]) - 1


def _game(
    rules: Rules,
    start: State,
    opening: list[str],
    plan: Plan,
    simulations: int,
    key: tuple[int, int, int],
) -> float:
    """1 where we win, 0.5 for a draw."""
    seed, number, seat = key
    generator = stream(seed, "connect four", match=number, seat=seat)
    opponent = Opponent(simulations, int(generator.integers(2**31)))
    state = start
    for action in opening:
        state = rules.apply_action(state, action)
    theirs: Any = opponent.start([_column(action) for action in opening])
    while (player := rules.current_player(state)) >= 0:
        legal = {_column(action): action for action in rules.legal_actions(state)}
        if sorted(legal) != sorted(theirs.legal_actions()):
            raise ValueError(f"legal columns differ: {sorted(legal)}, {theirs.legal_actions()}")
        if player == seat:
            action = tree_search(rules, state, plan.search, generator).best
        else:
            action = legal[opponent.bot.step(theirs)]
        state = rules.apply_action(state, action)
        theirs.apply_action(_column(action))
    return (rules.rewards(state)[seat] + 1) / 2
