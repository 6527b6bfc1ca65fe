"""Trees of what a seat may see next, with exact probabilities: a game's rules, walked through.

The others' policies are frozen and known. A log's probability is a product of chance, of what the
others do, and of what the seat does itself; the last is a function of the log, so that it can be
set afterwards. What comes next in a log does not depend on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from agents.solving.form import Behaviour, Floats, LogIndex, SequenceForm
from games.information import Did, LogEntry, Seen
from games.modules import Rules
from games.values import CHANCE, TERMINAL, Action, Observation, State, canonical_key

Step: TypeAlias = LogEntry | Literal["turn", "end"]
Told: TypeAlias = tuple[int, ...]
"""By seat, the number of its log in an index."""
PolicyOfOthers: TypeAlias = Callable[[int, Sequence[Action], Told], Sequence[float]]
"""Probabilities of a seat's legal actions."""


@dataclass(slots=True)
class SightNode:
    """A log of the seat, or a step of it.

    Attributes:
        parent: The log before; -1 for the first.
        step: The entry that was added, or that it is the seat's turn, or the end.
        weight: Probability of chance and of the others on the way here.
        paid: Of an end: worth to the seat, times the weight.
        log: Of a turn: the number of the log in an index; -1 where there is none.
    """

    parent: int
    step: Step
    weight: float = 0.0
    paid: float = 0.0
    log: int = -1


