"""Chroma's client, the lock by which one process writes the store, and vectors already worked out.

Chroma is embedded or reached over HTTP. Vectors are kept beside it, keyed by embedder and text.
"""

import fcntl
import hashlib
import json
import os
import shutil
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vectorstore.documents import (
    Embedder,
    EmbedderError,
    StoreError,
    StoreLockedError,
    StoreSettings,
    Vectors,
)

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

POLL_S = 0.1
BATCH = 256
PACKAGED = Path(__file__).parent / "packaged"
_CHROMA = threading.Lock()  # its map of clients is no thread's own, and has no lock (chroma #7778)


def store_place(settings: StoreSettings) -> str:
    """Where the store is, for people."""
    if settings.host is None:
        return f"the store at {settings.path}"
    return f"the Chroma server at {settings.host}:{settings.port}"


def open_client(settings: StoreSettings, folder: Path) -> "ClientAPI":
    """Open a folder of the embedded store, or connect to the server.

    Raises:
        StoreError: If the folder is damaged or unwritable, or the server does not answer.
    """
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    with explaining_chroma(settings, "opened"), _CHROMA:
        if settings.host is not None:
            return chromadb.HttpClient(
                host=settings.host, port=settings.port, ssl=settings.ssl, settings=quiet
            )
        try:
            return chromadb.PersistentClient(folder, settings=quiet)
        except Exception:
            # Chroma keeps a half-started system a folder, which would answer the next attempt.
            SharedSystemClient._identifier_to_system.pop(str(folder), None)
            raise


def close_client(client: "ClientAPI") -> None:
    """Let go of the client's files or connections."""
    concrete: Any = client
    parts = [concrete, concrete._admin_client]
    sessions = [getattr(part._server, "_session", None) for part in parts]
    with _CHROMA:
        concrete.close()
    for session in sessions:
        if session is not None:
            session.close()  # Chroma 1.5 leaves its HTTP connections open


@contextmanager
def explaining_chroma(settings: StoreSettings, done: str) -> Iterator[None]:
    """Raise what Chroma raises as `StoreError` with what to do next; our own errors pass through.

    Chroma answers with its own errors, ValueError, the HTTP client's and the database's.
    """
    try:
        yield
    except StoreError:
        raise
    except Exception as error:
        if settings.host is None:
            advice = (
                "see that the disk has room and the folder may be written; a damaged store may be "
                "deleted, because the library's part of it is made again at the next start"
            )
        else:
            advice = "see that the server runs there and has the same version of Chroma"
        raise StoreError(
            f"{store_place(settings)} could not be {done} ({type(error).__name__}: {error}); "
            f"{advice}"
        ) from error


def owner_lock(path: Path, *, wait_s: float, tell: Callable[[str], None]) -> IO[str]:
    """Take the lock at `path`, waiting at most `wait_s` seconds and telling so once.

    Returns:
        What holds it until it is closed, or to the end of the process.

    Raises:
        StoreLockedError: If another owner still holds it then.
        StoreError: If the lock file cannot be written.
    """
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error}; choose a folder that may be written"
        ) from error
    try:
        _take(file, path, wait_s, tell)
        _sign(file, path)
    except BaseException:
        file.close()
        raise
    return file


def _take(file: IO[str], path: Path, wait_s: float, tell: Callable[[str], None]) -> None:
    deadline = time.monotonic() + wait_s
    told = False
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = _owner(file)
            if time.monotonic() >= deadline:
                raise StoreLockedError(
                    f"the store at {path.parent} is in use by {owner}, also after "
                    f"{wait_s:g} s; wait for it to end, or give this run a store of its own, "
                    "or let both use one Chroma server"
                ) from error
        if not told:
            tell(f"waiting up to {wait_s:g} s for the store, in use by {owner}")
            told = True
        time.sleep(POLL_S)


def _sign(file: IO[str], path: Path) -> None:
    signature = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": " ".join(sys.argv)[:200],
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    try:
        file.truncate(0)
        file.write(json.dumps(signature) + "\n")
        file.flush()
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}; see that the disk has room") from error


def _owner(file: IO[str]) -> str:
    file.seek(0)
    try:
        signature = json.loads(file.read())
    except ValueError:
        return "another process (it has not signed the lock yet)"
    return (
        f"process {signature['pid']} on {signature['host']} since {signature['since']} "
        f"({signature['command']})"
    )


_IN_USE = "in-use"
_DATABASE = "chroma.sqlite3"


