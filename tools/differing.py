"""Differential play: random matches of one module, followed on another that is to be the same game.

Two modules that were written independently from the same rules should agree on whose turn it is,
what may be done and what it pays. Where they first part, the rules are read in two ways, or one of
the modules is wrong.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from games.engine import sample_index
from games.streams import stream
from games.table import Position, Table
from games.values import CHANCE, TERMINAL, Action, Json, ModuleFault, canonical_key
from tools.sandbox import Sandbox, SandboxTable

_SHOWN = 600
_LONGEST = 2_000


@dataclass(frozen=True)
class Divergence:
    """The first place at which two modules part.

    Attributes:
        match: Index of the match.
        ply: Plies played before it.
        history: The actions up to it, in the first module's words.
        about: What differs: "turn", "legal actions", "probabilities", "rewards", "observations",
            "events" or "fault"; "vocabulary" where no action is called the same, or two are.
        readings: What each module says, as text that may quote it.
        seen_at: Plies after which what the seats see first parted, in fields that had agreed; 0
            where it did not before the place itself.
        seen: By module what they see before and after the ply that led there, else the last one
            that both played; empty where none was.
    """

    match: int
    ply: int
    history: tuple[Action, ...]
    about: str
    readings: tuple[str, str]
    seen_at: int = 0
    seen: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Differential:
    """The outcome of playing one module's matches on another.

    Attributes:
        outcome: "agree" as far as the matches show; "could_not_judge" where the modules have no
            words for actions in common, or no match was finished.
        divergence: Where they part first; the place that could not be judged there.
        matches: Matches followed to their end.
        plies: Plies at which both were compared.
    """

    outcome: Literal["agree", "diverge", "could_not_judge"]
    divergence: Divergence | None
    matches: int
    plies: int


def differential_sources(  # noqa: PLR0913 - which modules, where and how are all the caller's
    sandbox: Sandbox,
    one: str,
    other: str,
    *,
    num_players: int,
    matches: int,
    seed: int,
    max_plies: int = 500,
    parameters: Mapping[str, Json] | None = None,
    to_the_letter: bool = False,
    at_ends: int = 0,
) -> Differential:
    """Play random matches of one source and the same of another, until they part.

    Args:
        sandbox: Where both run, each in a fresh worker of its own.
        one: The source that chance and choices are drawn on.
        other: The one that follows.
        num_players: Seats.
        matches: Matches to play.
        seed: Draws everything; match m is drawn alike whatever came before it.
        max_plies: Plies after which a match is left.
        parameters: Given to both.
        to_the_letter: Compare actions as they are written, and observations and events too; where
            not, names that differ in case, spacing and punctuation alone are the same, and what
            is seen is not compared, as two authors word it differently.
        at_ends: Further matches in which seats choose their first or last legal action alone:
            a bid of nothing or of all, say, where the limits of rules lie.

    Raises:
        ModuleFault: If one does not load.
    """
    with sandbox.loaded("referee", one) as first, sandbox.loaded("candidate", other) as second:
        tables = SandboxTable(first), SandboxTable(second)
        plies = finished = 0
        for match in range(matches + at_ends):
            pair = _Pair(tables, to_the_letter=to_the_letter)
            found = pair.open(num_players, parameters or {})
            while found is None and pair.positions[0].player != TERMINAL:
                if len(pair.history) >= max_plies:
                    break
                generator = stream(seed, "differential play", match=match, ply=len(pair.history))
                found = pair.step(float(generator.random()), at_end=match >= matches)
            plies += len(pair.history)
            if found is not None:
                place = Divergence(
                    match, len(pair.history), tuple(pair.history), *found, *pair.parted()
                )
                judged = place.about != _VOCABULARY
                return Differential(
                    "diverge" if judged else "could_not_judge", place, finished, plies
                )
            finished += pair.positions[0].player == TERMINAL
        return Differential("agree" if finished else "could_not_judge", None, finished, plies)


_VOCABULARY = "vocabulary"
_Found = tuple[str, tuple[str, str]]


class _Pair:
    """One match on two tables."""

    def __init__(self, tables: tuple[Table, Table], *, to_the_letter: bool) -> None:
        self.tables = tables
        self.exact = to_the_letter
        self.history: list[Action] = []
        self.positions: tuple[Position, Position]
        self.path: list[tuple[Position, Position]] = []

    def open(self, num_players: int, parameters: Mapping[str, Json]) -> _Found | None:
        return self._reach([partial(table.open, num_players, parameters) for table in self.tables])

    def step(self, uniform: float, *, at_end: bool) -> _Found | None:
        here, there = self.positions
        chances = here.probabilities or [1 / len(here.legal)] * len(here.legal)
        if at_end and here.player != CHANCE:
            chances = [0.5, *[0.0] * (len(here.legal) - 2), 0.5][-len(here.legal) :]
        action = here.legal[sample_index(chances, uniform)]
        same = next(a for a in there.legal if self._name(a) == self._name(action))
        self.history.append(action)
        asked = zip(self.tables, self.positions, (action, same), strict=True)
        return self._reach([partial(t.advance, position, a) for t, position, a in asked])

    def _reach(self, calls: Sequence[Callable[[], Position]]) -> _Found | None:
        reached: list[Position] = []
        said = ["goes on", "goes on"]
        for number, call in enumerate(calls):
            try:
                reached.append(call())
            except ModuleFault as fault:
                said[number] = f"fails: {fault}"[:_SHOWN]
        if len(reached) < len(calls):
            return "fault", (said[0], said[1])
        self.positions = (reached[0], reached[1])
        self.path.append(self.positions)
        values = zip(*(self._compared(position) for position in reached), strict=True)
        for (about, first), (_, second) in values:
            if canonical_key(first) != canonical_key(second):
                apart = about == "legal actions" and set(self._names(0)).isdisjoint(self._names(1))
                word = _VOCABULARY if apart and not self.exact else about
                return word, (canonical_key(first)[:_SHOWN], canonical_key(second)[:_SHOWN])
        if any(len(set(self._names(n))) < len(reached[n].legal) for n in (0, 1)):
            return _VOCABULARY, (str(reached[0].legal)[:_SHOWN], str(reached[1].legal)[:_SHOWN])
        return None

    def parted(self) -> tuple[int, tuple[str, str]]:
        """`seen_at` and `seen` of a divergence: two authors may show one thing in other forms."""
        played = len(self.path) - 1
        if played < 1:
            return 0, ("", "")
        same = [_alike_fields(*pair) for pair in self.path]
        at = next((ply for ply in range(1, played + 1) if not same[0] <= same[ply]), played)
        steps = zip(self.path[at - 1], self.path[at], strict=True)
        first, second = (_shown(before, self.history[at - 1], after) for before, after in steps)
        return at if at < len(self.history) and not same[0] <= same[at] else 0, (first, second)

    def _compared(self, position: Position) -> list[tuple[str, Json]]:
        """The compared parts of a position, each with its name, in order."""
        names = [self._name(action) for action in position.legal]
        chances = dict(zip(names, (round(p, 9) for p in position.probabilities), strict=False))
        values: list[tuple[str, Json]] = [
            ("turn", position.player),
            ("legal actions", [*sorted(names)]),
            ("probabilities", {**chances}),
            ("rewards", [round(paid, 9) + 0.0 for paid in position.rewards]),
        ]
        if self.exact:
            values.append(("observations", [*position.observations]))
            values.append(("events", [[*seat] for seat in position.events]))
        return values

    def _names(self, number: int) -> list[str]:
        return [self._name(action) for action in self.positions[number].legal]

    def _name(self, action: Action) -> str:
        return action if self.exact else re.sub(r"[\W_]+", " ", action).strip().casefold()


def _alike_fields(one: Position, other: Position) -> set[tuple[int, str]]:
    """Fields of the seats' observations that say the same in both."""
    return {
        (seat, key)
        for seat, (seen, also) in enumerate(zip(one.observations, other.observations, strict=True))
        if isinstance(seen, dict) and isinstance(also, dict)
        for key in seen.keys() & also.keys()
        if canonical_key(seen[key]).casefold() == canonical_key(also[key]).casefold()
    }


def _shown(before: Position, action: Action, after: Position) -> str:
    told = [
        "\n".join(f"seat {seat} sees {canonical_key(seen)}" for seat, seen in enumerate(at))
        for at in (before.observations, after.observations)
    ]
    return f"{told[0][:_LONGEST]}\nthen {action}:\n{told[1][:_LONGEST]}"
