"""Lessons: matches played beside a module in its worker, to fit heuristics to.

What a worker tells is its claim: heuristics fitted to it are tried and selected by play like any
other. Seats choose uniformly. Some decisions are searched: then each action comes with the mean
return that the search found for it. The search starts in the true state; what is fitted to it sees
the observation alone, and so learns the mean over all that looks alike to its seat.
"""

import sys
from collections.abc import Callable, Mapping
from itertools import count
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from agents.search.ismcts import IsmctsSettings
from agents.search.ismcts import decide as ismcts
from agents.search.settings import SearchView
from games.modules import Rules, bind, first_state, scoring
from games.values import CHANCE, TERMINAL, Json
from tools.guest.faults import MODULE_FILE
from tools.guest.protocol import decoded

if TYPE_CHECKING:
    from _typeshed import TraceFunction

_ONE_IN = 10  # of the plies whose work is counted, one is scored

Operation: TypeAlias = Callable[[dict[str, object], dict[str, Json]], Json]


class LessonsRequest(NamedTuple):
    """Play matches; answered with one object a match: `decisions` and `returns`.

    Attributes:
        num_players: Seats.
        parameters: Of the game.
        words: Seed words.
        plies: After so many, no further match is begun.
        longest: Plies after which a match is left out.
        searched: Share of the decisions that are searched.
        simulations: Of a search, for each action.
    """

    num_players: int
    parameters: dict[str, Json]
    words: list[int]
    plies: int
    longest: int
    searched: float
    simulations: int


class _Teacher:
    def __init__(self, namespace: Mapping[str, object], request: LessonsRequest) -> None:
        self.request, self.namespace = request, namespace
        self.rules: Rules = bind(namespace, request.num_players)
        self.generator = np.random.default_rng(request.words)
        self.plies = 0

    def taught(self) -> list[Json]:
        """Matches until there are plies enough."""
        matches: list[Json] = []
        while self.plies < self.request.plies:
            matches.append(self._match())
        return matches

    def _match(self) -> Json:
        rules, request = self.rules, self.request
        state = first_state(self.namespace, request.num_players, request.parameters)
        returns, decisions = [0.0] * request.num_players, list[Json]()
        for ply in count():
            player, legal = rules.current_player(state), rules.legal_actions(state)
            if player == TERMINAL:
                return {"decisions": decisions, "returns": [*returns]}
            if ply >= request.longest:
                return {"decisions": [], "returns": []}
            self.plies += 1
            if player == CHANCE:
                action = legal[self._outcome(state, len(legal))]
            elif len(legal) == 1:
                action = legal[0]
            else:
                seen = rules.observations(state)[player]
                means = self._searched(state, player)
                action = legal[int(self.generator.integers(len(legal)))]
                decisions.append(
                    {
                        "seat": player,
                        "observation": seen,
                        "legal": [*legal],
                        "action": action,
                        "means": means,
                    }
                )
            state = rules.apply_action(state, action)
            rewards = rules.rewards(state)
            returns = [one + paid for one, paid in zip(returns, rewards, strict=True)]
        raise AssertionError

    def _outcome(self, state: dict[str, Json], outcomes: int) -> int:
        chances = self.rules.chance_probabilities
        weights = None if chances is None else chances(state)
        return int(self.generator.choice(outcomes, p=weights))

    def _searched(self, state: dict[str, Json], player: int) -> list[Json]:
        """The mean return of each action; empty where none was searched for."""
        request = self.request
        if self.generator.random() >= request.searched:
            return []
        legal = len(self.rules.legal_actions(state))
        settings = IsmctsSettings(simulations=legal * request.simulations)
        view = SearchView(self.rules, player, lambda: state)
        found = ismcts(view, settings, self.generator)
        self.plies += found.calls
        return [*found.means]


def teach(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """See `LessonsRequest`."""
    return _Teacher(namespace, decoded(LessonsRequest, payload)).taught()


class WorkRequest(NamedTuple):
    """Count the lines that a module's own plies run; answered with three counts a ply.

    Attributes:
        num_players: Seats.
        parameters: Of the game.
        plies: How many are counted.
        heuristics: Sources by name, of which every tenth position is scored.
    """

    num_players: int
    parameters: dict[str, Json]
    plies: int
    heuristics: dict[str, str]


class _Lines:
    """Counts executed lines of some sources, by file; used as a trace function."""

    def __init__(self, *files: str) -> None:
        self.count, self.files = 0, files

    def __call__(self, frame: FrameType, event: str, argument: object) -> "TraceFunction | None":
        """The tracer of a frame of the sources; no other frame is traced."""
        del event, argument
        return self._line if frame.f_code.co_filename in self.files else None

    def _line(self, frame: FrameType, event: str, argument: object) -> "TraceFunction":
        del frame, argument
        self.count += event == "line"
        return self._line


def work(namespace: dict[str, object], payload: dict[str, Json]) -> Json:
    """Lines a ply of random play: without the observations, with them, and of the heuristics.

    See `WorkRequest`.
    """
    request = decoded(WorkRequest, payload)
    scores = [scoring(name, source) for name, source in request.heuristics.items()]
    scored = _Lines(*(f"<{name}>" for name in request.heuristics))
    rules, generator = bind(namespace, request.num_players), np.random.default_rng([0])
    state, plain, seeing = None, _Lines(MODULE_FILE), _Lines(MODULE_FILE)
    before = sys.gettrace()
    try:
        for ply in range(request.plies):
            sys.settrace(plain)
            if state is None:
                state = first_state(namespace, request.num_players, request.parameters)
            ended = rules.current_player(state) == TERMINAL
            legal = [] if ended else rules.legal_actions(state)
            if scores and ply % _ONE_IN == 0 and len(legal) > 1:
                sys.settrace(None)
                player = rules.current_player(state)
                seen = rules.observations(state)[player]
                sys.settrace(scored)
                for score in scores if player != CHANCE else ():
                    for action in legal:
                        score(seen, action)
                sys.settrace(plain)
            if legal:
                state = rules.apply_action(state, legal[int(generator.integers(len(legal)))])
                rules.rewards(state)
                sys.settrace(seeing)
                rules.observations(state)
            else:
                state = None
    finally:
        sys.settrace(before)
    lines = plain.count / request.plies
    return [lines, lines + seeing.count / request.plies, _ONE_IN * scored.count / request.plies]


OPERATIONS: dict[str, Operation] = {"teach": teach, "work": work}