@dataclass
class SightTree:
    """All that a seat may see, from a log on.

    Attributes:
        rules: The module's functions.
        seat: Who sees.
        policy: Of the others.
        worth: Of a match's returns to the seat.
        index: Numbers the logs of all seats, for the policy; None where it does not ask.
        stops: Whether the tree ends at the seat's next turn.
        nodes: The first log, and what may come of it; a parent stands before its children.
    """

    rules: Rules
    seat: int
    policy: PolicyOfOthers
    worth: Callable[[Sequence[float]], float] = lambda _: 0.0
    index: LogIndex | None = None
    stops: bool = False
    nodes: list[SightNode] = field(default_factory=lambda: [SightNode(-1, "turn", 0.0)])
    _numbers: dict[tuple[int, str], int] = field(default_factory=dict)

    def begin(self, initial: State) -> None:
        """Grow the whole tree; its first log holds the first observation alone."""
        seen = self.rules.observations(initial)
        told: Told = ()
        if self.index is not None:
            told = tuple(self.index.saw(n, None, one, []) for n, one in enumerate(seen))
        self.nodes[0].weight = 1.0
        self._grow(0, initial, 1.0, seen, (0.0,) * len(seen), told)

    def act(self, states: Sequence[tuple[State, float]], action: Action) -> None:
        """Grow the tree from the seat's own action in states with their probabilities."""
        for state, weight in states:
            self.nodes[0].weight += weight
            seen = self.rules.observations(state)
            self._after(0, state, action, weight, seen, (0.0,) * len(seen), ())

    def _child(self, parent: int, step: Step, weight: float) -> int:
        key = parent, step if isinstance(step, str) else canonical_key(step.row())
        number = self._numbers.setdefault(key, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(SightNode(parent, step))
        self.nodes[number].weight += weight
        return number

    def _grow(
        self,
        node: int,
        state: State,
        weight: float,
        seen: Sequence[Observation],
        paid: tuple[float, ...],
        told: Told,
    ) -> None:
        rules, player = self.rules, self.rules.current_player(state)
        if player == TERMINAL:
            self.nodes[self._child(node, "end", weight)].paid += weight * self.worth(paid)
            return
        legal = rules.legal_actions(state)
        if player == self.seat:
            node = self._child(node, "turn", weight)
            self.nodes[node].log = told[player] if told else -1
            if self.stops:
                return
            for action in legal:
                own = self._child(node, Did(action), weight)
                self._after(own, state, action, weight, seen, paid, told)
            return
        if player == CHANCE:
            known = rules.chance_probabilities
            chances = [1 / len(legal)] * len(legal) if known is None else known(state)
        else:
            chances = [*self.policy(player, legal, told)]
        for action, chance in zip(legal, chances, strict=True):
            if chance > 0:
                self._after(node, state, action, weight * chance, seen, paid, told)

    def _after(
        self,
        node: int,
        state: State,
        action: Action,
        weight: float,
        seen: Sequence[Observation],
        paid: tuple[float, ...],
        told: Told,
    ) -> None:
        rules, player = self.rules, self.rules.current_player(state)
        events = rules.events(state, action)
        after = rules.apply_action(state, action)
        sees = rules.observations(after)
        if self.index is not None:
            acted = [*told]
            if player >= 0:
                acted[player] = self.index.acted(acted[player], action)
            told = tuple(map(self.index.saw, acted, seen, sees, events))
        if events[self.seat] or sees[self.seat] != seen[self.seat]:
            entry = Seen.of(sees[self.seat], events[self.seat])
            node = self._child(node, entry, weight)
        more = tuple(a + b for a, b in zip(paid, rules.rewards(after), strict=True))
        self._grow(node, after, weight, sees, more, told)

    def ends(self, shares: Floats) -> dict[tuple[str, ...], float]:
        """The probability of each log that nothing follows, by its steps as texts."""
        texts: list[tuple[str, ...]] = [()]
        for node in self.nodes[1:]:
            told = node.step if isinstance(node.step, str) else canonical_key(node.step.row())
            texts.append((*texts[node.parent], told))
        reaches = self.reaches(shares)
        below = self.children
        return {text: float(reaches[n]) for n, text in enumerate(texts) if not below[n]}

    @property
    def children(self) -> list[list[int]]:
        """By node, those that may come next."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes[1:], 1):
            found[node.parent].append(number)
        return found

    def shares(self, own: Callable[[SightNode, Sequence[Action]], Sequence[float]]) -> Floats:
        """`[nodes]` the probability of each step after the log before it; 1 for the first.

        Args:
            own: The seat's own policy: of a turn and its actions.
        """
        found = np.ones(len(self.nodes))
        for number, below in enumerate(self.children):
            acts = [(one, step.action) for one in below if isinstance(
                step := self.nodes[one].step, Did)]  # fmt: skip
            if acts:
                chances = own(self.nodes[number], [action for _, action in acts])
                found[[one for one, _ in acts]] = chances
            elif below:
                weights = np.array([self.nodes[one].weight for one in below])
                found[below] = weights / weights.sum()
        return found

    def reaches(self, shares: Floats) -> Floats:
        """`[nodes]` the probability of each log."""
        found = shares.copy()
        for number, node in enumerate(self.nodes[1:], 1):
            found[number] *= found[node.parent]
        return found

    def values(self, shares: Floats) -> Floats:
        """`[nodes]` the expected worth of each log to the seat."""
        found = np.zeros(len(self.nodes))
        for number in range(len(self.nodes) - 1, 0, -1):
            node = self.nodes[number]
            if node.step == "end":
                found[number] = node.paid / node.weight
            found[node.parent] += shares[number] * found[number]
        return found


def uniform_others(_player: int, legal: Sequence[Action], _told: Told) -> list[float]:
    """Every action is as likely."""
    return [1 / len(legal)] * len(legal)


def uniform_own(_turn: SightNode, actions: Sequence[Action]) -> list[float]:
    """Every action is as likely."""
    return [1 / len(actions)] * len(actions)


@dataclass(frozen=True)
class KnownPolicies:
    """Behaviours of an enumerated game as policies of a tree that shares its index.

    Attributes:
        form: The game.
        behaviours: One a seat.
    """

    form: SequenceForm
    behaviours: Sequence[Behaviour]

    def others(self, player: int, legal: Sequence[Action], told: Told) -> list[float]:
        """See `PolicyOfOthers`."""
        return self._of(player, legal, told[player])

    def own(self, seat: int) -> Callable[[SightNode, Sequence[Action]], list[float]]:
        """The policy of a seat for `SightTree.shares`."""
        return lambda turn, actions: self._of(seat, actions, turn.log)

    def _of(self, seat: int, actions: Sequence[Action], log: int) -> list[float]:
        part, state = self.form.seats[seat], self.form.places[log]
        first, known = int(part.firsts[state]), part.states[state].actions
        return [float(self.behaviours[seat][first + known.index(action)]) for action in actions]
