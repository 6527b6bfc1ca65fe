"""One game that is exported, and the files that it becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from games.text import number_of, one_line, plain_text

if TYPE_CHECKING:
    from app.table.session import LaidTable
    from tools.sandbox import Sandbox


class ExportError(ValueError):
    """A game that cannot be exported so, or files that cannot be written there."""


@dataclass(frozen=True)
class Exported:
    """A game that is exported.

    Attributes:
        table: The game, loaded, with all its parameters.
        sandbox: Where it runs.
        seed: Seeds the matches that are played for it.
        paper: The paper's name: a4 or letter.
        font: A TrueType file, for letters that the usual one lacks.
    """

    table: "LaidTable"
    sandbox: "Sandbox"
    seed: int = 0
    paper: str = "a4"
    font: Path | None = None

    @property
    def title(self) -> str:
        """The game's name for people."""
        return one_line(str(self.table.module.info["name"]))


@dataclass
class Files:
    """The files that an export writes.

    Attributes:
        contents: Bytes by the file's name.
        remarks: What could not be told or shown, in sentences.
    """

    contents: dict[str, bytes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def join(self, other: "Files") -> None:
        """Take what another export writes."""
        self.contents |= other.contents
        self.remarks += [one for one in other.remarks if one not in self.remarks]


def as_line(text: object) -> str:
    r"""Somebody's text on one line of paper, where its letters steer nothing.

    >>> as_line(" <b>a\n b")
    '<b>a b'
    """
    return " ".join(plain_text(str(text)).split())


def require_extra(extra: str, *modules: str) -> None:
    """Refuse where the parts of an extra are not installed.

    Raises:
        ExportError: Saying what to install.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        are = "is" if len(missing) == 1 else "are"
        raise ExportError(
            f"{' and '.join(missing)} {are} not installed; install the extra: "
            f"pip install 'rulewright[{extra}]'"
        )


def write_files(contents: Mapping[str, bytes], folder: Path, *, force: bool) -> list[Path]:
    """Write files into a folder, which may be new.

    Args:
        contents: Bytes by name; a name may have a folder before it.
        folder: Where to.
        force: Whether to replace files that are there.

    Raises:
        ExportError: If one is there already, or cannot be written.
    """
    places = [folder / name for name in contents]
    above = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not above.is_dir():
        raise ExportError(f"{above} is no folder; choose another --out")
    there = [str(one) for one in places if one.exists() or one.is_symlink()]
    if there and not force:
        raise ExportError(
            f"{there[0]} is there already ({number_of(len(there), 'file')} in all); choose another "
            "--out, or say --force to replace them"
        )
    for place, content in zip(places, contents.values(), strict=True):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(
                missing_ok=True
            )  # were it a link: what it leads to is somebody's, and stays
            place.write_bytes(content)
        except OSError as error:
            raise ExportError(
                f"{place} cannot be written: {error.strerror}; choose another --out"
            ) from error
    return places
