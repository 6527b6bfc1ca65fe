"""A match as JSON and back: everything but the full states (closed deck)."""

from typing import Any, cast

from games.contract import Json
from games.engine import Match, Ply


def match_to_json(match: Match) -> Json:
    """The JSON of a match without its states and logs."""
    return {
        "ending": match.ending,
        "returns": None if match.returns is None else list(match.returns),
        "plies": [_ply_to_json(ply) for ply in match.plies],
        "final_observations": list(match.final_observations),
        "culprit": match.culprit,
        "reason": match.reason,
        "fault_line": match.fault_line,
    }


def match_from_json(value: Json) -> Match:
    """The match that `match_to_json` wrote.

    Its plies' states are empty and its final state is None, so that an open-deck reading of it is
    refused instead of answered wrongly.
    """
    fields = cast("dict[str, Any]", value)
    returns = fields["returns"]
    return Match(
        ending=fields["ending"],
        returns=None if returns is None else tuple(float(amount) for amount in returns),
        plies=tuple(_ply_from_json(ply) for ply in fields["plies"]),
        final_state=None,
        final_observations=tuple(fields["final_observations"]),
        culprit=fields["culprit"],
        reason=fields["reason"],
        fault_line=fields["fault_line"],
    )


def _ply_to_json(ply: Ply) -> Json:
    return {
        "player": ply.player,
        "observation": ply.observation,
        "legal": list(ply.legal),
        "action": ply.action,
        "rewards": list(ply.rewards),
        "events": [list(seat) for seat in ply.events],
        "effort": ply.effort,
    }


def _ply_from_json(fields: dict[str, Any]) -> Ply:
    return Ply(
        player=fields["player"],
        observation=fields["observation"],
        legal=tuple(fields["legal"]),
        action=fields["action"],
        rewards=tuple(float(amount) for amount in fields["rewards"]),
        events=tuple(tuple(seat) for seat in fields["events"]),
        effort=fields["effort"],
        state={},
    )
