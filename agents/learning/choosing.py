"""Best of several seeds: each trains a network, and play against random play chooses one of them.

Code World Models, App. E: five seeds, of which the one counts that wins most against random play.
Its figure there is no estimate of anything, as it is the largest of several; so all are kept.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.learning.matches import Matches
from agents.learning.policy import Policy
from agents.learning.ppo import train
from agents.learning.settings import LearningError, PpoSettings
from games.streams import stream
from games.values import Json
from tools.playtest.intervals import Estimate, NoSamplesError
from tools.playtest.jobs import GameSetup, Roster
from tools.playtest.series import SeriesSettings, play_series
from tools.sandbox import Sandbox

_DEALS = 2**48  # seeds of deals that no person types


@dataclass(frozen=True)
class TrainingOrder:
    """The trainings of one game, apart from the game.

    Attributes:
        settings: Of each training.
        steps: Decisions that each learns from.
        seed: The first seed; the others follow it.
        seeds: How many.
        about: What else the policy's file says.
    """

    settings: PpoSettings
    steps: int
    seed: int
    seeds: int = 1
    about: Mapping[str, Json] = field(default_factory=dict)


def best_of_seeds(
    sandbox: Sandbox,
    game: GameSetup,
    roster: Roster,
    order: TrainingOrder,
    *,
    folder: Path,
    anew: bool = False,
    on_update: Callable[[int, dict[str, Json]], None] = lambda *_: None,
) -> Policy:
    """Train a network from each of several seeds, one after the other, and give the best one.

    Args:
        sandbox: It must preload `agents.learning.matches.PRELOAD`.
        game: With all its parameters.
        roster: Knows the player `ppo`.
        order: What is trained, how long, and from which seeds.
        folder: Of this training alone; holds what is needed to go on where it was stopped.
        anew: See `train`.
        on_update: Told of every update, with its seed.

    Returns:
        The one that was paid most against random play, on deals that all of them played; of equals
        the first. Its `about` has the mean returns of all in `seeds`.

    Raises:
        LearningError: See `train`; or if a policy's matches do not end.
        ModuleFault: If the module fails or breaks the contract.
    """
    folder.mkdir(exist_ok=True)
    policies: list[Policy] = []
    seed, seeds = order.seed, order.seeds
    for number in range(seed, seed + seeds):
        with Matches(sandbox, game, order.settings, number) as matches:
            policies.append(
                train(
                    *(matches, order.steps, number, order.about),
                    on_update=lambda row, at=number: on_update(at, row),  # type: ignore[misc]
                    kept=folder / str(number),
                    anew=anew,
                )
            )
    if seeds == 1:
        return policies[0]
    deals = int(stream(seed, "best of seeds").integers(_DEALS))
    paid = [
        _paid(policy, sandbox, game, roster, deals, folder / f"{number}.policy")
        for number, policy in enumerate(policies, seed)
    ]
    rows = [{"seed": seed + place, **one.model_dump()} for place, one in enumerate(paid)]
    best = policies[max(range(seeds), key=lambda place: (paid[place].value, -place))]
    return replace(best, about={**best.about, "seeds": rows})


def first_seed(folder: Path) -> int | None:
    """The seed from which `best_of_seeds` began in a folder; None where it has not begun there."""
    begun = folder.iterdir() if folder.is_dir() else ()
    return min((int(file.name) for file in begun if file.name.isdecimal()), default=None)


def _paid(
    policy: Policy, sandbox: Sandbox, game: GameSetup, roster: Roster, deals: int, file: Path
) -> Estimate:
    """Mean return of a policy against random play.

    Raises:
        LearningError: If too few deals were played to their end in every seat.
    """
    file.write_bytes(policy.saved())
    count = policy.about["settings"]["choice_deals"]
    series = play_series(
        game,
        [f"ppo:policy={file}", *["random"] * (game.num_players - 1)],
        roster,
        SeriesSettings(matches=game.num_players * count, seed=deals, replay=False, record=False),
        sandbox=sandbox,
    )
    try:
        return series.tables.mean_return(0)
    except NoSamplesError as error:
        raise LearningError(
            f"{game.name}: of {len(series.entries)} matches against random play too few came to "
            f"their end to choose a seed by ({error})"
        ) from error
