"""The store: collections of documents, found again by meaning."""

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from vectorstore.cache import EmbeddingCache
from vectorstore.changes import IndexReport, plan_changes
from vectorstore.client import close_client, describe, explained, open_client
from vectorstore.documents import KINDS, LIBRARY_KINDS, Document, Hit, Kind
from vectorstore.embedders import Embedder, choose_embedder
from vectorstore.errors import NotIndexedError, StoreError
from vectorstore.lock import OwnerLock
from vectorstore.settings import StoreSettings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

FORMAT = "v1"
BATCH = 256
_SPARE_HITS = 16  # asked for beyond the limit, so that ties are cut by id and not by the index
_DECIMALS = 6  # of a distance; the embedders agree across machines to about 1e-7
_INDEX = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}

Tell: TypeAlias = Callable[[str], None]
Progress: TypeAlias = Callable[[int, int], None]

_LOG = logging.getLogger(__name__)


def open_store(
    settings: StoreSettings,
    *,
    embedder: Embedder | None = None,
    tell: Tell = _LOG.warning,
) -> "Store":
    """Open the store; an embedded one belongs to this process until `Store.close`.

    Args:
        settings: Where it lies and who embeds.
        embedder: Instead of the one that the settings choose.
        tell: Hears what a person should know: waiting for a lock, falling back to a download.

    Raises:
        StoreLockedError: If another process owns the embedded store after the wait.
        StoreError: If the store is damaged, unwritable or does not answer.
    """
    chosen = embedder or choose_embedder(settings, tell)
    with explained(settings, "opened"):
        settings.path.mkdir(parents=True, exist_ok=True)
    lock = None
    if settings.host is None:
        lock = OwnerLock(settings.path / "owner.lock", wait_s=settings.lock_wait_s, tell=tell)
    cache = None
    try:
        cache = EmbeddingCache(settings.path / "embeddings.sqlite3")
        return Store(settings, chosen, open_client(settings), cache, lock)
    except BaseException:
        if cache is not None:
            cache.close()
        if lock is not None:
            lock.release()
        raise


