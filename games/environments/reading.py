"""Reader of trajectory files: line by line, so that the size of a file does not matter.

Whatever in a file cannot be so is refused with one sentence that names the file and the line.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from errno import EFBIG, EINVAL
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Generic, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from games.contract import MOST_PAID
from games.trajectories import (
    ALIKE,
    LONGEST_LINE,
    MOST_OUTCOMES,
    OpenPosition,
    OpenTrajectory,
    SeenPosition,
    SeenTrajectory,
    Trajectory,
    TrajectoryError,
    TrajectoryHeader,
)
from games.values import (
    CHANCE,
    MAX_PLAYERS,
    TERMINAL,
    Action,
    Json,
    ModuleFault,
    canonical_key,
    is_number,
    json_writer,
    require_json,
    show,
)

_STATES_KEPT = 1_000_000  # that are held against each other; bounds memory
_DIGEST = 8  # bytes
_write = json_writer(sort_keys=False, ascii_only=False)
_Row = TypeVar("_Row", bound="_Fields")
_Position = TypeVar("_Position")
_Paid = Annotated[float, Field(ge=-MOST_PAID, le=MOST_PAID)]  # what no model may pay is no record


class _Fields(BaseModel):
    """Fields of a line: these and no others, of their types and of none that is like them."""

    model_config = ConfigDict(strict=True, extra="forbid")


class _HeaderRow(_Fields):
    format: Literal["rulewright-trajectories"]
    version: Literal[1]  # `games.trajectories.VERSION`
    environment: str
    num_players: Annotated[int, Field(ge=1, le=MAX_PLAYERS)]
    parameters: dict[str, Any]
    deck: Literal["open", "closed"]
    seat: Annotated[int, Field(ge=0)] | None
    policy: str
    seed: Annotated[int, Field(ge=0)]
    matches: Annotated[int, Field(ge=1)]
    versions: dict[str, str]


class _Count(_Fields):
    count: Annotated[int, Field(gt=MOST_OUTCOMES)]


class _OpenRow(_Fields):
    state: dict[str, Any]
    player: int
    legal: list[str] | _Count
    rewards: list[_Paid]
    observations: list[dict[str, Any]]
    odds: list[float] | Literal["equal"] | None = None  # `games.trajectories.EQUAL`


class _SeenRow(_Fields):
    player: int | None
    observation: dict[str, Any]
    legal: list[str] | None
    reward: _Paid


class _MatchRow(_Fields, Generic[_Position]):
    match: int
    positions: Annotated[list[_Position], Field(min_length=1)]
    actions: list[str | None]
    truncated: Literal[True] | None = None


def read_trajectories(path: Path) -> tuple[TrajectoryHeader, Iterator[Trajectory]]:
    """The header of a file, and its matches one after another as they are read.

    Matches of an open deck are `OpenTrajectory`, those of a closed deck `SeenTrajectory`. States
    are held against each other: the same state must show the same, and the same action must lead
    from it to the same state, in the whole file (up to a million states).

    Raises:
        TrajectoryError: Naming the file and the line that is damaged, missing, of another version
            or in contradiction to itself or to an earlier line; for a match, when it is reached.
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None:
        raise TrajectoryError(f"{path} is empty; required: a file that `rulewright record` wrote")
    header = _read_header(*first)
    return header, _matches(path, header, lines)


@dataclass(frozen=True)
class _Place:
    """A line of a file, and where in it."""

    path: Path
    line: int
    part: str = ""

    def at(self, part: str) -> "_Place":
        return _Place(self.path, self.line, f"{part}: ")

    def refuse(self, said: str) -> NoReturn:
        raise TrajectoryError(f"{self.path} line {self.line}: {self.part}{said}")

    def require(self, holds: bool, name: str, value: object, wanted: str) -> None:
        if not holds:
            self.refuse(f"{name} is {show(value)}; required: {wanted}")

    def hold(self, name: str, value: Json) -> None:
        """Refuse what no module may return, such as what is nested too deeply."""
        try:
            require_json(value, "", name)
        except ModuleFault as fault:
            self.refuse(fault.message)

    def read(self, value: Json, row: type[_Row]) -> _Row:
        """A line as its fields."""
        try:
            return row.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = " ".join(map(str, first["loc"])) or "the line"
            self.refuse(f"{where} is {show(first['input'])}: {first['msg']}; record it again")


