"""Eval `cwm-synthesis`: what models learned from rules and five matches predict of fresh ones.

A task is a game of `tests/recordings/learned.yaml`. Its recorded modeller is replayed; where a
model is configured, it is asked live for every task. What is held out are matches in which each
seat plays at random or searches, by chance; no run saw them. Of them most transitions may be the
same, so distinct ones are counted apart, and the headline is the worst phase.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, Field, JsonValue, ValidationError

from agents.model.errors import RecordingError, ReplayMissError
from agents.model.settings import ModelSettings
from agents.recording import RecordPlan, record_matches
from evals.bench.timings import interleaved, seconds
from evals.results import (
    EvalError,
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    read_data,
    resized,
    score_over,
)
from games.environments.reading import read_trajectories
from games.environments.registry import environment_named
from games.trajectories import OpenTrajectory, Trajectory
from games.values import Json, State
from graph.learn.learning import Learning
from graph.learn.matches import all_sights, some_sights
from graph.learn.runs import LearnResult, make_learning, run_learning
from graph.learn.settings import InferenceChoice, LearnRequest, LearnSettings
from graph.run.folder import create_folder
from graph.run.opening import model_settings
from graph.run.settings import RefineStrategy
from tools.playtest.runner import Workers, play_all
from tools.predicting.inference import DrawTest, Inferred, inferred
from tools.predicting.transition import Predicted, RecordQuestions, predicted
from tools.sandbox import Sandbox
from tools.sandbox.module import environment_in

RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"
MODEL = "answered-by-hand"
BY_HAND = "recorded, answered by hand"
CLOSED = "_closed"
MOST_SYNTHESES = 20
_AS_RECORDED: Mapping[str, JsonValue] = {}
_HELD_SEED = 1_000  # what the seed of the held-out matches is larger by
_RECORDS, _REPEATS, _CANDIDATES = 1000, 7, 2  # of the tests of candidates
DRAWS = 3  # at a place where a seat knows part of the state
_SIGHTS, _DEADLINE_S = 200, 600.0
PUBLISHED: Mapping[str, Row] = read_data("cwm/published.json")["synthesis"]


class LearningTask(BaseModel, frozen=True, extra="forbid"):
    """A game and the recorded matches that a model is learned from.

    Attributes:
        environment: Its name.
        matches: Recorded matches.
        policy: Who played them; see `agents.recording.RecordPlan`.
        seat: Whose view a closed deck is; None for an open deck.
        seed: Of the matches and of the run.
        active: Further matches that the environment may be asked for.
        max_calls: Calls of the modeller at most.
        tensors: Of these at most so many for functions that turn observations into arrays.
        base: The recorded task whose model they stand on; its exchanges come first in this one's.
        refine: See `graph.learn.settings.LearnSettings`.
        inference: The same.
        syntheses: Models learned where a model is asked live, each from matches of a seed of its
            own; a recording holds one.
    """

    environment: str
    matches: int = 5
    policy: str = "random"
    seat: int | None = None
    seed: int = 31
    active: int = 0
    max_calls: int = 20
    tensors: int = 0
    base: str = ""
    refine: RefineStrategy = "tree"
    inference: InferenceChoice = "auto"
    syntheses: int = Field(default=1, ge=1, le=MOST_SYNTHESES)

    @property
    def game(self) -> str:
        """The game by its name in the paper's tables; a closed deck is its own game."""
        return self.environment.rpartition(":")[2] + ("" if self.seat is None else CLOSED)

    def each(self) -> "Iterator[tuple[str, LearningTask]]":
        """Every synthesis of it, with what its name ends with."""
        for number in range(self.syntheses):
            end = f", synthesis {number + 1}" if self.syntheses > 1 else ""
            yield end, self.model_copy(update={"seed": self.seed + number})


@dataclass(frozen=True)
class SynthesisSize:
    """Amount of matches that are held out.

    Attributes:
        matches: Fresh matches a game.
        simulations: Of the searches that play them, a decision.
        games: Tasks to run; None for all.
    """

    matches: int
    simulations: int
    games: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Learned:
    """A task's outcome.

    Attributes:
        result: Of the run.
        source: The best candidate's; empty where there is none.
        start: The state that it begins a match with.
    """

    result: LearnResult
    source: str
    start: State


FULL = SynthesisSize(100, 30)
TESTED = ("connect_four", "gin_rummy")
"""Tasks of which a full run says how long the tests of candidates take."""
QUICK = SynthesisSize(10, 4, ("tic_tac_toe", "leduc_poker", "quadranto"))


