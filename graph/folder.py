"""The run folder: where everything a run makes is kept, and how it is written."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


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
    def trace(self) -> Path:
        """The local trace."""
        return self.path / "trace.jsonl"

    def write_text(self, name: str, text: str) -> Path:
        """Write a file of the run, whole or not at all.

        Raises:
            RunFolderError: If the disk is full or the folder cannot be written.
        """
        target = self.path / name
        partial = target.with_name(f".{target.name}.partial")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(text, encoding="utf-8")
            partial.replace(target)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise RunFolderError(
                f"cannot write {target}: {error.strerror}. What was finished before is kept; "
                f"free some space or mend the permissions, then: rulewright resume {self.path}"
            ) from error
        return target

    def write_json(self, name: str, value: object) -> Path:
        """Write a JSON file with sorted keys; see `write_text`."""
        return self.write_text(name, json.dumps(value, indent=2, sort_keys=True) + "\n")

    def read_json(self, name: str) -> object:
        """Read a JSON file of the run.

        Raises:
            RunFolderError: If it is missing or not JSON.
        """
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError) as error:
            raise RunFolderError(
                f"{self.path / name} cannot be read ({error}); required: the folder of a run "
                "made by `rulewright new`"
            ) from error


def create_folder(out: Path | None, *, title: str, runs: Path) -> RunFolder:
    """Make the folder of a new run.

    Args:
        out: The folder asked for; None for a new one under `runs`.
        title: The prompt, from which the name of a new one is made.
        runs: Where new folders go.

    Raises:
        RunFolderError: If `out` is in use already, or cannot be made.
    """
    path = out if out is not None else _free_name(runs, title)
    try:
        if path.exists() and any(path.iterdir()):
            raise RunFolderError(
                f"{path} is not empty; required: a new or empty folder. Choose another --out"
                + (
                    f", or go on with the run in it: rulewright resume {path}"
                    if (path / ".state").is_dir()
                    else ""
                )
            )
        (path / ".state" / "journals").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(
            f"cannot make the run folder {path}: {error.strerror}; choose another --out"
        ) from error
    return RunFolder(path.resolve())


def find_folder(name: str, runs: Path) -> RunFolder:
    """The folder of an earlier run, by path or by its name under `runs`.

    Raises:
        RunFolderError: Listing the runs there are.
    """
    for path in (Path(name), runs / name):
        if (path / ".state").is_dir():
            return RunFolder(path.resolve())
    known = sorted(item.parent.name for item in runs.glob("*/.state")) if runs.is_dir() else []
    listing = f"; under {runs} there are: {', '.join(known)}" if known else f"; {runs} has no runs"
    raise RunFolderError(f"{name} is not the folder of a run{listing}")


def free_bytes(path: Path) -> int:
    """Free space where `path` lies, in bytes."""
    return shutil.disk_usage(path).free


def _free_name(runs: Path, title: str) -> Path:
    words = re.findall(r"[a-z0-9]+", title.lower())
    slug = "-".join(words[:6])[:48] or "game"
    for number in range(1, 100_000):
        path = runs / (slug if number == 1 else f"{slug}-{number}")
        if not path.exists():
            return path
    raise RunFolderError(f"{runs} holds too many runs called {slug}; give --out")


def stable(value: Mapping[str, object]) -> str:
    """JSON with sorted keys, for files that must be the same bytes every time."""
    return json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n"
