"""The rulebook a person reads, written from the design."""

from typing import get_args

from agents.protocols import Brief, Design, Section


def rulebook_text(design: Design, brief: Brief) -> str:
    """Markdown: title, summary, rules by section, and what became of the brief's words."""
    lines = [f"# {design.title}", "", design.summary, "", f"For {_players(design.num_players)}."]
    for section in get_args(Section):
        rules = [rule for rule in design.rules if rule.section == section]
        if rules:
            lines += ["", f"## {section}", ""]
            lines += [f"- {rule.id}: {rule.text}" for rule in rules]
    lines += ["", "## What was asked for", "", f"> {' '.join(brief.prompt.split())}", ""]
    for clause in design.clauses:
        if clause.status == "honoured":
            lines.append(f"- honoured: “{clause.text}”" + _because(clause.setting))
        else:
            lines.append(f"- not honoured: “{clause.text}”" + _because(clause.reason))
    assumed = assumptions(brief, design)
    if assumed:
        lines += ["", "Assumed, because it was left open:", ""]
        lines += [f"- {assumption}" for assumption in assumed]
    return "\n".join(lines) + "\n"


def assumptions(brief: Brief | None, design: Design) -> tuple[str, ...]:
    """What brief and design assumed, each once, in order."""
    said = (*(brief.assumptions if brief else ()), *design.assumptions)
    return tuple(dict.fromkeys(said))


def _players(count: int) -> str:
    return "one player" if count == 1 else f"{count} players"


def _because(reason: str) -> str:
    return f" ({reason})" if reason else ""
