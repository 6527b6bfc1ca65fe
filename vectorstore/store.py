"""The store: collections of documents, found again by meaning."""

import hashlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np

from vectorstore.client import (
    EmbeddingCache,
    Snapshots,
    close_client,
    explaining_chroma,
    open_client,
    store_place,
)
from vectorstore.clusters import unit_vectors
from vectorstore.documents import (
    KINDS,
    LIBRARY_KINDS,
    Document,
    Embedder,
    Example,
    IndexReport,
    Kind,
    NotIndexedError,
    StoreError,
    StoreSettings,
    Vectors,
    plan_changes,
)
from vectorstore.embedders import choose_embedder

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

FORMAT: Mapping[Kind, str] = {
    "games": "v2",
    "snippets": "v2",
    "mechanics": "v2",
    "code": "v1",
    "corpus": "v1",
    "own_games": "v1",  # a person's own are never left behind
}
BATCH = 256
_SPARE_HITS = 16  # asked for beyond the limit, so that ties are cut by id and not by the index
_DECIMALS = 6  # of a distance; the embedders agree across machines to about 1e-7
_INDEX = {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}

Tell: TypeAlias = Callable[[str], None]
T = TypeVar("T")
Plan: TypeAlias = tuple[list[str], list[Document], IndexReport]
"""See `plan_changes`."""

_LOG = logging.getLogger(__name__)


def open_store(
    settings: StoreSettings, *, embedder: Embedder | None = None, tell: Tell = _LOG.warning
) -> "Store":
    """Open the store: an embedded one at its newest snapshot, which no writer changes.

    Args:
        settings: Where it lies and who embeds.
        embedder: Instead of the one that the settings choose.
        tell: Hears what a person should know: waiting for a writer, falling back to words alone.

    Raises:
        StoreLockedError: If there is nothing to read yet, and another process is still writing
            after the wait.
        StoreError: If the store is damaged, unwritable or does not answer.
    """
    chosen = embedder or choose_embedder(settings, tell)
    with explaining_chroma(settings, "opened"):
        settings.path.mkdir(parents=True, exist_ok=True)
    store = Store(settings, chosen, EmbeddingCache(settings.path / "embeddings.sqlite3"), tell)
    try:
        store.open()
    except BaseException:
        store.close()
        raise
    return store


