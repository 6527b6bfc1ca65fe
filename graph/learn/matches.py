"""Matches of a run: drawn from its file, split into training and held-out ones, and kept.

They lie in files of the run's folder, each written once; the checkpoint says how many count.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.roles.matches import around
from games.checks import Finding
from games.environments.reading import read_trajectories
from games.streams import stream
from games.trajectories import (
    OpenTrajectory,
    SeenTrajectory,
    Trajectory,
    TrajectoryError,
    TrajectoryHeader,
    header_line,
    match_line,
    taken,
)
from games.values import Action, Json, State, canonical_key
from graph.learn.settings import LearnSettings
from graph.run.folder import RunFolder
from tools.predicting import place_of
from tools.predicting.inference import SeatSight, sights_of

ASKED_OF_CLOSED = (
    "--active and --keep-learning add matches with their states, which a closed deck has not; with "
    "it --environment plays the arena alone"
)
_RECORDED = ".state/matches.jsonl"
_ASKED = ".state/asked/{}.jsonl"
_PREDICTED = ".state/journals/arena/{}/predicted.jsonl"
_SHARE = 5  # one match of so many is held out
_MOST_BYTES = 24 * 2**20  # of all kept lines


@dataclass(frozen=True, eq=False)
class Material:
    """Matches that a run learns from.

    Attributes:
        header: Of the file.
        matches: All that were kept, the held-out ones last.
        held: Number of them that were held out at first.
        asked: Further matches that the environment was asked for.
    """

    header: TrajectoryHeader
    matches: tuple[Trajectory, ...]
    held: int
    asked: tuple[OpenTrajectory, ...] = ()

    def training(self, promoted: Sequence[int]) -> list[Trajectory]:
        """Matches that candidates are tested on; `promoted` are indices of held-out ones."""
        first = len(self.matches) - self.held
        more = [m for m in self.matches[first:] if m.match in promoted]
        return [*self.matches[:first], *more, *self.asked]

    def heldout(self, promoted: Sequence[int]) -> list[Trajectory]:
        """Matches that nobody was shown."""
        first = len(self.matches) - self.held
        return [m for m in self.matches[first:] if m.match not in promoted]

    @property
    def start(self) -> State:
        """The first state of every match of an open deck; empty in a closed one."""
        first = self.matches[0]
        return first.positions[0].state if isinstance(first, OpenTrajectory) else {}

    @property
    def hides(self) -> bool:
        """Say whether a state holds a value that the seat to move does not see, or two look alike.

        Two states look alike where a seat has seen and done the same in both matches so far.
        """
        matches = open_matches(self.matches)
        return any(
            here.player >= 0 and not _leaves(here.state) <= _leaves(here.observations[here.player])
            for match in matches
            for here in match.positions
        ) or any(_look_alike(matches, seat) for seat in range(self.header.num_players))


@dataclass
class MatchFiles:
    """The matches of one run in its folder; a process reads each file once.

    Attributes:
        folder: The run's.
    """

    folder: RunFolder
    _recorded: tuple[TrajectoryHeader, tuple[Trajectory, ...]] | None = None
    _asked: list[OpenTrajectory] = field(default_factory=list)
    _newest: Material | None = None

    @property
    def header(self) -> TrajectoryHeader:
        """The header of the recorded matches."""
        return self._read()[0]

    def material(self, held: int, asked: int) -> Material:
        """Matches to learn from, of which so many are held out or were asked for."""
        for number in range(len(self._asked), asked):
            self._asked += open_matches([*read_trajectories(self._asked_file(number))[1]])
        known = self._newest
        if known is None or (known.held, len(known.asked)) != (held, asked):
            header, matches = self._read()
            asked_for = (replace(m, match=len(matches) + n) for n, m in enumerate(self._asked))
            known = Material(header, matches, held, tuple(asked_for)[:asked])
            self._newest = known
        return known

    def keep(self, header: TrajectoryHeader, lines: Sequence[str]) -> None:
        """Write the recorded matches down, a line each."""
        self.folder.write_text(_RECORDED, "".join([header_line(header), *lines]))
        self._recorded = self._newest = None

    def add(self, number: int, match: OpenTrajectory) -> None:
        """Write down the match that the environment was asked for as this one, from 0."""
        self._write(_ASKED.format(number), [match])
        del self._asked[number:]
        self._newest = None

    def keep_predicted(self, arena: int, matches: Sequence[OpenTrajectory]) -> None:
        """Write down the matches of a round of the arena, from 0, that the model predicted."""
        self._write(_PREDICTED.format(arena), matches)

    def predicted(self, arena: int) -> list[OpenTrajectory]:
        """The matches of a round of the arena, from 0, that the model predicted."""
        path = self.folder.path / _PREDICTED.format(arena)
        return open_matches([*read_trajectories(path)[1]]) if path.stat().st_size else []

    def _asked_file(self, number: int) -> Path:
        return self.folder.path / _ASKED.format(number)

    def _read(self) -> tuple[TrajectoryHeader, tuple[Trajectory, ...]]:
        if self._recorded is None:
            header, matches = read_trajectories(self.folder.path / _RECORDED)
            self._recorded = header, tuple(matches)
        return self._recorded

    def _write(self, name: str, matches: Sequence[OpenTrajectory]) -> None:
        lines = [match_line(replace(match, match=n)) for n, match in enumerate(matches)]
        whole = [header_line(replace(self.header, matches=len(matches))), *lines] if lines else []
        self.folder.write_text(name, "".join(whole))


def open_matches(matches: Sequence[Trajectory]) -> list[OpenTrajectory]:
    """Those of an open deck."""
    return [match for match in matches if isinstance(match, OpenTrajectory)]


def all_sights(matches: Sequence[Trajectory], seats: int, seat: int | None) -> list[SeatSight]:
    """Every turn of every seat; in a closed deck the one seat's, and the ends."""
    found: list[SeatSight] = []
    for match in matches:
        if isinstance(match, SeenTrajectory):
            found += sights_of(match, seat or 0, ends=True)
        else:
            for one in range(seats):
                found += sights_of(match.seen_by(one), one, ends=False)
    return found


