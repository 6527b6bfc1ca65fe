"""Results of an evaluation: scores with their thresholds; the evaluations, and what one is given.

A result can also stand as an experiment of LangSmith, over a dataset of its samples.
"""

import json
import sys
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.dataclasses import dataclass as value_class

from games.text import read_yaml

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from langsmith import Client
    from langsmith.schemas import Example

_ASKED = ("id", "set", "kind", "what", "prompts", "shell", "files", "env")
_WANTED = "wanted"
_NAMESPACE = uuid.UUID("6f0c3f5e-3c55-4b0f-9d0a-7f9f3f3f8a11")
Row: TypeAlias = dict[str, Any]
"""One JSON object of a result: a sample, or a row of a table."""
Tell: TypeAlias = Callable[[str], None]
"""Takes a line of progress."""


def read_data(path: str) -> Any:  # noqa: ANN401 - whoever asks knows what it holds
    """The contents of a YAML or JSON file below `evals`."""
    text = files("evals").joinpath(path).read_text(encoding="utf-8")
    return json.loads(text) if path.endswith(".json") else read_yaml(text)


@dataclass(frozen=True)
class EvalOptions:
    """Options of an evaluation.

    Attributes:
        seed: Of all that is drawn; some evaluations draw nothing.
        tell: Takes lines of progress.
        quick: Whether the small variant is run, which ends in two minutes.
        folder: Where finished games are kept, so that a run that was ended goes on there; None
            keeps nothing.
        workers: Processes that play at the same time, at least 1.
        games: Games or tasks to measure; empty for all.
        matches: Of each of them; 0 for the usual number.
        simulations: Of a decision; 0 for the usual number.
        settings: Further settings of its tasks, by name.
    """

    seed: int = 0
    tell: Tell = lambda _: None
    quick: bool = False
    folder: Path | None = None
    workers: int = 1
    games: tuple[str, ...] = ()
    matches: int = 0
    simulations: int = 0
    settings: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no evaluation can follow."""
        if self.workers < 1:
            raise ValueError(f"workers is {self.workers}; required: at least 1")


SizeT = TypeVar("SizeT", bound="DataclassInstance")


def resized(
    size: SizeT,
    options: EvalOptions,
    known: Iterable[str],
    *,
    games: str = "games",
    matches: str = "matches",
) -> SizeT:
    """The size of an evaluation with what the options say in the place of the usual.

    Args:
        size: The usual one.
        options: What was asked for.
        known: Games that there are.
        games: Its field of games.
        matches: Its field of matches.

    Raises:
        EvalError: If there is no such game.
    """
    if unknown := sorted({*options.games} - {*known}):
        said = f"no game {', '.join(unknown)} is measured; known: {', '.join(sorted(known))}"
        raise EvalError(said)
    asked = {
        games: options.games,
        matches: options.matches,
        "simulations": options.simulations,
    }
    return replace(size, **{name: value for name, value in asked.items() if value})


class EvalError(Exception):
    """An evaluation cannot be run or scored; the message says why."""


class NothingScoredError(EvalError):
    """Every sample failed to be scored: there is no result to report."""


@value_class(frozen=True, config=ConfigDict(extra="forbid"))
class Score:
    """One scored number with its threshold.

    Attributes:
        name: What was scored.
        value: The score.
        scored: Samples it rests on.
        at_least: Threshold from below, or None.
        at_most: Threshold from above, or None.
        unscored: Samples that could not be scored; they count for nobody.
    """

    name: str
    value: float
    scored: int = Field(ge=1)
    at_least: float | None = None
    at_most: float | None = None
    unscored: int = Field(default=0, ge=0)

    @property
    def passed(self) -> bool:
        """True where it keeps its thresholds; an unscored sample breaks a threshold."""
        low = self.at_least is None or (self.value >= self.at_least and not self.unscored)
        high = self.at_most is None or (self.value <= self.at_most and not self.unscored)
        return low and high


class EvalResult(BaseModel, frozen=True, extra="forbid"):
    """The result of one evaluation.

    Attributes:
        name: The evaluation, as `EvalInfo.run` fills it in.
        scores: Its scores.
        samples: One object a sample, with what was found.
        effective: Effective parameters, sandbox grade; `EvalInfo.run` adds seed and versions.
        unscored: Numbers that could not be had at all, name to reason; any of them fails the
            result, as no value stands for it.
    """

    name: str = ""
    scores: tuple[Score, ...]
    samples: tuple[dict[str, JsonValue], ...]
    effective: dict[str, JsonValue]
    unscored: dict[str, str] = Field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True where every score keeps its thresholds and none is missing."""
        return all(score.passed for score in self.scores) and not self.unscored

    def as_text(self) -> str:
        """For a terminal."""
        lines = []
        for score in self.scores:
            bound = "" if score.at_least is None else f", required at least {score.at_least:g}"
            bound += "" if score.at_most is None else f", required at most {score.at_most:g}"
            unscored = f", {score.unscored} not scored" if score.unscored else ""
            bounded = score.at_least is not None or score.at_most is not None
            state = ("passed" if score.passed else "FAILED") if bounded else "shown "
            lines.append(
                f"{state} {score.name}: {score.value:.3f} over {score.scored}{unscored}{bound}"
            )
        lines += [f"NOT SCORED {name}: {reason}" for name, reason in self.unscored.items()]
        lines.append(f"{self.name}: {'passed' if self.passed else 'failed'}")
        return "\n".join(lines)


