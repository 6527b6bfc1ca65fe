"""What indexing has to change in a collection."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vectorstore.documents import Document
from vectorstore.errors import StoreError


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
