"""Searches of a known state, given a belief by the layer, in whole games that hide something."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import pytest

from agents.belief.belief import Belief, DecisionPoint
from agents.search.alphabeta import solved
from agents.search.settings import GraphSettings, SearchResult
from agents.search.uct import agreed, tree_search
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import Decision, Player, play_match
from games.information import SeatLog
from games.modules import LocalModule, Rules
from games.streams import PlyChance
from games.table import GameTable
from games.values import Action, Json, State
from tests.agents.belief.posteriors import library_game
from tests.agents.small_games import known

WORLDS = 8
RISK = 1e-4  # that a player no better than its opponent passes by luck
Plain = Callable[[Rules, State, int, np.random.Generator], SearchResult]

SEA: dict[str, Json] = {"rows": 4, "columns": 4, "ships": "3,2"}
FLAGS: dict[str, Json] = {"rows": 4, "columns": 3, "home_rows": 1, "bombs": 0, "scouts": 1,
                          "spies": 0}  # fmt: skip
ARMIES: dict[str, Json] = {**FLAGS, "rows": 5, "columns": 4, "bombs": 1}


def uct(rules: Rules, state: State, budget: int, generator: np.random.Generator) -> SearchResult:
    return tree_search(known(rules, state), GraphSettings(simulations=budget), generator)


def short_uct(
    rules: Rules, state: State, budget: int, generator: np.random.Generator
) -> SearchResult:
    settings = GraphSettings(simulations=budget, leaf="truncated", depth=2)
    return tree_search(known(rules, state), settings, generator)


def minimax(
    rules: Rules, state: State, budget: int, generator: np.random.Generator
) -> SearchResult:
    del generator
    return solved(rules, state, depth=budget, calls=1_000_000)


@dataclass(frozen=True)
class Believing:
    """A search that knows nothing of hidden states, in the layer; it is told its own log alone."""

    search: Plain
    budget: int
    rules: Rules
    namespace: dict[str, object]
    initial: State

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        here = DecisionPoint(self.rules, self.namespace, self.initial, log, tuple(legal))
        belief = Belief(here, "auto", WORLDS, generator)
        found = agreed(
            [
                self.search(self.rules, belief.sample(), self.budget, generator)
                for _ in range(WORLDS)
            ]
        )
        return Decision(found.best)


def wins(
    search: Plain, budget: int, name: str, parameters: dict[str, Json], matches: int
) -> tuple[int, int]:
    """Matches won and lost against uniform play, from both seats in turn."""
    table = GameTable(Game(LocalModule(library.source(name))))
    rules, namespace, start = library_game(name, parameters)
    counts = [0, 0]
    for match in range(matches):
        players: list[Player] = [UniformPlayer(), UniformPlayer()]
        players[match % 2] = Believing(search, budget, rules, namespace, start)
        played = play_match(
            table,
            players,
            parameters=parameters,
            seed=11,
            match=match,
            chance=PlyChance(11, match // 2),
        )
        assert played.returns is not None, played.reason
        mine, theirs = played.returns[match % 2], played.returns[1 - match % 2]
        counts[0] += mine > theirs
        counts[1] += mine < theirs
    return counts[0], counts[1]


def by_luck(won: int, lost: int) -> float:
    """The probability that a fair coin gives so many heads among the decided matches."""
    decided = won + lost
    return sum(comb(decided, heads) for heads in range(won, decided + 1)) / float(2**decided)


CASES: dict[str, tuple[Plain, int, str, dict[str, Json], int]] = {
    "hidden positions": (short_uct, 30, "battleship", SEA, 50),
    "hidden positions: minimax": (minimax, 1, "battleship", SEA, 100),
    "hidden identities": (uct, 20, "capture_the_flag", FLAGS, 40),
    "hidden identities: minimax": (minimax, 2, "capture_the_flag", ARMIES, 110),
    "hidden hands": (uct, 20, "leduc_poker", {}, 200),
}


@pytest.mark.parametrize(
    ("search", "budget", "name", "parameters", "matches"), CASES.values(), ids=CASES
)
def test_a_search_that_needs_to_know_all_beats_random_play_clearly_in_the_layer(
    search: Plain, budget: int, name: str, parameters: dict[str, Json], matches: int
) -> None:
    won, lost = wins(search, budget, name, parameters, matches)
    assert by_luck(won, lost) < RISK, f"{won} won, {lost} lost"


def test_the_bound_is_that_of_a_fair_coin() -> None:
    assert by_luck(5, 0) == 1 / 32
    assert by_luck(1, 1) == 3 / 4
    assert by_luck(0, 0) == 1