def played_before(match: OpenTrajectory, sight: SeatSight) -> list[Action]:
    """The actions of a match up to a seat's turn."""
    turns = [ply for ply, here in enumerate(match.positions) if here.player == sight.seat]
    return list(match.actions[: turns[len(sight.turns) - 1]])


def played_around(matches: Sequence[OpenTrajectory], wrong: Sequence[Finding]) -> str:
    """The plies around the first failing test whose place is in one of the matches; else empty."""
    by_number = {match.match: match for match in matches}
    for place in map(place_of, wrong):
        if place is not None and place[0] in by_number:
            return f"match {place[0]}\n{around(by_number[place[0]], place[1])}"
    return ""


def some_sights(sights: Sequence[SeatSight], most: int, seed: int) -> list[SeatSight]:
    """Up to so many of them, drawn once for a run."""
    if len(sights) <= most:
        return list(sights)
    chosen = stream(seed, "sights").choice(len(sights), most, replace=False)
    return [sights[index] for index in sorted(int(one) for one in chosen)]


def shown_first(matches: Sequence[Trajectory]) -> list[Trajectory]:
    """The matches with one to be shown in full first: of the most telling ones the shortest.

    One that came to its end comes before any that was left.
    """

    def rank(match: Trajectory) -> tuple[bool, int, int]:
        if isinstance(match, OpenTrajectory):
            return match.truncated, -len(taken([match])), len(match.positions)
        return match.truncated, 0, -len(match.positions)

    first = min(matches, key=rank)
    return [first, *(match for match in matches if match is not first)]


def take_in(path: Path, files: MatchFiles, settings: LearnSettings) -> tuple[int, int]:
    """Draw a run's matches from a file, read line by line, and keep them in the run's folder.

    Returns:
        Matches that are held out, and matches of the file.

    Raises:
        TrajectoryError: If the file is damaged, contradicts itself, or is of the other deck.
    """
    header, order, chosen = _drawn(path, settings)
    held = min(settings.heldout_matches, max(int(len(order) > 1), len(order) // _SHARE))
    lines = [
        f"{canonical_key({**json.loads(chosen[index]), 'match': number})}\n"
        for number, index in enumerate(order)
    ]
    files.keep(replace(header, matches=len(order)), lines)
    return held, header.matches


def _drawn(
    path: Path, settings: LearnSettings
) -> tuple[TrajectoryHeader, list[int], dict[int, str]]:
    """The header of a file, the indices of the matches to keep in their order, and their lines."""
    header, matches = read_trajectories(path)
    _require_deck(path, header, settings)
    generator = stream(settings.seed, "matches")
    count = min(settings.training_matches + settings.heldout_matches, header.matches)
    order = [int(i) for i in generator.choice(header.matches, count, replace=False)]
    chosen: dict[int, str] = {}
    start, room = "", _MOST_BYTES
    for match in matches:  # to its end, so that a damaged line is found wherever it stands
        if isinstance(match, OpenTrajectory):
            first = canonical_key(match.positions[0].state)
            if start not in ("", first):
                raise TrajectoryError(
                    f"{path}: match {match.match} begins in another state than match 0; required: "
                    "one first state, and chance as actions of player -1"
                )
            start = first
        if match.match in order and match.actions:
            line = match_line(match)
            room -= len(line)
            if room > 0:
                chosen[match.match] = line
    order = [index for index in order if index in chosen]
    if not order:
        raise TrajectoryError(f"{path} holds no match with an action; record some")
    return header, order, chosen


def _require_deck(path: Path, header: TrajectoryHeader, settings: LearnSettings) -> None:
    closed = header.deck == "closed"
    if closed != settings.closed_deck:
        wanted = "give --closed-deck" if closed else "leave --closed-deck away"
        raise TrajectoryError(f"{path} holds {header.deck}-deck matches; {wanted}")
    if closed and (settings.active or settings.keep_learning):
        raise TrajectoryError(ASKED_OF_CLOSED)


def _look_alike(matches: Sequence[OpenTrajectory], seat: int) -> bool:
    """Say whether one log of a seat, its observations and own actions, fits two states."""
    states: dict[bytes, State] = {}
    for match in matches:
        log = hashlib.sha256()
        for here, action in zip(match.positions, (*match.actions, ""), strict=True):
            log.update(canonical_key([here.observations[seat]]).encode())
            if states.setdefault(log.digest(), here.state) != here.state:
                return True
            log.update(canonical_key(action if here.player == seat else None).encode())
    return False


def _leaves(value: Json) -> set[str]:
    """Every plain value within a value, as text."""
    if isinstance(value, dict):
        return set[str]().union(*map(_leaves, value.values()))
    if isinstance(value, list):
        return set[str]().union(*map(_leaves, value))
    return {repr(value)}
