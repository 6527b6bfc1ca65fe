"""What goes into the store and what comes out."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

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
class Hit:
    """One search result; `distance` is 1 - cosine, from 0 (same) to 2 (opposite)."""

    id: str
    title: str
    text: str
    metadata: Mapping[str, MetadataValue]
    distance: float
