"""Recorder: matches of an environment, played by a policy and kept as trajectories.

Policies make data: one that searches knows the true state, with what is hidden from its seat.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from agents.search.settings import SearchView
from agents.search.uct import UctSettings
from agents.search.uct import decide as decide_uct
from games.checks.sampling import KeptPositions, UniformPlayer
from games.engine import Decision, Player, play_match
from games.environments import Environment, SearchableEnvironment
from games.environments.reading import read_trajectories
from games.information import SeatLog
from games.modules import Rules
from games.streams import stream
from games.table import Position
from games.trajectories import (
    OpenTrajectory,
    TrajectoryError,
    TrajectoryHeader,
    header_line,
    match_line,
    trajectory_of,
)
from games.values import Action, Json, canonical_key
from tools.playtest.runner import Workers, play_all

_POLICIES = ("random", "search", "mixed")
_SEEDS = 2**31


class RecorderError(ValueError):
    """Matches that cannot be recorded as asked; the message says what to change."""


@dataclass(frozen=True)
class RecordPlan:
    """The matches to record.

    Attributes:
        matches: How many.
        policy: Every seat draws its actions ("random"), or searches the true state ("search"); or
            each seat of each match does the one or the other by chance ("mixed").
        simulations: Of a search, a decision.
        seed: Of all that is drawn.
        seat: The seat whose view is kept; None to keep the states.
        max_plies: Plies after which a match is left as truncated.
        versions: Program -> version, kept in the file.
    """

    matches: int
    policy: str = "random"
    simulations: int = 100
    seed: int = 0
    seat: int | None = None
    max_plies: int = 2000
    versions: Mapping[str, str] = field(default_factory=dict)

    def header(self, environment: Environment) -> TrajectoryHeader:
        """The header of the file.

        Raises:
            RecorderError: If there is no such policy or seat.
        """
        if self.policy not in _POLICIES:
            raise RecorderError(f"no policy {self.policy!r}; known: {', '.join(_POLICIES)}")
        if self.seat is not None and not 0 <= self.seat < environment.num_players:
            raise RecorderError(
                f"no seat {self.seat}; {environment.name} has the seats 0 to "
                f"{environment.num_players - 1}"
            )
        searching = f"UCT of {self.simulations} simulations on the true state"
        return TrajectoryHeader(
            environment=environment.name,
            num_players=environment.num_players,
            parameters=environment.parameters,
            deck="open" if self.seat is None else "closed",
            seat=self.seat,
            policy={
                "random": "random",
                "search": f"search: {searching}",
                "mixed": f"mixed: each seat of each match is random, or else {searching}",
            }[self.policy],
            seed=self.seed,
            matches=self.matches,
            versions={**self.versions, **environment.versions},
        )


def record_matches(
    environment: Environment,
    plan: RecordPlan,
    path: Path,
    *,
    on_match: Callable[[int], None] = lambda _: None,
) -> "RecordedFile":
    """Play the matches, write the file, read it again, and say what is in it.

    The file is there once it is whole. The same plan gives the same bytes.

    Raises:
        RecorderError: If the plan does not fit, or a match ended at a fault of the environment.
        TrajectoryError: If what was written is no file that a reader takes: the states do not tell
            all that follows from them.
    """
    header = plan.header(environment)
    recorder = _Recorder(environment, plan)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="ascii", newline="\n") as file:
            file.write(header_line(header))
            jobs = ((match, (match, file)) for match in range(plan.matches))
            for match, _ in play_all(jobs, recorder.play, journal=None, workers=Workers(jobs=1)):
                on_match(match)
        try:
            recorded = _recorded(part, str(path))
        except TrajectoryError as error:
            raise TrajectoryError(str(error).replace(str(part), str(path))) from error
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return recorded


@dataclass(frozen=True, kw_only=True)
class RecordedFile:
    """The content of a file of matches; distinct transitions count a state and an action once."""

    file: str
    environment: str
    policy: str
    deck: str
    seat: int | None
    seed: int
    matches: int
    truncated: int
    plies: int
    distinct_transitions: int | None
    mean_returns: tuple[float, ...]
    versions: Mapping[str, str]


def _recorded(path: Path, name: str) -> RecordedFile:
    """The content of the file at `path`, which will be called `name`."""
    header, matches = read_trajectories(path)
    played = plies = truncated = 0
    distinct: set[int] = set()
    paid = [0.0] * (header.num_players if header.seat is None else 1)
    for match in matches:
        played, plies = played + 1, plies + len(match.actions)
        truncated += match.truncated
        if isinstance(match, OpenTrajectory):
            for here, action in zip(match.positions, match.actions, strict=False):
                distinct.add(hash(f"{canonical_key(here.state)} {action}"))
            rewards = [position.rewards for position in match.positions]
        else:
            rewards = [(position.reward,) for position in match.positions]
        paid = [
            sum(seat, total) for seat, total in zip(zip(*rewards, strict=True), paid, strict=True)
        ]
    return RecordedFile(
        file=name,
        environment=header.environment,
        policy=header.policy,
        deck=header.deck,
        seat=header.seat,
        seed=header.seed,
        matches=played,
        truncated=truncated,
        plies=plies,
        distinct_transitions=len(distinct) if header.seat is None else None,
        mean_returns=tuple(total / played for total in paid),
        versions=dict(header.versions),
    )


@lru_cache(maxsize=256)
def _key(seed: int, about: str) -> int:
    """The key of the streams of recorded matches, as files of trajectories were always made."""
    salt = hashlib.blake2b(about.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    key = hashlib.scrypt(str(seed).encode(), salt=salt, n=2**15, r=8, p=1, maxmem=2**28, dklen=16)
    return int.from_bytes(key, "little")


@dataclass
class _Recorder:
    """Plays the matches of a plan."""

    environment: Environment
    plan: RecordPlan

    def __post_init__(self) -> None:
        self.key = _key(self.plan.seed, self.environment.name)

    def play(self, job: tuple[int, TextIO]) -> Json:
        """Play one match and write its line."""
        index, file = job
        table = KeptPositions(self.environment)
        match = play_match(
            table,
            [self._seated(seat, index, table) for seat in range(self.environment.num_players)],
            parameters=self.environment.parameters,
            seed=self.key,
            match=index,
            max_plies=self.plan.max_plies,
        )
        if match.ending not in ("finished", "unfinished"):
            raise RecorderError(
                f"match {index} ended after {len(match.plies)} plies: {match.reason}"
            )
        played = trajectory_of(index, table.matches[0], [ply.action for ply in match.plies])
        seat = self.plan.seat
        file.write(match_line(played if seat is None else played.seen_by(seat)))
        return len(match.plies)

    def _seated(self, seat: int, match: int, table: KeptPositions) -> Player:
        coin = stream(self.key, "policy", match=match, seat=seat).random()
        searches = {"random": False, "search": True, "mixed": coin < 1 / 2}[self.plan.policy]
        return _TrueStateSearch(self, table) if searches else UniformPlayer()


@dataclass(frozen=True)
class _TrueStateSearch:
    recorder: _Recorder
    table: KeptPositions

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `Player.choose`; the log is not looked at."""
        environment, now = self.recorder.environment, self.table.matches[0][-1]
        simulations = self.recorder.plan.simulations
        if len(legal) == 1:
            return Decision(legal[0])
        if isinstance(environment, SearchableEnvironment):
            found = environment.best(now, simulations, int(generator.integers(_SEEDS)))
            if found is not None:
                return Decision(found)
        state: Any = now
        view = SearchView(_rules(environment), log.seat, lambda: state)
        settings = UctSettings(simulations=simulations, solver="no")
        return Decision(decide_uct(view, settings, generator).best)


def _rules(environment: Environment) -> Rules:
    """The functions of an environment; what a search calls a state is a position."""

    def of(get: Callable[[Position], Any]) -> Callable[[Any], Any]:
        return get

    return Rules(
        num_players=environment.num_players,
        current_player=of(lambda position: position.player),
        legal_actions=of(lambda position: list(position.legal)),
        apply_action=lambda position, action: _advanced(environment, position, action),
        rewards=of(lambda position: list(position.rewards)),
        observations=of(lambda position: list(position.observations)),
        events=lambda _state, _action: [[] for _ in range(environment.num_players)],
        chance_probabilities=of(lambda position: list(position.probabilities)),
    )


def _advanced(environment: Environment, position: Any, action: Action) -> Any:  # noqa: ANN401 - a position is of the environment alone
    return environment.advance(position, action)
