"""Eval: do learned models draw what is hidden, as often as it is so?

For every recorded model with an inference function, fresh matches of the environment give places
at which a seat knows part of the state. A place counts where all of its draws reproduce what the
seat saw (Code World Models §4.2; in a closed deck §4.4, a lower bound). Beyond the paper, draws are
held against the exact posterior where it can be enumerated. The paper's test accuracies of hidden
history (Table 1), hidden state (Table 8) and closed deck (Table 2) stand beside ours.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agents.model.settings import ModelSettings
from agents.players.registry import PRELOAD
from agents.recording import RecordPlan
from evals.cwm.synthesis import (
    DRAWS,
    MODEL,
    Learned,
    LearningTask,
    draws_of,
    learned,
    recorded_matches,
    recording_of,
    tasks,
)
from evals.results import (
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    read_data,
    resized,
)
from games.environments.registry import environment_named
from graph.learn.calibration import calibrated
from graph.learn.matches import open_matches
from tools.sandbox import Sandbox
from tools.sources import learned_module

_SEED = 2_000  # what the seed of the fresh matches is larger by
_RARE = 0.0005  # one place in two thousand is as odd by chance
_TABLES = read_data("cwm/published.json")["inference"]


@dataclass(frozen=True)
class InferenceSize:
    """Amount of places that are asked.

    Attributes:
        matches: Fresh matches a task.
        simulations: Of the searches that play them, a decision.
        sights: Places at most.
        names: Tasks; none for all.
    """

    matches: int
    simulations: int
    sights: int
    names: tuple[str, ...] = ()


FULL = InferenceSize(100, 30, 400)
QUICK = InferenceSize(6, 4, 40, ("leduc_poker", "quadranto", "quadranto_closed", "bargaining"))


Learn: TypeAlias = Callable[[LearningTask, Path, ModelSettings], Learned]


def run(
    options: EvalOptions, size: InferenceSize | None = None, learn: Learn = learned
) -> EvalResult:
    """Ask every recorded model that draws what is hidden.

    Args:
        options: Of the evaluation.
        size: How much is asked; None for that of the options.
        learn: Learns a task from its recorded modeller.

    Raises:
        NothingScoredError: If no recorded model does.
    """
    usual = size or (QUICK if options.quick else FULL)
    size = resized(usual, options, tasks(), games="names")
    samples: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Sandbox(preload=PRELOAD) as sandbox:
        for name, task in tasks().items():
            if task.base or not recording_of(name).exists() or name not in (size.names or (name,)):
                continue
            base = Path(folder) / name
            base.mkdir()
            met = learn(task, base, ModelSettings(model=MODEL, replay=recording_of(name)))
            if met.result.report.inference is not None:
                row = _asked(task, met, base / "fresh.jsonl", options.seed, size, sandbox)
                samples.append({"task": name, **row})
                options.tell(f"{name}: {samples[-1]}")
    if not samples:
        raise NothingScoredError("no recorded model has an inference function")
    return EvalResult(
        scores=tuple(_scores(samples)),
        samples=tuple(samples),
        effective={
            "matches": size.matches,
            "simulations": size.simulations,
            "sights": size.sights,
            "draws": DRAWS,
            "modeller": "recorded, answered by hand",
            "published": "Code World Models, Tables 1, 2 and 8, test",
        },
    )


def _asked(
    task: LearningTask, met: Learned, path: Path, seed: int, size: InferenceSize, sandbox: Sandbox
) -> Row:
    """The draws of one model at places of fresh matches."""
    function = met.result.report.inference or "resample_history"
    environment = environment_named(task.environment)
    plan = RecordPlan(size.matches, "mixed", size.simulations, seed + _SEED, task.seat)
    matches = recorded_matches(task, plan, path, sandbox)
    found = draws_of(met, task, matches, size.sights, seed, sandbox)
    row: Row = {
        "function": function,
        "accuracy": found.accuracy,
        "bound": ">=" if task.seat is not None else "",
        "sights": found.sights,
        "paper, by table": _TABLES.get(task.environment.rpartition(":")[2], {}),
    }
    if opened := open_matches(matches):
        module = learned_module(
            met.source,
            name="learned",
            num_players=environment.num_players,
            initial_state=met.start,
            parameters=environment.parameters,
        )
        drawn = calibrated(sandbox, module, opened, function, start=met.start, seed=seed)
        row["calibration"] = drawn.model_dump(mode="json")
    return row


def _scores(rows: Sequence[dict[str, Any]]) -> Iterator[Score]:
    for deck, bound in (("open deck", ""), ("closed deck, a lower bound", ">=")):
        found = [row for row in rows if row["bound"] == bound]
        if found:
            name = f"sights whose draws all fit, {deck}, lowest of the tasks"
            lowest = min(float(row["accuracy"]) for row in found)
            yield Score(name, lowest, sum(int(row["sights"]) for row in found))
    told = [row["calibration"] for row in rows if "calibration" in row]
    measured = [one for one in told if one["distance"] is not None]
    if measured:
        name = "least probability of draws as odd as a model's, under the exact posterior"
        least = min(one["least_probability"] for one in measured)
        yield Score(name, least, sum(one["places"] for one in measured), at_least=_RARE)
