"""Enumeration of a game: every history of a module, and what each seat can know in it.

A game far too large to enumerate is seen at once, from a few random plays. One play that chooses
uniformly among `b_0, b_1, ...` actions and outcomes at its plies estimates the number of histories
without bias by `1 + b_0 + b_0 b_1 + ...` (Knuth 1975). Estimates vary wildly, but by Markov's
inequality an unbiased one exceeds the truth a thousandfold with probability 1/1000 at the most: one
that exceeds a limit that far is proof enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from agents.solving.form import (
    Floats,
    InformationState,
    Ints,
    Level,
    LogIndex,
    SeatForm,
    SequenceForm,
)
from games.modules import Rules, require_turn
from games.values import CHANCE, TERMINAL, Action, ModuleFault, Observation, State

HISTORIES = 200_000  # about ten seconds and 300 MB on the library's games
SUM_TOLERANCE = 1e-9
PLAYS = 16
MARGIN = 1000.0
LONGEST = 2000  # plies of a play; the histories beyond are not counted

Chain: TypeAlias = "tuple[Chain, Action] | None"
"""The plies of a history, the last one outermost, so that histories share their beginnings."""


class TooManyHistoriesError(Exception):
    """The game has more histories than may be enumerated; the message says how many were met."""


@dataclass(frozen=True, slots=True)
class _History:
    """One history that is still to be looked at.

    Attributes:
        state: Where it leads.
        plies: What was played.
        length: Number of plies.
        chance: Product of its chance probabilities.
        returns: `[num_players]` paid so far.
        seen: `[num_players]` newest observations.
        logs: `[num_players]` numbers of the logs.
        sequences: `[num_players]` last own actions, as `_Seat` numbers them.
    """

    state: State
    plies: Chain
    length: int
    chance: float
    returns: tuple[float, ...]
    seen: Sequence[Observation]
    logs: tuple[int, ...]
    sequences: tuple[int, ...]


class _Seat:
    """One seat's information states and sequences, in the order in which they are met."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.numbers: dict[int, int] = {}
        self.states: list[InformationState] = []
        self.first: list[int] = []
        self.parent: list[int] = []
        self.offsets: list[dict[Action, int]] = []
        self.depth = [0]  # of every sequence; the empty one is there from the start

    def meet(self, history: _History, legal: Sequence[Action]) -> dict[Action, int]:
        """The sequence of every legal action here."""
        number = self.numbers.setdefault(history.logs[self.seat], len(self.states))
        if number == len(self.states):
            parent, first = history.sequences[self.seat], len(self.depth)
            self.states.append(InformationState(self.seat, tuple(legal), _listed(history.plies)))
            self.first.append(first)
            self.parent.append(parent)
            self.offsets.append({action: first + i for i, action in enumerate(legal)})
            self.depth.extend([self.depth[parent] + 1] * len(legal))
        known = self.offsets[number]
        if len(legal) != len(known) or not all(action in known for action in legal):
            raise ModuleFault(
                "bad_value",
                "get_legal_actions",
                f"gives seat {self.seat} {sorted(legal)} in one state and {sorted(known)} in "
                "another that it cannot tell from it; required: the same, or an observation or "
                "event that tells them apart",
            )
        return known


