"""The run folder, where everything a run makes is kept, and the places it is found in."""

import fcntl
import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EISDIR
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)
Written: TypeAlias = dict[str, list[str]]
_WRITTEN = ".state/written.json"
_STEPS = ".state/steps"
_REVISIONS = "revisions"
_READ_WHOLE = ("", ".json", ".jsonl", ".md", ".py", ".yaml")
_LARGEST = 64 * 2**20  # bytes


class RunFolderError(Exception):
    """A run folder cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run.

    Attributes:
        path: The folder itself. What a person opens lies at its top; what the machine needs to
            go on (checkpoints, journals, exchanges with a model) lies under `.state/`.
    """

    path: Path

    @property
    def state(self) -> Path:
        """Where the machine keeps what `resume` needs."""
        return self.path / ".state"

    @property
    def checkpoints(self) -> Path:
        """The SQLite file of the graph's checkpoints."""
        return self.state / "checkpoints.sqlite"

    @property
    def journals(self) -> Path:
        """Finished matches, one JSONL file a series."""
        return self.state / "journals"

    @property
    def exchanges(self) -> Path:
        """Every exchange with a model."""
        return self.state / "exchanges.json"

    @property
    def root(self) -> "RunFolder":
        """The run's own folder, also for the folder of one of its revisions."""
        above = self.path.parent
        inside = above.name == _REVISIONS and (above.parent / ".state").is_dir()
        return RunFolder(above.parent) if inside else self

    def revision(self, number: int) -> "RunFolder":
        """The folder of a revision, from 1; 0 is the run's own."""
        path = self.path / _REVISIONS / str(number) if number else self.path
        return RunFolder(path)

    @property
    def revisions(self) -> "tuple[RunFolder, ...]":
        """The folders of its revisions, oldest first."""
        found = [path for path in self.path.glob(f"{_REVISIONS}/*") if path.name.isdecimal()]
        return tuple(RunFolder(path) for path in sorted(found, key=lambda path: int(path.name)))

    def branch(self, checkpoint: str) -> "RunFolder":
        """The revision that began at a checkpoint of the run's thread; a new one where none did."""
        found = self.root.revisions
        for one in found:
            if one.steps[0] == checkpoint:
                return one
        new = self.root.revision(1 + max((int(one.path.name) for one in found), default=0))
        new.make()
        new.step(checkpoint, "")
        return new

    def make(self) -> None:
        """Make the folder and that of its journals.

        Raises:
            RunFolderError: If something else stands there, or nothing may be made.
        """
        try:
            self.journals.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunFolderError(
                f"cannot make the folder {self.path}: {error.strerror}; move away what stands "
                "there, or mend the permissions, then give the same command again"
            ) from error

    @property
    def steps(self) -> tuple[str, str]:
        """The checkpoints at which its first step began, and its newest; empty where unknown."""
        try:
            began, newest = (self.path / _STEPS).read_text(encoding="utf-8").split("\n")[:2]
        except (OSError, ValueError):
            return "", ""
        return began, newest

    def step(self, began: str, newest: str) -> None:
        """Note the checkpoints of its first step and of its newest."""
        self.write_text(_STEPS, f"{began}\n{newest}\n")

    @property
    def thread(self) -> str:
        """The run's thread, a UUID that stays with the folder wherever it is moved."""
        path = self.state / "thread"
        if not path.exists():
            self.write_text(".state/thread", str(uuid.uuid4()))
        try:
            return str(uuid.UUID(path.read_text(encoding="utf-8").strip()))
        except (OSError, ValueError) as error:
            raise RunFolderError(
                f"{path} holds no UUID of a thread ({error}); remove it, and resume makes the run "
                "again from what was asked, its finished matches and its paid answers"
            ) from error

    def is_of(self, thread: str) -> bool:
        """True where it is the run of a thread that is named; see `thread`."""
        try:
            return bool(thread) and (self.state / "thread").read_text("utf-8").strip() == thread
        except (OSError, ValueError):
            return False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no other process work at the run inside the block; a killed one holds nothing.

        Raises:
            RunFolderError: If another process works at it.
        """
        hold = os.open(self.root.state, os.O_RDONLY)
        try:
            # A list of runs looks for an instant: that is no other process at work.
            if not any(_taken(hold, after) for after in (0.0, 0.05, 0.2)):
                raise RunFolderError(
                    f"another process works at the run in {self.root.path}; wait until it has "
                    "ended, or stop it. Nothing was done here"
                )
            yield
        finally:
            os.close(hold)

    @property
    def is_held(self) -> bool:
        """True while a process works at the run."""
        hold = os.open(self.root.state, os.O_RDONLY)
        try:
            return not _taken(hold, kind=fcntl.LOCK_SH)
        finally:
            os.close(hold)

    def require_plain(self) -> None:
        """Refuse a folder that could read or write elsewhere, as one from somebody else may.

        Raises:
            RunFolderError: Naming a link, pipe or device in it, or a file too large to be read.
        """
        for path in self.path.rglob("*"):
            try:
                found = path.lstat()
            except FileNotFoundError:
                continue  # of a run at work
            # A file of two names is written under both, wherever the other one is.
            is_file = S_ISREG(found.st_mode) and found.st_nlink == 1
            if not (is_file or S_ISDIR(found.st_mode)):
                raise RunFolderError(
                    f"{path} is a link, a pipe or a device; a run's folder holds plain files and "
                    "folders alone, so that nothing else is read or written: put a copy there"
                )
            by_lines = path.suffix == ".jsonl" and ".state" in path.parts  # such as a journal
            is_large = is_file and found.st_size > _LARGEST
            if path.suffix in _READ_WHOLE and is_large and not by_lines:
                raise RunFolderError(f"{path} has more than {_LARGEST >> 20} MiB; remove it")

    @property
    def asked(self) -> bool:
        """True where it holds the run's request, from which the run can be made."""
        return (self.state / "request.json").exists()

    @property
    def trace(self) -> Path:
        """The local trace."""
        return self.path / "trace.jsonl"

    def write_text(self, name: str, text: str) -> Path:
        """Write a file of the run, whole or not at all; a file that a person changed stays.

        Raises:
            RunFolderError: If the disk is full or the folder cannot be written.
        """
        self.write_together({name: text})
        return self.path / name

    def write_bytes(self, name: str, content: bytes) -> Path:
        """Write a file that is no text; see `write_text`."""
        self._write({name: content})
        return self.path / name

    def write_together(self, texts: Mapping[str, str]) -> None:
        """Write files that tell of one thing, all or none; see `write_text`.

        Each is written beside the old one before the first is put in its place. Between two
        renames alone can a kill part them; then `resume` does the same step again.
        """
        self._write({name: text.encode() for name, text in texts.items()})

    def _write(self, content: Mapping[str, bytes]) -> None:
        self._put(
            {
                name: new
                for name, new in content.items()
                if name.startswith(".state/") or self._claim(name, _digest(new))
            }
        )

    def edited(self) -> tuple[str, ...]:
        """Files that a person changed, or put where the run writes one; what is gone is none."""
        found = ((name, self._found(name), ours) for name, ours in sorted(self._written().items()))
        return tuple(name for name, now, ours in found if now is not None and now not in ours)

    def clear(self, *, edits: bool, journals: bool, keep: str = "") -> None:
        """Remove what a run from its beginning writes anew.

        Args:
            edits: Also what a person changed.
            journals: Also the finished matches, which belong to another game then.
            keep: A file that stays.
        """
        written, kept = self._written(), {keep, *(() if edits else self.edited())}
        for name in written.keys() - kept:
            if (self.path / name).is_file():
                (self.path / name).unlink()
        for journal in self.journals.glob("*") if journals else ():
            journal.unlink()
        for revision in self.revisions:
            revision.clear(edits=edits, journals=journals)
        self._keep({name: ours for name, ours in written.items() if name in kept})

    def carry(self, to: "RunFolder", parts: tuple[str, ...]) -> None:
        """Copy what the run wrote, and still has, into another folder.

        Args:
            to: Where to.
            parts: How the names of what is copied begin.
        """
        for name in sorted(self._written()):
            if name.startswith(parts) and (self.path / name).is_file():
                to.write_bytes(name, (self.path / name).read_bytes())

    def accept(self, name: str) -> None:
        """Take a file as it stands for the run's own."""
        self._keep({**self._written(), name: [self._found(name) or ""]})

    def _claim(self, name: str, new: str) -> bool:
        """Note what is about to be written; False where a person's work stands there.

        Noted before it is written, beside what was written before: a kill in between makes neither
        of them a person's.
        """
        written, now = self._written(), self._found(name)
        ours = written.get(name, [])
        free = now is None or now == new or now in ours
        noted = sorted({*ours, new}) if free else ours
        if written.get(name) != noted:
            self._keep({**written, name: noted})
        return free

    def _written(self) -> Written:
        """SHA-256 of what the run wrote, by file; nothing where that cannot be read.

        Then every file counts as a person's, and none is lost.
        """
        try:
            kept = json.loads((self.path / _WRITTEN).read_bytes())
            return {
                str(name): [str(one) for one in ours]
                for name, ours in kept.items()
                if ".." not in Path(name).parts and not Path(name).is_absolute()
            }
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            return {}

    def _keep(self, written: Written) -> None:
        self.write_json(_WRITTEN, written)

    def _found(self, name: str) -> str | None:
        try:
            return _digest((self.path / name).read_bytes())
        except (OSError, ValueError):  # no file can have such a name
            return None

    def _put(self, content: Mapping[str, bytes]) -> None:
        beside: dict[Path, Path] = {}
        target = self.path
        try:
            for name, new in content.items():
                target = self.path / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_dir():
                    raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
                beside[target] = target.with_name(f".{target.name}.partial")
                beside[target].write_bytes(new)
            for target, partial in beside.items():
                partial.replace(target)
        except OSError as error:
            for partial in beside.values():
                with suppress(OSError):
                    partial.unlink()
            begun = any(path.is_file() for path in self.root.state.glob("*"))
            way = f"rulewright resume {self.path}" if begun else "give the same command again"
            raise RunFolderError(
                f"cannot write {target}: {error.strerror}. What was finished before is kept; "
                f"free some space or mend the permissions, then: {way}"
            ) from error

    def write_json(self, name: str, value: object) -> Path:
        """Write a JSON file with sorted keys; see `write_text`."""
        return self.write_text(name, kept_json(value))

    def read_json(self, name: str) -> object:
        """Read a JSON file of the run.

        Raises:
            RunFolderError: If it is missing or not JSON.
        """
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:  # no file, no UTF-8, no JSON
            raise RunFolderError(
                f"{self.path / name} cannot be read ({error}); required: the folder of a run "
                "made by `rulewright new`"
            ) from error

    def read_model(self, name: str, model: type[M], wrong: str) -> M:
        """The contents of a file that a run wrote for itself.

        Raises:
            RunFolderError: If it cannot be read, or holds something else: it is `wrong`, in which
                {} stands for the number of faults.
        """
        try:
            return model.model_validate(self.read_json(name))
        except ValidationError as error:
            told = wrong.format(error.error_count())
            raise RunFolderError(f"{self.path / name} {told}") from error