class Store:
    """One open store. Safe between threads; never fork a process that holds one."""

    def __init__(
        self,
        settings: StoreSettings,
        embedder: Embedder,
        client: "ClientAPI",
        cache: EmbeddingCache,
        lock: OwnerLock | None,
    ) -> None:
        self.settings = settings
        self.embedder = embedder
        self._client: ClientAPI | None = client
        self._cache = cache
        self._lock = lock
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the store up to the next process; a second call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            close_client(client)
            self._cache.close()
            if self._lock is not None:
                self._lock.release()

    def index(
        self, documents: Sequence[Document], *, progress: Progress | None = None
    ) -> IndexReport:
        """Add documents; one whose id is already there replaces it where anything differs.

        Args:
            documents: Of any kinds, no id twice within a kind.
            progress: Hears (documents written, documents to write).

        Raises:
            StoreError: If they could not be embedded or written; what was written stays.
        """
        return self._write(documents, (), progress)

    def mirror(
        self,
        documents: Sequence[Document],
        kinds: Sequence[Kind],
        *,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Make the collections `kinds` hold exactly `documents`: `index`, and remove the rest."""
        return self._write(documents, kinds, progress)

    def search(
        self,
        kind: Kind,
        query: str,
        limit: int,
        where: Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The documents nearest to `query`, nearest first, equal distances by id.

        Args:
            kind: The collection.
            query: Words; must not be blank.
            limit: At most so many hits, from 1.
            where: Chroma's metadata filter, such as `{"game": "rummy"}`.

        Raises:
            ValueError: For a blank query or a limit below 1.
            NotIndexedError: If a library collection is empty.
            StoreError: If the store does not answer.
        """
        if not query.strip() or limit < 1:
            raise ValueError(f"a search needs words and a limit from 1, not {query!r} and {limit}")
        with explained(self.settings, "searched"):
            collection = self._collection(kind)
            size = collection.count()
            if size == 0 and kind in LIBRARY_KINDS:
                raise NotIndexedError(
                    f"{kind} in {describe(self.settings)} is empty for the embedder "
                    f"{self.embedder.identity}; index the library first"
                )
            if size == 0:
                return []
            found = collection.query(
                query_embeddings=cast("Any", self._cache.embed(self.embedder, [query])),
                n_results=min(limit + _SPARE_HITS, size),
                where=cast("Any", where),
                include=["documents", "metadatas", "distances"],
            )
        return _hits(cast("Mapping[str, Any]", found))[:limit]

    def get(self, kind: Kind, ids: Sequence[str]) -> list[Hit]:
        """The documents with these ids, in the order asked, at distance 0.

        Raises:
            StoreError: If one is not there.
        """
        if not ids:
            return []
        with explained(self.settings, "read"):
            found = self._collection(kind).get(ids=list(ids), include=["documents", "metadatas"])
        rows = cast("Mapping[str, Any]", found)
        hits = _hits({name: [rows[name]] for name in ("ids", "documents", "metadatas")})
        by_id = {hit.id: hit for hit in hits}
        missing = [id_ for id_ in ids if id_ not in by_id]
        if missing:
            raise StoreError(f"{kind} holds no document {missing}; search for what there is")
        return [by_id[id_] for id_ in ids]

    def count(self, kind: Kind) -> int:
        """Documents in one collection."""
        with explained(self.settings, "read"):
            return self._collection(kind).count()

    def snapshot_id(self, kinds: Sequence[Kind] = LIBRARY_KINDS) -> str:
        """Content hash of what is indexed in `kinds`, with the embedder and the format.

        Independent of time and order. Own games are left out unless named, because a run that
        adds one must not change what its repetition reports.
        """
        lines = [f"{FORMAT} {self.embedder.identity}"]
        for kind in sorted(kinds):
            lines += [f"{kind} {id_} {digest}" for id_, digest in sorted(self._digests(kind))]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def mark(self) -> str:
        """What `set_mark` last left in this store for this embedder; "" where nothing."""
        with explained(self.settings, "read"):
            return str((self._collection("games").metadata or {}).get("mark", ""))

    def set_mark(self, mark: str) -> None:
        """Leave a word in the store: which library it holds in full."""
        with explained(self.settings, "written"):
            self._collection("games").modify(metadata={"mark": mark})

    def _write(
        self, documents: Sequence[Document], mirrored: Sequence[Kind], progress: Progress | None
    ) -> IndexReport:
        report = IndexReport()
        with self._writing:
            plans = {}
            for kind in KINDS:
                wanted = [document for document in documents if document.kind == kind]
                if wanted or kind in mirrored:
                    plans[kind] = plan_changes(
                        dict(self._digests(kind)), wanted, prune=kind in mirrored
                    )
            total = sum(len(plan.fresh) for plan in plans.values())
            written = 0
            for kind, plan in plans.items():
                for start in range(0, len(plan.stale), BATCH):
                    with explained(self.settings, "written"):
                        self._collection(kind).delete(ids=plan.stale[start : start + BATCH])
                for start in range(0, len(plan.fresh), BATCH):
                    batch = plan.fresh[start : start + BATCH]
                    self._add(kind, batch)
                    written += len(batch)
                    if progress is not None:
                        progress(written, total)
                report += plan.report
        return report

    def _add(self, kind: Kind, batch: Sequence[Document]) -> None:
        vectors = self._cache.embed(self.embedder, [document.key for document in batch])
        metadatas = [
            {**document.metadata, "title": document.title, "digest": document.digest}
            for document in batch
        ]
        with explained(self.settings, "written"):
            self._collection(kind).add(
                ids=[document.id for document in batch],
                embeddings=cast("Any", vectors),
                documents=[document.text for document in batch],
                metadatas=cast("Any", metadatas),
            )

    def _digests(self, kind: Kind) -> list[tuple[str, str]]:
        with explained(self.settings, "read"):
            stored = self._collection(kind).get(include=["metadatas"])
        rows = cast("Any", zip(stored["ids"], stored["metadatas"] or [], strict=True))
        return [(id_, metadata["digest"]) for id_, metadata in rows]

    def _collection(self, kind: Kind) -> "Collection":
        if kind not in KINDS:
            raise StoreError(f"unknown kind {kind!r}; known kinds: {', '.join(KINDS)}")
        if self._client is None:
            raise StoreError(f"{describe(self.settings)} is closed; open it again")
        return self._client.get_or_create_collection(
            f"{kind}__{self.embedder.identity}__{FORMAT}",
            embedding_function=None,
            configuration=cast("Any", {"hnsw": _INDEX}),
        )


def _hits(found: Mapping[str, Any]) -> list[Hit]:
    ids, texts, metadatas = found["ids"][0], found["documents"][0], found["metadatas"][0]
    distances = found["distances"][0] if "distances" in found else [0.0] * len(ids)
    hits = []
    for id_, text, stored, distance in zip(ids, texts, metadatas, distances, strict=True):
        metadata = {name: value for name, value in stored.items() if name != "digest"}
        title = str(metadata.pop("title"))
        rounded = round(max(0.0, float(distance)), _DECIMALS)
        hits.append(Hit(id_, title, text, metadata, rounded))
    return sorted(hits, key=lambda hit: (hit.distance, hit.id))
