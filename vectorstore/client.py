"""Chroma's client, embedded or over HTTP, and the lock by which one process writes the store."""

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vectorstore.errors import StoreError, StoreLockedError
from vectorstore.settings import StoreSettings

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

POLL_S = 0.1


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
    with explaining_chroma(settings, "opened"):
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


class OwnerLock:
    """Held from construction to `release`, or to the end of the process."""

    def __init__(self, path: Path, *, wait_s: float, tell: Callable[[str], None]) -> None:
        """Take the lock at `path`, waiting at most `wait_s` seconds and telling so once.

        Raises:
            StoreLockedError: If another owner still holds it then.
            StoreError: If the lock file cannot be written.
        """
        self.path = path
        self._file: IO[str] | None = None
        try:
            file = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error}; choose a folder that may be written"
            ) from error
        try:
            self._take(file, wait_s, tell)
            self._sign(file)
        except BaseException:
            file.close()
            raise
        self._file = file

    def release(self) -> None:
        """Give the store up; a second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _take(self, file: IO[str], wait_s: float, tell: Callable[[str], None]) -> None:
        deadline = time.monotonic() + wait_s
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                owner = _owner(file)
                if time.monotonic() >= deadline:
                    raise StoreLockedError(
                        f"the store at {self.path.parent} is in use by {owner}, also after "
                        f"{wait_s:g} s; wait for it to end, or give this run a store of its own, "
                        "or let both use one Chroma server"
                    ) from error
            else:
                return
            if not told:
                tell(f"waiting up to {wait_s:g} s for the store, in use by {owner}")
                told = True
            time.sleep(POLL_S)

    def _sign(self, file: IO[str]) -> None:
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
            raise StoreError(
                f"cannot write {self.path}: {error}; see that the disk has room"
            ) from error


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