def _taken(file: int, after: float = 0.0, kind: int = fcntl.LOCK_EX) -> bool:
    """True where the lock of an open file was taken; it ends with the file or its process."""
    time.sleep(after)
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def kept_json(value: object) -> str:
    """A JSON file's text, with sorted keys."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def home() -> Path:
    """Where the store lies: `RULEWRIGHT_HOME`, else a folder of the user's cache."""
    named = os.environ.get("RULEWRIGHT_HOME")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rulewright"


def runs_folder() -> Path:
    """Where runs go that name no folder: `RULEWRIGHT_RUNS`, else `runs` here.

    Raises:
        RunFolderError: If that is no folder.
    """
    path = Path(os.environ.get("RULEWRIGHT_RUNS", "runs"))
    if path.exists() and not path.is_dir():
        raise RunFolderError(
            f"runs go under {path}, which is no folder; set RULEWRIGHT_RUNS to one, or move it away"
        )
    return path


def create_folder(out: Path | None, *, title: str, runs: Path) -> RunFolder:
    """Make the folder of a new run.

    Args:
        out: The folder asked for; None for a new one under `runs`.
        title: The prompt, from which the name of a new one is made.
        runs: Where new folders go.

    Raises:
        RunFolderError: If `out` is in use already, or cannot be made.
    """
    try:
        path = out if out is not None else _new_place(runs, title)
        if path.exists() and any(not file.is_dir() for file in path.rglob("*")):
            said = f"{path} is not empty; required: a new or empty folder. Choose another --out"
            if (path / ".state").is_dir():
                said += f", or go on with the run in it: rulewright resume {path}"
            raise RunFolderError(said)
        (path / ".state" / "journals").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(
            f"cannot make the run folder {out or runs}: {error.strerror}; choose another --out"
        ) from error
    return RunFolder(path.resolve())


