"""Trajectories: matches with states (open deck) or as one seat saw them (closed deck), as JSONL.

The first line of a file is its header, each line after it is one match. docs/environments.md shows
both; `games.environments.reading` reads them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from games.engine import Match
from games.table import Position
from games.values import CHANCE, TERMINAL, Action, Json, Observation, State, canonical_key, type_of

FORMAT = "rulewright-trajectories"
VERSION = 1
MOST_OUTCOMES = 200  # of a chance node; where there are more, a file holds their number
EQUAL = "equal"  # how a file holds odds that are all alike
ALIKE = 1e-9  # by which odds may differ
LONGEST_LINE = 16 * 2**20  # bytes; bounds what one match takes in memory
_NAMED = ("phase", "stage", "round", "step")
_MOST_TYPES = 40
_LONGEST = 60


@dataclass(frozen=True)
class Transition:
    """One ply with everything an open-deck test compares (Code World Models §4).

    Attributes:
        state: State the ply was played in.
        player: Seat that acted, or -1 for chance.
        legal: Legal actions, or chance outcomes; empty where a file holds only their number.
        action: What was applied.
        next_state: State it led to.
        rewards: What entering `next_state` paid each seat.
        observation: What the acting seat saw; None at chance.
        events: What each seat perceived of the ply; empty where it was not kept.
    """

    state: State
    player: int
    legal: tuple[Action, ...]
    action: Action
    next_state: State
    rewards: tuple[float, ...]
    observation: Observation | None
    events: tuple[tuple[str, ...], ...] = ()


class IncompleteMatchError(ValueError):
    """A match that holds no final state cannot give transitions."""


class TrajectoryError(ValueError):
    """A file of trajectories that cannot be used; the message names the file and the line."""


@dataclass(frozen=True)
class TrajectoryHeader:
    """The header of a file: facts that all of its matches share.

    Attributes:
        environment: Canonical name of the environment.
        num_players: Seats.
        parameters: The effective parameters of the environment.
        deck: "open" with states and every seat's observations; "closed" with one seat's view.
        seat: Whose view; None where the deck is open.
        policy: How the actions were chosen, in words.
        seed: The run's.
        matches: Lines that follow.
        versions: Program -> version of what played.
    """

    environment: str
    num_players: int
    parameters: Mapping[str, Json]
    deck: Literal["open", "closed"]
    seat: int | None
    policy: str
    seed: int
    matches: int
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenPosition:
    """One state of a match, with everything shown.

    Attributes:
        state: The full state.
        player: Seat to move, -1 for chance, -4 at the end.
        legal: Legal actions or outcomes; empty at the end, and where only their number was kept.
        count: How many there are.
        rewards: What entering the state paid each seat.
        observations: One a seat.
        odds: Where chance decides, the probability of each outcome; empty where it was not kept.
    """

    state: State
    player: int
    legal: tuple[Action, ...]
    count: int
    rewards: tuple[float, ...]
    observations: tuple[Observation, ...]
    odds: tuple[float, ...] = ()

    @property
    def is_uneven(self) -> bool:
        """True where one outcome of chance is known to be likelier than another."""
        return bool(self.odds) and max(self.odds) - min(self.odds) > ALIKE

    def row(self) -> dict[str, Json]:
        """The position as a file holds it."""
        known = len(self.legal) == self.count
        odds: Json = list(self.odds) if self.is_uneven else EQUAL
        return {
            "state": self.state,
            "player": self.player,
            "legal": list(self.legal) if known else {"count": self.count},
            "rewards": list(self.rewards),
            "observations": list(self.observations),
            **({"odds": odds} if self.odds else {}),
        }


@dataclass(frozen=True)
class SeenPosition:
    """One place of a match as one seat knows it (Code World Models §4.4).

    Attributes:
        player: The seat at its own turns, -4 at the end; None elsewhere, as nobody told it.
        observation: What it sees.
        legal: Its legal actions; None where it is not to move.
        reward: What it was paid since the position before.
    """

    player: int | None
    observation: Observation
    legal: tuple[Action, ...] | None
    reward: float

    def row(self) -> dict[str, Json]:
        """The position as a file holds it."""
        return {**vars(self), "legal": None if self.legal is None else list(self.legal)}


@dataclass(frozen=True)
class OpenTrajectory:
    """A match of an open deck: one action fewer than positions; the last one is the end.

    Attributes:
        match: Index in its file.
        positions: Oldest first.
        actions: What led from each position to the next.
        truncated: Whether the match was left before its end.
    """

    match: int
    positions: tuple[OpenPosition, ...]
    actions: tuple[Action, ...]
    truncated: bool = False

    def seen_by(self, seat: int) -> "SeenTrajectory":
        """The match as one seat knows it.

        A position that looks to the seat like the one before adds nothing and is left out, unless
        the seat itself acted in between: how many hidden plies passed is not told.
        """
        kept: list[SeenPosition] = []
        actions: list[Action | None] = []
        for number, here in enumerate(self.positions):
            own = here.player == seat
            seen = SeenPosition(
                player=here.player if own or here.player == TERMINAL else None,
                observation=here.observations[seat],
                legal=here.legal if own else None,
                reward=here.rewards[seat],
            )
            if kept and kept[-1].player is None and kept[-1].observation == seen.observation:
                before = kept.pop()
                seen = SeenPosition(
                    seen.player, seen.observation, seen.legal, before.reward + seen.reward
                )
            elif kept:
                acted = kept[-1].player == seat
                actions.append(self.actions[number - 1] if acted else None)
            kept.append(seen)
        return SeenTrajectory(self.match, tuple(kept), tuple(actions), self.truncated)


@dataclass(frozen=True)
class SeenTrajectory:
    """A match of a closed deck.

    Attributes:
        match: Index in its file.
        positions: What the seat knows, oldest first; the last one is the end.
        actions: One fewer: its own at its own turns; None where others or chance acted.
        truncated: Whether the match was left before its end.
    """

    match: int
    positions: tuple[SeenPosition, ...]
    actions: tuple[Action | None, ...]
    truncated: bool = False


Trajectory: TypeAlias = OpenTrajectory | SeenTrajectory


def open_deck(match: Match) -> list[Transition]:
    """Every transition of a match, in order.

    Raises:
        IncompleteMatchError: If the match never reached a first state.
    """
    if match.final_state is None:
        raise IncompleteMatchError(
            "the match has no states; only a started match gives transitions"
        )
    states = [ply.state for ply in match.plies] + [match.final_state]
    return [
        Transition(
            state=ply.state,
            player=ply.player,
            legal=ply.legal,
            action=ply.action,
            next_state=states[index + 1],
            rewards=ply.rewards,
            observation=ply.observation,
            events=ply.events,
        )
        for index, ply in enumerate(match.plies)
    ]


def trajectory_of(
    match: int, positions: Sequence[Position], actions: Sequence[Action]
) -> OpenTrajectory:
    """The trajectory of a match that a referee played.

    Args:
        match: Its index.
        positions: All positions, as the table gave them.
        actions: What led from each to the next.
    """
    kept = tuple(
        OpenPosition(
            state=here.state,
            player=here.player,
            legal=() if here.player == CHANCE and len(here.legal) > MOST_OUTCOMES else here.legal,
            count=len(here.legal),
            rewards=here.rewards,
            observations=here.observations,
            odds=() if len(here.legal) > MOST_OUTCOMES else here.probabilities,
        )
        for here in positions
    )
    return OpenTrajectory(match, kept, tuple(actions), kept[-1].player != TERMINAL)


def header_line(header: TrajectoryHeader) -> str:
    """The first line of a file."""
    return f"{canonical_key({'format': FORMAT, 'version': VERSION, **asdict(header)})}\n"


def match_line(trajectory: Trajectory) -> str:
    """The line of one match.

    Raises:
        TrajectoryError: If it is longer than a reader takes.
    """
    row: dict[str, Json] = {
        "match": trajectory.match,
        "positions": [position.row() for position in trajectory.positions],
        "actions": list(trajectory.actions),
    }
    line = canonical_key(row | ({"truncated": True} if trajectory.truncated else {})) + "\n"
    if len(line) > LONGEST_LINE:
        raise TrajectoryError(
            f"match {trajectory.match} takes {len(line)} bytes; a line may have {LONGEST_LINE}: "
            "leave it earlier (a smaller limit of plies)"
        )
    return line


def phase_of(state: State, player: int) -> str:
    """The phase of a position: who decides, and what the state itself calls its phase.

    >>> phase_of({"phase": "Knock"}, 1), phase_of({}, -1), phase_of({"round": 2}, -4)
    ('Knock', 'chance', 'end')
    >>> phase_of({"round": 2}, 0)
    'round 2'
    """
    if player == TERMINAL:
        return "end"
    held = {name: state[name] for name in _NAMED if isinstance(state.get(name), str | int)}
    said = [one if isinstance(one, str) else f"{name} {one}" for name, one in held.items()]
    who = ["chance"] if player == CHANCE else []
    return ", ".join([*who, *said])[:_LONGEST] or "play"


def counted_as(types: Iterable[str]) -> dict[str, str]:
    """The name under which each type is counted; its first word where types are too many.

    >>> counted_as(["fold", "call"])
    {'fold': 'fold', 'call': 'call'}
    """
    distinct = list(dict.fromkeys(types))
    if len(distinct) <= _MOST_TYPES:
        return {name: name for name in distinct}
    return {name: (re.split(r"[\s(:;,]", name) or [name])[0] or name for name in distinct}


def counts_outcomes(match: Trajectory) -> bool:
    """True where some position knows only the number of chance's outcomes."""
    return isinstance(match, OpenTrajectory) and any(
        len(here.legal) < here.count for here in match.positions
    )


def offered(matches: Sequence[OpenTrajectory]) -> set[tuple[str, str]]:
    """Phases with the types of action that were legal there."""
    return {
        (phase_of(here.state, here.player), type_of(action))
        for match in matches
        for here in match.positions
        for action in here.legal
    }


def taken(matches: Sequence[OpenTrajectory]) -> set[tuple[str, str]]:
    """Phases with the types of action that were played there."""
    return {
        (phase_of(here.state, here.player), type_of(action))
        for match in matches
        for here, action in zip(match.positions, match.actions, strict=False)
    }


def phases(matches: Sequence[OpenTrajectory]) -> set[str]:
    """Phases that were met."""
    return {phase_of(here.state, here.player) for m in matches for here in m.positions}
