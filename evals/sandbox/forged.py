"""Eval: can a module that passes `check`, or a heuristic beside one, forge a result?

A forgery works if `check` passes it and a command then reports an estimate that the honest game
does not give, with nothing said against it. A refusal, a void result and the honest estimate are
all as they should be. Sound games stand beside: they must pass, and get their honest estimates.
"""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from evals.results import EvalError, EvalOptions, EvalResult, Row, Score, read_data, score_over

_LIMIT_S = 900
_SEED = 918273645546372819  # too large to be guessed
_UNAUDITED = "not audited"


class _Share(BaseModel, frozen=True):
    value: float
    low: float
    high: float


class _Entrant(BaseModel, frozen=True):
    win_share: _Share | None = None
    score: _Share | None = None


class _Report(BaseModel, frozen=True):
    """The parts of a report by `match` (`entrants`) or `tournament` (`pairs`) that are judged."""

    entrants: tuple[_Entrant, ...] = ()
    pairs: tuple[_Entrant, ...] = ()


class ForgeryCase(BaseModel, frozen=True, extra="forbid"):
    """One module, and the command that it tries to mislead.

    Attributes:
        name: The module's file, without `.py`.
        kind: The kind of its trick; "sound" for an honest game.
        arguments: Of the command; `{module}` is the module's path, `{folder}` its folder.
        honest: The first entrant's share in the honest game.
        tolerance: The distance from `honest` that chance alone hardly ever exceeds.
        tries: Times that check and command may be tried: some tricks need luck with addresses.
        seeded: Whether the command is given a large seed; else its own default holds.
        quick: Whether the small variant tries it.
        reason: Its trick in a sentence.
    """

    name: str
    kind: str
    arguments: str
    honest: float = Field(ge=0, le=1)
    tolerance: float = Field(gt=0, lt=1)
    tries: int = Field(default=1, ge=1)
    seeded: bool = True
    quick: bool = False
    reason: str


def run(options: EvalOptions) -> EvalResult:
    """Check every module, and let the command report where that passes."""
    rows = []
    with as_file(files("evals").joinpath("sandbox/forgeries")) as folder:
        for case in forgery_cases():
            if case.quick or not options.quick:
                row = _tried(case, folder)
                rows.append(row)
                told = row["withheld"] or row["reported"]
                options.tell(f"{case.name}: check {row['check']}, {told}, works: {row['works']}")
    return EvalResult(
        scores=scores_of(rows), samples=tuple(rows), effective={"seed_of_commands": _SEED}
    )


def forgery_cases() -> list[ForgeryCase]:
    """Every case, as it was written."""
    rows = read_data("sandbox/forgeries/cases.yaml")
    return TypeAdapter(list[ForgeryCase]).validate_python(rows)


def scores_of(rows: Sequence[Row]) -> tuple[Score, Score]:
    """The number of forgeries that work, and the share of sound games that are reported as such."""
    sound = [row["works"] for row in rows if row["kind"] == "sound"]
    forged = [row["works"] for row in rows if row["kind"] != "sound"]
    return (
        score_over(forged, "forgeries that work", sum, at_most=0),
        score_over(sound, "sound games that pass with their honest estimates", at_least=1),
    )


def judge_forgery(case: ForgeryCase, checked: int, report: Mapping[str, JsonValue] | None) -> Row:
    """The row of one case.

    Args:
        case: The forgery, or the sound game.
        checked: Exit code of `check`: 0 passed, 1 failed.
        report: Of the command, None where it was not run or printed none.
    """
    reported, withheld = (None, "") if report is None else _reported(report)
    # An interval that holds the honest share is no forgery: void matches widen it.
    astray = reported is not None and (
        abs(reported.value - case.honest) > case.tolerance
        and not reported.low <= case.honest <= reported.high
    )
    if case.kind == "sound":
        works = checked == 0 and reported is not None and not astray
    else:
        works = checked == 0 and astray
    return {
        "id": case.name,
        "kind": case.kind,
        "what": case.reason,
        "check": {0: "passed", 1: "failed"}.get(checked, f"exit {checked}"),
        "reported": reported and reported.value,
        "withheld": withheld,
        "honest": [case.honest, case.tolerance],
        "works": works,
    }


def _reported(report: Mapping[str, JsonValue]) -> tuple[_Share | None, str]:
    """The first entrant's share, or None and the words that stand in its place."""
    for key, value in report.items():
        told = str(value or "")
        if told and (key in ("no_result", "error", "not_audited") or told.startswith(_UNAUDITED)):
            return None, f"{key}: {told}"
    read = _Report.model_validate(report)
    for first in (*read.entrants[:1], *read.pairs[:1]):
        if share := first.win_share or first.score:
            return share, ""
    return None, "the report holds no share"


def _tried(case: ForgeryCase, folder: Path) -> Row:
    """The row of a case: its best try, where luck is part of the trick."""
    module = folder / f"{case.name}.py"
    rest = ["--seed", str(_SEED)] if case.seeded else []
    asked = [word.format(module=module, folder=folder) for word in shlex.split(case.arguments)]
    for _ in range(case.tries):
        checked, _words = _command(["check", str(module)])
        if checked == 0:
            break
    row = judge_forgery(case, checked, None)
    for _ in range(case.tries if checked == 0 else 0):
        code, words = _command([*asked, *rest, "--json"])
        report = json.loads(words) if words.startswith("{") else {"error": f"exit {code}"}
        row = judge_forgery(case, checked, report)
        if row["works"]:
            break
    return row


def _command(arguments: Sequence[str]) -> tuple[int, str]:
    """Exit code and standard output of `rulewright`."""
    program = shutil.which("rulewright", path=str(Path(sys.executable).parent))
    if program is None:
        raise EvalError("there is no command rulewright beside this Python; install the program")
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return 124, ""
    return done.returncode, done.stdout
