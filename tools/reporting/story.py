"""Story of a match for a reader: who did what, from how many choices, and what it paid."""

from collections.abc import Sequence
from itertools import groupby

from games.contract import CHANCE
from games.engine import Ply
from games.records import MatchRecord
from games.text import one_line
from tools.reporting.content import short_name


def match_story(record: MatchRecord) -> str:
    """One line a ply, after the result; an empty line before each further deal.

    Players are counted from 1, and everything that happened is told.
    """
    match = record.match
    lines = [f"Match {record.match_index + 1}, seed {record.seed}"]
    lines += [
        f"Player {n}: {one_line(short_name(name))}" for n, name in enumerate(record.players, 1)
    ]
    if match.returns is None:
        lines.append(f"No result: {match.ending} ({one_line(match.reason)})")
    else:
        paid = ", ".join(f"player {n}: {paid:g}" for n, paid in enumerate(match.returns, 1))
        lines.append(f"Result: {paid}")
    begun = _further_deals(match.plies, len(record.players))
    for n, ply in enumerate(match.plies):
        lines += [*[""] * (n in begun), f"{n + 1}. {_told(ply)}"]
    return "\n".join(lines) + "\n"


def _further_deals(plies: Sequence[Ply], seats: int) -> set[int]:
    """Plies at which chance begins to act about as often in a row as at the last deal."""
    begun, dealt, start = set[int](), 0, 0
    for is_chance, run in groupby(plies, key=lambda ply: ply.player == CHANCE):
        length = len(list(run))
        if is_chance and length >= max(2, seats, dealt / 2):
            begun |= {start} if dealt else set()
            dealt = length
        start += length
    return begun


def _told(ply: Ply) -> str:
    """What everybody perceived; where that differs, who did what."""
    heard = {" ".join(events) for events in ply.events}
    chance = ply.player == CHANCE
    text = f"{'Chance' if chance else f'Player {ply.player + 1}'}: {ply.action}"
    if len(heard) == 1 and (shared := heard.pop()):
        text = shared
    if not chance and len(ply.legal) > 1:
        text += f" [one of {len(ply.legal)} choices]"
    return one_line(text)