def enumerate_game(rules: Rules, initial: State, *, limit: int = HISTORIES) -> SequenceForm:
    """Enumerate a game by information states.

    Args:
        rules: The module's functions.
        initial: The state before any ply.
        limit: Histories to look at, at least 1.

    Raises:
        TooManyHistoriesError: If there are more.
        ModuleFault: If a state's player and legal actions disagree, or a seat that knows the same
            has different legal actions.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}; required: at least 1 history")
    return _Walk(rules, initial, limit).form()


class _Walk:
    """All histories, depth first, so that few states are held at once."""

    def __init__(self, rules: Rules, initial: State, limit: int) -> None:
        self.rules = rules
        self.initial = initial
        self.limit = limit
        self.index = LogIndex(rules.num_players)
        self.seats = [_Seat(seat) for seat in range(rules.num_players)]
        self.ends: list[tuple[int, ...]] = []
        self.chances: list[float] = []
        self.returns: list[tuple[float, ...]] = []
        self.histories = 0
        self.deepest = 0

    def form(self) -> SequenceForm:
        stack = [iter([self._start()])]
        while stack:
            history = next(stack[-1], None)
            if history is None:
                stack.pop()
                continue
            self.histories += 1
            self.deepest = max(self.deepest, history.length)
            if self.histories > self.limit:
                states = sum(len(seat.states) for seat in self.seats)
                raise TooManyHistoriesError(
                    f"it has more than {self.limit} histories: {states} information states were "
                    f"found by then, and histories of up to {self.deepest} plies"
                )
            stack.append(self._continued(history))
        return self._built()

    def _start(self) -> _History:
        count = self.rules.num_players
        seen = self.rules.observations(self.initial)
        logs = tuple(self.index.saw(seat, None, seen[seat], []) for seat in range(count))
        return _History(self.initial, None, 0, 1.0, (0.0,) * count, seen, logs, (0,) * count)

    def _continued(self, history: _History) -> Iterator[_History]:
        """Its continuations, made one at a time: states are large."""
        rules, state = self.rules, history.state
        player, legal = rules.current_player(state), rules.legal_actions(state)
        require_turn(player, len(legal), rules.num_players)
        if player == TERMINAL:
            self.ends.append(history.sequences)
            self.chances.append(history.chance)
            self.returns.append(history.returns)
        elif player == CHANCE:
            chances = rules.chance_probabilities
            weights = [1.0 / len(legal)] * len(legal) if chances is None else chances(state)
            for action, weight in zip(legal, weights, strict=True):
                yield self._after(
                    history, action, CHANCE, history.chance * weight, history.sequences
                )
        else:
            known = self.seats[player].meet(history, legal)
            before, behind = history.sequences[:player], history.sequences[player + 1 :]
            for action in legal:
                yield self._after(
                    history, action, player, history.chance, (*before, known[action], *behind)
                )

    def _after(
        self,
        history: _History,
        action: Action,
        player: int,
        chance: float,
        sequences: tuple[int, ...],
    ) -> _History:
        rules, logs = self.rules, list(history.logs)
        if player != CHANCE:
            logs[player] = self.index.acted(logs[player], action)
        events = rules.events(history.state, action)
        state = rules.apply_action(history.state, action)
        seen = rules.observations(state)
        return _History(
            state=state,
            plies=(history.plies, action),
            length=history.length + 1,
            chance=chance,
            returns=tuple(
                a + b for a, b in zip(history.returns, rules.rewards(state), strict=True)
            ),
            seen=seen,
            logs=tuple(map(self.index.saw, logs, history.seen, seen, events)),
            sequences=sequences,
        )

    def _built(self) -> SequenceForm:
        orders = [np.argsort(_depths(seat), kind="stable") for seat in self.seats]
        renumbered = [
            _renumbered(seat, order) for seat, order in zip(self.seats, orders, strict=True)
        ]
        found = np.array(self.ends, dtype=np.int64)
        ends, merged = np.unique(
            np.stack([new[found[:, seat]] for seat, new in enumerate(renumbered)], axis=1),
            axis=0,
            return_inverse=True,
        )
        returns = np.array(self.returns)
        sums = returns.sum(axis=1)
        payoffs = np.zeros((len(ends), len(self.seats)))
        weights, chances = np.array(self.chances), np.zeros(len(ends))
        np.add.at(payoffs, merged.reshape(-1), returns * weights[:, None])
        np.add.at(chances, merged.reshape(-1), weights)
        places = {
            log: int(place)
            for seat, order in zip(self.seats, orders, strict=True)
            for log, place in zip(seat.numbers, np.argsort(order), strict=True)
        }
        return SequenceForm(
            rules=self.rules,
            initial=self.initial,
            seats=tuple(
                _seat_form(seat, orders[n], renumbered[n], ends[:, n].copy(), payoffs[:, n].copy())
                for n, seat in enumerate(self.seats)
            ),
            histories=self.histories,
            constant_sum=bool(np.ptp(sums) <= SUM_TOLERANCE * max(1.0, float(np.abs(sums).max()))),
            chances=chances,
            index=self.index,
            places=places,
        )


def _depths(seat: _Seat) -> Ints:
    """`[I]` own actions before each information state."""
    return np.array(seat.depth, dtype=np.int64)[np.array(seat.parent, dtype=np.int64)]


def _renumbered(seat: _Seat, order: Ints) -> Ints:
    """`[S]` new number of every sequence, where the states are put in `order`."""
    new, count = np.zeros(len(seat.depth), dtype=np.int64), 1
    for state in order:
        first, width = seat.first[state], len(seat.states[state].actions)
        new[first : first + width] = range(count, count + width)
        count += width
    return new


def _seat_form(seat: _Seat, order: Ints, renumbered: Ints, ends: Ints, payoffs: Floats) -> SeatForm:
    states = tuple(seat.states[state] for state in order)
    widths = np.array([len(state.actions) for state in states], dtype=np.int64)
    bounds = np.concatenate(([1], 1 + np.cumsum(widths)))
    parents = renumbered[np.array(seat.parent, dtype=np.int64)[order]]
    owner = np.concatenate(([-1], np.repeat(np.arange(len(states)), widths)))
    depths = _depths(seat)[order]
    cuts = [0, *(np.flatnonzero(np.diff(depths)) + 1).tolist(), len(states)]
    levels: list[Level] = []
    for first, last in pairwise(cuts if states else []):
        sources = levels[-1].sequences if levels else slice(0, 1)
        levels.append(
            Level(
                states=slice(first, last),
                sequences=slice(int(bounds[first]), int(bounds[last])),
                starts=bounds[first:last] - bounds[first],
                sources=sources,
                parents=parents[first:last] - sources.start,
            )
        )
    return SeatForm(
        states=states,
        levels=tuple(levels),
        firsts=bounds[:-1],
        owner=owner,
        origin=np.concatenate(([0], np.repeat(parents, widths))),
        ends=ends,
        payoffs=payoffs,
    )


def _listed(chain: Chain) -> tuple[Action, ...]:
    plies: list[Action] = []
    while chain is not None:
        chain, action = chain
        plies.append(action)
    return tuple(reversed(plies))


def estimated_histories(
    rules: Rules, initial: State, generator: np.random.Generator, *, enough: float = 1e300
) -> float:
    """The mean estimate of `PLAYS` random plays.

    Args:
        rules: The module's functions.
        initial: The state before any ply.
        generator: Chooses the plays.
        enough: The plays end early once the mean is sure to be larger.

    Returns:
        About how many histories there are; more than `enough` says only that it is more.
    """
    total = 0.0
    for _ in range(PLAYS):
        state, here = initial, 1.0
        total += here
        for _ in range(LONGEST):
            legal = rules.legal_actions(state)
            if not legal or total > enough * PLAYS:
                break
            here *= len(legal)
            total += here
            state = rules.apply_action(state, legal[int(generator.integers(len(legal)))])
    return total / PLAYS
