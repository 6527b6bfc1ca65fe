"""A game in sequence form: flat arrays over what each seat can know and do; CFR+, exploitability.

The sequence form (von Stengel 1996) keeps a seat's *sequences*, each the last own action of an own
history; a seat remembers its log, so every information state is reached by one sequence.
A behaviour's realization plan multiplies it up along sequences, and the return of seat `i` is

    u_i = sum_t payoffs_i[t] * prod_j plan_j[ends_j[t]]

over the ends `t` of the game, with `payoffs_i[t]` already weighted by chance.

CFR+: counterfactual regret minimisation with regret matching+ (Tammelin 2014).

Iteration `t = 1, 2, ...` goes through the seats in turn; seat `i` meets the newest behaviour of the
others (alternating updates). At its information state `I`, with `worth` and `value` the
counterfactual values of `backed_up`,

    regret[I, a]    = max(0, regret[I, a] + worth[I, a] - value[I])
    plans[s]        = plans[s] + t * plan[s]                    (linear averaging)
    behaviour[I, a] = regret[I, a] / sum_b regret[I, b]         (uniform where that sum is 0)

where `plan` is the realization plan of the behaviour before it is updated. The average behaviour is
`plans` normalised at every information state. In two-player zero-sum games it converges
to a Nash equilibrium; with more players or other sums nothing is guaranteed, and its NashConv says
how far it came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from games.information import Did, LogEntry, SeatLog, Seen
from games.modules import Rules
from games.values import Action, Observation, State, canonical_key, canonical_value

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Behaviour: TypeAlias = Floats
"""`[S]` of one seat: the probability of each sequence's last action where it is to be chosen; the
empty sequence, which comes first, has 1."""


class LogIndex:
    """Numbers logs: equal numbers if and only if `information_key` is equal.

    A log's number is found entry by entry; the empty log of a seat has the seat's own number.
    Entries are held as 128-bit digests, for observations are long.
    """

    def __init__(self, num_players: int) -> None:
        """Hold the empty logs."""
        self.count = num_players
        self.next: dict[tuple[int, bytes], int] = {}

    def acted(self, node: int, action: Action) -> int:
        """The log after the seat's own action."""
        return self._extended(node, Did(action))

    def saw(
        self, node: int, seen: Observation | None, observation: Observation, events: Sequence[str]
    ) -> int:
        """The log after a ply, by the rule of `SeatLog.see`; `seen` is the newest observation."""
        if not events and observation == seen:
            return node
        return self._extended(node, Seen(observation, tuple(events)))

    def find(self, log: SeatLog) -> int | None:
        """The number of a log; None if it was never numbered."""
        node: int | None = log.seat if log.seat >= 0 else None
        for entry in log.entries:
            if node is None:
                return None
            node = self.next.get((node, _digest(entry)))
        return node

    def _extended(self, node: int, entry: LogEntry) -> int:
        number = self.next.setdefault((node, _digest(entry)), self.count)
        self.count += number == self.count
        return number


def _digest(entry: LogEntry) -> bytes:
    return blake2b(canonical_key(canonical_value(entry.row())).encode(), digest_size=16).digest()


def log_after(rules: Rules, initial: State, plies: Sequence[Action], seat: int) -> SeatLog:
    """The log of one seat after `plies` were played from the initial state."""
    log = SeatLog(seat)
    log.see(rules.observations(initial)[seat], [])
    state = initial
    for action in plies:
        if rules.current_player(state) == seat:
            log.act(action)
        events = rules.events(state, action)[seat]
        state = rules.apply_action(state, action)
        log.see(rules.observations(state)[seat], events)
    return log


class InformationState(NamedTuple):
    """A seat's possible knowledge when it is to move.

    Attributes:
        seat: The seat.
        actions: Its legal actions, in the order of its sequences.
        plies: Actions and outcomes of one history that leads here, to represent all of them.
    """

    seat: int
    actions: tuple[Action, ...]
    plies: tuple[Action, ...]


class Level(NamedTuple):
    """The information states of one seat that lie behind equally many own actions.

    Attributes:
        states: First and last (exclusive) information state.
        sequences: First and last (exclusive) sequence that leaves them.
        starts: `[L]` where each state's sequences start, counted from the level's first.
        sources: First and last (exclusive) sequence that can lead to them.
        parents: `[L]` the sequence that leads to each, counted from the first of `sources`.
    """

    states: slice
    sequences: slice
    starts: Ints
    sources: slice
    parents: Ints


