"""The sandbox of a run: which backend runs generated code, and how far it held.

The backend is the caller's word, else the environment's, else the platform's. Nothing but "process"
is ever chosen without isolation, and that only where it was said twice: by the backend's name and
by accepting that it isolates nothing.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from agents.model.recording import set_for_a_while
from graph.run.folder import RunFolder, RunFolderError

if TYPE_CHECKING:
    from tools.sandbox import Grade, Sandbox
    from tools.sandbox.backends import Backend

NAME = "RULEWRIGHT_SANDBOX"
ACCEPTED = "RULEWRIGHT_ACCEPT_NO_ISOLATION"
_UNISOLATED = "process"
_YES = ("1", "true", "yes", "on")
_NO = ("", "0", "false", "no", "off")
_FILE = ".state/sandboxes.json"
_WORST_FIRST = ("none", "medium", "strong")


@dataclass(frozen=True)
class SandboxChoice:
    """A backend as somebody asked for it.

    Attributes:
        name: Its name; None for nobody's word.
        accept_no_isolation: Whether it may isolate nothing.
    """

    name: str | None = None
    accept_no_isolation: bool = False

    def over(self, environment: Mapping[str, str]) -> "SandboxChoice":
        """This choice with what it leaves open read from the environment.

        Raises:
            SettingsError: If the environment's acceptance is neither yes nor no.
        """
        accepted = self.accept_no_isolation
        if self.name in (None, _UNISOLATED):  # another name also overrules the acceptance
            accepted = _accepted(environment) or accepted
        return SandboxChoice(self.name or environment.get(NAME) or None, accepted)


_NOBODYS = SandboxChoice()
_CHOSEN: ContextVar[SandboxChoice] = ContextVar("sandbox choice", default=_NOBODYS)


def sandbox_chosen(name: str | None, no_isolation: bool) -> AbstractContextManager[None]:
    """Inside the block every sandbox that is opened follows this choice."""
    return set_for_a_while(_CHOSEN, SandboxChoice(name, no_isolation))


def chosen_backend() -> "Backend":
    """The backend of the block this is called in.

    Raises:
        SettingsError: If there is none of that name, or it isolates nothing and nobody accepted
            that.
        SandboxUnavailableError: If the platform has no backend of its own.
    """
    from agents.model.settings import SettingsError
    from tools.sandbox.local import backend_named

    choice = _CHOSEN.get().over(os.environ)
    try:
        return backend_named(choice.name, accept_no_isolation=choice.accept_no_isolation)
    except ValueError as error:
        raise SettingsError(f"{error} (settings: {NAME}, {ACCEPTED}=1)") from None


def open_sandbox() -> "Sandbox":
    """A sandbox whose preloaded workers have search and beliefs beside the module.

    Raises:
        SettingsError: See `chosen_backend`.
        SandboxUnavailableError: See `chosen_backend`.
    """
    from agents.players.specs import PRELOAD
    from tools.sandbox import Sandbox

    return Sandbox(chosen_backend(), preload=PRELOAD)


def choice_in_variables() -> dict[str, str]:
    """The choice of the block this is called in, as variables for a process of ours."""
    choice = _CHOSEN.get().over(os.environ)
    variables = {} if choice.name is None else {NAME: choice.name}
    return variables | ({ACCEPTED: "1"} if choice.accept_no_isolation else {})


def describe_grade(grade: "Grade") -> str:
    """One line on how far the sandbox holds; a warning where it does not."""
    line = f"sandbox grade: {grade.name} ({grade.backend}: {', '.join(grade.layers)}; "
    line += f"{grade.reason})"
    return line if grade.name != "none" else f"WARNING, nothing is isolated. {line}"


def _accepted(environment: Mapping[str, str]) -> bool:
    from agents.model.settings import SettingsError

    word = environment.get(ACCEPTED, "").strip().lower()
    if word not in (*_YES, *_NO):
        raise SettingsError(
            f"{ACCEPTED} is {environment[ACCEPTED]!r}; known: {', '.join((*_YES, *_NO[1:]))}"
        )
    return word in _YES


def keep_grade(folder: RunFolder, grade: "Grade") -> None:
    """Note what the node that runs now runs code in, where that is new to the run."""
    known = _kept(folder)
    if grade not in known:
        folder.write_json(_FILE, [one.model_dump(mode="json") for one in (*known, grade)])


def grades_of(folder: RunFolder, now: "Grade") -> "tuple[Grade, ...]":
    """Every grade the run was played under, the weakest first; `now` where none was kept."""
    known = _kept(folder) or (now,)
    return tuple(sorted(known, key=lambda grade: _WORST_FIRST.index(grade.name)))


def _kept(folder: RunFolder) -> "tuple[Grade, ...]":
    from tools.sandbox import Grade

    if not (folder.path / _FILE).exists():
        return ()
    try:
        listed: Any = folder.read_json(_FILE)
        return tuple(map(Grade.model_validate, listed))
    except (ValidationError, TypeError) as error:
        raise RunFolderError(
            f"{folder.path / _FILE} does not list what the run was played in; start the run anew: "
            "rulewright new"
        ) from error
