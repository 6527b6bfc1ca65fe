"""The journal of a series: every finished match on disk as soon as it is finished."""

import contextlib
import fcntl
import json
import os
import threading
import types
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Self

from games.contract import Json, canonical_key

_VERSION = 1


class JournalError(Exception):
    """The journal cannot be used; the message says why and what to do."""


class Journal:
    """An append-only JSONL file: a heading, then one line a finished entry.

    A line that a killed process left half-written is dropped; any other damage is an error. One
    process at a time may hold a journal; its threads may share it.

    Attributes:
        entries: What was in the file when it was opened, by index.
    """

    def __init__(self, path: Path, identity: dict[str, Json]) -> None:
        """Open or start the journal of the work that `identity` describes.

        Raises:
            JournalError: If it belongs to other work, is damaged, in use, or cannot be written.
        """
        self._path = path
        self._lock = threading.Lock()
        self.entries: dict[int, Json] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("a+b", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._hold()
            self._read(identity)
        except BaseException:
            self._file.close()
            raise

    def append(self, index: int, entry: Json) -> None:
        """Write one entry; when this returns, killing the process does not lose it.

        Raises:
            JournalError: If it cannot be written.
        """
        self._write(_line(index, entry))

    def settle(self, entries: Mapping[int, Json]) -> None:
        """Rewrite the file to hold exactly these entries in this order, or leave it as it is.

        For the end of work whose entries arrived in any order. A process that is killed meanwhile
        leaves the old file or the new one.

        Raises:
            JournalError: If it cannot be written.
        """
        with self._lock:
            self._file.seek(0)
            before = self._file.read()
            heading = before[: before.index(b"\n") + 1]
            after = heading + b"".join(map(_line, entries.keys(), entries.values()))
            if after == before:
                return
            beside = self._path.with_name(self._path.name + ".part")
            try:
                with beside.open("wb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    file.write(after)
                    file.flush()
                    os.fsync(file.fileno())
                    beside.replace(self._path)
            except OSError as error:
                raise self._unwritable(error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _hold(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(
                f"another process is writing {self._path}; wait for it or end it"
            ) from error

    def _read(self, identity: dict[str, Json]) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
        lines = data[:whole].splitlines()
        if not lines:
            self._write(_as_line({"journal": _VERSION, "identity": identity}))
            return
        heading = self._parsed(lines[0], 1)
        if heading.get("journal") != _VERSION or "identity" not in heading:
            raise JournalError(f"{self._path} is no journal of this version; name another file")
        if heading["identity"] != identity:
            raise JournalError(
                f"{self._path} belongs to other work ({_differences(heading['identity'], identity)}"
                "); use the settings it was started with, or name another file"
            )
        for number, line in enumerate(lines[1:], 2):
            fields = self._parsed(line, number)
            index, entry = fields.get("index"), fields.get("entry")
            crc = zlib.crc32(canonical_key(entry).encode())
            if not isinstance(index, int) or fields.get("crc") != crc:
                raise self._damaged(number)
            self.entries[index] = entry

    def _parsed(self, line: bytes, number: int) -> dict[str, Json]:
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise self._damaged(number) from error
        if not isinstance(fields, dict):
            raise self._damaged(number)
        return fields

    def _write(self, line: bytes) -> None:
        with self._lock:
            before = self._file.seek(0, os.SEEK_END)
            try:
                written = self._file.write(line)
                failure = None if written == len(line) else OSError(0, "the file was cut short")
            except OSError as error:
                failure = error
            if failure is not None:
                with contextlib.suppress(OSError):
                    self._file.truncate(before)  # another thread's line must not join half a one
                raise self._unwritable(failure) from failure

    def _damaged(self, number: int) -> JournalError:
        return JournalError(
            f"{self._path} is damaged in line {number}; delete that line to play its match again"
        )

    def _unwritable(self, error: OSError) -> JournalError:
        return JournalError(
            f"cannot write {self._path}: {error.strerror or error}; what is in it is kept: make "
            "room or name another folder, then resume"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()


def _line(index: int, entry: Json) -> bytes:
    crc = zlib.crc32(canonical_key(entry).encode())
    return _as_line({"index": index, "crc": crc, "entry": entry})


def _as_line(fields: dict[str, Json]) -> bytes:
    return canonical_key(fields).encode() + b"\n"


def _differences(theirs: Json, ours: dict[str, Json]) -> str:
    known = theirs if isinstance(theirs, dict) else {}
    return "; ".join(
        f"{name}: {canonical_key(known.get(name))[:80]} there, {canonical_key(ours.get(name))[:80]}"
        " here"
        for name in sorted({*known, *ours})
        if known.get(name) != ours.get(name)
    )
