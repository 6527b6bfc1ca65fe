"""The verified library: families of games, each one folder, and presets of them.

A *family* is a module with parameters (`<family>/game.py`), its rulebook, heuristics and words; a
*preset* is a family with parameters fixed under a name of its own (`connect_four` is `placement`
with a 6 by 7 board, four in a row and gravity).
"""

import json
import pprint
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from games.library.handicaps import HANDICAPS, handicapped, with_handicap_rules
from games.text import did_you_mean, game_literal, literal_game, read_yaml, syntax_tree
from games.values import Json, ModuleFault, show

_KEYS = {"means", "words", "near"}
if TYPE_CHECKING:
    import ast

    from jinja2 import Template

_SECTIONS = (
    *("Components", "Setup", "Turn", "Legal Actions"),
    *("Rounds and Phases", "Scoring", "Observations"),
)
_READING = {section: place for place, section in enumerate(_SECTIONS)}


class TagsError(ValueError):
    """A bad entry of a `tags.yaml`; the message names file and tag."""


@dataclass(frozen=True)
class Tag:
    """One word for what a rule, or the code for it, shows.

    Attributes:
        name: Such as "simultaneous choice".
        means: One sentence.
        words: What gives a lower-case text the tag.
        near: Tags that help where nothing has this one.
    """

    name: str
    means: str
    words: re.Pattern[str]
    near: tuple[str, ...] = ()


@cache
def known_tags() -> Mapping[str, Tag]:
    """Every tag by name.

    Raises:
        TagsError: Naming the tag that cannot be read.
    """
    return read_vocabulary((files("games.library") / "tags.yaml").read_text(encoding="utf-8"))


def read_vocabulary(text: str) -> Mapping[str, Tag]:
    """Read a vocabulary; see `known_tags`."""
    found: dict[str, Tag] = {}
    table = _table("tags.yaml", text)
    for name, fields in table.items():
        where = f"games/library/tags.yaml: {name!r}"
        if not isinstance(fields, dict) or not {"means", "words"} <= fields.keys() <= _KEYS:
            raise TagsError(f"{where} has wrong keys; required: means, words, and perhaps near")
        strangers = [tag for tag in fields.get("near", ()) if tag not in table]
        if strangers:
            raise TagsError(f"{where} is near the unknown tags {strangers}")
        try:
            words = re.compile("|".join(f"(?:{word})" for word in fields["words"]))
        except (re.error, TypeError) as error:
            raise TagsError(f"{where} has bad words: {error}; write regular expressions") from error
        found[name] = Tag(name, str(fields["means"]), words, tuple(fields.get("near", ())))
    return found


def read_shown(family: str, text: str) -> Mapping[str, tuple[str, ...]]:
    """Tag -> the rule ids and names of functions that show it, of one family's `tags.yaml`.

    Raises:
        TagsError: If a tag is not in the vocabulary, or lists nothing. Whether the rules and
            functions exist is for the reader of the family to say.
    """
    shown: dict[str, tuple[str, ...]] = {}
    for tag, items in _table(f"{family}/tags.yaml", text).items():
        where = f"games/library/{family}/tags.yaml: {tag!r}"
        if tag not in known_tags():
            raise TagsError(f"{where} is no tag; known: {', '.join(known_tags())}")
        if not items or not isinstance(items, list) or not all(isinstance(i, str) for i in items):
            raise TagsError(f"{where} lists nothing; required: rules and functions, [R7, _fight]")
        shown[tag] = tuple(items)
    return shown


def tags_in(text: str) -> frozenset[str]:
    """The tags that a text asks for, by its words.

    >>> sorted(tags_in("Both players secretly choose a card."))
    ['simultaneous choice']
    """
    lowered = text.lower()
    return frozenset(tag.name for tag in known_tags().values() if tag.words.search(lowered))


@cache
def empty_words() -> frozenset[str]:
    """Words that ask for nothing by themselves: articles, auxiliary verbs, politeness."""
    lists = read_yaml((files("games.library") / "words.yaml").read_text(encoding="utf-8"))
    return frozenset(f"{lists['function']} {lists['fillers']}".split())


