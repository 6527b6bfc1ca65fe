"""One owner process for an embedded store: an advisory lock on a file beside it."""

import fcntl
import json
import os
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from vectorstore.errors import StoreError, StoreLockedError

POLL_S = 0.1


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