def tasks(settings: Mapping[str, JsonValue] = _AS_RECORDED) -> dict[str, LearningTask]:
    """Every task by its name.

    Args:
        settings: What is set instead of what they say.

    Raises:
        EvalError: If a task has no such setting.
    """
    told: dict[str, Any] = yaml.safe_load((RECORDINGS / "learned.yaml").read_text("utf-8"))
    try:
        found = {
            name: LearningTask.model_validate({**task, **settings}) for name, task in told.items()
        }
    except ValidationError as error:
        wrong = error.errors()[0]
        said = f"--set {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}; known are "
        raise EvalError(said + ", ".join(LearningTask.model_fields)) from error
    return found


def recording_of(name: str, recordings: Path = RECORDINGS) -> Path:
    """Where the exchanges of a task's recorded modeller lie."""
    return recordings / "learned" / f"{name}.json"


def learned(task: LearningTask, base: Path, model: ModelSettings) -> Learned:
    """Record a task's matches and learn from them.

    Args:
        task: What is learned.
        base: An empty folder to work in.
        model: Who is asked: an endpoint, or a recording.
    """
    path = base / "matches.jsonl"
    plan = RecordPlan(task.matches, task.policy, seed=task.seed, seat=task.seat)
    with Sandbox() as sandbox:
        recorded_matches(task, plan, path, sandbox)
    settings = LearnSettings(
        seed=task.seed,
        quick=True,
        closed_deck=task.seat is not None,
        max_calls=task.max_calls,
        tensors=task.tensors,
        active=task.active,
        refine=task.refine,
        inference=task.inference,
        environment=task.environment if task.active else "",
        arena=0,
    )
    folder = create_folder(base / "run", title="learn", runs=base)
    rules = environment_named(task.environment).rules
    request = LearnRequest(rules=rules, trajectories=str(path), settings=settings)
    context = make_learning(folder, request, model)
    with context.sandbox:
        result = run_learning(folder, context)
        number = result.report.candidate
        if number is None:
            return Learned(result, "", {})
        source = result.state.candidate(number).source
        return Learned(result, source, Learning(context, result.state).start_of(source))


def recorded_matches(
    task: LearningTask, plan: RecordPlan, path: Path, sandbox: Sandbox
) -> list[Trajectory]:
    """Matches of a task's environment, recorded into a file."""
    with environment_in(sandbox, environment_named(task.environment)) as environment:
        record_matches(environment, plan, path)
    return [*read_trajectories(path)[1]]


def draws_of(
    met: Learned,
    task: LearningTask,
    matches: Sequence[Trajectory],
    most: int,
    seed: int,
    sandbox: Sandbox,
) -> Inferred:
    """The draws of a learned source at some places of matches, `most` of them."""
    report = met.result.report
    return inferred(
        sandbox,
        met.source,
        some_sights(all_sights(matches, report.num_players, task.seat), most, seed),
        DrawTest(
            function=report.inference or "resample_history",
            initial_state=met.start,
            draws=DRAWS,
            seed=seed,
            closed=task.seat is not None,
        ),
    )


def run(
    options: EvalOptions, size: SynthesisSize | None = None, recordings: Path = RECORDINGS
) -> EvalResult:
    """Learn every task, and hold what came of it against fresh matches.

    Raises:
        NothingScoredError: If there is neither a recording nor a model.
    """
    usual = size or (QUICK if options.quick else FULL)
    known = {name: task for name, task in tasks(options.settings).items() if not task.base}
    size = resized(usual, options, known)  # the model of a task with tensors is another task's
    live = model_settings()
    samples: list[Row] = []
    for name, task in known.items():
        path = recording_of(name, recordings)
        if name not in (size.games or known) or not (live.model or path.exists() or size.games):
            continue
        replayed = live.model_copy(update={"model": MODEL, "replay": path})
        for end, one in task.each() if live.model else [("", task)]:
            row: Row = {"task": f"{name}{end}", "game": task.game}
            try:
                row |= _found(one, name, live if live.model else replayed, options.seed, size)
            except (RecordingError, ReplayMissError) as error:
                row |= {"missing": f"no recording of this, and no model is configured: {error}"}
            row |= {"paper": PUBLISHED[name]} if name in PUBLISHED else {}
            samples.append(row)
            options.tell(f"{row['task']}: {row}")
    scored = [row for row in samples if "missing" not in row]
    if not scored:
        raise NothingScoredError("no task has a recording; set RULEWRIGHT_MODEL to ask a model")
    return EvalResult(
        scores=_scores(scored, len(samples) - len(scored)),
        samples=tuple(samples),
        effective={
            "held_out_matches": size.matches,
            "simulations": size.simulations,
            "modeller": live.model or BY_HAND,
            "set": dict(options.settings),
            "protocol": "ours: our rule texts, prompts and encodings; a task's five matches are of "
            "random play as the paper's",
        },
    )