def likeness(wanted: str, shown: frozenset[str]) -> float:
    """1 where a wanted tag is shown, one half where one near to it is, else 0."""
    if wanted in shown:
        return 1.0
    return 0.5 if shown.intersection(known_tags()[wanted].near) else 0.0


def _table(name: str, text: str) -> dict[str, Any]:
    import yaml

    try:
        table = read_yaml(text)
    except yaml.YAMLError as error:
        raise TagsError(f"games/library/{name} is not YAML: {error}; mend it") from error
    if not isinstance(table, dict):
        raise TagsError(f"games/library/{name} is no mapping; required: tags with what they show")
    return table


class UnknownGameError(LookupError):
    """A name that the library does not have; the message lists those it has."""


@dataclass(frozen=True)
class Preset:
    """A family with its parameters fixed.

    Attributes:
        name: The preset's own name.
        family: The family's name.
        players: The usual number of players.
        parameters: What is fixed; the rest keeps the family's defaults.
    """

    name: str
    family: str
    players: int
    parameters: Mapping[str, Json]


def _folder() -> Traversable:
    return files("games.library")


@cache
def families() -> tuple[str, ...]:
    """Names of the families, sorted."""
    return tuple(
        sorted(
            item.name
            for item in _folder().iterdir()
            if item.is_dir() and (item / "game.py").is_file()
        )
    )


@cache
def presets() -> Mapping[str, Preset]:
    """Presets by name, sorted."""
    found = [preset for family in families() for preset in _presets_of(family)]
    return {preset.name: preset for preset in sorted(found, key=lambda preset: preset.name)}


def _presets_of(family: str) -> Iterator[Preset]:
    path = _folder() / family / "presets.yaml"
    if path.is_file():
        table = read_yaml(path.read_text(encoding="utf-8"))
        for name, fields in table.items():
            yield Preset(name, family, fields["players"], fields["parameters"])


def names() -> tuple[str, ...]:
    """Every name that `source` takes: families first, then presets."""
    return (*families(), *presets())


@cache
def exemplars() -> tuple[str, ...]:
    """The names of families that have words; of no other are games made, or models shown any."""
    return tuple(
        name for name in names() if (_folder() / preset(name).family / "words.yaml").is_file()
    )


def preset(name: str) -> Preset:
    """The preset called `name`; a family is a preset that fixes nothing.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    if name in presets():
        return presets()[name]
    if name in families():
        fewest = _family_game(name)["min_players"]
        return Preset(name, name, max(2, fewest if isinstance(fewest, int) else 0), {})
    raise UnknownGameError(
        f"no game called {name!r} in the library{did_you_mean(name, names())}; there are "
        f"{', '.join(names())}"
    )


def source(name: str) -> str:
    """The module source of a family or a preset.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    chosen = preset(name)
    return _family_source(name) if chosen.family == name else _preset_source(name)


@cache
def handicapped_source(family: str, names: tuple[str, ...], rulebook: str) -> str:
    """A family's module that takes handicaps too; see `handicapped`."""
    own = _family_source(family)
    most = {name: HANDICAPS[name].most for name in names}
    return handicapped(own, most, rulebook, (read_game(own), syntax_tree(own))) if names else own


@cache
def _preset_source(name: str) -> str:
    chosen = preset(name)
    return specialise(
        _family_source(chosen.family),
        name=name,
        summary=str(_family_game(chosen.family)["summary"]),
        num_players=chosen.players,
        parameters=chosen.parameters,
    )


