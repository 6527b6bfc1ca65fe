"""The request that `play` is given, in words or by a saved match that is gone on with."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path

from pydantic import BaseModel, Field, JsonValue

from games.engine import Ply
from games.environments.classes import is_class_name
from games.environments.reading import open_plain
from games.records import MatchRecord, read_records
from games.text import one_line

_LARGEST = 64 << 20  # characters of a saved match
_HUMAN = "human"


class SavedMatchError(ValueError):
    """A file that is no saved match, or one that the game of today does not play so."""


class _Taken(BaseModel, strict=True):
    """The parts taken from a record; anybody may have written it."""

    game: str
    parameters: JsonValue
    players: tuple[str, ...] = Field(min_length=1)
    seed: int = Field(ge=0)
    actions: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class PlayRequest:
    """A match that somebody wants to play.

    Attributes:
        game: A run, a module file, a library name, or a saved match.
        seats: Where persons sit, from 1; empty for the first seat.
        opponents: Specs of the other seats: none, one for all, or one a seat.
        is_watched: Whether nobody plays.
        players: Seats; 0 for the usual number.
        settings: Parameters as NAME=VALUE.
        seed: Of the match; None for a new one.
        plies: What was played before.
    """

    game: str
    seats: Sequence[int] = ()
    opponents: Sequence[str] = ()
    is_watched: bool = False
    players: int = 0
    settings: Sequence[str] = ()
    seed: int | None = None
    plies: Sequence[Ply] = ()


def with_saved_match(asked: PlayRequest) -> PlayRequest:
    """The request itself, or where its game is a saved match, that match up to where it stopped.

    Raises:
        SavedMatchError: If the file is none, its match is over, the request says too what the
            match brings, or a language model, which costs, would be asked without being named.
        PlayerSpecError: If the match names a player that is none.
        GameNotFoundError: If it names a player's file that cannot be read.
    """
    from agents.players.llm import LLM
    from agents.players.registry import parse_spec

    path = Path(asked.game)
    if path.suffix != ".jsonl":
        return asked
    if asked != PlayRequest(asked.game, opponents=asked.opponents):
        raise SavedMatchError(
            f"{path} brings its seats, settings and seed; required: no option but --opponent"
        )
    try:
        record = _only_match(path)
    except (OSError, ValueError, RecursionError) as error:
        raise SavedMatchError(
            f"{path} is no saved match ({one_line(str(error))[:200]}); required: the .jsonl file "
            'that "save" or the end of `rulewright play` wrote'
        ) from error
    if record.match.ending != "unfinished":
        raise SavedMatchError(f"the match in {path} is over; required: one that somebody left")
    if is_class_name(record.game):
        raise SavedMatchError(
            f"{path} was played in {record.game[:80]}, a class whose import runs code; required: "
            "name it yourself, in a new match"
        )
    people = [number for number, who in enumerate(record.players, 1) if who == _HUMAN]
    others = [who for who in record.players if who != _HUMAN]
    costly = [] if asked.opponents else [w for w in others if parse_spec(w).player == LLM]
    if costly:
        raise SavedMatchError(
            f"{path} was played against {one_line(costly[0])[:200]}, which asks a model and costs; "
            "name who sits there now with --opponent"
        )
    return replace(
        asked,
        game=record.game,
        seats=people,
        opponents=asked.opponents or others,
        is_watched=not people,
        players=len(record.players),
        settings=[f"{name}={json.dumps(value)}" for name, value in record.parameters.items()],
        seed=record.seed,
        plies=record.match.plies,
    )


def _only_match(path: Path) -> MatchRecord:
    """The one match of a file.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it holds none or several, or a value of the wrong type.
    """
    records = _matches_of(path)
    if len(records) != 1:
        raise ValueError(f"it holds {len(records)} matches; required: one")
    return records[0]


def matches_of_file(path: Path) -> list[MatchRecord]:
    """The matches of a file of records.

    Raises:
        SavedMatchError: If it cannot be read, or holds none.
    """
    try:
        if records := _matches_of(path):
            return records
        reason = "it holds no match"
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = one_line(str(error))[:200]
    raise SavedMatchError(
        f"{path} is no record of matches ({reason}); required: a .jsonl file of one"
    )


def _matches_of(path: Path) -> list[MatchRecord]:
    """The matches of a file, each with values of the right types.

    Raises:
        OSError: If it cannot be read.
        ValueError: If a value is of the wrong type.
    """
    with TextIOWrapper(open_plain(path), encoding="utf-8") as file:
        records = [*read_records(file.read(_LARGEST))]
    for record in records:
        _Taken(
            game=record.game,
            parameters=dict(record.parameters),
            players=record.players,
            seed=record.seed,
            actions=tuple((ply.player, ply.action) for ply in record.match.plies),
        )
    return records