def _found(
    task: LearningTask, name: str, model: ModelSettings, seed: int, size: SynthesisSize
) -> Row:
    """One synthesis, held against fresh matches."""
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder) / "held.jsonl"
        met = learned(task, Path(folder), model)
        row = _held_against(task, met, held, seed, size)
        return row | (_tested(met.source, held) if size == FULL and name in TESTED else {})


def _held_against(
    task: LearningTask, met: Learned, path: Path, seed: int, size: SynthesisSize
) -> Row:
    """Figures of a learned source in matches that nobody was shown."""
    report = met.result.report
    row: Row = {
        "end": report.end,
        "calls": dict(report.calls),
        "training": report.accuracy,
        "training inference": report.accuracy  # in a closed deck the draws are all that is tested
        if task.seat is not None
        else report.inferred and report.inferred.accuracy,
        "never_exercised": None if (never := report.never_exercised) is None else [*never],
    }
    if not met.source:
        return row
    plan = RecordPlan(size.matches, "mixed", size.simulations, seed + _HELD_SEED, task.seat)
    with Sandbox() as sandbox:
        matches = recorded_matches(task, plan, path, sandbox)
        if opened := [one for one in matches if isinstance(one, OpenTrajectory)]:
            found = predicted(
                sandbox, met.source, RecordQuestions.of(opened), deadline_s=_DEADLINE_S
            )
            row |= _transitions(found)
        if report.inference:
            drawn = draws_of(met, task, matches, _SIGHTS, seed, sandbox)
            row |= {"inference": drawn.accuracy, "sights": drawn.sights}
            told = report.calibration
            row["calibration"] = told and told.model_dump(
                mode="json"
            )  # against the exact posterior; None: too large
    return row


def _tested(source: str, path: Path) -> Row:
    matches = [one for one in read_trajectories(path)[1] if isinstance(one, OpenTrajectory)]
    with Sandbox() as sandbox:
        return judging_rates(source, matches, sandbox)


def judging_rates(source: str, matches: Sequence[OpenTrajectory], sandbox: Sandbox) -> Row:
    """Seconds that testing takes, for two candidates in turn and at once; the best of seven counts.

    Args:
        source: A candidate.
        matches: What it is held against, up to some 1,000 records of them.
        sandbox: Where it runs.
    """
    asked = RecordQuestions()
    for number, match in enumerate(matches):
        if len(asked.records) < _RECORDS:
            asked.add(number, match)

    def tested(_: int) -> Json:
        return predicted(sandbox, source, asked).right

    def spent(jobs: int) -> float:
        pair, workers = ((n, n) for n in range(_CANDIDATES)), Workers(jobs, "threads")
        return seconds(lambda: list(play_all(pair, tested, journal=None, workers=workers)))

    found = interleaved({jobs: partial(spent, jobs) for jobs in (1, _CANDIDATES)}, _REPEATS)
    one, two = min(found[1]) / _CANDIDATES, min(found[_CANDIDATES])
    return {
        "records tested": len(asked.records),
        "seconds a candidate": round(one, 3),
        "two at once over in turn": round(_CANDIDATES * one / two, 2),
    }


def _transitions(found: Predicted) -> Row:
    worst = min(found.rows, key=lambda one: one.right / one.records)
    return {
        "transitions": found.accuracy,
        "records": found.records,
        "distinct": found.distinct_right / found.distinct,
        "distinct_records": found.distinct,
        "worst": worst.right / worst.records,
        "worst_of": f"{worst.phase}, {worst.action} ({worst.right} of {worst.records})",
    }


def _scores(rows: Sequence[Row], missing: int) -> tuple[Score, ...]:
    calls = [*(sum(row["calls"].values()) for row in rows), *[None] * missing]
    return (
        *(
            score_over([row[key] for row in rows if key in row], f"{key}, lowest of the tasks", min)
            for key in ("worst", "transitions", "distinct", "inference")
            if any(key in row for row in rows)
        ),
        score_over(calls, "calls, most of the tasks", max, at_most=20),
        *_timed(rows),
    )


def _timed(rows: Sequence[Row]) -> Iterator[Score]:
    tested = {row["task"]: row for row in rows if "records tested" in row}
    if tested:
        gains = [row["two at once over in turn"] for row in tested.values()]
        name = "two candidates at once over in turn, least of the tasks"
        yield score_over(gains, name, min, at_least=1.6)
    if (timed := tested.get("connect_four")) is not None:
        name = "seconds to test a candidate on 1,000 records of connect four"
        spent = 1000 * timed["seconds a candidate"] / timed["records tested"]
        yield Score(name, spent, 1, at_most=0.6)