def open_plain(path: Path) -> BinaryIO:
    """Open a file that somebody named, to be read; a pipe would be waited for without end.

    Raises:
        OSError: If it is no file, or cannot be read.
    """
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe, a socket or a device"
        raise OSError(EINVAL, f"it is {kind}; required: a file")
    return path.open("rb")


def read_plain(path: Path, most: int) -> bytes:
    """The bytes of a file that somebody named; see `open_plain`.

    Raises:
        OSError: If it is no file, cannot be read, or has more than `most` bytes.
    """
    with open_plain(path) as file:
        read = file.read(most + 1)
    if len(read) > most:
        raise OSError(EFBIG, f"it has more than {most} bytes")
    return read


def _lines(path: Path) -> Iterator[tuple[_Place, Json]]:
    try:
        with open_plain(path) as file:
            number = 0
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                place = _Place(path, number)
                if len(raw) > LONGEST_LINE:
                    place.refuse(f"is longer than {LONGEST_LINE} bytes")
                yield place, _parsed(raw, place)
    except OSError as error:
        raise TrajectoryError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(raw: bytes, place: _Place) -> Json:
    try:
        value: Json = json.loads(raw, parse_constant=_not_json, parse_float=_finite)
        if b"\\u" in raw or not raw.isascii():
            _write(value).encode()
    except UnicodeEncodeError:
        at = " ".join(_halved(value) or ())
        place.refuse(f"{at} holds half of a surrogate pair; required: text that UTF-8 can write")
    except (ValueError, RecursionError) as error:
        place.refuse(f"is no JSON ({error}); the file is damaged or was cut off: record it again")
    return value


def _halved(value: Json) -> list[str] | None:
    """Where in a value the first text stands that UTF-8 cannot write; None where none does."""
    if isinstance(value, str):
        return [] if any("\ud800" <= sign <= "\udfff" for sign in value) else None
    parts = value if isinstance(value, dict) else {}
    items = enumerate(value) if isinstance(value, list) else parts.items()
    for key, item in items:
        if (found := _halved(item)) is not None:
            return [str(key), *found]
        if _halved(str(key)) is not None:
            return ["a key"]
    return None


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if is_number(value) else _not_json(text)


def _read_header(place: _Place, value: Json) -> TrajectoryHeader:
    row = place.read(value, _HeaderRow)
    fits = row.seat is None if row.deck == "open" else (row.seat or 0) < row.num_players
    fits = fits and (row.deck == "open") == (row.seat is None)
    place.hold("parameters", row.parameters)
    place.require(fits, "seat", row.seat, "null for an open deck, a seat for a closed one")
    return TrajectoryHeader(**row.model_dump(exclude={"format", "version"}))


def _matches(
    path: Path, header: TrajectoryHeader, lines: Iterator[tuple[_Place, Json]]
) -> Iterator[Trajectory]:
    kept, number = _KeptStates(), 0
    for place, value in lines:
        if number == header.matches:
            place.refuse(f"follows the last match; the header says {header.matches} matches")
        match = _read_match(place, value, header, number)
        if isinstance(match, OpenTrajectory):
            kept.hold(match, place)
        yield match
        number += 1
    if number < header.matches:
        raise TrajectoryError(
            f"{path} ends after {number} of {header.matches} matches: it was cut off; record it "
            "again"
        )


def _read_match(place: _Place, value: Json, header: TrajectoryHeader, number: int) -> Trajectory:
    if header.seat is None:
        row = place.read(value, _MatchRow[_OpenRow])
        shown = tuple(
            _open_position(place.at(f"position {index}"), one, header.num_players)
            for index, one in enumerate(row.positions)
        )
        allowed = [one.legal if len(one.legal) == one.count else None for one in shown]
        _require_whole(place, row, number, [one.player for one in shown], allowed)
        texts = tuple(action or "" for action in row.actions)
        return OpenTrajectory(number, shown, texts, row.truncated is True)
    line = place.read(value, _MatchRow[_SeenRow])
    seen = tuple(
        _seen_position(place.at(f"position {index}"), one, header.seat)
        for index, one in enumerate(line.positions)
    )
    own = [(None,) if one.legal is None else one.legal for one in seen]
    _require_whole(place, line, number, [one.player for one in seen], own)
    return SeenTrajectory(number, seen, tuple(line.actions), line.truncated is True)


