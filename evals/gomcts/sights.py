"""Trees of what a seat may see next, with exact probabilities: a game's rules, walked through.

The others' policies are frozen and known. A log's probability is a product of chance, of what the
others do, and of what the seat does itself. The last is a function of the log, so that it can be
chosen afterwards: what is seen next does not depend on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from agents.solving.form import Behaviour, Floats, LogIndex, SequenceForm
from games.information import Did, LogEntry, Seen
from games.modules import Rules
from games.values import CHANCE, TERMINAL, Action, Observation, State, canonical_key

Step: TypeAlias = LogEntry | Literal["turn", "end"]
Told: TypeAlias = tuple[int, ...]
"""By seat, the number of its log in an index; empty without one."""
PolicyOfLogs: TypeAlias = Callable[[int, Sequence[Action], int], Sequence[float]]
"""Probabilities of legal actions: of a seat, the actions, and the number of its log."""


class _Way(NamedTuple):
    """A history on the walk: its state, weight, observations, returns, and logs by number."""

    state: State
    weight: float
    seen: Sequence[Observation]
    paid: tuple[float, ...]
    told: Told


@dataclass(slots=True)
class SightNode:
    """A log of the seat, or a step of it.

    Attributes:
        parent: The log before; -1 for the first.
        step: The entry that was added, or that it is the seat's turn, or the end.
        weight: Probability of chance and of the others on the way here.
        paid: Of an end: worth to the seat, times the weight.
        log: Of a turn: the number of the log in an index; -1 where there is none.
        below: The logs that may come next.
    """

    parent: int
    step: Step
    weight: float = 0.0
    paid: float = 0.0
    log: int = -1
    below: list[int] = field(default_factory=list)

    @property
    def acts(self) -> bool:
        """True for what the seat does itself."""
        return isinstance(self.step, Did)


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
    policy: PolicyOfLogs
    worth: Callable[[Sequence[float]], float] = lambda _: 0.0
    index: LogIndex | None = None
    stops: bool = False
    nodes: list[SightNode] = field(default_factory=lambda: [SightNode(-1, "turn")])
    _numbers: dict[tuple[int, str], int] = field(default_factory=dict)

    def begin(self, initial: State) -> None:
        """Grow the whole tree; its first log holds the first observation alone."""
        seen = self.rules.observations(initial)
        index = self.index
        told = tuple(index.saw(n, None, one, []) for n, one in enumerate(seen)) if index else ()
        self._grow(0, _Way(initial, 1.0, seen, (0.0,) * len(seen), told))

    def act(self, states: Sequence[tuple[State, float]], action: Action) -> None:
        """Grow the tree from the seat's own action in states with their probabilities."""
        for state, weight in states:
            seen = self.rules.observations(state)
            self._after(0, _Way(state, weight, seen, (0.0,) * len(seen), ()), action)

    def _child(self, parent: int, step: Step, weight: float) -> int:
        key = parent, step if isinstance(step, str) else canonical_key(step.row())
        number = self._numbers.setdefault(key, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(SightNode(parent, step))
            self.nodes[parent].below.append(number)
        self.nodes[number].weight += weight
        return number

    def _grow(self, node: int, way: _Way) -> None:
        rules, player = self.rules, self.rules.current_player(way.state)
        if player == TERMINAL:
            end = self._child(node, "end", way.weight)
            self.nodes[end].paid += way.weight * self.worth(way.paid)
            return
        legal = rules.legal_actions(way.state)
        told = way.told[player] if way.told and player != CHANCE else -1
        if player == self.seat:
            node = self._child(node, "turn", way.weight)
            self.nodes[node].log = told
            for action in () if self.stops else legal:
                self._after(self._child(node, Did(action), way.weight), way, action)
            return
        if player == CHANCE:
            known = rules.chance_probabilities
            chances = uniformly(player, legal) if known is None else known(way.state)
        else:
            chances = [*self.policy(player, legal, told)]
        for action, chance in zip(legal, chances, strict=True):
            if chance > 0:
                self._after(node, way._replace(weight=way.weight * chance), action)

    def _after(self, node: int, way: _Way, action: Action) -> None:
        rules, player = self.rules, self.rules.current_player(way.state)
        events = rules.events(way.state, action)
        after = rules.apply_action(way.state, action)
        sees = rules.observations(after)
        told = way.told
        if self.index is not None:
            acted = [*told]
            if player != CHANCE:
                acted[player] = self.index.acted(acted[player], action)
            told = tuple(map(self.index.saw, acted, way.seen, sees, events))
        if events[self.seat] or sees[self.seat] != way.seen[self.seat]:
            node = self._child(node, Seen.of(sees[self.seat], events[self.seat]), way.weight)
        paid = tuple(a + b for a, b in zip(way.paid, rules.rewards(after), strict=True))
        self._grow(node, _Way(after, way.weight, sees, paid, told))

    def shares(self, own: PolicyOfLogs) -> Floats:
        """`[nodes]` the probability of each step after the log before it; 1 for the first.

        Args:
            own: The seat's own policy.
        """
        found = np.ones(len(self.nodes))
        for node in self.nodes:
            below = [self.nodes[one] for one in node.below]
            if actions := [one.step.action for one in below if isinstance(one.step, Did)]:
                found[node.below] = own(self.seat, actions, node.log)
            elif below:
                weights = np.array([one.weight for one in below])
                found[node.below] = weights / weights.sum()
        return found

    def reaches(self, shares: Floats) -> Floats:
        """`[nodes]` the probability of each log."""
        found = shares.copy()
        for number, node in enumerate(self.nodes):
            found[node.below] *= found[number]
        return found

    def values(self, shares: Floats) -> Floats:
        """`[nodes]` the expected worth of each log to the seat."""
        found = np.array([node.paid / node.weight if node.paid else 0.0 for node in self.nodes])
        for number in reversed(range(len(self.nodes))):
            below = self.nodes[number].below
            found[number] += shares[below] @ found[below]
        return found

    def ends(self, shares: Floats) -> dict[tuple[str, ...], float]:
        """The probability of each log that nothing follows, by its steps as texts."""
        texts: list[tuple[str, ...]] = [()]
        for node in self.nodes[1:]:
            told = node.step if isinstance(node.step, str) else canonical_key(node.step.row())
            texts.append((*texts[node.parent], told))
        pairs = zip(texts, self.nodes, self.reaches(shares).tolist(), strict=True)
        return {text: reach for text, node, reach in pairs if not node.below}


def uniformly(_seat: int, actions: Sequence[Action], _log: int = -1) -> list[float]:
    """Every action is as likely."""
    return [1 / len(actions)] * len(actions)


def policy_of(form: SequenceForm, behaviours: Sequence[Behaviour]) -> PolicyOfLogs:
    """Behaviours of an enumerated game as a policy, for trees that share its index."""

    def policy(seat: int, actions: Sequence[Action], log: int) -> list[float]:
        part, state = form.seats[seat], form.places[log]
        first, known = int(part.firsts[state]), part.states[state].actions
        return [float(behaviours[seat][first + known.index(action)]) for action in actions]

    return policy
