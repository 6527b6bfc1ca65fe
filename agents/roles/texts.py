"""Designs, findings and records as prompts quote them."""

import json
from collections.abc import Sequence
from typing import get_args

from agents.prompting import fence
from agents.protocols import Design, Section
from games.checks.findings import Finding
from games.contract import (
    CHANCE,
    OPTIONAL_FUNCTIONS,
    REQUIRED_CONSTANTS,
    REQUIRED_FUNCTIONS,
)
from games.engine import Ply
from games.records import MatchRecord

_NAMES = frozenset((*REQUIRED_FUNCTIONS, *OPTIONAL_FUNCTIONS, *REQUIRED_CONSTANTS, "module"))
_LEGAL_SHOWN = 40
_EVIDENCE_LIMIT = 1_500


def rules_text(design: Design) -> str:
    """The rulebook: title, summary, then every rule with its id, by section."""
    lines = [f"{design.title}: {design.summary}", f"Players: {design.num_players}"]
    for section in get_args(Section):
        rules = [rule for rule in design.rules if rule.section == section]
        if rules:
            lines += ["", f"## {section}", *(f"- {rule.id}: {rule.text}" for rule in rules)]
    if design.assumptions:
        lines += ["", "## Assumptions", *(f"- {assumption}" for assumption in design.assumptions)]
    return "\n".join(lines)


def design_text(design: Design) -> str:
    """The rulebook and the parameters with this game's values."""
    lines = [rules_text(design), "", "## Parameters (defaults of `GAME['parameters']`)"]
    lines += [f"- {name} = {json.dumps(value)}" for name, value in design.parameters.items()]
    return "\n".join(lines if design.parameters else [*lines, "- none"])


def findings_text(design: Design, findings: Sequence[Finding]) -> str:
    """Every finding with the rule it names; the evidence is fenced, a program wrote it.

    So may have the name of the function at fault: outside the fence stand only the contract's.
    """
    rules = {rule.id: rule.text for rule in design.rules}
    blocks = []
    for number, found in enumerate(findings, 1):
        where = f", in {found.function}" if found.function in _NAMES else ""
        where += f", line {found.line}" if found.line is not None else ""
        head = f"{number}. {found.check}: {found.outcome.replace('_', ' ')}{where}"
        if found.rule in rules:
            head += f"\nRule {found.rule}: {rules[found.rule]}"
        blocks.append(f"{head}\n{fence(found.evidence, source='check', limit=_EVIDENCE_LIMIT)}")
    return "\n\n".join(blocks)


def record_text(record: MatchRecord, *, limit: int) -> tuple[str, int]:
    """A record within about `limit` characters, and how many plies it shows.

    The players' observations are left out first, then the last plies.
    """
    for observations in (True, False):
        blocks = [
            _ply(index, ply, observations=observations)
            for index, ply in enumerate(record.match.plies)
        ]
        shown = _fitting(blocks, limit)
        if shown == len(blocks):
            break
    lines = [f"seat {seat}: {name}" for seat, name in enumerate(record.players)]
    lines += blocks[:shown]
    if shown == len(blocks):
        lines.append(f"ending: {record.match.ending} {record.match.reason}".rstrip())
        lines.append(f"returns: {json.dumps(record.match.returns)}")
    return "\n".join(lines), shown


def _fitting(blocks: Sequence[str], limit: int) -> int:
    size = 0
    for index, block in enumerate(blocks):
        size += len(block) + 1
        if size > limit:
            return max(1, index)
    return len(blocks)


def _ply(index: int, ply: Ply, *, observations: bool) -> str:
    who = "chance" if ply.player == CHANCE else f"seat {ply.player}"
    more = len(ply.legal) - _LEGAL_SHOWN
    legal = ", ".join(ply.legal[:_LEGAL_SHOWN]) + (f" (and {more} more)" if more > 0 else "")
    lines = [f"ply {index}: {who} does: {ply.action}", f"  legal: {legal}"]
    if observations and ply.observation is not None:
        lines.append("  sees: " + json.dumps(ply.observation, separators=(",", ":")))
    lines += [
        f"  seat {seat} perceives: {' '.join(events)}"
        for seat, events in enumerate(ply.events)
        if events
    ]
    if any(ply.rewards):
        lines.append(f"  pays: {json.dumps(ply.rewards)}")
    return "\n".join(lines)
