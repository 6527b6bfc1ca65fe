"""Trajectories: matches with states (open deck) or as one seat saw them (closed deck)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from games.contract import Action, Json, Observation, State, canonical_key
from games.engine import Match
from games.information import SeatLog


@dataclass(frozen=True)
class Transition:
    """One ply with everything an open-deck test compares (Code World Models §4).

    Attributes:
        state: State the ply was played in.
        player: Seat that acted, or -1 for chance.
        legal: Legal actions, or chance outcomes.
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


def closed_deck(
    logs: tuple[SeatLog, ...], seat: int, rewards: tuple[float, ...]
) -> list[dict[str, Json]]:
    """What one seat saw and did, and its return: no state, no other seat's observation.

    Args:
        logs: The seats' logs at the end of a match.
        seat: Whose view.
        rewards: The match's returns; only this seat's is kept.
    """
    return [*logs[seat].entries, {"return": rewards[seat]}]


def to_jsonl(transitions: list[Transition]) -> str:
    """One JSON object a line, keys sorted."""
    return "".join(f"{canonical_key(vars(transition))}\n" for transition in transitions)


def from_jsonl(text: str) -> Iterator[Transition]:
    """Read what `to_jsonl` wrote.

    Raises:
        ValueError: Naming the line that is not a transition.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            fields = json.loads(line)
            yield Transition(
                state=fields["state"],
                player=fields["player"],
                legal=tuple(fields["legal"]),
                action=fields["action"],
                next_state=fields["next_state"],
                rewards=tuple(fields["rewards"]),
                observation=fields["observation"],
                events=tuple(tuple(seat) for seat in fields["events"]),
            )
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(
                f"line {number} is not a transition ({error}); required: the lines of to_jsonl"
            ) from error
