"""Alpha-beta (Knuth & Moore 1975): the value of a small game for two without chance or secrets.

    v(s) = 0 at the end of the match, else the best over actions a of p(s') + v(s'), s' after a,

where `p` is what entering a state pays seat 0, who takes the largest sum; seat 1 the smallest.
A line is given up as soon as it cannot change the choice above it (Knuth & Moore 1975, An Analysis
of Alpha-Beta Pruning; fail-soft bounds), and bounds on states met before are taken from a table
keyed by the canonical state (Breuker 1998, Memory versus Search in Games). Seats need not
alternate. Actions are tried in the module's order.
"""

from collections.abc import Sequence
from math import inf
from typing import TypeAlias

import numpy as np
from pydantic import Field

from agents.search.settings import LARGEST, Count, PlayerSettings, SearchResult, SearchView
from games.modules import Rules, canonical
from games.values import CHANCE, TERMINAL, Action, State

Bounds: TypeAlias = tuple[float, float]
ZERO = 1e-9  # payments of a zero-sum game may miss zero by so much


class UnsuitableGameError(Exception):
    """The game is not one that a search can play as it is set up; says why."""


class AlphaBetaSettings(PlayerSettings):
    """Settings of alpha-beta; at the depth the module's `value_function` decides."""

    depth: int = Field(
        default=0,
        ge=0,
        le=LARGEST,
        description="Plies looked ahead, at which the game's value function decides; 0 looks "
        "to the end.",
    )
    calls: Count = Field(
        default=1_000_000,
        description="Calls of apply_action after which the game is refused as too large.",
    )

    def value_needed(self) -> tuple[str, str] | None:
        """See `PlayerSettings.value_needed`."""
        return (f"depth={self.depth}", "depth=0") if self.depth else None


def decide(
    view: SearchView, settings: AlphaBetaSettings, generator: np.random.Generator
) -> SearchResult:
    """Solve the state of a view; see `solved` for the result and the errors."""
    del generator
    return solved(view.rules, view.determinize(), depth=settings.depth, calls=settings.calls)


def solved(
    rules: Rules, root: State, *, depth: int = 0, calls: int, order: Sequence[Action] = ()
) -> SearchResult:
    """Solve a state that is known in full.

    Args:
        rules: The module's functions.
        root: The state to decide in; a seat is to move.
        depth: Plies looked ahead; 0 looks to the end of the match.
        calls: Calls of `apply_action` after which the game is refused as too large.
        order: The legal actions in the order in which they are tried; without it the module's.

    Returns:
        The value of the state as the mean of the action chosen, the first of the best ones.

    Raises:
        ValueError: If no seat is to move at `root`.
        UnsuitableGameError: If the game is not for two, not zero-sum, has chance in it, is too
            large for the calls allowed, or lacks the `value_function` that a depth needs.
    """
    if rules.num_players != 2:  # noqa: PLR2004 - a game for two
        raise UnsuitableGameError(f"it has {rules.num_players} seats; required: two")
    if depth and rules.value is None:
        raise UnsuitableGameError("depth needs the module's value_function; use depth=0")
    player = rules.current_player(root)
    if player < 0:
        raise ValueError(f"no seat is to move at the root (player {player})")
    search, actions = AlphaBeta(rules, calls), tuple(rules.legal_actions(root))
    try:
        value, chosen = search.best(root, depth or None, (-inf, inf), order or actions)
    except RecursionError as error:
        raise UnsuitableGameError(
            "it has lines of play too long to follow; required: a small game, or a depth"
        ) from error
    worth = value if player == 0 else -value
    return SearchResult(
        actions=actions,
        visits=tuple(int(action == chosen) for action in actions),
        means=tuple(worth if action == chosen else None for action in actions),
        simulations=1,
        nodes=len(search.table) + 1,
        cut_rollouts=0,
        calls=search.calls,
        chosen=chosen,
        figures={"table_hits": search.hits},
    )


class AlphaBeta:
    """Values of states, with what is known of those met before.

    Attributes:
        table: Lower and upper bound of a state's value, by (plies left, canonical state).
        calls: Calls of `apply_action` made.
        hits: States whose bounds in the table settled them.
    """

    def __init__(self, rules: Rules, limit: int) -> None:
        """Nothing known yet; `limit` is the number of calls allowed."""
        self.rules = rules
        self.limit = limit
        self.table: dict[tuple[int | None, bytes], Bounds] = {}
        self.calls = self.hits = 0

    def value(self, state: State, depth: int | None, alpha: float, beta: float) -> float:
        """Seat 0's value of what is to come: exact within (`alpha`, `beta`), a bound outside."""
        player = self.rules.current_player(state)
        if player == TERMINAL:
            return 0.0
        if player == CHANCE:
            raise UnsuitableGameError("it has chance in it; required: none")
        if depth == 0:
            return self._estimate(state)
        key = depth, canonical(state)
        low, high = self.table.get(key, (-inf, inf))
        if low >= beta or low == high or high <= alpha:
            self.hits += 1
            return low if low >= beta or low == high else high
        alpha, beta = max(alpha, low), min(beta, high)
        best, _ = self.best(state, depth, (alpha, beta), self.rules.legal_actions(state))
        if best <= alpha:
            self.table[key] = low, best
        elif best >= beta:
            self.table[key] = best, high
        else:
            self.table[key] = best, best
        return best

    def best(
        self, state: State, depth: int | None, window: Bounds, actions: Sequence[Action]
    ) -> tuple[float, Action]:
        """Seat 0's value of a state by some of its actions, and the first action that has it."""
        alpha, beta = window
        sign = 1 if self.rules.current_player(state) == 0 else -1
        later = None if depth is None else depth - 1
        best, chosen = -sign * inf, ""
        for action in actions:
            reward, after = self._after(state, action)
            value = reward + self.value(after, later, alpha - reward, beta - reward)
            if sign * value > sign * best:
                best, chosen = value, action
            alpha, beta = (max(alpha, best), beta) if sign > 0 else (alpha, min(beta, best))
            if alpha >= beta:
                break
        return best, chosen

    def _after(self, state: State, action: Action) -> tuple[float, State]:
        """The payment of an action to seat 0, and the state that it leads to."""
        if self.calls == self.limit:
            raise UnsuitableGameError(
                f"it has more than {self.limit} positions to look at; required: a small game, "
                "a larger calls, or a depth"
            )
        self.calls += 1
        after = self.rules.apply_action(state, action)
        first, second = self.rules.rewards(after)
        if abs(first + second) > ZERO:
            raise UnsuitableGameError(f"it pays {first} and {second}; required: a zero sum")
        return first, after

    def _estimate(self, state: State) -> float:
        """Seat 0's value of what is to come by the module, which counts what entering paid."""
        if self.rules.value is None:
            raise UnsuitableGameError("depth needs the module's value_function; use depth=0")
        return self.rules.value(state, 0) - self.rules.rewards(state)[0]
