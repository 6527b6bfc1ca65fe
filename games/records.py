"""Records of matches as JSONL and as readable text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from games.engine import Effort, Match, Ply
from games.text import one_line
from games.values import CHANCE, Action, Json

_OF_A_PLY = tuple(field.name for field in fields(Ply) if field.name != "state")
_OF_AN_END = ("ending", "returns", "final_observations", "culprit", "reason")


@dataclass(frozen=True)
class MatchRecord:
    """One match with what it takes to play it again.

    Attributes:
        game: The game's name.
        parameters: The effective parameters.
        players: A display name a seat.
        seed: The run's seed.
        match_index: Index of the match within the run.
        match: The match as it was played.
    """

    game: str
    parameters: Mapping[str, Json]
    players: tuple[str, ...]
    seed: int
    match_index: int
    match: Match

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every decision and chance outcome, in order."""
        return tuple(ply.action for ply in self.match.plies)


@dataclass(frozen=True)
class PlayedActions:
    """A match by its actions, which is all that following it takes."""

    player: str
    match_index: int
    seats: int
    parameters: Mapping[str, Json]
    actions: tuple[Action, ...]

    @classmethod
    def of(cls, record: MatchRecord) -> "PlayedActions":
        """The actions of a record; its player is the first seat's."""
        about = (record.players[0], record.match_index, len(record.players))
        return cls(*about, dict(record.parameters), (*record.actions,))


def json_line(record: MatchRecord) -> str:
    """One line of heading, one a ply, one of result; states are left out (closed deck)."""
    match = record.match
    plies = (ply_line(index, ply) for index, ply in enumerate(match.plies))
    end = {name: getattr(match, name) for name in _OF_AN_END}
    return "".join((head_line(record), *plies, _line(end)))


def head_line(record: MatchRecord) -> str:
    """The line with which a record begins."""
    head: dict[str, object] = {
        "record": "match",
        "game": record.game,
        "parameters": dict(record.parameters),
        "players": list(record.players),
        "seed": record.seed,
        "match": record.match_index,
    }
    return _line(head)


def ply_line(index: int, ply: Ply) -> str:
    """The line of one ply of a record."""
    return _line({"ply": index, **ply_row(ply)})


