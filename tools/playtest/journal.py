"""Journal of a run: every finished entry on disk as soon as it is finished."""

import contextlib
import fcntl
import json
import os
import stat
import threading
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import BufferedReader, FileIO
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO, Self, TypeAlias

from games.values import Json, canonical_key

_VERSION = 4
_MOST_TOLD = 5  # differences of other work
_TRIES = 100  # to lock a file that others keep replacing
_LONGEST_HEADING, _LONGEST_LINE = 2**24, 2**28  # bytes; no line of ours comes near
_NOT_READ = (ValueError, TypeError, KeyError, RecursionError, MemoryError)


Left: TypeAlias = dict[Path, bytes]
"""Digests of the journals that somebody brought to their end, by place."""


class JournalError(Exception):
    """The journal cannot be used; the message says why and what to do."""


def journal_at(
    path: Path | None, identity: dict[str, Json], left: Left | None = None
) -> contextlib.AbstractContextManager["Journal | None"]:
    """The journal at a path for the time of a block; None keeps nothing.

    Raises:
        JournalError: See `Journal`.
    """
    return contextlib.nullcontext() if path is None else Journal(path, identity, left)


def identity_at(path: Path | None) -> dict[str, Json]:
    """The identity in the heading of the journal at a path; empty where there is none to read."""
    if path is None or not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            identity = json.loads(file.readline(_LONGEST_HEADING).decode())["identity"]
    except (OSError, *_NOT_READ):
        return {}  # whoever opens it says what is wrong with it
    return identity if isinstance(identity, dict) else {}


