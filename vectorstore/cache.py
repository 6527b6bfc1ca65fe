"""Vectors already worked out, kept beside the store and keyed by embedder and text."""

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vectorstore.settings import Embedder, EmbedderError, StoreError, Vectors

BATCH = 256


class EmbeddingCache:
    """A SQLite table (identity, SHA-256 of the text) -> float32 vector; safe between threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the table at `path`.

        Raises:
            StoreError: If the file cannot be opened, or is no SQLite file.
        """
        self.path = path
        self._turn = threading.Lock()
        self._database: sqlite3.Connection | None = None
        try:
            self._database = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
            with self._database as transaction:
                transaction.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (identity TEXT, text_sha256 TEXT,"
                    " vector BLOB NOT NULL, PRIMARY KEY (identity, text_sha256)) WITHOUT ROWID"
                )
        except sqlite3.Error as error:
            self.close()
            raise self._failed(error) from error

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        """Vectors of N texts, [N, dimension]; only unknown ones are worked out, and then kept."""
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        known = self._read(embedder.identity, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for start in range(0, len(missing), BATCH):
            batch = dict(list(missing.items())[start : start + BATCH])
            vectors = require_shape(embedder, embedder.embed(list(batch.values())), len(batch))
            fresh = dict(zip(batch, vectors, strict=True))
            self._write(embedder.identity, fresh)
            known |= fresh
        if not keys:
            return np.empty((0, embedder.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            raise StoreError(f"{self.path} is closed; open the store again")
        return self._database

    def _read(self, identity: str, keys: Sequence[str]) -> dict[str, Vectors]:
        query = "SELECT vector FROM vectors WHERE identity = ? AND text_sha256 = ?"
        found: dict[str, Vectors] = {}
        try:
            with self._turn:
                database = self._open()
                for key in dict.fromkeys(keys):
                    row = database.execute(query, (identity, key)).fetchone()
                    if row is not None:
                        found[key] = np.frombuffer(row[0], dtype=np.float32)
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return found

    def _write(self, identity: str, vectors: dict[str, Vectors]) -> None:
        rows = [(identity, key, vector.tobytes()) for key, vector in vectors.items()]
        try:
            with self._turn, self._open() as transaction:
                transaction.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> StoreError:
        return StoreError(
            f"the embedding cache {self.path} cannot be used: {error}; see that the disk has room "
            "and the folder may be written, or delete the file (it is made again)"
        )


def require_shape(embedder: Embedder, vectors: Vectors, count: int) -> Vectors:
    """Hold an embedder's answer against what it promised.

    Raises:
        EmbedderError: If it is not `count` finite rows of its dimension.
    """
    if vectors.shape != (count, embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbedderError(
            f"the embedder {embedder.identity} answered {count} texts with an array of shape "
            f"{vectors.shape}; required: ({count}, {embedder.dimension}), finite. Set the "
            "dimension that the model really has"
        )
    return vectors
