"""Tags of the library: which rules and functions of a family show what, and which a text asks for.

`tags.yaml` is the vocabulary; `<family>/tags.yaml` lists rules (R7) and functions under its tags.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_KEYS = {"means", "words", "near"}


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


def likeness(wanted: str, shown: frozenset[str]) -> float:
    """1 where a wanted tag is shown, one half where one near to it is, else 0."""
    if wanted in shown:
        return 1.0
    return 0.5 if shown.intersection(known_tags()[wanted].near) else 0.0


def _table(name: str, text: str) -> dict[str, Any]:
    import yaml

    try:
        table = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise TagsError(f"games/library/{name} is not YAML: {error}; mend it") from error
    if not isinstance(table, dict):
        raise TagsError(f"games/library/{name} is no mapping; required: tags with what they show")
    return table