class Journal:
    """An append-only JSONL file: a heading, then one line a finished entry.

    A line that a killed process left half-written is dropped; any other damage is an error. A file
    without our heading is somebody else's, and no byte of it is changed. One process at a time may
    hold a journal; its threads may share it.

    Attributes:
        entries: What was in the file when it was opened, by index.
        is_ours: True where the opener had left the file as it was then: nothing in it is a claim.
    """

    def __init__(self, path: Path, identity: dict[str, Json], left: Left | None = None) -> None:
        """Open or start the journal of the work that `identity` describes.

        Args:
            path: Of the file.
            identity: Of the work.
            left: The opener's memory of journals, which gets this one when it is settled.

        Raises:
            JournalError: If the file is none, belongs to other work, is damaged, in use, or cannot
                be written.
        """
        self.path = path
        self._place = Path(os.path.realpath(path))  # what a link leads to, not the link
        self._lock = threading.Lock()
        self.entries: dict[int, Json] = {}
        self.is_ours, self._left = False, {} if left is None else left
        try:
            self._file = self._held()
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._begin(identity)
        except OSError as error:
            self._file.close()
            raise self._unwritable(error) from error
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
        leaves the old file or the new one; nobody else can take either before this one is closed.

        Raises:
            JournalError: If it cannot be written.
        """
        with self._lock:
            self._file.seek(0)
            before = self._file.read()
            heading = before[: before.index(b"\n") + 1]
            after = heading + b"".join(_line(*item) for item in entries.items())
            self._left[self._place] = sha256(after).digest()
            if after == before:
                return
            try:
                self._replace(after)
            except OSError as error:
                raise self._unwritable(error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _held(self) -> FileIO:
        """The file, locked, and still the one at its place: its last holder may have replaced it.

        Raises:
            JournalError: If it is in use, or not a regular file.
        """
        self._place.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            if self._place.exists() and not self._place.is_file():
                raise JournalError(
                    f"{self.path} is a folder, a pipe or a device; a journal is a file: name one"
                )
            file = self._place.open("a+b", buffering=0)
            with contextlib.ExitStack() as unless_held:
                unless_held.callback(file.close)
                self._take(file)
                if _is_at(file, self._place):
                    unless_held.pop_all()
                    return file
        raise JournalError(f"{self.path} is replaced again and again; name another file")

    def _take(self, file: FileIO) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalError(
                f"another process is writing {self.path}; wait for it or end it"
            ) from error

    def _replace(self, content: bytes) -> None:
        """Put a new file at the journal's place, locked before it is there, and hold that one."""
        beside = self._place.with_name(self._place.name + ".part")
        beside.unlink(missing_ok=True)  # of a killed process
        with contextlib.ExitStack() as unless_held:
            file = beside.open("x+b", buffering=0)
            unless_held.callback(beside.unlink, missing_ok=True)
            unless_held.callback(file.close)
            self._take(file)
            os.fchmod(file.fileno(), stat.S_IMODE(os.fstat(self._file.fileno()).st_mode))
            rest = memoryview(content)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
            beside.replace(self._place)
            unless_held.pop_all()
        self._file.close()
        self._file = file

    def _begin(self, identity: dict[str, Json]) -> None:
        """Read the file or begin it; nothing is changed before its heading is known to be ours."""
        ours = _as_line({"journal": _VERSION, "identity": identity})
        self._file.seek(0)
        lines = BufferedReader(self._file)
        try:
            heading = lines.readline(_LONGEST_HEADING)
            begun = heading.endswith(b"\n")
            if begun:
                self._require(heading, identity, lines)
                whole = self._read(lines, heading)
            elif not ours.startswith(heading):
                raise self._foreign()
        finally:
            lines.detach()
        self._file.truncate(whole if begun else 0)  # what a killed process left half-written
        if not begun:
            self._write(ours)

    def _require(self, heading: bytes, identity: dict[str, Json], below: BinaryIO) -> None:
        try:
            fields = json.loads(heading.decode())
            version, theirs = fields["journal"], fields["identity"]
        except _NOT_READ as error:
            if _entry(below.readline(_LONGEST_LINE)) is None:
                raise self._foreign() from error
            raise JournalError(
                f"{self.path} is damaged in line 1, which says what the matches below it belong "
                "to; nothing was changed: begin the same work in another file, and put that "
                "file's line 1 in the place of this one"
            ) from error
        if type(version) is not int:
            raise self._foreign()
        if version != _VERSION:
            raise JournalError(
                f"{self.path} is a journal of version {version}, and this program writes version "
                f"{_VERSION}; it is left as it is: name another file to begin again"
            )
        if theirs != identity:
            raise JournalError(
                f"{self.path} belongs to other work ({_differences(theirs, identity)}"
                "); use the settings it was started with, or name another file"
            )

    def _read(self, lines: BinaryIO, heading: bytes) -> int:
        """Take the entries in; how many bytes are whole lines, with the heading above them."""
        whole, digest = len(heading), sha256(heading)
        for number in count(2):
            line = lines.readline(_LONGEST_LINE)
            if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
                break
            found = _entry(line)
            if found is None:
                raise JournalError(
                    f"{self.path} is damaged in line {number}; delete that line to play its "
                    "match again"
                )
            self.entries[found[0]] = found[1]
            whole += len(line)
            digest.update(line)
        self.is_ours = self._left.get(self._place) == digest.digest()
        return whole

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

    def _foreign(self) -> JournalError:
        return JournalError(
            f"{self.path} is no journal of this version; it is left as it is: name another file"
        )

    def _unwritable(self, error: OSError) -> JournalError:
        return JournalError(
            f"cannot write {self.path}: {error.strerror or error}; what is in it is kept: make "
            "room or name another folder, then resume"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_at(file: FileIO, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _line(index: int, entry: Json) -> bytes:
    """The canonical text of a line's three fields, with the entry's own inside."""
    text = canonical_key(entry).encode()
    return b'{"crc":%d,"entry":%b,"index":%d}\n' % (zlib.crc32(text), text, index)


def _entry(line: bytes) -> tuple[int, Json] | None:
    """The index and the entry of a line; None where it is damaged."""
    try:
        fields = json.loads(line.decode())
        index, entry = fields["index"], fields["entry"]
        is_ours = type(index) is int and index >= 0 and _line(index, entry) == line
    except _NOT_READ:
        return None
    return (index, entry) if is_ours else None


def _as_line(fields: dict[str, Json]) -> bytes:
    return canonical_key(fields).encode() + b"\n"


def _differences(theirs: Json, ours: Json) -> str:
    return "; ".join(
        f"{place}: {canonical_key(one)[:80]} there, {canonical_key(other)[:80]} here"
        for place, one, other in islice(_apart(theirs, ours), _MOST_TOLD)
    )


def _apart(theirs: Json, ours: Json, place: str = "") -> Iterator[tuple[str, Json, Json]]:
    """The innermost places in which two values differ, with what stands there."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        theirs, ours = ({str(i): part for i, part in enumerate(one, 1)} for one in (theirs, ours))
    if not (isinstance(theirs, dict) and isinstance(ours, dict)):
        if theirs != ours:
            yield place, theirs, ours
        return
    for name in sorted({*theirs, *ours}):
        yield from _apart(theirs.get(name), ours.get(name), f"{place} {name}".lstrip())
