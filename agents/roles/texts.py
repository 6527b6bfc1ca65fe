"""Designs, findings and records as prompts quote them."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import get_args

from agents.prompting import fence
from agents.protocols import CoderTools, Design, Section
from games.checks import Finding
from games.records import MatchRecord, perceived, seats_named
from games.table import Position
from games.values import (
    CHANCE,
    OPTIONAL_FUNCTIONS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
    Json,
)

_NAMES = frozenset((*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS, *REQUIRED_CONSTANTS, "module"))
_ODDS = re.compile(
    r"%|\b(chances?|probabilit\w+|odds|percent|per cent|weighted|(more|less|twice as) likely)\b",
    re.IGNORECASE,
)
_LAST_ROUNDS = 6
_EVIDENCE_LIMIT = 1_500


def rules_text(design: Design) -> str:
    """The rulebook: title, summary, then every rule with its id, by section."""
    words = " ".join(design.sentences)
    first = "player 0" if re.search(r"\bplayer 0\b", words, re.IGNORECASE) else "Player 1"
    names = f'"{first}" of these rules is seat 0 and is called "Player 1"; so on, in that order'
    lines = [f"{design.title}: {design.summary}", f"Players: {design.num_players} ({names})"]
    for section in get_args(Section):
        rules = [rule for rule in design.rules if rule.section == section]
        if rules:
            lines += ["", f"## {section}", *(f"- {rule.id}: {rule.text}" for rule in rules)]
    if design.assumptions:
        lines += ["", "## Assumptions", *(f"- {assumption}" for assumption in design.assumptions)]
    return "\n".join(lines)


def speaks_of_odds(design: Design) -> bool:
    """True if the rules say how likely something is, beyond what is left in a pile."""
    return any(map(_ODDS.search, design.sentences))


def design_text(design: Design) -> str:
    """The rulebook and the parameters with this game's values."""
    lines = [rules_text(design), "", "## Parameters (defaults of `GAME['parameters']`)"]
    lines += [f"- {name} = {json.dumps(value)}" for name, value in design.parameters.items()]
    return "\n".join(lines if design.parameters else [*lines, "- none"])


def findings_text(
    design: Design, findings: Sequence[Finding], tools: CoderTools | None = None
) -> str:
    """Every finding with the rule it names; the evidence is fenced, a program wrote it.

    With `tools`, a verdict comes with the plies of the record that it speaks of.

    So may have the name of the function at fault: outside the fence stand only the contract's.
    """
    rules = {rule.id: rule.text for rule in design.rules}
    blocks = []
    for number, found in enumerate(findings, 1):
        where = f", in {found.function}" if found.function in _NAMES else ""
        where += f", line {found.line}" if found.line is not None else ""
        # A wish of the person is no fault of the source.
        told = f"{found.check}: {found.outcome.replace('_', ' ')}{where}"
        head = f"{number}. {'asked for' if found.check == 'revision' else told}"
        claim = tools.claim(found) if tools is not None and found.claim else None
        if claim is not None and claim.status == "upheld":
            head += f" (claim {found.claim} of the validator; a vote upheld it, so mend it)"
        elif found.claim:
            head += f" (claim {found.claim} of the validator; you may contest it)"
        if found.rule in rules:
            head += f"\nRule {found.rule}: {rules[found.rule]}"
        blocks.append(f"{head}\n{fence(found.evidence, source='check', limit=_EVIDENCE_LIMIT)}")
        ply = re.match(r"ply (\d+) ", found.evidence)
        if ply and claim is not None and claim.shown:
            plies = fence(excerpt(claim.shown, int(ply[1])), source="match record")
            blocks[-1] += f"\nIts record there:\n{plies}"
    return "\n\n".join(blocks)


def record_text(
    record: MatchRecord, positions: Sequence[Position], *, limit: int, odds: bool = False
) -> tuple[str, frozenset[int]]:
    """A record within about `limit` characters, and the plies that it shows.

    The first ply, the last rounds and the ending always stand in full; where the rest does not
    fit, plies of the middle are left out and that is said. The last rounds are fewer where they
    alone would take twice that room. What a seat is shown, and what is
    legal, stands as the difference from what it was when that seat was last told, of a list that
    grew what it grew by; after plies that are left out it stands whole again, with the state. With
    `odds`, unequal ones stand at the outcomes.
    """
    head = [f"seat {seat}: {name}" for seat, name in enumerate(record.players)]
    head.append(f"first state: {_compact(positions[0].state)}")
    ending = [
        f"ending: {record.match.ending} {record.match.reason}".rstrip(),
        f"last state: {_compact(positions[-1].state)}",
        f"returns: {json.dumps(record.match.returns)}",
    ]
    blocks = _plies(record, positions, 0, odds=odds)
    shown = min(1, len(blocks))
    for rounds in range(_LAST_ROUNDS, 0, -1):
        kept = max(shown, len(blocks) - rounds * len(record.players))
        tail = _plies(record, positions, kept, odds=odds)
        spent = sum(len(line) + 1 for line in (*head, *blocks[:1], *tail, *ending))
        if spent <= 2 * limit:
            break
    while shown < kept and spent + len(blocks[shown]) < limit:
        spent += len(blocks[shown]) + 1
        shown += 1
    if shown < kept:
        gap = f"[plies {shown} to {kept - 1} are left out: too long to show]"
        blocks = [*blocks[:shown], gap, f"state: {_compact(positions[kept].state)}", *tail]
    plies = frozenset((*range(shown), *range(kept, len(record.match.plies))))
    return "\n".join([*head, *blocks, *ending]), plies