def _require_whole(
    place: _Place,
    row: _MatchRow[Any],
    number: int,
    players: Sequence[int | None],
    allowed: Sequence[Sequence[Action | None] | None],
) -> None:
    """Hold a match against its place in the file, its actions, and its end.

    Args:
        place: Its line.
        row: What it says.
        number: Its index.
        players: Who is to move at each position.
        allowed: What each position allows; None where that is not known, and any text will do.
    """
    place.require(row.match == number, "match", row.match, f"{number}, one more a line")
    if len(row.actions) != len(players) - 1:
        place.refuse(f"has {len(players)} positions; required: a list of one action fewer")
    for index, (action, legal) in enumerate(zip(row.actions, allowed, strict=False)):
        fits = isinstance(action, str) if legal is None else action in legal
        wanted = f"one of {show([*legal] if legal else 'the outcomes')}"
        place.at(f"position {index}").require(fits, "action", action, wanted)
    if TERMINAL in players[:-1]:
        place.refuse(f"goes on after its end, position {players.index(TERMINAL)}")
    if (players[-1] == TERMINAL) == (row.truncated is True):
        place.refuse(f"ends with player {players[-1]}; required: -4, or truncated true, not both")


def _open_position(place: _Place, row: _OpenRow, seats: int) -> OpenPosition:
    place.hold("state", row.state)
    for seat, observation in enumerate(row.observations):
        place.hold(f"observations {seat}", observation)
    is_seat = row.player in (CHANCE, TERMINAL) or 0 <= row.player < seats
    place.require(is_seat, "player", row.player, f"-4, -1 or a seat from 0, of {seats}")
    legal = _distinct(place, row.legal) if isinstance(row.legal, list) else ()
    count = row.legal.count if isinstance(row.legal, _Count) else len(legal)
    fits = row.player == CHANCE if not legal and count else (row.player == TERMINAL) != bool(legal)
    place.require(fits, "legal", [*legal], "[] at the end alone, a number at chance alone")
    for name, given in (("rewards", row.rewards), ("observations", row.observations)):
        place.require(len(given) == seats, name, given, f"one a seat, {seats}")
    numbers, seen = tuple(map(float, row.rewards)), tuple(row.observations)
    odds = row.odds if isinstance(row.odds, list) else [1 / count] * len(legal) if row.odds else []
    if row.odds is not None:
        fits = row.player == CHANCE and len(odds) == count and min(odds, default=0) > 0
        fits = fits and abs(sum(odds) - 1) <= ALIKE
        place.require(fits, "odds", row.odds, "at chance, above 0, one an outcome, 1 in all")
    return OpenPosition(row.state, row.player, legal, count, numbers, seen, tuple(odds))


def _seen_position(place: _Place, row: _SeenRow, seat: int) -> SeenPosition:
    place.hold("observation", row.observation)
    whose = f"{seat}, -4 or null"
    place.require(row.player in (seat, TERMINAL, None), "player", row.player, whose)
    fits = bool(row.legal) if row.player == seat else row.legal is None
    place.require(fits, "legal", row.legal, "a list at own turns only")
    legal = None if row.legal is None else _distinct(place, row.legal)
    return SeenPosition(row.player, row.observation, legal, float(row.reward))


def _distinct(place: _Place, legal: list[Action]) -> tuple[Action, ...]:
    place.require(len(set(legal)) == len(legal), "legal", legal, "no action twice")
    return tuple(legal)


class _KeptStates:
    """Digests of what was seen of each state, and of where each action led."""

    def __init__(self) -> None:
        self._seen: dict[bytes, tuple[bytes, int]] = {}

    def hold(self, match: OpenTrajectory, place: _Place) -> None:
        """Hold a match against the lines before it, and against itself."""
        states = [canonical_key(position.state) for position in match.positions]
        for index, here in enumerate(match.positions):
            shown: Json = [
                here.player,
                here.count,
                *sorted(here.legal),
                *here.observations,
                *here.rewards,
                dict(zip(here.legal, here.odds, strict=False)),  # however both are ordered
            ]
            at = place.at(f"position {index}")
            self._hold(
                at,
                states[index],
                canonical_key(shown),
                "player, legal actions, odds, observations or rewards",
            )
            if index < len(match.actions):
                played = f"{states[index]} {match.actions[index]}"
                self._hold(at, played, states[index + 1], "state after the same action")

    def _hold(self, at: _Place, key: str, value: str, named: str) -> None:
        about, found = (
            hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
            for text in (key, value)
        )
        before = self._seen.get(about)
        if before is None and len(self._seen) < _STATES_KEPT:
            self._seen[about] = (found, at.line)
        elif before is not None and before[0] != found:
            at.refuse(
                f"has the state of line {before[1]}, but another {named}; a state must tell all "
                "that follows from it, so the environment hides something or the file was changed"
            )
