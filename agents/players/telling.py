"""Words between a table and a model: a seat's log told as turns, and the action read from a reply.

The log and the legal actions are all that is told; no state is ever at hand here.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.prompting import inert
from games.contract import Action, Observation
from games.information import SeatLog

_TOLD = 12_000  # characters of earlier turns; and of events since the seat last acted
_QUOTED = 120
_MARKS = " \t*_`'\".#>-"  # that a model may set around its action


class NoMoveError(ValueError):
    """A reply names no legal action; the message says what it does instead."""


@dataclass(frozen=True)
class SeatTurn:
    """What a seat went through from one action of its own to the next.

    Attributes:
        events: What it perceived, oldest first.
        observation: What it saw last, when it acted.
        action: What it did; None where it has not acted yet.
    """

    events: tuple[str, ...]
    observation: Observation
    action: Action | None


def seat_turns(log: SeatLog) -> list[SeatTurn]:
    """The turns of a log, oldest first; the last has no action."""
    turns: list[SeatTurn] = []
    events: list[str] = []
    seen: Observation = {}
    for entry in log.entries:
        observation, told, action = (entry.get(k) for k in ("observation", "events", "action"))
        if isinstance(action, str):
            turns.append(SeatTurn(tuple(events), seen, action))
            events = []
        elif isinstance(observation, dict):
            seen = observation
            events += [str(event) for event in told] if isinstance(told, list) else []
    return [*turns, SeatTurn(tuple(events), seen, None)]


def turns_text(turns: Sequence[SeatTurn], thoughts: Mapping[int, str], *, first: int = 0) -> str:
    """Turns as a prompt tells them, within a bound; the oldest are left out, and it says so.

    Args:
        turns: Oldest first.
        thoughts: What the player wrote before it acted, by number of the turn, from 0.
        first: Number of the first of `turns`.
    """
    blocks = []
    for number, turn in enumerate(turns, first):
        lines = [f"Turn {number + 1}", *(f"- {event}" for event in turn.events)]
        lines.append(f"you saw: {json_text(turn.observation)}")
        if thoughts.get(number):
            lines.append(f"you wrote: {thoughts[number]}")
        if turn.action is not None:
            lines.append(f"you did: {turn.action}")
        blocks.append("\n".join(lines))
    return newest_of(blocks, "turns", "\n\n")


def newest_of(parts: Sequence[str], what: str, between: str = "\n") -> str:
    r"""The last of the parts that a prompt has room for; at least one, and what is missing.

    >>> newest_of(["a" * 9_000, "b" * 9_000, "c"], "events")[:40]
    '[1 earlier events left out]\nbbbbbbbbbbbb'
    """
    size, kept = 0, list[str]()
    for part in reversed(parts):
        size += len(part)
        if kept and size > _TOLD:
            break
        kept.insert(0, part)
    missing = len(parts) - len(kept)
    left_out = [f"[{missing} earlier {what} left out]"] if missing else []
    return between.join([*left_out, *kept])


def json_text(observation: Observation) -> str:
    """An observation as JSON in one line."""
    return json.dumps(observation, ensure_ascii=False, separators=(",", ":"))


def named_action(reply: str, legal: Sequence[Action]) -> tuple[Action, str]:
    r"""The legal action that a reply names, and what was written before it.

    The last line that begins with ACTION: counts; a reply that is nothing but a legal action is
    one too. An action is taken letter by letter, as it is or as a prompt shows it, with or without
    marks around it. Nothing else is guessed.

    Raises:
        NoMoveError: If it names none, or one that is not legal.

    >>> named_action("I hold the king.\n**ACTION:** `raise`", ["fold", "raise"])
    ('raise', 'I hold the king.')
    """
    forms = Counter(map(inert, legal))
    known = {inert(action): action for action in legal if forms[inert(action)] == 1}
    known |= {action: action for action in legal}
    lines = reply.splitlines()
    for number in reversed(range(len(lines))):
        head, colon, said = lines[number].partition(":")
        if colon and head.strip(_MARKS).casefold() == "action":
            said = said.strip()
            for form in (said, said.strip(_MARKS)):
                if form in known:
                    return known[form], "\n".join(lines[:number]).strip()
            raise NoMoveError(f"{said[:_QUOTED]!r} is not a legal action now")
    if (whole := reply.strip()) in known:
        return known[whole], ""
    raise NoMoveError(f"no line begins with 'ACTION:'; the answer ends {whole[-_QUOTED:]!r}")
