"""What a match leaves: records as JSONL and as readable text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from games.contract import CHANCE, Action, Json
from games.engine import Match


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


def to_jsonl(record: MatchRecord) -> str:
    """One line of heading, one a ply, one of result; states are left out (closed deck)."""
    match = record.match
    head: dict[str, object] = {
        "record": "match",
        "game": record.game,
        "parameters": dict(record.parameters),
        "players": list(record.players),
        "seed": record.seed,
        "match": record.match_index,
    }
    lines = [head]
    for index, ply in enumerate(match.plies):
        fields = asdict(ply)
        del fields["state"]
        lines.append({"ply": index, **fields})
    lines.append(
        {
            "ending": match.ending,
            "returns": match.returns,
            "final_observations": match.final_observations,
            "culprit": match.culprit,
            "reason": match.reason,
        }
    )
    return "".join(
        json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"
        for line in lines
    )


def to_text(record: MatchRecord) -> str:
    """The record for a reader: what every player saw, could do and did, and what it paid."""
    match = record.match
    title = f"{record.game}, match {record.match_index}, seed {record.seed}"
    lines = [title, "parameters: " + _compact(dict(record.parameters))]
    lines += [f"seat {seat}: {name}" for seat, name in enumerate(record.players)]
    for index, ply in enumerate(match.plies):
        who = "chance" if ply.player == CHANCE else f"seat {ply.player}"
        lines.append(f"\nply {index}: {who}")
        if ply.observation is not None:
            lines.append(f"  sees   {_compact(ply.observation)}")
        lines.append(f"  legal  {_choices(ply.legal)}")
        lines.append(f"  does   {ply.action}")
        lines += [
            f"  seat {seat} perceives: {' '.join(events)}"
            for seat, events in enumerate(ply.events)
            if events
        ]
        if any(ply.rewards):
            lines.append(f"  pays   {_compact(list(ply.rewards))}")
    lines.append(f"\nending: {match.ending}" + (f" ({match.reason})" if match.reason else ""))
    if match.returns is not None:
        lines.append(f"returns: {_compact(list(match.returns))}")
    return "\n".join(lines) + "\n"


def _choices(legal: Sequence[Action], shown: int = 40) -> str:
    more = f" (and {len(legal) - shown} more)" if len(legal) > shown else ""
    return ", ".join(legal[:shown]) + more


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
