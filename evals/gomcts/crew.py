"""Eval: how often does The Crew succeed with a trained model, with a search, and by chance?

The library's `the_crew` for four, a mission at a time, all seats played alike on the same deals
(GO-MCTS, §6.3, Figs. 2 and 3; search as in §9.3). The paper trains one model for all missions. Here
the committed model plays those that it was trained on; for another mission one is trained.
Its success rates are drawn in figures and printed nowhere, so that no figure stands beside ours.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from pydantic import JsonValue, TypeAdapter

from agents.learning.settings import LearningError
from agents.observing.model import ObservationSettings, read_observation_model
from agents.players.registry import PRELOAD, PlayerRoster
from agents.players.specs import PlayerSpecError, require_suited
from evals.gomcts.training import ModelOrder, models_of
from evals.results import (
    EvalError,
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    resized,
)
from games import library
from tools.playtest.intervals import exact_share, mean_interval
from tools.playtest.jobs import GameSetup, SandboxRecipe
from tools.playtest.runner import Workers
from tools.playtest.series import SeriesSettings, play_series

_GAME, _SEATS = "the_crew", 4
_MISSIONS = tuple(map(str, range(1, 51)))
_HALVED = ("1", "5", "33")  # missions in which half of the floor's failures are allowed
_RARE = (0.005, 0.07)  # floors of which a multiple is asked for
_TIMES = 4
_PLAYERS = ("argmaxval", "gomcts")
MODELS = "models"
PUBLISHED: dict[str, JsonValue] = {
    "success rates": "in Figs. 2 and 3 alone, of 3,000 attempts a mission: not read off, and not "
    "compared",
    "training": "10,000,000 random matches and more, then 10 iterations of 2,000,000",
    "seconds a turn": {"argmaxval": 0.041, "gomcts": 5.9},
}


@dataclass(frozen=True)
class CrewSize:
    """The amounts of an evaluation.

    Attributes:
        missions: By number.
        deals: Of each mission, the same for all players.
        floor: Deals of random play, at least as many; those of the others are the first of them.
        simulations: Runs of the search; steps, C and threshold are the paper's.
        tokens: That a mission's model learns from, where there is no file.
        settings: Of that training.
    """

    missions: tuple[str, ...]
    deals: int
    floor: int
    simulations: int
    tokens: int
    settings: ObservationSettings


FULL = CrewSize(
    *(_MISSIONS, 100, 2000, 50, 300_000),
    ObservationSettings(
        teacher="greedy",
        bootstrap=0.8,
        iterations=2,
        epochs=3,
        replay="mixed",
        threshold=0.05,
        explore=0.5,
        action_share=0.25,
        shift=1,
    ),
)
QUICK = CrewSize(
    *(("1",), 4, 40, 4, 10_000), ObservationSettings(iterations=1, epochs=1, bootstrap=0.5)
)


@dataclass(frozen=True)
class _Attempts:
    """The attempts at a mission.

    Attributes:
        setup: The mission.
        size: How much.
        options: Of the evaluation.
        folder: Of models and journals.
    """

    setup: GameSetup
    size: CrewSize
    options: EvalOptions
    folder: Path

    def successes(self, name: str, spec: str, deals: int) -> list[float]:
        """By deal, 1 for a success and 0 for a failure, all seats by one player.

        Raises:
            EvalError: If an attempt did not come to its end.
        """
        series = play_series(
            self.setup,
            (spec,) * _SEATS,
            PlayerRoster(),
            SeriesSettings(matches=deals, seed=self.options.seed + 1, record=False),
            sandbox=SandboxRecipe(preload=PRELOAD),
            journal=self.folder / f"{name}.jsonl",
            workers=Workers(self.options.workers),
        )
        found = []
        for index, entry in series.entries.items():
            if entry.ending != "finished" or entry.returns is None:
                mission = self.setup.parameters["mission"]
                raise EvalError(f"mission {mission}, {name}, deal {index}: {entry.reason}")
            found.append(float(entry.returns[0] > 0))
        return found

    def model(self) -> Path:
        """The file of the model, where it was trained on this mission; else one is trained now."""
        kept = Path(str(files("evals.gomcts"))) / MODELS / f"{_GAME}.model"
        if kept.exists():
            with suppress(PlayerSpecError):
                require_suited(str(kept), read_observation_model(str(kept)).about, self.setup)
                return kept
        order = ModelOrder(self.setup, self.size.tokens, self.size.settings, self.options.seed)
        path = self.folder / "crew.model"
        with SandboxRecipe(preload=PRELOAD).make() as sandbox:
            path.write_bytes(models_of(order, sandbox, self.folder / "training")[-1].saved())
        return path


def run(options: EvalOptions, size: CrewSize | None = None) -> EvalResult:
    """Train where it must, play and measure.

    Args:
        options: Its folder keeps models and matches; `games` are missions, by number.
        size: How much; None for the usual sizes.

    Raises:
        NothingScoredError: If no mission has a model, as random play never succeeds in any.
    """
    usual = size or (QUICK if options.quick else FULL)
    size = resized(usual, options, _MISSIONS, games="missions", matches="deals")
    if size.deals < 2:  # noqa: PLR2004 - an interval needs them
        raise EvalError(f"{size.deals} deal of each mission; required: at least 2, give --matches")
    with TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        samples: list[Row] = []
        unscored: dict[str, str] = {}
        for mission in size.missions:
            try:
                samples.append(_mission(mission, size, options, folder))
            except LearningError as error:
                unscored[f"mission {mission}"] = str(error)
    if not samples:
        raise NothingScoredError(f"no mission could be learned: {unscored}")
    return EvalResult(
        scores=tuple(_scores(samples, full=not options.quick)),
        samples=tuple(samples),
        unscored=unscored,
        effective={
            **TypeAdapter(CrewSize).dump_python(size, mode="json"),
            "published": PUBLISHED,
        },
    )


def _mission(mission: str, size: CrewSize, options: EvalOptions, folder: Path) -> Row:
    """Success rates of a mission."""
    game = library.read_game(library.source(_GAME))
    parameters = {**library.defaults(game), "mission": int(mission)}
    heuristics = library.heuristic_sources(_GAME)
    setup = GameSetup(_GAME, library.source(_GAME), _SEATS, parameters, heuristics)
    own = folder / f"mission-{mission}"
    own.mkdir(parents=True, exist_ok=True)
    attempts = _Attempts(setup, size, options, own)
    path = attempts.model()
    specs = {
        "argmaxval": f"argmaxval:model={path}",
        "gomcts": f"gomcts:model={path},runs={size.simulations},steps=5,c=0.1,threshold=0.01",
    }
    floor = attempts.successes("random", "random", max(size.floor, size.deals))
    found = {name: attempts.successes(name, spec, size.deals) for name, spec in specs.items()}
    rates = {who: exact_share(one, "deals") for who, one in {"random": floor, **found}.items()}
    told = ", ".join(f"{who} {rate.value:.3f}" for who, rate in rates.items())
    options.tell(f"mission {mission}: {told} succeed")
    gained = [b - a for a, b in zip(*found.values(), strict=True)]
    return {
        "mission": int(mission),
        "model": read_observation_model(str(path)).digest,
        **{who: rate.model_dump(mode="json") for who, rate in rates.items()},
        "gomcts less argmaxval": mean_interval(gained, "pairs").model_dump(mode="json"),
        "by deal": gained,
    }


def _scores(samples: Sequence[Row], *, full: bool) -> Iterator[Score]:
    """Floors kept, and what the search gains over all missions."""
    half, times = (0.5, float(_TIMES)) if full else (None, None)
    for who in _PLAYERS:
        failed = [
            (1 - row[who]["value"]) / (1 - row["random"]["value"])
            for row in samples
            if str(row["mission"]) in _HALVED and row["random"]["value"] < 1
        ]
        if failed:
            name = f"failures over those of random play, missions 1, 5 and 33, {who}, the most"
            yield Score(name, max(failed), len(failed), at_most=half)
        rare = [
            row[who]["value"] / row["random"]["value"]
            for row in samples
            if _RARE[0] <= row["random"]["value"] <= _RARE[1]
        ]
        if rare:
            name = f"successes over those of random play where they are rare, {who}, the least"
            yield Score(name, min(rare), len(rare), at_least=times)
    gained = mean_interval([gain for row in samples for gain in row["by deal"]], "pairs")
    missions = len(samples)
    yield Score("gomcts less argmaxval, mean of the missions", gained.value, missions)
    low = "gomcts less argmaxval, mean of the missions: low end of its interval"
    yield Score(low, gained.low, gained.n, at_least=0.0 if full else None)
    for who in ("random", *_PLAYERS):
        rate = fmean(row[who]["value"] for row in samples)
        yield Score(f"success rate, mean of the missions, {who}", rate, missions)
