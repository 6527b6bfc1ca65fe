"""Eval: does the search improve the policy that it searches over, in games of the library?

A model is trained on each game, by a number of tokens. Then `gomcts` meets `argmaxval` of the same
model, on deals that each plays in every seat; and it meets ISMCTS. Leduc poker is enumerated: how
far from equilibrium is who draws an iteration for each match, and samples from its model?
The paper has no such games; it has Hearts, Skat and The Crew (GO-MCTS, §6).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agents.observing.model import ObservationModel, ObservationSettings
from agents.players.registry import PRELOAD, PlayerRoster
from evals.gomcts.equilibrium import EnumeratedGame
from evals.gomcts.training import ModelOrder, models_of
from evals.results import EvalError, EvalOptions, EvalResult, Row, Score
from games import library
from tools.playtest.jobs import GameSetup
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox

_ENUMERATED = "leduc_poker"


@dataclass(frozen=True)
class LibrarySize:
    """The amounts of an evaluation.

    Attributes:
        games: Of the library.
        tokens: That each model learns from.
        deals: Of each pair of players; every deal is played in both seats.
        runs: Of the search, and simulations of ISMCTS.
        settings: Of the trainings.
    """

    games: tuple[str, ...]
    tokens: int
    deals: int
    runs: int
    settings: ObservationSettings


FULL = LibrarySize(
    ("leduc_poker", "trick_taking", "go_fish", "shedding", "poker"),
    *(5_000_000, 400, 100),
    ObservationSettings(iterations=12, epochs=1, batch=512, bootstrap=0.25),
)
QUICK = LibrarySize(
    ("leduc_poker",), *(60_000, 10, 20), ObservationSettings(iterations=2, epochs=1, batch=512)
)


def run(options: EvalOptions, size: LibrarySize | None = None) -> EvalResult:
    """Train, play and measure.

    Args:
        options: Finished iterations are kept in its folder.
        size: How much; None for the usual sizes.
    """
    size = size or (QUICK if options.quick else FULL)
    samples: list[Row] = []
    with TemporaryDirectory() as made, Sandbox(preload=PRELOAD) as sandbox:
        folder = options.folder or Path(made)
        for name in size.games:
            sample = _measured(name, sandbox, size, options, folder)
            options.tell(f"{name}: {sample}")
            samples.append(sample)
        grade = sandbox.grade.model_dump(mode="json")
    gained = [sample["gain"] for sample in samples]
    full = not options.quick
    scores = [
        Score("games in which the search improves its policy", _above(gained), len(gained)),
        Score(
            "games in which it makes it worse",
            float(sum(row["high"] < 0 for row in gained)),
            len(gained),
            at_most=0 if full else None,
        ),
    ]
    for sample in samples:
        if "average" in sample:
            name = f"NashConv of the average policy, {sample['game']}"
            scores.append(Score(name, sample["average"], 1, at_most=1.6 if full else None))
    return EvalResult(
        scores=tuple(scores),
        samples=tuple(samples),
        effective={
            "tokens": size.tokens,
            "deals": size.deals,
            "runs and simulations": size.runs,
            "training": size.settings.model_dump(mode="json"),
            "sandbox": grade,
        },
    )


def _above(gained: Sequence[Row]) -> float:
    return float(sum(row["low"] > 0 for row in gained))


def _measured(
    name: str, sandbox: Sandbox, size: LibrarySize, options: EvalOptions, folder: Path
) -> Row:
    game = GameSetup(name, library.source(name), 2)
    order = ModelOrder(game, size.tokens, size.settings, options.seed)
    models = models_of(order, sandbox, folder / name)
    path = folder / f"{name}.model"
    path.write_bytes(models[-1].saved())
    spec = f"gomcts:model={path},runs={size.runs}"
    sample: Row = {"game": name, "course": models[-1].about["course"]}
    for key, other in (
        ("gain", f"argmaxval:model={path}"),
        ("against ISMCTS", f"ismcts:simulations={size.runs}"),
    ):
        series = play_series(
            game,
            (spec, other),
            PlayerRoster(),
            SeriesSettings(matches=2 * size.deals, seed=options.seed + 1, record=False),
            sandbox=sandbox,
        )
        found = series.figures(0)
        if found.mean_return is None:
            raise EvalError(f"{name}: {spec} against {other}: {found.not_estimated}")
        sample[key] = found.mean_return.model_dump(mode="json")
    if name == _ENUMERATED:
        sample |= _equilibrium(name, models)
    return sample


def _equilibrium(name: str, models: Sequence[ObservationModel]) -> Row:
    """NashConv of the average policy of all iterations, of the last one, and of `argmaxval`."""
    game = EnumeratedGame(name)
    sampled = [game.behaviours(model) for model in models]
    best = game.behaviours(models[-1], models[-1].about["settings"]["threshold"])
    return {
        "average": game.distance(game.average(sampled)),
        "last": game.distance(sampled[-1]),
        "argmaxval": game.distance(best),
        "random": game.uniform,
    }
