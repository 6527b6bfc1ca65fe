"""Generative Observation MCTS: a search over what a seat will see (Rebstock et al. 2024, Alg. 3).

No state is drawn: a model continues the seat's own log, token by token, and a tree over such logs
keeps what came of the seat's actions. Ours beyond the paper: runs go side by side, each keeping
the others from its way by a loss that is taken back; and continuations that stand for no log are
drawn again (`protocol=paper` leaves them in). Values are scaled, so that C means the same anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import Literal, Protocol, TypeAlias

from pydantic import Field

from agents.search.settings import MANY, PlayerSettings
from games.values import Action

History: TypeAlias = tuple[int, ...]
"""Tokens since the root."""
Kind: TypeAlias = Literal["turn", "end", "impossible", "cut"]


class ObservationSearchSettings(PlayerSettings):
    """Settings of the search; defaults of GO-MCTS, §9.3, for Hearts."""

    runs: int = Field(default=100, ge=0, le=MANY, description="Simulations a decision.")
    steps: int = Field(
        default=2, ge=0, le=1000, description="Own decisions of a rollout beyond the tree."
    )
    c: float = Field(default=0.4, ge=0, le=100, description="Exploration constant of UCT.")
    threshold: float = Field(
        default=0.05, ge=0, le=1, description="Probability above which an action is tried."
    )
    mu: float = Field(default=0.01, ge=0, le=100, description="Price of an impossible history.")
    together: int = Field(default=16, ge=1, le=256, description="Runs side by side.")
    protocol: Literal["ours", "paper"] = Field(
        default="ours", description="paper: what cannot be is not drawn again."
    )


@dataclass
class ImaginedStanding:
    """Where an imagined log stands, after something was imagined.

    Attributes:
        kind: "turn" of the seat, the match's "end", "impossible", or "cut" at the context's end.
        history: Its tokens since the root.
    """

    kind: Kind
    history: History


class Imagined(Protocol):
    """Imagined logs side by side, numbered from 0; the model draws."""

    def begin(self, count: int) -> None:
        """Let so many logs stand at the root, which is the seat's turn."""

    def act(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[ImaginedStanding]:
        """Let the seat act in some logs, and imagine on to its next turn or the end."""

    def choices(self, numbers: Sequence[int]) -> list[dict[Action, float]]:
        """The model's probabilities of the seat's actions, where it is its turn."""

    def outcomes(self, numbers: Sequence[int], actions: Sequence[Action]) -> list[float]:
        """The value of each log after an action; a log may be named more than once."""

    def values(self, numbers: Sequence[int]) -> list[float]:
        """The value of each log as it stands."""

    def drawn(self, number: int, choices: dict[Action, float]) -> Action:
        """One of the actions, by its probability."""


@dataclass
class _Arm:
    """An action at a node; runs that are under way count as lost there.

    Attributes:
        value: Sum of the values.
        visits: How many they are.
        running: Runs under way.
    """

    value: float
    visits: float
    running: int = 0


@dataclass
class _Run:
    """A simulation under way.

    Attributes:
        number: Of its log.
        way: Nodes and actions on its way.
        left: Own decisions that its rollout may still take; None while it is in the tree.
    """

    number: int
    way: list[tuple[History, Action]] = field(default_factory=list)
    history: History = ()
    left: int | None = None


@dataclass
class Searched:
    """The findings of a search.

    Attributes:
        values: Mean value of each action that was tried, the prior counted as one visit.
        visits: Of each.
        runs: Simulations.
        impossible: Of them, those whose log cannot be.
        nodes: Of the tree.
    """

    values: dict[Action, float]
    visits: dict[Action, float]
    runs: int = 0
    impossible: int = 0
    nodes: int = 0

    @property
    def best(self) -> Action:
        """The action of the highest value; of equals the first."""
        return max(self.values, key=lambda action: self.values[action])


@dataclass
class ObservationSearch:
    """A search at one decision.

    Attributes:
        imagined: The model's logs, which begin at the decision.
        settings: See `ObservationSearchSettings`.
    """

    imagined: Imagined
    settings: ObservationSearchSettings
    _tree: dict[History, dict[Action, _Arm]] = field(default_factory=dict)
    _impossible: int = 0

    def search(self, root: dict[Action, float]) -> Searched:
        """Search from the root, whose legal actions have these probabilities."""
        self.imagined.begin(1)
        self._expand([_Run(0)], [root])
        done = 0
        while done < self.settings.runs and len(self._tree[()]) > 1:
            count = min(self.settings.together, self.settings.runs - done)
            self._simulate(count)
            done += count
        arms = self._tree[()]
        return Searched(
            values={action: arm.value / arm.visits for action, arm in arms.items()},
            visits={action: arm.visits for action, arm in arms.items()},
            runs=done,
            impossible=self._impossible,
            nodes=len(self._tree),
        )

    def _simulate(self, count: int) -> None:
        """Some runs side by side, from the root to their values."""
        self.imagined.begin(count)
        running = [_Run(number) for number in range(count)]
        judged: list[_Run] = []
        while running:
            acting: list[tuple[_Run, Action]] = []
            fresh: list[_Run] = []
            for run in running:
                if run.left is None and run.history in self._tree:
                    acting.append((run, self._selected(run)))
                else:
                    fresh.append(run)
            acting += self._rolled(fresh, judged)
            running = []
            if not acting:
                break
            stood = self.imagined.act([run.number for run, _ in acting], [a for _, a in acting])
            for (run, _), standing in zip(acting, stood, strict=True):
                run.history = standing.history
                if standing.kind == "turn":
                    running.append(run)
                elif standing.kind == "impossible":
                    self._back(run, None)
                else:
                    judged.append(run)
        if judged:
            values = self.imagined.values([run.number for run in judged])
            for run, value in zip(judged, values, strict=True):
                self._back(run, value)

    def _rolled(self, fresh: Sequence[_Run], judged: list[_Run]) -> list[tuple[_Run, Action]]:
        """Expand the nodes of runs that leave the tree; the actions of those that go on."""
        if not fresh:
            return []
        choices = self.imagined.choices([run.number for run in fresh])
        leaving = [(run, own) for run, own in zip(fresh, choices, strict=True) if run.left is None]
        self._expand([run for run, _ in leaving], [own for _, own in leaving])
        acting: list[tuple[_Run, Action]] = []
        for run, own in zip(fresh, choices, strict=True):
            run.left = self.settings.steps if run.left is None else run.left - 1
            if run.left > 0 and own:
                acting.append((run, self.imagined.drawn(run.number, own)))
            else:
                judged.append(run)
        return acting

    def _selected(self, run: _Run) -> Action:
        """The action of the highest UCT score."""
        arms = self._tree[run.history]
        spread = log(max(1.0, sum(arm.visits + arm.running for arm in arms.values())))
        best, chosen = -inf, ""
        for action, arm in arms.items():
            visits = arm.visits + arm.running
            mean = (arm.value - arm.running) / visits
            score = mean + self.settings.c * sqrt(spread / visits)
            if score > best:
                best, chosen = score, action
        arms[chosen].running += 1
        run.way.append((run.history, chosen))
        return chosen

    def _expand(self, runs: Sequence[_Run], choices: Sequence[dict[Action, float]]) -> None:
        """New nodes: the value of each likely action counts as one visit."""
        new: dict[History, tuple[_Run, list[Action]]] = {}
        for run, own in zip(runs, choices, strict=True):
            if run.history not in self._tree and run.history not in new and own:
                likely = [a for a, chance in own.items() if chance > self.settings.threshold]
                new[run.history] = run, likely or [max(own, key=lambda action: own[action])]
        asked = [(run.number, action) for run, likely in new.values() for action in likely]
        if not asked:
            return
        values = iter(self.imagined.outcomes([n for n, _ in asked], [a for _, a in asked]))
        for history, (_, likely) in new.items():
            self._tree[history] = {action: _Arm(next(values), 1.0) for action in likely}

    def _back(self, run: _Run, value: float | None) -> None:
        """Give a run's value to the actions on its way; None for an impossible history."""
        self._impossible += value is None
        for history, action in run.way:
            arm = self._tree[history][action]
            arm.running -= 1
            if value is None:
                arm.value -= self.settings.mu
            else:
                arm.value += value
                arm.visits += 1