def find_folder(name: str, runs: Path, *, to_go_on: bool = False) -> RunFolder:
    """The folder of an earlier run, by path or by its name under `runs`.

    Args:
        name: Of the run, or of a revision in it.
        runs: Where runs are.
        to_go_on: Whether a revision that is named must be the newest, with which the run goes on.

    Raises:
        RunFolderError: Listing the runs there are, or naming the newest revision.
    """
    for path in (Path(name), runs / name) if name.strip() else ():
        with suppress(OSError):  # a name too long for any file
            if (path / ".state").is_dir():
                named = RunFolder(path.resolve())
                found = named.root
                found.require_plain()
                newest = (found, *found.revisions)[-1].path
                if to_go_on and named != found and named.path != newest:
                    raise RunFolderError(
                        f"{named.path} is not the newest game of its run, which goes on with "
                        f"{newest}: name that, or the run; `revise` takes a change back by “undo”"
                    )
                return found
    known = sorted(item.parent.name for item in runs.glob("*/.state")) if runs.is_dir() else []
    listing = f"; under {runs} there are: {', '.join(known)}" if known else f"; {runs} has no runs"
    raise RunFolderError(f"{name.strip() or repr(name)} is not the folder of a run{listing}")


def _new_place(runs: Path, title: str) -> Path:
    """A folder made under a free name, so that no run beside this one takes it too."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    slug = "-".join(words[:6])[:48] or "game"
    for number in range(1, 100_000):
        path = runs / (slug if number == 1 else f"{slug}-{number}")
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise RunFolderError(f"{runs} holds too many runs called {slug}; give --out")
