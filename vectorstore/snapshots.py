"""Snapshots of the embedded store: folders that are written once, and from then on only read.

    current         the name of the newest snapshot
    snapshots/N/    Chroma's files; whoever reads them holds the lock of `in-use`
    owner.lock      held while the next snapshot is written

A writer changes a copy of the newest snapshot, and names it in `current` when it is finished. A
snapshot that is no longer the newest is removed by a later writer, once nobody reads it.
"""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from vectorstore.client import OwnerLock

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

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer inside the block.

        Raises:
            StoreLockedError: If another process is still writing after the wait.
        """
        lock = OwnerLock(self.path / "owner.lock", wait_s=self.wait_s, tell=self.tell)
        try:
            yield
        finally:
            lock.release()

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
