"""The library as the index reads it: sources, rulebook templates, and a fingerprint."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from games import library
from games.contract import Json
from games.library.specialise import read_game
from vectorstore.settings import StoreError

_READ = ("__init__.py", "game.py", "rulebook.md", "presets.yaml", "tags.yaml")


@dataclass(frozen=True)
class LibraryGame:
    """One name of the library.

    Attributes:
        name: A family or a preset.
        family: The family it belongs to; its own name where it is one.
        players: The usual number of players.
        game: Its `GAME` dictionary, with a preset's parameters as the defaults.
        source: Its module source.
        rulebook: Its rulebook for the defaults.
        template: The family's rulebook template.
        shown: Tag -> the rules and functions of the family that show it.
    """

    name: str
    family: str
    players: int
    game: Mapping[str, Json]
    source: str
    rulebook: str
    template: str
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Library:
    """`games.library`, as it is installed."""

    def fingerprint(self) -> str:
        """SHA-256 over the names and contents of the files that the index reads."""
        digest = hashlib.sha256()
        for name, content in sorted(_files(files("games.library"), "")):
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def games(self) -> Sequence[LibraryGame]:
        """Families first, then presets."""
        return [_read(name) for name in library.names()]


def _read(name: str) -> LibraryGame:
    chosen = library.preset(name)
    try:
        source = library.source(name)
        return LibraryGame(
            name=name,
            family=chosen.family,
            players=chosen.players,
            game=read_game(source),
            source=source,
            rulebook=library.rulebook(name),
            template=library.rulebook_template(chosen.family),
            shown=library.shown(chosen.family),
        )
    except OSError as error:
        raise StoreError(
            f"the library's {name} cannot be read ({error}); install the program again"
        ) from error


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        name = f"{prefix}{item.name}"
        if item.is_dir():
            yield from _files(item, f"{name}/")
        elif item.name in _READ:
            yield name, item.read_bytes()


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
