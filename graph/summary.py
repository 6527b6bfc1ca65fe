"""What a run came to, for a person and for a program."""

from typing import Any

from graph.folder import RunFolder
from graph.results import RunResult
from graph.state import RunState

_FILES = (
    "rulebook.md",
    "game.py",
    "design.json",
    "checks.json",
    "players",
    "records",
    "report.html",
    "run.json",
    "trace.jsonl",
)


def exit_code(state: RunState) -> int:
    """0: a checked game. 1: a game was written but does not pass. 2: nothing could be made."""
    if state.end == "made":
        return 0
    return 1 if state.candidates else 2


def final_text(state: RunState) -> str:
    """The chat's last message: what was made and where, or why not."""
    if state.end == "question":
        return state.reason
    where = f"Everything is in {state.folder}"
    if state.end != "made" or state.design is None:
        return f"No finished game: {state.reason}\n{where}"
    lines = [f"{state.design.title}: {state.design.summary}", _checked(state)]
    missed = [clause for clause in state.design.clauses if clause.status == "not_honoured"]
    lines += [f"Not honoured: “{clause.text}” ({clause.reason})" for clause in missed]
    lines.append(f"{where}: open report.html, play with: rulewright play {state.folder}")
    lines += [f"Note: {note}" for note in state.notes]
    return "\n".join(lines)


def result_object(result: RunResult) -> dict[str, Any]:
    """The one JSON object of `new` and `resume`."""
    state = result.state
    return {
        "end": "waiting" if result.question is not None else state.end,
        "reason": state.reason,
        "question": result.question["ask"] if result.question is not None else None,
        "folder": str(result.folder.path),
        "title": state.design.title if state.design else None,
        "family": state.design.family if state.design else None,
        "players": state.design.num_players if state.design else None,
        "parameters": state.design.parameters if state.design else None,
        "clauses": [clause.model_dump(mode="json") for clause in state.design.clauses]
        if state.design
        else [],
        "files": written_files(result.folder),
        "evaluation": state.evaluation,
        "sandbox": result.sandbox.model_dump(mode="json"),
        "notes": list(state.notes),
        "refinements": state.rounds,
        "seconds": round(result.seconds, 3),
    }


def written_files(folder: RunFolder) -> list[str]:
    """Which of a run's files are there."""
    return [name for name in _FILES if (folder.path / name).exists()]


def _checked(state: RunState) -> str:
    if state.accepted is None:
        return "No candidate passed its checks."
    findings = state.candidate(state.accepted).findings or ()
    after = f" after {state.rounds} refinements" if state.rounds else ""
    return f"All {len(findings)} checks passed{after}."
