"""Where a run stands when the process hands back."""

from dataclasses import dataclass
from typing import Any

from graph.folder import RunFolder
from graph.state import RunState
from tools.sandbox import Grade


@dataclass(frozen=True)
class RunResult:
    """One process's part of a run.

    Attributes:
        folder: Its folder.
        state: Its last state.
        question: What it waits for a person to answer; None where it ended.
        seconds: Wall time of this process's part of the run.
        sandbox: The weakest that the run's generated code was run in.
    """

    folder: RunFolder
    state: RunState
    question: dict[str, Any] | None
    seconds: float
    sandbox: Grade
