"""Reader of trajectory files: line by line, so that the size of a file does not matter.

Whatever in a file cannot be so is refused with one sentence that names the file and the line.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from games.trajectories import (
    FORMAT,
    LONGEST_LINE,
    MOST_OUTCOMES,
    VERSION,
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
    are_texts,
    canonical_key,
    is_number,
    show,
)

_STATES_KEPT = 1_000_000  # that are held against each other; bounds memory
_DIGEST = 8  # bytes


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

    def require(self, holds: bool, name: str, value: object, wanted: str) -> None:  # noqa: FBT001
        if not holds:
            self.refuse(f"{name} is {show(value)}; required: {wanted}")

    def fields(self, value: Json, *names: str) -> dict[str, Json]:
        """An object that has these fields and no other."""
        if not isinstance(value, dict):
            self.refuse(f"{show(value)} is no object")
        if odd := sorted(value.keys() ^ {*names}):
            self.refuse(f"{', '.join(odd)!s} missing or unknown; required: {', '.join(names)}")
        return value


def _lines(path: Path) -> Iterator[tuple[_Place, Json]]:
    try:
        with path.open("rb") as file:
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
    except (ValueError, RecursionError) as error:
        place.refuse(f"is no JSON ({error}); the file is damaged or was cut off: record it again")
    return value


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if is_number(value) else _not_json(text)


def _read_header(place: _Place, value: Json) -> TrajectoryHeader:
    names = [*TrajectoryHeader.__dataclass_fields__]
    known = value if isinstance(value, dict) else {}
    place.require(known.get("format") == FORMAT, "format", known.get("format"), FORMAT)
    said, wanted = known.get("version"), f"{VERSION}; record the matches again"
    place.require(type(said) is int and said == VERSION, "version", said, wanted)
    row = place.fields(value, "format", "version", *names)
    seats, deck, seat = row["num_players"], row["deck"], row["seat"]
    for name in ("environment", "policy"):
        place.require(isinstance(row[name], str), name, row[name], "a text")
    for name in ("parameters", "versions"):
        place.require(isinstance(row[name], dict), name, row[name], "an object")
    for name, most in (("num_players", MAX_PLAYERS), ("seed", None), ("matches", None)):
        number, least = row[name], int(name != "seed")
        fits = type(number) is int and number >= least and number <= (most or number)
        place.require(fits, name, number, f"a whole number from {least}")
    place.require(deck in ("open", "closed"), "deck", deck, "'open' or 'closed'")
    if deck == "open":
        place.require(seat is None, "seat", seat, "null, as the deck is open")
    else:
        fits = type(seat) is int and isinstance(seats, int) and 0 <= seat < seats
        place.require(fits, "seat", seat, f"a seat from 0, of {seats}")
    fields: dict[str, Any] = {name: row[name] for name in names}
    return TrajectoryHeader(**fields)


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
    truncated = isinstance(value, dict) and "truncated" in value
    row = place.fields(
        value, "match", "positions", "actions", *(["truncated"] if truncated else [])
    )
    place.require(row["match"] == number, "match", row["match"], f"{number}, one more a line")
    if truncated:
        place.require(row["truncated"] is True, "truncated", row["truncated"], "true, or left out")
    rows, actions = row["positions"], row["actions"]
    if not isinstance(rows, list) or not rows:
        place.refuse(f"positions is {show(rows)}; required: a list of at least one")
    if not isinstance(actions, list) or len(actions) != len(rows) - 1:
        place.refuse(f"has {len(rows)} positions; required: a list of one action fewer")
    parts = [(place.at(f"position {index}"), one) for index, one in enumerate(rows)]
    if header.seat is not None:
        seen = tuple(_seen_position(part, one, header.seat) for part, one in parts)
        for (part, _), here, action in zip(parts, seen, actions, strict=False):
            allowed: tuple[Json, ...] = (None,) if here.legal is None else here.legal
            part.require(action in allowed, "action", action, f"one of {show([*allowed])}")
        _require_end(parts[-1][0], [one.player for one in seen], truncated)
        own = tuple(action for action in actions if action is None or isinstance(action, str))
        return SeenTrajectory(number, seen, own, truncated)
    shown = tuple(_open_position(part, one, header.num_players) for part, one in parts)
    for (part, _), met, action in zip(parts, shown, actions, strict=False):
        fits = isinstance(action, str) and (len(met.legal) < met.count or action in met.legal)
        part.require(fits, "action", action, f"one of {show([*met.legal] or 'the outcomes')}")
    _require_end(parts[-1][0], [one.player for one in shown], truncated)
    texts = tuple(action for action in actions if isinstance(action, str))
    return OpenTrajectory(number, shown, texts, truncated)


def _require_end(last: _Place, players: Sequence[int | None], truncated: bool) -> None:  # noqa: FBT001
    if TERMINAL in players[:-1]:
        last.refuse(f"follows an end, position {players.index(TERMINAL)}")
    if (players[-1] == TERMINAL) == truncated:
        last.refuse(f"has the player {players[-1]}; required: -4, or truncated true, and not both")


def _open_position(place: _Place, value: Json, seats: int) -> OpenPosition:
    row = place.fields(value, "state", "player", "legal", "rewards", "observations")
    state, player, legal = row["state"], row["player"], row["legal"]
    rewards, observations = row["rewards"], row["observations"]
    if not isinstance(state, dict):
        place.refuse(f"state is {show(state)}; required: an object")
    if type(player) is not int or not (player in (CHANCE, TERMINAL) or 0 <= player < seats):
        place.refuse(f"player is {show(player)}; required: -4, -1 or a seat from 0, of {seats}")
    number = legal.get("count") if isinstance(legal, dict) and len(legal) == 1 else None
    if type(number) is int and number > MOST_OUTCOMES and player == CHANCE:
        texts: tuple[str, ...] = ()
    else:
        texts = _legal(place, legal)
        number = len(texts)
        place.require((player == TERMINAL) == (not texts), "legal", legal, "[] at the end alone")
    numbers = tuple(float(one) for one in _list(rewards) if is_number(one))
    seen = tuple(one for one in _list(observations) if isinstance(one, dict))
    place.require(_fits(rewards, numbers, seats), "rewards", rewards, f"{seats} numbers")
    wanted = f"{seats} objects"
    place.require(_fits(observations, seen, seats), "observations", observations, wanted)
    return OpenPosition(state, player, texts, number, numbers, seen)


def _seen_position(place: _Place, value: Json, seat: int) -> SeenPosition:
    row = place.fields(value, "player", "observation", "legal", "reward")
    player, observation, legal, reward = (
        row[name] for name in ("player", "observation", "legal", "reward")
    )
    if player not in (seat, TERMINAL, None) or isinstance(player, bool | float):
        place.refuse(f"player is {show(player)}; required: {seat}, -4 or null")
    if not isinstance(observation, dict):
        place.refuse(f"observation is {show(observation)}; required: an object")
    if not is_number(reward):
        place.refuse(f"reward is {show(reward)}; required: a number")
    own = player == seat
    place.require(bool(legal) if own else legal is None, "legal", legal, "a list at own turns only")
    texts = _legal(place, legal) if own else None
    return SeenPosition(
        player if isinstance(player, int) else None, observation, texts, float(reward)
    )


def _legal(place: _Place, value: Json) -> tuple[Action, ...]:
    if not are_texts(value) or len(set(value)) != len(value):
        place.refuse(f"legal is {show(value)}; required: a list of texts, none of them twice")
    return tuple(value)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _fits(value: Json, kept: Sequence[object], count: int) -> bool:
    return len(_list(value)) == len(kept) == count


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
            ]
            at = place.at(f"position {index}")
            self._hold(
                at,
                states[index],
                canonical_key(shown),
                "player, legal actions, observations or rewards",
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
