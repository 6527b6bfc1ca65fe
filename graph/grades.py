"""What a run's generated code was run in, over all the processes that took part in the run."""

from typing import cast

from pydantic import ValidationError

from graph.folder import RunFolder, RunFolderError
from tools.sandbox import Grade

_FILE = ".state/sandboxes.json"
_WORST_FIRST = ("none", "medium", "strong")


def keep_grade(folder: RunFolder, grade: Grade) -> None:
    """Note what the node that runs now runs code in, where that is new to the run."""
    known = _kept(folder)
    if grade not in known:
        folder.write_json(_FILE, [one.model_dump(mode="json") for one in (*known, grade)])


def grades_of(folder: RunFolder, now: Grade) -> tuple[Grade, ...]:
    """Every grade the run was played under, the weakest first; `now` where none was kept."""
    known = _kept(folder) or (now,)
    return tuple(sorted(known, key=lambda grade: _WORST_FIRST.index(grade.name)))


def _kept(folder: RunFolder) -> tuple[Grade, ...]:
    if not (folder.path / _FILE).exists():
        return ()
    try:
        return tuple(map(Grade.model_validate, cast("list[object]", folder.read_json(_FILE))))
    except (ValidationError, TypeError) as error:
        raise RunFolderError(
            f"{folder.path / _FILE} does not list what the run was played in; start the run anew: "
            "rulewright new"
        ) from error
