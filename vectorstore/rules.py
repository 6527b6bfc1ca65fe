"""Rule sentences of a rulebook and its template, and the ids that a docstring names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from games.contract import Json
from vectorstore.errors import StoreError

_HEADING = re.compile(r"^## (.+)$")
_RULE = re.compile(r"^- (R[0-9]+): (.+)$")
_MARK = re.compile(r"{%.*?%}|{#.*?#}")
_RULES_START = re.compile(r"\bRules:")
RULES_LINE = re.compile(r"\bRules:\s*(R[0-9]+(?:\s*,\s*R[0-9]+)*)\s*\.?\s*$", re.MULTILINE)
_INSERTED = re.compile(r"{{\s*(\w+).*?}}")


@dataclass(frozen=True)
class RuleSentence:
    """One sentence of a rulebook.

    Attributes:
        id: Such as "R12".
        section: The heading it stands under.
        text: The sentence.
        when: The one setting that differs from the defaults where the sentence needs it.
    """

    id: str
    section: str
    text: str
    when: Mapping[str, Json] = field(default_factory=dict)


def read_rules(markdown: str) -> list[RuleSentence]:
    r"""The rule sentences of a rulebook, in order.

    >>> [(r.id, r.section, r.text) for r in read_rules("## Setup\n\n- R3: Deal a card.\n")]
    [('R3', 'Setup', 'Deal a card.')]
    """
    rules, section = [], ""
    for line in markdown.splitlines():
        if heading := _HEADING.match(line):
            section = heading[1].strip()
        elif rule := _RULE.match(line):
            rules.append(RuleSentence(rule[1], section, rule[2].strip()))
    return rules


def all_rules(
    template: str, game: Mapping[str, Json], settings: Mapping[str, Json], players: int
) -> list[RuleSentence]:
    """Every rule sentence that a rulebook template holds, each id once.

    First those of the given settings; then those that one changed setting brings in, with that
    setting; then any left over (they need two changes) with the template's marks taken out.

    Args:
        template: The Jinja2 template.
        game: The `GAME` dictionary, for what each parameter may be.
        settings: The effective parameters.
        players: Number of players.

    Raises:
        StoreError: If the template cannot be rendered for one of these.
    """
    from jinja2 import Environment, StrictUndefined, TemplateError

    environment = Environment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    found: dict[str, RuleSentence] = {}
    start = {**settings, "players": players}
    change: Mapping[str, Json] = {}
    try:
        compiled = environment.from_string(template)
        for change in ({}, *_single_changes(game, start)):
            for rule in read_rules(compiled.render({**start, **change})):
                if rule.id not in found:
                    found[rule.id] = RuleSentence(rule.id, rule.section, rule.text, change)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise StoreError(
            f"the rulebook of {game.get('name')} cannot be rendered with {dict(change) or start}: "
            f"{type(error).__name__}: {error}; mend its template"
        ) from error
    for rule in read_rules(_INSERTED.sub(r"\1", _MARK.sub("", template))):
        found.setdefault(rule.id, rule)
    return sorted(found.values(), key=lambda rule: int(rule.id[1:]))


def _single_changes(
    game: Mapping[str, Json], start: Mapping[str, Json]
) -> Iterator[dict[str, Json]]:
    """One setting at a time: each other choice, each end of a range, each end of the players."""
    declared: Any = game.get("parameters") or {}
    for name, parameter in declared.items():
        for value in (*parameter.get("choices", ()), *parameter.get("range", ())):
            if value != start.get(name):
                yield {name: value}
    ends: Sequence[Json] = (game["min_players"], game["max_players"])
    for value in ends:
        if value != start["players"]:
            yield {"players": value}


def rule_ids(docstring: str) -> tuple[str, ...]:
    r"""The ids of a docstring's `Rules:` line, or nothing where it has none.

    >>> rule_ids("Deal.\n\nRules: R1, R14.")
    ('R1', 'R14')

    Raises:
        StoreError: If there is such a line and it does not list ids.
    """
    if not _RULES_START.search(docstring):
        return ()
    found = RULES_LINE.search(docstring)
    if found is None:
        raise StoreError("a docstring's `Rules:` line must read like 'Rules: R1, R14.'; mend it")
    return tuple(re.findall(r"R[0-9]+", found[1]))