class Snapshots:
    """The snapshots of one store; all but `newest` need the lock of `writing`."""

    def __init__(self, path: Path, *, wait_s: float, tell: Callable[[str], None]) -> None:
        self.path = path
        self.wait_s = wait_s
        self.tell = tell

    def newest(self) -> tuple[Path, IO[bytes]] | None:
        """The newest snapshot, kept from being removed until the file is closed.

        None where there is none yet.
        """
        while (folder := self._current()) is not None:
            try:
                hold = (folder / _IN_USE).open("rb")
            except FileNotFoundError:
                if folder == self._current():
                    return None  # removed by hand: it is made again
                continue
            fcntl.flock(hold, fcntl.LOCK_SH)
            if (folder / _IN_USE).exists():
                return folder, hold
            hold.close()  # it was removed in between, so there is a newer one
        return None

    def writing(self) -> IO[str]:
        """Be the only writer inside the block.

        Raises:
            StoreLockedError: If another process is still writing after the wait.
        """
        return owner_lock(self.path / "owner.lock", wait_s=self.wait_s, tell=self.tell)

    def draft(self) -> Path:
        """A copy of the newest snapshot, for changing."""
        self.prune()
        folders = self.path / "snapshots"
        folders.mkdir(exist_ok=True)
        number = 1 + max((int(f.name) for f in folders.iterdir() if f.name.isdecimal()), default=0)
        folder = folders / str(number)
        newest = self._current()
        if newest is not None and newest.is_dir():
            shutil.copytree(newest, folder, ignore=shutil.ignore_patterns(f"{_DATABASE}*"))
            with (
                closing(sqlite3.connect(newest / _DATABASE)) as old,
                closing(sqlite3.connect(folder / _DATABASE)) as new,
            ):
                old.backup(new)  # whole, also where Chroma notes in it that somebody opened it
        else:
            folder.mkdir()
            (folder / _IN_USE).touch()
        return folder

    def publish(self, folder: Path) -> None:
        """Name a finished draft as the newest snapshot."""
        partial = self.path / "current.partial"
        partial.write_text(folder.name, encoding="utf-8")
        os.replace(partial, self.path / "current")  # noqa: PTH105 - atomic

    def prune(self) -> None:
        """Remove what is not the newest and not in use: old snapshots, and drafts left behind."""
        newest = self._current()
        for hold in (self.path / "snapshots").glob(f"*/{_IN_USE}"):
            if hold.parent == newest:
                continue
            with hold.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                shutil.rmtree(hold.parent, ignore_errors=True)

    def _current(self) -> Path | None:
        try:
            name = (self.path / "current").read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        return self.path / "snapshots" / name if name.isdecimal() else None


@cache
def packaged_vectors(identity: str) -> Mapping[str, npt.NDArray[np.float16]]:
    """Vectors that come with the product, by the SHA-256 of their text; none of most embedders.

    Of the library's documents and of what briefs are compared with: to work these out takes a
    minute. Those of documents are kept as float16, those of words as int8, stretched so that their
    largest component is 127; `python -m scripts.vectors` makes the files.
    """
    found: dict[str, npt.NDArray[np.float16]] = {}
    for file in sorted((PACKAGED / identity).glob("*.npy")):
        rows = np.load(file)
        vectors = rows["vector"]
        if vectors.dtype == np.int8:
            wide = vectors.astype(np.float32)
            vectors = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float16)
        found |= zip((bytes(key).hex() for key in rows["sha256"]), vectors, strict=True)
    return found


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
            with self._explained():
                self._database = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
                with self._database as transaction:
                    transaction.execute(
                        "CREATE TABLE IF NOT EXISTS vectors (identity TEXT, text_sha256 TEXT,"
                        " vector BLOB NOT NULL, PRIMARY KEY (identity, text_sha256)) WITHOUT ROWID"
                    )
        except StoreError:
            self.close()
            raise

    def embed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        """Vectors of N texts, [N, dimension]; only unknown ones are worked out, and then kept."""
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        packaged = packaged_vectors(embedder.identity)
        known: dict[str, npt.NDArray[Any]] = {key: packaged[key] for key in keys if key in packaged}
        known |= self._read(embedder.identity, [key for key in keys if key not in known])
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        # Texts of one length make one matrix: a batch of like lengths takes half the time.
        like = sorted(missing.items(), key=lambda item: (len(item[1]), item[0]))
        for start in range(0, len(like), BATCH):
            batch = dict(like[start : start + BATCH])
            vectors = require_shape(embedder, embedder.embed(list(batch.values())), len(batch))
            fresh = dict(zip(batch, vectors, strict=True))
            self._write(embedder.identity, fresh)
            known |= fresh
        if not keys:
            return np.empty((0, embedder.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys]).astype(np.float32)

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
        query = (
            "SELECT text_sha256, vector FROM vectors WHERE identity = ?"
            " AND text_sha256 IN (SELECT value FROM json_each(?))"
        )
        with self._explained(), self._turn:
            rows = self._open().execute(query, (identity, json.dumps(keys))).fetchall()
        return {key: np.frombuffer(vector, dtype=np.float32) for key, vector in rows}

    def _write(self, identity: str, vectors: dict[str, Vectors]) -> None:
        rows = [(identity, key, vector.tobytes()) for key, vector in vectors.items()]
        with self._explained(), self._turn, self._open() as transaction:
            transaction.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise what SQLite raises as `StoreError`, with what to do next."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"the embedding cache {self.path} cannot be used: {error}; see that the disk has "
                "room and the folder may be written, or delete the file (it is made again)"
            ) from error


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
