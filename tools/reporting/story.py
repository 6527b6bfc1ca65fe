"""Story of a match for a reader: who did what, from how many choices, and what it paid."""

from games.contract import CHANCE
from games.engine import Ply
from games.records import MatchRecord
from games.text import one_line
from tools.reporting.content import short_name


def match_story(record: MatchRecord) -> str:
    """One line a ply; players are counted from 1, and everything that happened is told."""
    match = record.match
    lines = [f"Match {record.match_index + 1}, seed {record.seed}"]
    lines += [
        f"Player {n}: {one_line(short_name(name))}" for n, name in enumerate(record.players, 1)
    ]
    lines += [f"{n}. {_told(ply)}" for n, ply in enumerate(match.plies, 1)]
    if match.returns is None:
        return "\n".join([*lines, f"No result: {match.ending} ({one_line(match.reason)})"]) + "\n"
    paid = ", ".join(f"player {n}: {paid:g}" for n, paid in enumerate(match.returns, 1))
    return "\n".join([*lines, f"Result: {paid}"]) + "\n"


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