class Store:
    """One open store. Safe between threads; never fork a process that holds one.

    An embedded store reads the snapshot it was opened at, or the one it wrote itself since. It
    holds the lock only while it writes the next one.
    """

    def __init__(
        self, settings: StoreSettings, embedder: Embedder, cache: EmbeddingCache, tell: Tell
    ) -> None:
        self.settings = settings
        self.embedder = embedder
        self._cache = cache
        self._snapshots: Snapshots | None = None
        if settings.host is None:
            self._snapshots = Snapshots(settings.path, wait_s=settings.lock_wait_s, tell=tell)
        self._reading: tuple[ClientAPI, IO[bytes] | None] | None = None
        self._is_open = True
        self._turn = threading.RLock()  # around whatever uses the reading client
        self._writing = threading.Lock()
        self._known: dict[Kind, list[tuple[str, str]]] = {}  # digests of the snapshot that is read

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up what is read; a second call does nothing."""
        with self._turn:
            if self._is_open:
                self._is_open = False
                self._let_go()
                self._cache.close()

    def open(self) -> None:
        """Open what is read, and make it where there is nothing for this embedder.

        Raises:
            StoreError: See `open_store`.
        """
        if not self._is_made():
            with self._only_writer() as snapshots:
                if snapshots is not None and not self._is_made():
                    self._publish(snapshots, lambda _: None)

    def search(
        self, kind: Kind, query: str, limit: int, where: Mapping[str, Any] | None = None
    ) -> list[Example]:
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
        with explaining_chroma(self.settings, "searched"), self._turn:
            collection = self._collection(kind)
            size = collection.count()
            if size == 0 and kind in LIBRARY_KINDS:
                raise NotIndexedError(
                    f"{kind} in {store_place(self.settings)} is empty for the embedder "
                    f"{self.embedder.identity}; index the library first"
                )
            if size == 0:
                return []
            found = collection.query(
                query_embeddings=self._cache.embed(self.embedder, [query]),
                n_results=min(limit + _SPARE_HITS, size),
                where=where,
                include=["documents", "metadatas", "distances"],
            )
        return _hits(found)[:limit]

    def compared(self, kind: Kind, query: str) -> list[Example]:
        """Every document of a collection with its exact distance to `query`, nearest first.

        Raises:
            StoreError: If the store does not answer.
        """
        with explaining_chroma(self.settings, "searched"), self._turn:
            include = ["documents", "metadatas", "embeddings"]
            held = self._collection(kind).get(include=include)
        if not held["ids"]:
            return []
        asked = unit_vectors(self.vectors([query]))[0]
        far = 1 - unit_vectors(np.asarray(held["embeddings"], np.float32)) @ asked
        rows = {name: [held[name]] for name in ("ids", "documents", "metadatas")}
        return _hits({**rows, "distances": [far]})

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The embedder's vectors of N texts, [N, dimension]; known ones are read from the cache."""
        return self._cache.embed(self.embedder, texts)

    def count(self, kind: Kind) -> int:
        """Documents in one collection."""
        with explaining_chroma(self.settings, "read"), self._turn:
            size: int = self._collection(kind).count()
        return size

    def snapshot_id(self, kinds: Sequence[Kind] = LIBRARY_KINDS) -> str:
        """Content hash of what is indexed in `kinds`, with the embedder and the format.

        Independent of time and order. Own games are left out unless named, because a run that
        adds one must not change what its repetition reports.
        """
        lines = [self.embedder.identity]
        for kind in sorted(kinds):
            lines += [f"{kind} {FORMAT[kind]}"]
            lines += [f"{kind} {id_} {digest}" for id_, digest in sorted(self._digests(kind))]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def mark(self) -> str:
        """The mark that `index` last left in this store for this embedder; "" where none."""
        with explaining_chroma(self.settings, "read"), self._turn:
            return str((self._collection("games").metadata or {}).get("mark", ""))

    def index(
        self, documents: Sequence[Document], mirrored: Sequence[Kind] = (), *, mark: str = ""
    ) -> IndexReport:
        """Add documents; one whose id is already there replaces it where anything differs.

        Args:
            documents: Of any kinds, no id twice within a kind.
            mirrored: Collections that shall hold these documents and no others.
            mark: Left in the store with them; where it is there already, nothing is done.

        Raises:
            StoreError: If they could not be embedded or written; what was written stays.
        """

        def change(client: "ClientAPI") -> IndexReport:
            report = self._change(client, self._plans(client, documents, mirrored))
            if mark:
                with explaining_chroma(self.settings, "written"):
                    self._collection("games", client).modify(metadata={"mark": mark})
            return report

        with self._only_writer() as snapshots:
            if mark and self.mark() == mark:  # another process was first
                return IndexReport()
            if snapshots is None:
                return change(self._client())
            if not mark:
                plans = self._plans(self._client(), documents, mirrored).values()
                if not any(stale or fresh for stale, fresh, _ in plans):
                    return sum((changes for _, _, changes in plans), IndexReport())
            return self._publish(snapshots, change)

    @contextmanager
    def _only_writer(self) -> "Iterator[Snapshots | None]":
        """Be the only writer, having read the newest snapshot; a server looks after itself."""
        with self._writing:
            if self._snapshots is None:
                yield None
                return
            with self._snapshots.writing():
                self._let_go()
                yield self._snapshots

    def _publish(self, snapshots: Snapshots, change: "Callable[[ClientAPI], T]") -> T:
        """Change a copy of the newest snapshot, and read it from now on."""
        with explaining_chroma(self.settings, "written"):
            folder = snapshots.draft()
        client = open_client(self.settings, folder)
        try:
            changed = change(client)
            for kind in KINDS:
                self._settle(self._collection(kind, client))
        finally:
            close_client(client)
        with explaining_chroma(self.settings, "written"):
            snapshots.publish(folder)
            self._let_go()
            snapshots.prune()
        return changed

    def _settle(self, collection: Any) -> None:  # noqa: ANN401 - see `_collection`
        """Have Chroma write what it keeps for the first query, so that no reader writes."""
        with explaining_chroma(self.settings, "written"):
            if collection.count():
                first = [[1.0] + [0.0] * (self.embedder.dimension - 1)]
                collection.query(query_embeddings=first, n_results=1, include=[])

    def _is_made(self) -> bool:
        """True if the store that is read has the collections of this embedder."""
        if self._snapshots is not None:
            newest = self._snapshots.newest()
            if newest is None:
                return False
            newest[1].close()
        with explaining_chroma(self.settings, "opened"), self._turn:
            names = {collection.name for collection in self._client().list_collections()}
        return self._snapshots is None or {self._name(kind) for kind in KINDS} <= names

    def _client(self) -> "ClientAPI":
        """The client that reads, opened where there is none."""
        with self._turn:
            if not self._is_open:
                raise StoreError(f"{store_place(self.settings)} is closed; open it again")
            if self._reading is None:
                folder, hold = self.settings.path, None
                if self._snapshots is not None:
                    newest = self._snapshots.newest()
                    if newest is None:
                        raise StoreError(f"{store_place(self.settings)} was removed; begin again")
                    folder, hold = newest
                try:
                    self._reading = open_client(self.settings, folder), hold
                except BaseException:
                    if hold is not None:
                        hold.close()
                    raise
            return self._reading[0]

    def _let_go(self) -> None:
        """Close what is read; whoever reads next opens the newest."""
        with self._turn:
            if self._reading is not None:
                client, hold = self._reading
                self._reading = None
                self._known.clear()
                close_client(client)
                if hold is not None:
                    hold.close()

    def _plans(
        self, client: "ClientAPI", documents: Sequence[Document], mirrored: Sequence[Kind]
    ) -> dict[Kind, Plan]:
        plans: dict[Kind, Plan] = {}
        for kind in KINDS:
            wanted = [document for document in documents if document.kind == kind]
            if wanted or kind in mirrored:
                held = dict(self._digests(kind, client))
                plans[kind] = plan_changes(held, wanted, prune=kind in mirrored)
        return plans

    def _change(self, client: "ClientAPI", plans: Mapping[Kind, Plan]) -> IndexReport:
        report = IndexReport()
        for kind, (stale, fresh, changes) in plans.items():
            collection = self._collection(kind, client)
            for start in range(0, len(stale), BATCH):
                with explaining_chroma(self.settings, "written"):
                    collection.delete(ids=stale[start : start + BATCH])
            for start in range(0, len(fresh), BATCH):
                self._add(collection, fresh[start : start + BATCH])
            report += changes
        return report

    def _add(self, collection: Any, batch: Sequence[Document]) -> None:  # noqa: ANN401 - chromadb's collection has no public type
        vectors = self._cache.embed(self.embedder, [document.key for document in batch])
        metadatas = [
            {**document.metadata, "title": document.title, "digest": document.digest}
            for document in batch
        ]
        with explaining_chroma(self.settings, "written"):
            collection.add(
                ids=[document.id for document in batch],
                embeddings=vectors,
                documents=[document.text for document in batch],
                metadatas=metadatas,
            )

    def _digests(self, kind: Kind, client: "ClientAPI | None" = None) -> list[tuple[str, str]]:
        with explaining_chroma(self.settings, "read"), self._turn:
            client = client or self._client()
            is_read = self._reading is not None and client is self._reading[0]
            if is_read and kind in self._known:
                return self._known[kind]
            stored = self._collection(kind, client).get(include=["metadatas"])
            rows = zip(stored["ids"], stored["metadatas"] or [], strict=True)
            digests = [(id_, metadata["digest"]) for id_, metadata in rows]
            if is_read and self._snapshots is not None:
                self._known[kind] = digests  # nobody changes a finished snapshot
        return digests

    def _name(self, kind: Kind) -> str:
        return f"{kind}__{self.embedder.identity}__{FORMAT[kind]}"

    def _collection(self, kind: Kind, client: "ClientAPI | None" = None) -> Any:  # noqa: ANN401 - it takes more than its types say
        if kind not in KINDS:
            raise StoreError(f"unknown kind {kind!r}; known kinds: {', '.join(KINDS)}")
        configuration: Any = {"hnsw": _INDEX}
        return (client or self._client()).get_or_create_collection(
            self._name(kind), embedding_function=None, configuration=configuration
        )


def _hits(found: Mapping[str, Any]) -> list[Example]:
    rows = (found[name][0] for name in ("ids", "documents", "metadatas", "distances"))
    hits = []
    for id_, text, stored, distance in zip(*rows, strict=True):
        metadata = {name: value for name, value in stored.items() if name != "digest"}
        title = str(metadata.pop("title"))
        rounded = round(max(0.0, float(distance)), _DECIMALS)
        hits.append(Example(id_, title, text, rounded, metadata))
    return sorted(hits, key=lambda hit: (hit.distance, hit.id))
