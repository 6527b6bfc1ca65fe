"""The rulebook's Markdown as structured rules, and the rules as a mechanic graph."""

import re
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from agents.protocols import Mechanic, MechanicEdge, RoleError, Rule, Section
from games.contract import Json
from games.library import rulebook

_RULE = re.compile(r"^- (R\d+): (.+)$")
_SECTIONS = frozenset(get_args(Section))

_LEADS_TO = {
    "Components": "Setup",
    "Game State": "Setup",
    "Setup": "Turn",
    "Legal Actions": "Turn",
    "Observations": "Legal Actions",
    "Turn": "Rounds and Phases",
    "Rounds and Phases": "",
    "Scoring": "",
}
"""What each section's mechanics contribute to; nothing means the end of the game itself."""


def rules_of(family: str, parameters: Mapping[str, Json], players: int) -> tuple[Rule, ...]:
    """The family's rulebook for these settings, rule by rule.

    Raises:
        RoleError: If the rulebook has a section that a design does not know, or no rule.
    """
    section = ""
    rules = []
    for line in rulebook(family, parameters, players).splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
            if section not in _SECTIONS:
                raise RoleError(
                    f"the rulebook of {family} has the section {section!r}; a design knows "
                    f"{', '.join(sorted(_SECTIONS))}"
                )
        elif match := _RULE.match(line):
            rules.append(Rule(id=match[1], section=cast("Section", section), text=match[2].strip()))
    if not rules:
        raise RoleError(f"the rulebook of {family} has no rule line '- R1: ...'")
    return tuple(rules)


def summary_of(family: str, parameters: Mapping[str, Json], players: int) -> str:
    """The rulebook's opening paragraph."""
    text = rulebook(family, parameters, players)
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return " ".join(next(p for p in paragraphs if p and not p.startswith("#")).split())


def mechanic_graph(
    rules: Sequence[Rule], asked: Mapping[str, Json], meanings: Mapping[str, str]
) -> tuple[tuple[Mechanic, ...], tuple[MechanicEdge, ...]]:
    """A graph rooted at 'the game ends' (M0); an edge leads from a mechanic to what it serves.

    One mechanic a section of the rulebook, one a rule of scoring or of a phase, and one for every
    setting that the brief asks for.
    """
    mechanics = [Mechanic(id="M0", name="the game ends", text="The match is over and scored.")]
    edges: list[MechanicEdge] = []
    of_section: dict[str, str] = {}
    present = [s for s in _LEADS_TO if any(rule.section == s for rule in rules)]
    for section in present:
        ids = ", ".join(rule.id for rule in rules if rule.section == section)
        of_section[section] = _add(mechanics, section.lower(), f"Rules {ids}.")
    for section in present:
        target = _LEADS_TO[section]
        while target and target not in of_section:
            target = _LEADS_TO[target]
        edges.append(MechanicEdge(source=of_section[section], target=of_section.get(target, "M0")))
    for rule in rules:
        if rule.section in ("Scoring", "Rounds and Phases"):
            added = _add(mechanics, f"rule {rule.id}", rule.text)
            edges.append(MechanicEdge(source=added, target=of_section[rule.section]))
    for name, value in asked.items():
        text = f"{meanings.get(name, name)} Here: {value}."
        edges.append(MechanicEdge(source=_add(mechanics, name, text), target=_serves(of_section)))
    return tuple(mechanics), tuple(edges)


def _add(mechanics: list[Mechanic], name: str, text: str) -> str:
    identity = f"M{len(mechanics)}"
    mechanics.append(Mechanic(id=identity, name=name.replace("_", " "), text=text))
    return identity


def _serves(of_section: Mapping[str, str]) -> str:
    order = ("Setup", "Turn", "Rounds and Phases", "Scoring")
    return next((of_section[name] for name in order if name in of_section), "M0")
