"""Eval: does a network that was trained inside a learned model play the game itself?

PPO inside the model (Code World Models, App. E), then matches with the environment as the referee,
each deal in both seats. `protocol=paper` learns one seat a match against uniform play;
`protocol=ours` learns from every seat in self-play. As in the paper the best of five seeds plays,
chosen by play against random play: here inside the model, so that no deal of a table chose it. The
arrays of observations are the model's own where its modeller wrote the functions. The paper's rows
stand beside ours: it trained for 10 million steps.
"""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents.learning.choosing import TrainingOrder, best_of_seeds
from agents.learning.matches import PRELOAD
from agents.learning.settings import PpoSettings
from agents.players.registry import PlayerRoster
from evals.cwm.arena import SEATS, table_of
from evals.cwm.held import HeldModel, by_seat_told, games_with_models, held_models, referee_of
from evals.results import (
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    read_data,
    score_over,
)
from tools.playtest.jobs import SandboxRecipe
from tools.playtest.runner import Workers
from tools.playtest.series import SeriesSettings, play_series
from tools.predicting.arena import seated
from tools.sandbox import Sandbox

OPPONENTS_OF = {"paper": "uniform", "ours": "self"}
REQUIRED = ("tic_tac_toe", "leduc_poker")  # games in which random play must be beaten
# No thresholds in a quick run, whose lower ends at seeds 0 to 4 were 0.35, 1.89, -0.07, 0.32, -1.17
# at Leduc poker and -0.09, 0.19, 0.36, 0.43, 0.45 at tic-tac-toe.
_UNSURE = frozenset({("leduc_poker", "ours"), ("tic_tac_toe", "paper")})
_PUBLISHED = read_data("cwm/published_ppo.json")


@dataclass(frozen=True)
class PpoSize:
    """Amount of training and play.

    Attributes:
        steps: Decisions to learn from, in a game and a protocol, of each seed.
        seeds: Of which the best one plays.
        deals: Of a game, a protocol and an opponent; each is played in both seats.
        simulations: A decision of the opponent that searches the game itself.
        settings: Of the training.
    """

    steps: int
    seeds: int
    deals: int
    simulations: int
    settings: PpoSettings = PpoSettings()
    games: tuple[str, ...] = ()


FULL = PpoSize(500_000, 5, 200, 1000)
QUICK = PpoSize(
    8_000,
    2,
    60,
    20,
    PpoSettings(
        environments=25,
        horizon=20,
        minibatches=4,
        units=32,
        explore=1000,
        learning_rate=0.003,
        entropy_start=0.05,
        choice_deals=30,
    ),
    ("tic_tac_toe", "leduc_poker"),
)


def run(options: EvalOptions, size: PpoSize | None = None) -> EvalResult:
    """Train and play every game that has a model.

    Raises:
        LearningError: If torch is missing.
        NothingScoredError: If a table has too few deals that finished.
    """
    size = size or (QUICK if options.quick else FULL)
    samples: list[Row] = []
    with Sandbox(preload=PRELOAD) as sandbox, tempfile.TemporaryDirectory() as folder:
        for game in size.games or games_with_models():
            models = Path(folder) / "models"
            held = held_models(game, models, tensors=True) or held_models(game, models)
            for protocol in OPPONENTS_OF:
                file = Path(folder) / f"{game}-{protocol}.policy"
                trained = _trained(game, held[0], protocol, options.seed, size, sandbox, file)
                for opponent in ("random", f"gt:simulations={size.simulations},rollouts=1"):
                    played = _played(game, file, opponent, size, options)
                    samples.append({"game": game, "protocol": protocol, **trained, **played})
                    options.tell(_told(samples[-1]))
        return EvalResult(
            scores=tuple(_scores(samples, _UNSURE if size == QUICK else frozenset())),
            samples=tuple(samples),
            effective={
                "steps": size.steps,
                "seeds": size.seeds,
                "deals": size.deals,
                "settings": size.settings.model_dump(mode="json"),
                "protocols": dict(OPPONENTS_OF),
                "published": _PUBLISHED["source"],
                "sandbox": sandbox.grade.model_dump(mode="json"),
            },
        )


def _trained(
    game: str,
    model: HeldModel,
    protocol: str,
    seed: int,
    size: PpoSize,
    sandbox: Sandbox,
    file: Path,
) -> Row:
    """A policy trained in the model, in a file; and what the training says of itself."""
    inside = replace(referee_of(game), source=model.text, environment="")
    settings = size.settings.model_copy(update={"opponents": OPPONENTS_OF[protocol]})
    policy = best_of_seeds(
        *(sandbox, inside, PlayerRoster()),
        TrainingOrder(settings, size.steps, seed, size.seeds),
        folder=file.with_suffix(".part"),
    )
    file.write_bytes(policy.saved())
    about = policy.about
    told = {name: about[name] for name in ("steps", "explored", "seed")}
    return {"model": model.label, **told, "against random in the model": about.get("seeds")}


def _played(game: str, file: Path, opponent: str, size: PpoSize, options: EvalOptions) -> Row:
    """The policy's matches in the game itself."""
    series = play_series(
        referee_of(game),
        [f"ppo:policy={file},elsewhere=yes", opponent],
        PlayerRoster(),
        SeriesSettings(matches=SEATS * size.deals, seed=options.seed, record=False),
        sandbox=SandboxRecipe(preload=PlayerRoster().preload),
        workers=Workers(options.workers),
    )
    entries = seated(series)
    used = [entry.used[seat] for entry, seat in entries if seat < len(entry.used)]
    return {
        "opponent": opponent,
        "fallbacks": sum(sum(one.counted("fallback").values()) for one in used),
        **table_of(entries, _PUBLISHED, game, opponent.partition(":")[0]),
    }


def _scores(samples: Sequence[Row], unsure: Collection[tuple[str, str]]) -> Iterator[Score]:
    against = [one for one in samples if one["opponent"] == "random"]
    if not against or any(one["payoff over the other's"]["value"] is None for one in samples):
        raise NothingScoredError("a table has too few deals that finished")
    for row in against:
        key = row["game"], row["protocol"]
        name = f"{row['game']}, {row['protocol']}: payoff over random play's, lower end"
        least = 0 if row["game"] in REQUIRED and key not in unsure else None
        yield Score(name, row["payoff over the other's"]["low"], row["matches"], at_least=least)
    unknown = [one["fallbacks"] for one in samples]
    yield score_over(unknown, "decisions without a known action", sum, at_most=0)


def _told(row: Row) -> str:
    """A table in words, with the paper's rows beside it."""
    paid = row["payoff over the other's"]
    return (
        f"{row['game']}, {row['protocol']}, against {row['opponent']}: {paid['value']} "
        f"({paid['low']} to {paid['high']}) over its payoff in {row['matches']} matches; "
        f"{by_seat_told(row, 'no row')}"
    )
