"""Leaks planted on purpose, which the leakage evaluation must flag."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evals.twin_hall import Pairs
from evals.twins import Look
from games.contract import Action, canonical_key
from games.engine import Decision
from games.information import SeatLog

LEAK = '''

import json
import zlib

_honest_observations = get_observations


def get_observations(state):
    """What each player may see, and a trace of everything that is hidden."""
    trace = zlib.crc32(json.dumps(state, sort_keys=True).encode())
    return [{**seen, "trace": trace} for seen in _honest_observations(state)]
'''
"""Appended to a module's source, so that what every seat is sent depends on the full state."""

READER = '''
"""Follow the trace that the module leaks."""

import zlib


def score(observation, action):
    """Another order of the actions for every full state."""
    return float(zlib.crc32(f"{observation['trace']} {action}".encode()))
'''
"""A heuristic that uses what a module with `LEAK` shows."""


@dataclass(frozen=True)
class Peeker:
    """Decides by the referee's own state, through a channel that it should not have.

    Attributes:
        look: The channel.
        every: It looks at one decision in so many, and plays at random otherwise.
    """

    look: Look
    every: int = 1

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        del log
        index = int(generator.integers(len(legal)))
        if generator.integers(self.every) == 0:
            index = zlib.crc32(canonical_key(self.look()).encode()) % len(legal)
        return Decision(legal[index])


def peeking(every: int) -> Pairs:
    """Two peekers for a match and its twin, each with the channel of its own play."""

    def made(look: Look) -> Peeker:
        return Peeker(look, every)

    return lambda _seat, _stack: (made, made)