def excerpt(shown: str, ply: int, *, before: int = 3) -> str:
    r"""The plies of a record's text just before one ply, and that ply.

    >>> print(excerpt("seat 0: x\nply 0: a\nply 1: b\n  pays: 1\nending: ", 1, before=0))
    ply 1: b
      pays: 1
    """
    blocks = re.split(r"^(?=ply |ending: |\[plies )", shown, flags=re.MULTILINE)
    wanted = {f"ply {number}:" for number in range(ply - before, ply + 1)}
    return "".join(b for b in blocks if b.partition(":")[0] + ":" in wanted).rstrip()


def numbered(source: str) -> str:
    """A source with its line numbers, as a prompt shows it.

    >>> numbered("x = 1")
    '   1| x = 1'
    """
    return "\n".join(f"{n:4}| {line}" for n, line in enumerate(source.splitlines(), 1))


def _plies(
    record: MatchRecord, positions: Sequence[Position], first: int, *, odds: bool
) -> list[str]:
    """The plies from `first` on; at that one every seat is told the whole."""
    legal: dict[int, tuple[str, ...]] = {}
    seen: list[dict[str, Json]] = [{} for _ in record.players]
    blocks = []
    following = zip(record.match.plies, positions, positions[1:], strict=False)
    for index, (ply, at, after) in islice(enumerate(following), first, None):
        who = "chance" if ply.player == CHANCE else f"seat {ply.player}"
        lines = [f"ply {index}: {who} does: {ply.action}"]
        lines += _shown_changes(seen, at.observations) if index == first else []
        lines.append(f"  legal: {_legal(legal.get(ply.player), at.legal)}")
        legal[ply.player] = at.legal
        if odds and len({round(share, 6) for share in at.probabilities}) > 1:
            shares = zip(at.legal, at.probabilities, strict=True)
            lines.append(f"  odds: {', '.join(f'{name} {share:.4g}' for name, share in shares)}")
        lines += [f"  {line}" for line in perceived(ply.events)]
        lines += _shown_changes(seen, after.observations)
        if any(ply.rewards):
            lines.append(f"  pays: {json.dumps(ply.rewards)}")
        blocks.append("\n".join(lines))
    return blocks


def _legal(before: Sequence[str] | None, now: Sequence[str]) -> str:
    """Legal actions, or what is new and gone since the same seat chose last.

    >>> _legal(None, ["a", "b"]), _legal(["a", "b", "c", "d"], ["a", "b", "c", "e"])
    ('a, b', 'as before, without: d; and: e')
    >>> _legal(["a"], ["a"])
    'as before'
    """
    if before is None:
        return ", ".join(now)
    gone, new = [a for a in before if a not in now], [a for a in now if a not in before]
    if len(gone) + len(new) >= len(now):
        return ", ".join(now)
    parts = ["without: " + ", ".join(gone)] * bool(gone) + ["and: " + ", ".join(new)] * bool(new)
    return "as before" + (", " + "; ".join(parts) if parts else "")


def _shown_changes(
    seen: list[dict[str, Json]], observations: Sequence[Mapping[str, Json]]
) -> list[str]:
    """The changes in what each seat is shown, in one line for seats that are shown the same.

    `seen` is brought up to date.
    """
    told: dict[str, list[int]] = {}
    for seat, observation in enumerate(observations):
        for change in _changes(seen[seat], observation):
            told.setdefault(change, []).append(seat)
        seen[seat] = dict(observation)
    groups: dict[tuple[int, ...], list[str]] = {}
    for change, seats in told.items():
        groups.setdefault(tuple(seats), []).append(change)
    return [
        f"  {seats_named(seats, len(seen), 'is')} shown: {'; '.join(groups[seats])}"
        for seats in sorted(groups, key=lambda seats: (-len(seats), seats))
    ]


def _changes(was: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """Differences between two views of a seat, field by field.

    >>> _changes({"log": ["a"], "bid": 2, "of": 1}, {"log": ["a", "b"], "bid": 3})
    ['log as before, then + ["b"]', 'bid = 3', 'no more of']
    """
    new = {name: value for name, value in now.items() if name not in was or was[name] != value}
    parts = []
    for name, value in new.items():
        grown = _growth(name, was[name], value) if name in was else None
        parts += grown or [f"{name} = {_compact(value)}"]
    return parts + [f"no more {name}" for name in was if name not in now]


def _growth(name: str, was: Json, now: Json) -> list[str] | None:
    """Additions to the lists in a value, if nothing else of it changed; None where something did.

    >>> _growth("log", ["a"], ["a", "b"]), _growth("log", ["a"], ["b"])
    (['log as before, then + ["b"]'], None)
    >>> _growth("rows", {"red": [1], "blue": [1]}, {"red": [1, 2], "blue": [1]})
    ['rows.red as before, then + [2]']
    """
    if was == now:
        return []
    if isinstance(was, list) and isinstance(now, list):
        if was and now[: len(was)] == was:
            return [f"{name} as before, then + {_compact(now[len(was) :])}"]
        was, now = ({str(n): one for n, one in enumerate(v)} for v in (was, now))
    if not isinstance(was, dict) or not isinstance(now, dict) or was.keys() != now.keys():
        return None
    parts = [_growth(f"{name}.{key}", was[key], now[key]) for key in was]
    return None if None in parts else [line for part in parts if part for line in part]


def _compact(value: Json | Mapping[str, Json]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