def rulebook(name: str, parameters: Mapping[str, Json] | None = None, players: int = 0) -> str:
    """The rulebook as Markdown, for these parameters and this number of players.

    Args:
        name: A family or a preset.
        parameters: Replace the defaults; unknown names are refused.
        players: Number of players; 0 for the usual number.

    Raises:
        UnknownGameError: Listing the names there are.
        UnknownParameterError: Listing the parameters there are.
    """
    chosen = preset(name)
    known = {**defaults(_family_game(chosen.family)), **chosen.parameters}
    given, more = own_and_handicaps(parameters or {})
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise UnknownParameterError(
            f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}"
        )
    values = {**known, **given}
    text = _compiled(chosen.family).render({**values, "players": players or chosen.players})
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    if not more:
        return text

    def action(number: Json) -> str:
        from games.library.settings import reference

        module = reference(chosen.family)
        state = module.call("initial_state", players or chosen.players, **values)
        there = module.call("get_legal_actions", state)
        return f"“{there[int(str(number)) - 1]}”"  # type: ignore[index]

    return with_handicap_rules(text, more, _family_game(chosen.family), action)


def own_and_handicaps(parameters: Mapping[str, Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """The settings that are a family's own, and its handicaps that are not 0."""
    own = {name: value for name, value in parameters.items() if name not in HANDICAPS}
    return own, {name: parameters[name] for name in HANDICAPS if parameters.get(name, 0) != 0}


@cache
def _compiled(family: str) -> "Template":
    return template_of(rulebook_template(family))


def template_of(text: str) -> "Template":
    """A template of Markdown, in which a name that is not given is an error."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)


def in_reading_order(text: str) -> tuple[str, dict[str, str]]:
    """A family's rulebook as a person reads it: sections in order of play, rules without gaps.

    Args:
        text: From `rulebook`.

    Returns:
        The text, and each rule's number in it by the number that the family's code knows.
    """
    head, *parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    parts.sort(key=lambda part: _READING.get(part.splitlines()[0].removeprefix("## "), 0))
    joined = "".join(f"{part.strip()}\n\n" for part in (head, *parts)).strip() + "\n"
    known = re.findall(r"^- (R\d+): ", joined, re.MULTILINE)
    numbers = {old: f"R{new}" for new, old in enumerate(known, start=1)}
    return re.sub(r"\bR\d+\b", lambda found: numbers.get(found[0], found[0]), joined), numbers


def levers(family: str) -> Mapping[str, list[Json]]:
    """Values to try of settings that a family declares without range and choices, by name."""
    path = _folder() / family / "levers.yaml"
    return read_yaml(path.read_text(encoding="utf-8")) if path.is_file() else {}


def rulebook_template(family: str) -> str:
    """The Jinja2 template of a family's rulebook, over its parameters and `players`."""
    return (_folder() / family / "rulebook.md").read_text(encoding="utf-8")


def shown(family: str) -> Mapping[str, tuple[str, ...]]:
    """Tag -> the rules and functions of a family that show it; nothing where it has no tags.

    Raises:
        TagsError: Naming file and tag of a bad entry.
    """
    path = _folder() / family / "tags.yaml"
    return read_shown(family, path.read_text(encoding="utf-8")) if path.is_file() else {}


def heuristic_sources(name: str) -> dict[str, str]:
    """Sources of the family's heuristics by name, sorted.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    folder = _folder() / preset(name).family / "heuristics"
    return {
        item.name.removesuffix(".py"): item.read_text(encoding="utf-8")
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".py")
    }


@cache
def _family_game(name: str) -> Mapping[str, Json]:
    """The family's `GAME`, parsed once a process; not to be changed."""
    return read_game(_family_source(name))


@cache
def _family_source(name: str) -> str:
    return (_folder() / name / "game.py").read_text(encoding="utf-8")


class UnknownParameterError(ValueError):
    """A parameter that the family does not have."""


def read_game(source: str) -> dict[str, Json]:
    """The `GAME` literal of a module, read without running it.

    Raises:
        ModuleFault: If the source does not parse or `GAME` is not one plain literal.
    """
    return literal_game(source)


def specialise(
    source: str,
    *,
    name: str,
    summary: str,
    num_players: int,
    parameters: Mapping[str, Json],
    parsed: "tuple[dict[str, Json], ast.Module] | None" = None,
) -> str:
    """Return `source` with `GAME` rewritten: name, summary, number of players, defaults.

    Of somebody else's source, `GAME` and the tree are handed in, `parsed` elsewhere.

    Raises:
        UnknownParameterError: Naming the parameters the family has.
        ModuleFault: If `GAME` cannot be read.
    """
    game, tree = parsed or (read_game(source), syntax_tree(source))
    declared = _declared(game)
    unknown = sorted(parameters.keys() - declared.keys())
    if unknown:
        raise UnknownParameterError(
            f"{game.get('name')} has no parameter {', '.join(unknown)}; it has "
            f"{', '.join(sorted(declared))}"
        )
    fixed = {
        **{key: value for key, value in game.items() if key != "players"},
        "name": name,
        "summary": summary,
        "min_players": num_players,
        "max_players": num_players,
    }
    if declared:
        fixed["parameters"] = {
            key: {**field, "default": parameters.get(key, field["default"])}
            for key, field in declared.items()
        }
    return rewritten(source, tree, fixed)


def rewritten(source: str, tree: "ast.Module", game: Mapping[str, Json]) -> str:
    """A source with another `GAME`; all else stays as it is, byte for byte.

    Raises:
        ModuleFault: If its `GAME` is no dict that is written out.
    """
    node = game_literal(tree)
    lines = source.splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = "".join(lines[:first]) + lines[first][: node.col_offset]
    after = lines[last][node.end_col_offset :] + "".join(lines[last + 1 :])
    return before + pprint.pformat(dict(game), width=96, sort_dicts=False) + after


def renumbered(source: str, numbers: Mapping[str, str]) -> str:
    """The source with other rule numbers in its docstrings; a rule that has none is left out.

    >>> renumbered("Rules: R2, R9, R4.", {"R2": "R1", "R4": "R3"})
    'Rules: R1, R3.'
    """

    def line(found: re.Match[str]) -> str:
        kept = [numbers[rule] for rule in re.findall(r"R\d+", found[2]) if rule in numbers]
        kept.sort(key=lambda rule: int(rule[1:]))
        return f"{found[1]}Rules: {', '.join(kept)}." if kept else ""

    return re.sub(r"(\n\s*|^)Rules:\s*(R\d+(?:,\s*R\d+)*)\.", line, source)


def _declared(game: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """The parameters that a `GAME` declares: name to default, range and meaning."""
    declared = game.get("parameters")
    fields = declared if isinstance(declared, dict) else {}
    return {name: field for name, field in fields.items() if isinstance(field, dict)}


def defaults(game: Mapping[str, Json]) -> dict[str, Json]:
    """The effective parameters of a module that is started without any.

    Raises:
        ModuleFault: If the module does not declare them as it must.
    """
    declared = game.get("parameters") or {}
    found: dict[str, Json] = {}
    for name, field in declared.items() if isinstance(declared, dict) else [("parameters", None)]:
        if not isinstance(field, dict) or "default" not in field:
            raise ModuleFault(
                "bad_value",
                "GAME",
                f"has {name}: {show(field)[:80]}; required under parameters: for every name a dict "
                "with its default",
            )
        found[name] = field["default"]
    return found


def as_declared(value: Json, field: Json) -> Json:
    """A parameter's value as its declaration types it, however a person wrote it.

    >>> as_declared(7, {"choices": ["none", "7"]}), as_declared("7", {"range": [1, 9]})
    ('7', 7)
    >>> as_declared("true", {"choices": [False, True]}), as_declared("x", {"choices": [1, 2]})
    (True, 'x')
    >>> as_declared(0, {"default": "0,3,1"})
    '0'
    """
    if not isinstance(field, dict):
        return value
    choices = field.get("choices")
    if isinstance(choices, list):
        return next((one for one in choices if _written(one) == _written(value)), value)
    if isinstance(field.get("default"), str):
        return _written(value)
    if field.get("range") and isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}", value):
        return int(value)
    return value


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)