def _line(value: Mapping[str, object]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def read_records(text: str) -> Iterator[MatchRecord]:
    """The matches that `json_line` wrote, without their states, each read when it is asked for.

    Raises:
        ValueError: If a line is none of ours.
    """
    head: dict[str, Any] = {}
    plies: list[Ply] = []
    try:
        for line in map(json.loads, text.splitlines()):
            if "record" in line:
                head, plies = line, []
            elif "ply" in line:
                plies.append(read_ply(line))
            else:
                line["returns"] = line["returns"] and tuple(line["returns"])
                match = Match(plies=tuple(plies), final_state=None, **line)
                who = head["game"], head["parameters"], tuple(head["players"])
                yield MatchRecord(*who, head["seed"], head["match"], match)
    except (KeyError, TypeError) as error:
        raise ValueError(f"a line of the records is no match, ply or result: {error}") from error


def ply_row(ply: Ply) -> dict[str, Json]:
    """A ply as files hold it: lists and no tuples, and no state (closed deck)."""
    row = {name: getattr(ply, name) for name in _OF_A_PLY}
    row["legal"], row["rewards"] = list(ply.legal), list(ply.rewards)
    row["effort"] = ply.effort.row()
    return row | {"events": [list(seat) for seat in ply.events]}


def read_ply(row: Mapping[str, Any]) -> Ply:
    """The ply that `ply_row` wrote, with an empty state."""
    fields = {name: row[name] for name in _OF_A_PLY}
    fields["legal"], fields["rewards"] = tuple(row["legal"]), tuple(map(float, row["rewards"]))
    fields["effort"] = Effort.of(row["effort"])
    return Ply(**{**fields, "events": tuple(map(tuple, row["events"])), "state": {}})


def to_text(record: MatchRecord) -> str:
    """The record for a reader, as plain text: what each saw, could do and did, and what it paid."""
    match = record.match
    title = f"{one_line(record.game)}, match {record.match_index}, seed {record.seed}"
    lines = [title, "parameters: " + _compact(dict(record.parameters))]
    lines += [f"seat {seat}: {one_line(name)}" for seat, name in enumerate(record.players)]
    for index, ply in enumerate(match.plies):
        who = "chance" if ply.player == CHANCE else f"seat {ply.player}"
        lines.append(f"\nply {index}: {who}")
        if ply.observation is not None:
            lines.append(f"  sees   {_compact(ply.observation)}")
        lines.append(f"  legal  {one_line(_choices(ply.legal))}")
        lines.append(f"  does   {one_line(ply.action)}")
        lines += [f"  {one_line(line)}" for line in perceived(ply.events)]
        if any(ply.rewards):
            lines.append(f"  pays   {_compact(list(ply.rewards))}")
    lines.append(
        f"\nending: {match.ending}" + (f" ({one_line(match.reason)})" if match.reason else "")
    )
    if match.returns is not None:
        lines.append(f"returns: {_compact(list(match.returns))}")
    return "\n".join(lines) + "\n"


def perceived(events: Sequence[Sequence[str]]) -> list[str]:
    """The events of a ply, a line for all seats that perceive the same.

    >>> perceived([["You draw 5C."], ["Player 1 draws."], ["Player 1 draws."], []])
    ['seat 0 perceives: You draw 5C.', 'seats 1, 2 perceive: Player 1 draws.']
    >>> perceived([["Player 1 passes."]] * 3)
    ['every seat perceives: Player 1 passes.']
    """
    groups: dict[str, list[int]] = {}
    for seat, sentences in enumerate(events):
        if sentences:
            groups.setdefault(" ".join(sentences), []).append(seat)
    return [f"{seats_named(who, len(events), 'perceives')}: {said}" for said, who in groups.items()]


def seats_named(seats: Sequence[int], count: int, verb: str) -> str:
    """Some of `count` seats as a record names them, with their verb ("is", or one with an s).

    >>> seats_named([1], 3, "is"), seats_named([0, 2], 3, "perceives")
    ('seat 1 is', 'seats 0, 2 perceive')
    """
    if len(seats) == count > 1:
        return f"every seat {verb}"
    if len(seats) == 1:
        return f"seat {seats[0]} {verb}"
    return f"seats {', '.join(map(str, seats))} {'are' if verb == 'is' else verb.removesuffix('s')}"


def example_of_play(record: MatchRecord) -> list[str]:
    """One decision of a match and what followed, up to the next one, as all could perceive it.

    The decision is the first with a choice in the second half of the match of which all were told
    something, else the last one before; there may be none.
    """
    plies = record.match.plies
    real = [n for n, ply in enumerate(plies) if ply.player >= 0 and len(ply.legal) > 1]
    later = [n for n in real if 2 * n >= len(plies)]
    for first in (*later, *reversed(real[: len(real) - len(later)])):
        if told := _told(plies, first):
            ply = plies[first]
            choices = _choices(ply.legal, 8)
            return [
                f"Player {ply.player + 1} may choose: {choices}.",
                f"The choice is: {ply.action}.",
                *told,
            ]
    return []


def _told(plies: Sequence[Ply], first: int) -> list[str]:
    """The events that every seat perceived from a decision up to the next one."""
    after = (n for n in range(first + 1, len(plies)) if plies[n].player >= 0)
    last = next(after, len(plies))
    return [text for each in plies[first:last] for text in _perceived(each.events)]


def _perceived(events: Sequence[Sequence[str]]) -> list[str]:
    """The events that every seat perceived alike."""
    shared = [text for text in events[0] if all(text in seat for seat in events)] if events else []
    return list(dict.fromkeys(shared))


def _choices(legal: Sequence[Action], shown: int = 40) -> str:
    more = f" (and {len(legal) - shown} more)" if len(legal) > shown else ""
    return ", ".join(legal[:shown]) + more


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
