"""Many matches side by side beside their module, one message a step, for whoever learns by play.

The module shares its process with what steps it: a reply is a claim, and `Turns` is held against
the contract by its reader.
"""

import random
from typing import Literal, NamedTuple, TypeAlias

from agents.worker.blame import contracted
from games.information import (
    SeatLog,
    SeatTurn,
    entry_rows,
    newest_turn,
    read_entries,
    read_turn,
    since_turn,
    tell_seats,
)
from games.modules import Rules, first_state
from games.values import CHANCE, TERMINAL, Action, Json, ModuleFault, State
from tools.guest.operations import Operation
from tools.guest.protocol import decoded

Ended: TypeAlias = Literal["", "done", "cut"]
_FORCED_MOST = 10_000  # chance events in a row


class OpenManyRequest(NamedTuple):
    """Begin matches side by side; answered with `Turns`.

    Attributes:
        environments: How many at a time; one that ends is followed by another.
        num_players: Seats at the table.
        parameters: Of the game.
        words: Seed words of chance.
        max_plies: Plies after which a match is cut.
    """

    environments: int
    num_players: int
    parameters: dict[str, Json]
    words: list[int]
    max_plies: int


class StepManyRequest(NamedTuple):
    """Act in every match; answered with `Turns`.

    Attributes:
        actions: One a match, in their order.
    """

    actions: list[Action]


class KeptMatch(NamedTuple):
    """The state of a match.

    Attributes:
        state: Of the game.
        logs: What the next views need of every seat's log.
        draws: Of chance so far, this place's earlier matches included.
        plies: Of the match.
    """

    state: dict[str, Json]
    logs: list[list[dict[str, Json]]]
    draws: int
    plies: int


class ResumeManyRequest(NamedTuple):
    """Go on with matches as `keep_many` gave them; answered with `Turns`.

    Attributes:
        asked: The `OpenManyRequest` that opened them.
        kept: A `KeptMatch` each.
    """

    asked: dict[str, Json]
    kept: list[dict[str, Json]]


class Turns(NamedTuple):
    """The turn of every match, `[environments]` each.

    Attributes:
        seats: The seat that decides.
        told: Its turn, as `games.information.SeatTurn.row` writes it.
        legal: Its legal actions, in alphabetical order.
        rewards: `[num_players]` what the action and all up to this turn paid each seat.
        ended: Whether the match of the action came to its end, "done", or was "cut"; then the turn
            is the first of another match, whose rewards so far are left out.
    """

    seats: list[int]
    told: list[dict[str, Json]]
    legal: list[list[Action]]
    rewards: list[list[float]]
    ended: list[Ended]

    def turns(self) -> list[SeatTurn]:
        """The turns of the seats that decide.

        Raises:
            ValueError: If one is told no turn.
        """
        return [read_turn(row) for row in self.told]


class _Match:
    """One place of the table, where match follows match."""

    def __init__(self, rules: Rules, initial: State, chance: random.Random, longest: int) -> None:
        self.rules, self.initial, self.chance, self.longest = rules, initial, chance, longest
        self.rewards = [0.0] * rules.num_players
        self.draws = 0
        self._begin()

    def kept(self) -> KeptMatch:
        """The state of the match; a log is cut to its newest turn."""
        logs = [entry_rows(since_turn(log.entries)) for log in self.logs]
        return KeptMatch(self.state, logs, self.draws, self.plies)

    def go_on(self, kept: KeptMatch) -> None:
        """Stand where a match was kept, with chance that drew as much."""
        for _ in range(kept.draws - self.draws):
            self.chance.random()  # one number a draw
        self.draws, self.plies = kept.draws, kept.plies
        self.logs = [SeatLog(seat, read_entries(rows)) for seat, rows in enumerate(kept.logs)]
        self._stand(kept.state)

    def _begin(self) -> None:
        self.plies = 0
        self.logs = [SeatLog(seat) for seat in range(self.rules.num_players)]
        self._enter(self.initial, [[] for _ in self.logs])
        self._settle()

    def _enter(self, state: State, events: list[list[str]]) -> None:
        self._stand(state)
        tell_seats(self.logs, self.rules.observations(state), events)

    def _stand(self, state: State) -> None:
        self.state = state
        self.seat = self.rules.current_player(state)
        self.legal = [] if self.seat == TERMINAL else self.rules.legal_actions(state)

    def _apply(self, action: Action) -> None:
        if action not in self.legal:
            raise ValueError(f"{action!r} is not a legal action; legal: {self.legal}")
        if self.seat >= 0:
            self.logs[self.seat].act(action)
        events = self.rules.events(self.state, action)
        after = self.rules.apply_action(self.state, action)
        paid = self.rules.rewards(after)
        self.rewards = [had + more for had, more in zip(self.rewards, paid, strict=True)]
        self.plies += 1
        self._enter(after, events)

    def _settle(self) -> None:
        """Let chance act until a seat decides or the match is over."""
        for _ in range(_FORCED_MOST):
            if self.seat != CHANCE:
                return
            weights = self.rules.chance_probabilities
            chances = weights(self.state) if weights else None
            self.draws += 1
            self._apply(self.chance.choices(self.legal, chances)[0])
        raise ModuleFault("bad_value", "get_current_player", "gave chance the turn without end")

    def act(self, action: Action) -> Ended:
        """Play one action, and begin another match where it ends this one."""
        self.rewards = [0.0] * self.rules.num_players
        self._apply(action)
        self._settle()
        over = self.seat == TERMINAL
        if not over and self.plies < self.longest:
            return ""
        paid = self.rewards
        self._begin()
        self.rewards = paid
        if self.seat == TERMINAL:
            raise ModuleFault("bad_value", "get_current_player", "ends a match before any decision")
        return "done" if over else "cut"


_matches: list[_Match] = []  # of this worker


def _turns(ended: list[Ended]) -> Json:
    return Turns(
        [match.seat for match in _matches],
        [newest_turn(match.logs[match.seat].entries).row() for match in _matches],
        [sorted(match.legal) for match in _matches],
        [match.rewards for match in _matches],
        ended,
    )._asdict()


def open_many(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `OpenManyRequest`."""
    asked = decoded(OpenManyRequest, payload)
    rules = contracted(namespace, asked.num_players)
    initial = first_state(namespace, asked.num_players, asked.parameters)
    _matches[:] = [
        _Match(rules, initial, random.Random(f"{asked.words},{number}"), asked.max_plies)
        for number in range(asked.environments)
    ]
    return _turns([""] * asked.environments)


def step_many(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `StepManyRequest`."""
    del namespace
    actions = decoded(StepManyRequest, payload).actions
    return _turns([match.act(one) for match, one in zip(_matches, actions, strict=True)])


def keep_many(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """The state of every match: a `KeptMatch` each."""
    del namespace, payload
    return [match.kept()._asdict() for match in _matches]


def resume_many(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `ResumeManyRequest`."""
    request = decoded(ResumeManyRequest, payload)
    open_many(namespace, request.asked)
    for match, kept in zip(_matches, request.kept, strict=True):
        match.go_on(decoded(KeptMatch, kept))
    return _turns([""] * len(_matches))


OPERATIONS: dict[str, Operation] = {
    "keep_many": keep_many,
    "open_many": open_many,
    "resume_many": resume_many,
    "step_many": step_many,
}
