"""`learn.json` and `report.html`: what a run of `learn` came to, and how."""

import re
from typing import Literal, TypeAlias

from pydantic import BaseModel, JsonValue

from games.checks import Finding
from games.text import number_of, quoted
from graph.learn.calibration import Calibration
from graph.learn.figures import (
    ArenaRound,
    ArenaRow,
    BranchFidelity,
    CallNote,
    Problem,
    StageName,
    TypeRow,
)
from graph.learn.settings import Drawn, LearnSettings
from graph.run.candidates import Candidate
from graph.run.folder import RunFolder
from tools.predicting.arena import Paid
from tools.predicting.inference import Inference
from tools.reporting.page import curve, told_page
from tools.sandbox import Grade

TOLD, COMBINED = "learn.json", "syntheses.json"
Spending: TypeAlias = dict[str, int | float | None]
"""See `agents.model.budget.Usage`."""
_CONTRADICTION = re.compile(r"#\s*CONTRADICTION:\s*(.{1,500})")
_FILES = ("model.py", TOLD, "report.html", "rules.md", "trace.jsonl")


class MatchCounts(BaseModel, frozen=True, extra="forbid"):
    """Matches by what they served for."""

    recorded: int
    training: int
    held_out: int
    failed_when_held_out: tuple[int, ...]
    asked_of_the_environment: int


class InferredFigures(BaseModel, frozen=True, extra="forbid"):
    """Draws of what is hidden, and how many of them reproduce what was seen."""

    function: Drawn
    accuracy: float
    sights: int
    held_out_accuracy: float | None
    held_out_sights: int


class TensorFigures(BaseModel, frozen=True, extra="forbid"):
    """Functions that turn observations into arrays, which are used."""

    used: Literal[True] = True
    width: int
    observations: int
    held_out_accuracy: float | None
    held_out_observations: int


class NoTensors(BaseModel, frozen=True, extra="forbid"):
    """Why no such functions are used."""

    used: Literal[False] = False
    problem: str


class ValueFigures(BaseModel, frozen=True, extra="forbid"):
    """Value functions: whether one is used, and what became of each."""

    used: bool
    notes: tuple[str, ...]


class Contradiction(BaseModel, frozen=True, extra="forbid"):
    """A place where rules and matches part, in the modeller's words."""

    said: str
    in_the_rules: bool


class RecordedFigures(BaseModel, frozen=True, extra="forbid"):
    """The recorded matches, and the environment that they are of."""

    environment: str
    num_players: int
    parameters: dict[str, JsonValue]
    deck: str
    policy: str
    recorded_by: dict[str, str]
    matches: MatchCounts


class PredictedFigures(BaseModel, frozen=True, extra="forbid"):
    """Records that the model predicts; without a model none."""

    accuracy: float | None = None
    distinct_accuracy: float | None = None
    records: int = 0
    held_out_accuracy: float | None = None
    held_out_records: int = 0
    worst: TypeRow | None = None
    phases: tuple[TypeRow, ...] = ()


class LearnReport(RecordedFigures, PredictedFigures, frozen=True, extra="forbid"):
    """A run as one JSON object: what it came to, the curve, and all effective parameters."""

    end: str | None
    reason: str
    candidate: int | None
    bound: str | None
    never_exercised: tuple[str, ...] | None
    calls: dict[StageName, int]
    curve: tuple[CallNote, ...]
    inference: Inference | None
    inferred: InferredFigures | None
    calibration: Calibration | None
    tensors: TensorFigures | NoTensors | None
    values: ValueFigures
    active: tuple[str, ...]
    branch_fidelity: BranchFidelity | Problem | None
    arena: tuple[ArenaRound | Problem, ...]
    contradictions: tuple[Contradiction, ...]
    failed_last: tuple[Finding, ...]
    settings: LearnSettings
    model: str
    usage: Spending
    usage_by_role: dict[str, Spending]
    versions: dict[str, str]
    sandbox: Grade

    @property
    def asked(self) -> str:
        """The calls of the modeller, by what was asked for."""
        return ", ".join(f"{n} {function}" for function, n in self.calls.items())


def read_report(folder: RunFolder) -> LearnReport:
    """Read the report of a run that has ended.

    Raises:
        RunFolderError: If it is not there, or cannot be read.
    """
    wrong = "is no report ({} faults); start the run anew: rulewright learn"
    return folder.read_model(TOLD, LearnReport, wrong)


class Combined(BaseModel, frozen=True, extra="forbid"):
    """Several runs side by side, and which of their models may play (Code World Models App. F).

    Attributes:
        end: The best one's.
        environment: Of the recorded matches.
        syntheses: The reports by name.
        kept: The models that may play, the best first.
        means: What each was paid on average, where they were held against each other.
        matches: In how many matches that was.
        failures: Matches of each that failed.
        note: What was done, and why.
    """

    end: str | None
    environment: str
    syntheses: dict[str, LearnReport]
    kept: tuple[str, ...]
    means: dict[str, float]
    matches: int
    failures: dict[str, int]
    note: str

    def words(self, folder: RunFolder) -> str:
        """The lines that a person reads."""
        lines = []
        for name, one in self.syntheses.items():
            mean = f", paid {self.means[name]:+.3f} on average" if name in self.means else ""
            out = "" if name in self.kept else "; may not play"
            found = (
                "no model" if one.accuracy is None else f"{_accuracy_words(one, one.accuracy)[0]}"
            )
            lines.append(f"{name}: {found}{mean}{out}")
        lines.append(self.note)
        if self.kept:
            players = " --player random" * self.syntheses[self.kept[0]].num_players
            model = folder.path / self.kept[0] / "model.py"
            lines.append(f"play the best with: rulewright match {model}{players}")
        return "\n".join(lines)


