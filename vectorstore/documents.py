"""Documents of the store, its settings, and what can go wrong with it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, Self, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, Field, SecretStr, model_validator

Kind: TypeAlias = Literal["games", "snippets", "mechanics", "code", "corpus", "own_games"]
MetadataValue: TypeAlias = str | int | float | bool | list[str]

KINDS: tuple[Kind, ...] = get_args(Kind)
LIBRARY_KINDS: tuple[Kind, ...] = ("games", "snippets", "mechanics", "code")


class RemoteSettings(BaseModel, frozen=True, extra="forbid"):
    """An OpenAI-compatible embeddings endpoint.

    Attributes:
        model: Model name, as the endpoint knows it.
        dimension: Components of its vectors; the endpoint is asked to shorten them only where
            `shorten` is set, because many servers refuse the request for it.
        base_url: The endpoint, or None for the client's own default.
        api_key: Sent as the bearer token.
        timeout_s: Seconds for one request.
        max_retries: Retries of one request, besides the first try.
    """

    model: str = Field(min_length=1)
    dimension: int = Field(ge=1)
    shorten: bool = False
    base_url: str | None = None
    api_key: SecretStr
    timeout_s: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=2, ge=0)


class StoreSettings(BaseModel, frozen=True, extra="forbid"):
    """Where the store lies and who embeds.

    Attributes:
        path: Folder of the embedded store; with a host, only the embedding cache lies there.
        host: Host of a Chroma server; None for the embedded store.
        port: Port of the Chroma server.
        ssl: Whether the server is asked over TLS.
        embedder: `auto` is MiniLM where its weights are installed, else `lexical`, which compares
            words alone. `chroma` is Chroma's own MiniLM; it downloads its weights at the first
            text.
        remote: The endpoint, needed by the embedder `remote`.
        lock_wait_s: Seconds to wait for another process that writes the embedded store.
    """

    path: Path
    host: str | None = None
    port: int = Field(default=8000, ge=1, le=65535)
    ssl: bool = False
    embedder: Literal["auto", "minilm", "lexical", "chroma", "remote"] = "auto"
    remote: RemoteSettings | None = None
    lock_wait_s: float = Field(default=120.0, ge=0)

    @model_validator(mode="after")
    def _remote_is_given(self) -> Self:
        if (self.embedder == "remote") != (self.remote is not None):
            raise ValueError("the embedder 'remote' and the settings `remote` need each other")
        return self


class StoreError(Exception):
    """The store could not do what was asked; the message says what was wrong and what to do."""


class StoreLockedError(StoreError):
    """Another process is writing the embedded store."""


class NotIndexedError(StoreError):
    """A library collection was searched before anything was put into it."""


class EmbedderError(StoreError):
    """Texts could not be turned into vectors."""


Vectors: TypeAlias = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors; two embedders of one identity give comparable vectors."""

    @property
    def identity(self) -> str:
        """Model, width and origin in letters, digits, dots and hyphens; names the collections."""
        ...

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed N texts.

        Returns:
            float32 [N, dimension], one row a text, in the order given.

        Raises:
            EmbedderError: If the model is missing, damaged, unreachable or answers nonsense.
        """
        ...


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


IndexReport: TypeAlias = Counter[str]
"""What indexing changed, in documents: how many were added, changed, removed and kept."""


def plan_changes(
    stored: Mapping[str, str], wanted: Sequence[Document], *, prune: bool
) -> tuple[list[str], list[Document], IndexReport]:
    """Ids to take out of a collection, documents to put in, and what that amounts to.

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
    report = Counter(added=len(added), changed=len(changed), removed=len(removed), kept=kept)
    return removed + [document.id for document in changed], changed + added, report