def as_experiment(result: EvalResult, client: "Client", *, upload: bool) -> str:
    """The result as an experiment: an evaluator a figure of its samples, summary scores its scores.

    A sample's id is made from what it asks and wants, so that it joins the dataset once.

    Args:
        result: Of the evaluation; its samples have a prompt or an id.
        client: Of LangSmith.
        upload: Whether dataset and experiment go to the service; else the same is run here alone.

    Returns:
        The experiment's name.

    Raises:
        EvalError: If the samples do not say what was asked, or the service takes nothing.
    """
    from langsmith.utils import LangSmithError

    try:
        return _experiment(result, client, upload=upload)
    except LangSmithError as error:
        raise EvalError(
            f"LangSmith did not take the experiment: {error}. Check LANGSMITH_API_KEY and "
            "LANGSMITH_ENDPOINT, or leave --langsmith out"
        ) from error


def _experiment(result: EvalResult, client: "Client", *, upload: bool) -> str:
    asked = (*_ASKED, "prompt", _WANTED)
    rows = {
        uuid.uuid5(_NAMESPACE, _key([result.name, inputs_of(row), row.get(_WANTED)])): row
        for row in result.samples
    }
    found = {
        _key(inputs_of(row)): {key: value for key, value in row.items() if key not in asked}
        for row in rows.values()
    }
    keys = sorted({key for out in found.values() for key, v in out.items() if _is_figure(v)})

    def judge(key: str) -> Any:  # noqa: ANN401 - see `summary`
        def evaluator(outputs: Row) -> Row:
            value = outputs.get(key)
            scored = {"score": value} if _is_figure(value) else {"comment": "could not be scored"}
            return {"key": key, **scored}

        return evaluator

    def scores(outputs: list[Row]) -> Row:
        del outputs  # they rest on the whole result
        return {"results": [{"key": one.name, "score": one.value} for one in result.scores]}

    summary: Any = scores  # langsmith reads what it is by its parameters

    data = _dataset(result, rows, client) if upload else _examples(rows, uuid.uuid4())
    # Standard output is the result's alone; and that a run without upload is new is no news.
    with redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        experiment = client.evaluate(
            lambda inputs: found[_key(inputs)],
            data=data,
            evaluators=[judge(key) for key in keys],
            summary_evaluators=[summary],
            metadata=json.loads(json.dumps(result.effective)),
            experiment_prefix=f"rulewright-{result.name}",
            upload_results=upload,
        )
    return str(experiment.experiment_name)


def _dataset(result: EvalResult, rows: dict[uuid.UUID, Row], client: "Client") -> "list[Example]":
    """The samples as examples of the evaluation's dataset, which gets those that it lacks."""
    name = f"rulewright-{result.name}"
    known = client.has_dataset(dataset_name=name)
    dataset = (
        client.read_dataset(dataset_name=name)
        if known
        else client.create_dataset(name, description=f"Samples of the evaluation {result.name}.")
    )
    there = {example.id for example in client.list_examples(dataset_id=dataset.id)}
    new = [
        {"id": key, "inputs": inputs_of(row), "reference_outputs": row.get(_WANTED)}
        for key, row in rows.items()
        if key not in there
    ]
    if new:
        client.create_examples(dataset_id=dataset.id, examples=new)
    return _examples(rows, dataset.id)