def contradictions(source: str, rules: str) -> tuple[Contradiction, ...]:
    """Places where the modeller says that rules and matches part, with its two quotes.

    >>> contradictions('# CONTRADICTION: "Take two." / match 1 takes three', "Take  two. Stop.")
    (Contradiction(said='"Take two." / match 1 takes three', in_the_rules=True),)
    """
    words = " ".join(rules.split()).lower()
    found = []
    for said in _CONTRADICTION.findall(source):
        quote = said.partition('"')[2].partition('"')[0].strip().lower()
        there = bool(quote) and quote in words
        found.append(Contradiction(said=said.strip(), in_the_rules=there))
    return tuple(found)


def final_words(report: LearnReport, folder: RunFolder) -> str:
    """The lines that a person reads at the end."""
    lines = []
    if report.accuracy is None:
        lines.append(f"No model: {quoted(report.reason)}")
    else:
        lines += [*_accuracy_words(report, report.accuracy), *_further_words(report)]
        players = " --player random" * report.num_players
        lines.append(f"play it with: rulewright match {folder.path / 'model.py'}{players}")
    return "\n".join([*lines, f"Everything is in {folder.path}: {', '.join(_FILES)}"])


def _accuracy_words(report: LearnReport, accuracy: float) -> list[str]:
    """The end, how much of the records is predicted, and what it cost."""
    held, count = report.held_out_accuracy, number_of(report.held_out_records, "record")
    unasked = "held-out matches not asked" if report.matches.held_out else "none held out"
    beside = unasked if held is None else f"held out {held:.4f} on {count}"
    bound = "≥ " if report.bound else ""
    said = f"accuracy {bound}{accuracy:.4f} on {report.records} records, {beside}"
    end = str(report.end).replace("_", " ")
    used = report.usage
    lost = f", {used['failed_calls']} without a usable reply" if used["failed_calls"] else ""
    tokens = f"{used['tokens_in']:,} tokens in, {used['tokens_out']:,} out"
    return [
        f"{end}: {said}; calls: {report.asked or 'none'}",
        f"the model was asked {number_of(int(used['calls'] or 0), 'time')}{lost}: {tokens}",
    ]


def _further_words(report: LearnReport) -> list[str]:
    """Draws, arrays, value functions, play, and what is open."""
    lines = []
    exact = report.calibration
    held = f"held against the exact posterior at {exact.places if exact else 0}"
    if drawn := report.inferred:
        figure = f"accuracy {drawn.accuracy:.4f} at {drawn.sights} places"
        lines.append(f"{drawn.function}: {figure}, {held}")
    elif exact:
        lines.append(f"{report.inference}: {held}")
    if exact and exact.untested:
        lines.append(f"at none of {quoted('; '.join(exact.untested))}")
    if isinstance(arrays := report.tensors, TensorFigures):
        size = f"{arrays.width} numbers and back"
        lines.append(f"observations as arrays of {size}: all of {arrays.observations}")
    elif arrays is not None:
        lines.append(f"no arrays of observations: {quoted(arrays.problem)}")
    lines += [f"value functions: {quoted(note)}" for note in report.values.notes[-1:]]
    if report.arena and isinstance(newest := report.arena[-1], ArenaRound):
        lines += map(_played, newest.rows)
    if report.reason:
        lines.append(quoted(report.reason))
    return lines + [quoted(f"rules and matches part: {one.said}") for one in report.contradictions]


def _played(row: ArenaRow) -> str:
    """A row of the arena in words: what it predicted, lost, and was paid."""
    more = ""
    both = (row.paid_over_the_others, "over the others"), (row.paid_to_every_seat, "to every seat")
    for paid, to_whom in both:
        if isinstance(paid, Paid):
            interval = f"({paid.low:.3f} to {paid.high:.3f})"
            more = f", {paid.value:+.3f} {interval} paid {to_whom}"
    told = f"{row.distinct_right} of {row.distinct} transitions predicted, " if row.distinct else ""
    lost = f"{row.forfeits} of {row.matches} matches forfeited"
    return f"in play against {row.opponent}: {told}{lost}{more}"


def page_of(report: LearnReport, chosen: Candidate | None) -> str:
    """The report as one self-contained page; the same run gives the same bytes."""
    from markupsafe import Markup

    reached = [note.best for note in report.curve if note.function != "value"]
    plot = curve(reached, title="Best accuracy", units=("call", "accuracy")) if reached else ""
    return told_page(
        "graph.learn",
        words=_words,
        filters={
            "figure": lambda value: "not asked" if value is None else f"{value:.4f}",
            "words": _words,
        },
        told=report.model_dump(mode="json"),
        calls=report.curve,
        chosen=chosen,
        asked=report.asked,
        plot=Markup(plot),  # ours
    )


def _words(value: object) -> str:
    """A value as a person reads it.

    >>> _words({"forfeit": 1, "faults": [], "bound": None})
    'forfeit: 1, faults: none, bound: none'
    """
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_words(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return "none" if value is None else str(value)
