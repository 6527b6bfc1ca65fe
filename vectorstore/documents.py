"""Documents of the store: what goes in, what comes out, and what indexing changes."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from vectorstore.settings import StoreError

Kind: TypeAlias = Literal["games", "snippets", "mechanics", "own_games"]
MetadataValue: TypeAlias = str | int | float | bool | list[str]

KINDS: tuple[Kind, ...] = get_args(Kind)
LIBRARY_KINDS: tuple[Kind, ...] = ("games", "snippets", "mechanics")


@dataclass(frozen=True)
class Document:
    """One piece of text to be found again.

    Attributes:
        kind: The collection it belongs to.
        id: Unique within its kind, such as "trick_taking/apply_action".
        title: A short heading for people.
        text: What a search returns.
        key: What is embedded; the part of the text that a query will resemble.
        metadata: Plain values to filter by; an empty list is not a value and is refused.
    """

    kind: Kind
    id: str
    title: str
    text: str
    key: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what the store could not hold.

        Raises:
            ValueError: For an unknown kind, an empty id, text or key, or metadata that the store
                cannot keep.
        """
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind {self.kind!r}; known kinds: {', '.join(KINDS)}")
        if not self.id or not self.text.strip() or not self.key.strip():
            raise ValueError(f"document {self.id!r} needs an id, a text and a key")
        reserved = {"title", "digest"} & self.metadata.keys()
        if reserved:
            raise ValueError(f"document {self.id!r}: the store keeps {sorted(reserved)} itself")
        empty = [name for name, value in self.metadata.items() if value == []]
        if empty:
            raise ValueError(f"document {self.id!r}: leave out the empty metadata {empty}")

    @property
    def digest(self) -> str:
        """SHA-256 of everything in the document, as hex."""
        parts = [self.kind, self.id, self.title, self.text, self.key, dict(self.metadata)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Example:
    """One document as it was found again: a whole game, a function, or a mechanic.

    Attributes:
        id: Of the document; an own game's begins with "own/" once it was retrieved.
        title: A short heading.
        text: A rulebook and its source, a function under its rule sentences, or a sentence.
        distance: 1 - cosine to the query, from 0 (same) to 2 (opposite).
        metadata: The document's, such as the family (`game`) it comes from.
    """

    id: str
    title: str
    text: str
    distance: float
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexReport:
    """What indexing changed, in documents."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    kept: int = 0

    def __add__(self, other: "IndexReport") -> "IndexReport":
        """Add up two reports."""
        return IndexReport(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.kept + other.kept,
        )


@dataclass(frozen=True)
class Changes:
    """Documents to take out (by id), documents to put in, and what that amounts to."""

    stale: list[str]
    fresh: list[Document]
    report: IndexReport


def plan_changes(stored: Mapping[str, str], wanted: Sequence[Document], *, prune: bool) -> Changes:
    """Compare a collection with what it should hold; `prune` removes what is not wanted.

    Args:
        stored: Id to digest of what the collection holds.
        wanted: The documents it should hold.
        prune: Whether anything else is removed.

    Raises:
        StoreError: If an id is given twice.
    """
    ids = [document.id for document in wanted]
    twice = sorted(id_ for id_, times in Counter(ids).items() if times > 1)
    if twice:
        raise StoreError(f"ids given twice: {twice}; an id is unique within its kind")
    added = [document for document in wanted if document.id not in stored]
    changed = [d for d in wanted if d.id in stored and stored[d.id] != d.digest]
    removed = sorted(stored.keys() - set(ids)) if prune else []
    kept = len(wanted) - len(added) - len(changed)
    return Changes(
        stale=removed + [document.id for document in changed],
        fresh=changed + added,
        report=IndexReport(len(added), len(changed), len(removed), kept),
    )