@dataclass(frozen=True)
class SeatForm:
    """One seat's part of a sequence form: I information states, S sequences, T ends of the game.

    Attributes:
        states: `[I]` information states, by the number of own actions before them.
        levels: The same, a level at a time.
        firsts: `[I]` first sequence of each; the empty sequence is 0.
        owner: `[S]` the information state that a sequence leaves; -1 for the empty sequence.
        origin: `[S]` the sequence before; 0 for the empty sequence itself.
        ends: `[T]` the seat's sequence at each end.
        payoffs: `[T]` its return at each end times the probability of the chance outcomes.
    """

    states: tuple[InformationState, ...]
    levels: tuple[Level, ...]
    firsts: Ints
    owner: Ints
    origin: Ints
    ends: Ints
    payoffs: Floats

    @property
    def size(self) -> int:
        """Number of sequences, the empty one included."""
        return len(self.owner)

    def plan(self, behaviour: Behaviour) -> Floats:
        """The realization plan `[S]`: the product of a behaviour along every sequence."""
        plan = behaviour.copy()
        for level in self.levels:
            plan[level.sequences] *= plan[self.origin[level.sequences]]
        return plan

    def normalised(self, weights: Floats) -> Behaviour:
        """The behaviour in proportion to `weights`, `[S]`, >= 0; uniform where all are 0."""
        behaviour = np.ones(self.size)
        if self.states:
            totals = np.add.reduceat(weights, self.firsts)[self.owner[1:]]
            counts = np.bincount(self.owner[1:])[self.owner[1:]]
            behaviour[1:] = 1.0 / counts
            np.divide(weights[1:], totals, out=behaviour[1:], where=totals > 0)
        return behaviour


@dataclass(frozen=True)
class SequenceForm:
    """A game enumerated.

    Attributes:
        rules: The module's functions.
        initial: The state before any ply.
        seats: `[num_players]` one part a seat.
        histories: Number of histories, the empty one, chance's and the ends included.
        constant_sum: Whether all seats together get the same at every end.
        chances: `[T]` the probability of the chance outcomes at each end.
        index: Finds information states by log.
        places: Information state by its number in `index`: the seat's own count of it.
    """

    rules: Rules
    initial: State
    seats: tuple[SeatForm, ...]
    histories: int
    constant_sum: bool
    chances: Floats
    index: LogIndex
    places: Mapping[int, int]

    @property
    def num_states(self) -> int:
        """Information states of all seats."""
        return sum(len(form.states) for form in self.seats)

    def find(self, log: SeatLog) -> int | None:
        """The seat's information state that a log is; None if no play leads to that log."""
        node = self.index.find(log)
        return None if node is None else self.places.get(node)

    def log(self, seat: int, state: int) -> SeatLog:
        """The log of a seat's information state, written anew from a history that leads there."""
        plies = self.seats[seat].states[state].plies
        return log_after(self.rules, self.initial, plies, seat)

    def reaches(self, behaviours: Sequence[Behaviour]) -> list[Floats]:
        """The likelihood of every end by each seat alone: `[num_players]` arrays `[T]`."""
        return [
            form.plan(behaviour)[form.ends]
            for form, behaviour in zip(self.seats, behaviours, strict=True)
        ]

    def gains(self, seat: int, reaches: Sequence[Floats], payoffs: Floats | None = None) -> Floats:
        """`[S]` what the ends of each own sequence pay the seat, weighted by all the others.

        Args:
            seat: The seat; its own entry of `reaches` is not used.
            reaches: From `reaches`.
            payoffs: `[T]` in the place of the seat's own, times chance.
        """
        form = self.seats[seat]
        weights = (form.payoffs if payoffs is None else payoffs).copy()
        for other, reach in enumerate(reaches):
            if other != seat:
                weights *= reach
        return np.bincount(form.ends, weights, minlength=form.size).astype(np.float64, copy=False)


def backed_up(form: SeatForm, gains: Floats, behaviour: Behaviour | None) -> tuple[Floats, Floats]:
    """Counterfactual values of one seat, from its last actions to its first.

        worth[s] = gains[s] + sum over the states I that s leads to of value[I]
        value[I] = sum_a behaviour[I, a] * worth[I, a], or the maximum over a

    Args:
        form: The seat's part of the game.
        gains: `[S]` from `SequenceForm.gains`.
        behaviour: `[S]`, or None to choose the best action everywhere.

    Returns:
        `worth` `[S]`, whose first entry is the seat's return, and `value` `[I]`.
    """
    worth, values = gains.copy(), np.empty(len(form.states))
    for level in reversed(form.levels):
        block = worth[level.sequences]
        if behaviour is None:
            value = np.maximum.reduceat(block, level.starts)
        else:
            value = np.add.reduceat(behaviour[level.sequences] * block, level.starts)
        values[level.states] = value
        width = level.sources.stop - level.sources.start
        worth[level.sources] += np.bincount(level.parents, value, minlength=width)
    return worth, values