def _examples(rows: dict[uuid.UUID, Row], dataset: uuid.UUID) -> "list[Example]":
    from langsmith.schemas import Example

    return [
        Example(
            id=key, inputs=inputs_of(row), reference_outputs=row.get(_WANTED), dataset_id=dataset
        )
        for key, row in rows.items()
    ]


def inputs_of(row: Row) -> Row:
    """A sample's inputs; a prompt takes the form that the graph reads.

    Raises:
        EvalError: If it does not say.
    """
    if "prompt" in row:
        return {"messages": [{"role": "user", "content": row["prompt"]}]}
    asked = {key: row[key] for key in _ASKED if key in row}
    if not asked:
        raise EvalError(
            "the samples of this evaluation do not say what was asked; --langsmith takes those "
            "whose samples have a prompt or an id: smoke, paraphrase, fit, bad-inputs"
        )
    return asked


def _key(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _is_figure(value: object) -> bool:
    return isinstance(value, bool | int | float)


def score_over(
    values: Sequence[float | None],
    name: str,
    by: Callable[[list[float]], float] = fmean,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Score:
    """A score over samples: the share of true ones, or the estimate that `by` makes.

    Args:
        values: One a sample; None marks one that could not be scored.
        name: What is scored.
        by: Makes one number of those that could be.
        at_least: Threshold from below, or None.
        at_most: Threshold from above, or None.

    Raises:
        NothingScoredError: If every sample is None.
    """
    scored = [value for value in values if value is not None]
    if not scored:
        raise NothingScoredError(f"{name}: none of {len(values)} samples could be scored")
    return Score(name, by(scored), len(scored), at_least, at_most, len(values) - len(scored))


class EvalInfo(BaseModel, frozen=True, extra="forbid"):
    """One evaluation.

    Attributes:
        name: Its name for `rulewright eval run`.
        question: What it asks.
        module: The module whose `run(options)` runs it.
        takes: Names of the options of `EvalOptions` that it takes.
    """

    name: str
    question: str
    module: str
    takes: tuple[str, ...] = ()

    def run(self, options: EvalOptions) -> EvalResult:
        """Run it; its module is imported only now. Its name, seed and versions join the result.

        Raises:
            EvalError: If an option was chosen that this evaluation does not take, or its folder
                cannot be made.
        """
        self._require(options)
        if options.folder is not None:
            try:
                options.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise EvalError(f"--folder {options.folder} cannot be made: {error}") from error
        from graph.run.settings import versions

        procedure: Callable[..., EvalResult] = import_module(self.module).run
        found = procedure(options)
        carried = {"seed": options.seed, "quick": options.quick, "versions": {**versions()}}
        return found.model_copy(
            update={"name": self.name, "effective": {**carried, **found.effective}}
        )

    def _require(self, chosen: EvalOptions) -> None:
        for name in ("quick", "folder", "workers", "games", "matches", "simulations", "settings"):
            if name in self.takes or getattr(chosen, name) == getattr(EvalOptions(), name):
                continue
            able = ", ".join(info.name for info in known_evals() if name in info.takes)
            flag = {"workers": "jobs", "settings": "set"}.get(name, name)
            raise EvalError(
                f"{self.name} takes no --{flag}; run it without, or one of those that do: "
                f"{able or 'none'}"
            )


@cache
def known_evals() -> tuple[EvalInfo, ...]:
    """Every evaluation."""
    return tuple(EvalInfo.model_validate(row) for row in read_data("data/evals.yaml"))


def find_eval(name: str) -> EvalInfo:
    """The evaluation called `name`.

    Raises:
        EvalError: Listing those there are.
    """
    known = {info.name: info for info in known_evals()}
    if name not in known:
        raise EvalError(f"no evaluation called {name!r}; there are {', '.join(known)}")
    return known[name]