def action_values(game: SequenceForm, seat: int, behaviours: Sequence[Behaviour]) -> Floats:
    """`[S]` the mean return after each own action, for a seat that knows its log and no more.

        worth[s] / reach[I],  reach[I] = sum over the histories of I of chance times the others

    It is NaN where the others never lead to the information state.
    """
    form, reaches = game.seats[seat], game.reaches(behaviours)
    worth, _ = backed_up(form, game.gains(seat, reaches), behaviours[seat])
    _, reach = backed_up(form, game.gains(seat, reaches, game.chances), behaviours[seat])
    values, at = np.full(form.size, np.nan), reach[form.owner[1:]]
    np.divide(worth[1:], at, out=values[1:], where=at > 0)
    return values


@dataclass(frozen=True)
class NashConv:
    """The sum of the seats' gains by deviating alone (Lanctot et al. 2017).

    Attributes:
        returns: `[num_players]` expected return of each seat.
        best: `[num_players]` expected return of its best response to the others.
    """

    returns: tuple[float, ...]
    best: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """`[num_players]` what each seat would gain, at least 0 but for rounding."""
        return tuple(best - got for best, got in zip(self.best, self.returns, strict=True))

    @property
    def total(self) -> float:
        """The sum of the gains: 0 at a Nash equilibrium. Exploitability is half of it for two."""
        return float(sum(self.gains))


def expected_returns(game: SequenceForm, behaviours: Sequence[Behaviour]) -> tuple[float, ...]:
    """`[num_players]` expected returns, by evaluation of the whole tree.

    Args:
        game: The game.
        behaviours: One a seat; take them from different policies to set those against each other.
    """
    reach = np.prod(game.reaches(behaviours), axis=0)
    return tuple(float(form.payoffs @ reach) for form in game.seats)


def best_response(
    game: SequenceForm, seat: int, behaviours: Sequence[Behaviour]
) -> tuple[float, Behaviour]:
    """The value of a seat's best response to the others, and a response that gets it.

    Args:
        game: The game.
        seat: Who responds; its own entry of `behaviours` makes no difference.
        behaviours: One a seat.

    Returns:
        The expected return, and a behaviour that plays one action everywhere; of equals the first.
    """
    form = game.seats[seat]
    gains = game.gains(seat, game.reaches(behaviours))
    worth, values = backed_up(form, gains, None)
    best = np.flatnonzero(worth[1:] == values[form.owner[1:]]) + 1
    chosen = np.zeros(form.size)
    chosen[best[np.unique(form.owner[best], return_index=True)[1]]] = 1.0
    return float(worth[0]), form.normalised(chosen)


def nash_conv(game: SequenceForm, behaviours: Sequence[Behaviour]) -> NashConv:
    """Sum over the seats of what a best response gains: `sum_i max_b u_i(b, -i) - u_i`."""
    return NashConv(
        returns=expected_returns(game, behaviours),
        best=tuple(best_response(game, seat, behaviours)[0] for seat in range(len(game.seats))),
    )


def uniform(game: SequenceForm) -> tuple[Behaviour, ...]:
    """`[num_players]` behaviours in which every legal action is equally likely."""
    return tuple(form.normalised(np.zeros(form.size)) for form in game.seats)


def cfr_plus(game: SequenceForm, iterations: int) -> tuple[Behaviour, ...]:
    """Solve a game; the same iterations always give the same result.

    Args:
        game: The game, from `enumerate_game`.
        iterations: Passes over all seats, at least 1.

    Returns:
        `[num_players]` average behaviours.
    """
    if iterations < 1:
        raise ValueError(f"iterations is {iterations}; required: at least 1")
    regrets = [np.zeros(form.size) for form in game.seats]
    plans = [np.zeros(form.size) for form in game.seats]
    behaviours = [form.normalised(none) for form, none in zip(game.seats, regrets, strict=True)]
    reaches = game.reaches(behaviours)
    for iteration in range(1, iterations + 1):
        for seat, form in enumerate(game.seats):
            behaviour = behaviours[seat]
            plans[seat] += iteration * form.plan(behaviour)
            _add_regrets(game, seat, behaviour, reaches, regrets[seat])
            behaviours[seat] = form.normalised(regrets[seat])
            reaches[seat] = form.plan(behaviours[seat])[form.ends]
    return tuple(form.normalised(plan) for form, plan in zip(game.seats, plans, strict=True))


def _add_regrets(
    game: SequenceForm, seat: int, behaviour: Behaviour, reaches: list[Floats], regrets: Floats
) -> None:
    """Add one iteration's regrets of a seat to `regrets`, in place, and cut them at 0."""
    form = game.seats[seat]
    worth, values = backed_up(form, game.gains(seat, reaches), behaviour)
    regrets[1:] += worth[1:] - values[form.owner[1:]]
    np.maximum(regrets, 0.0, out=regrets)
