"""`train`: a network that learns a game by self-play."""

import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from app import options
from app.console import ends_at_once, give, note, say
from app.seeds import seed_or_drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agents.learning.policy import Policy
    from agents.observing.model import ObservationModel
    from agents.search.settings import PlayerSettings
    from evals.gomcts.equilibrium import EnumeratedGame
    from games.values import Json
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox

_VARIED = 64  # values that a parameter takes in turns
_PolicyFile: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="The policy file to write.")
]
_ForceTraining: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace the file, and a training of other settings.")
]


_Settings = TypeVar("_Settings", bound="PlayerSettings")


class TrainedPlayer(StrEnum):
    """The players that are trained."""

    PPO = "ppo"
    GOMCTS = "gomcts"


@dataclass(frozen=True, kw_only=True)
class Training:
    """The training of one network."""

    player: Annotated[
        TrainedPlayer, typer.Option("--player", help="The player that the file is for.")
    ] = TrainedPlayer.PPO
    steps: Annotated[int, typer.Option("--steps", help="Decisions to learn from; of ppo.")] = 0
    minutes: Annotated[
        float, typer.Option("--minutes", min=0, help="About so long, made into tokens; of gomcts.")
    ] = 0.0
    tokens: Annotated[
        int, typer.Option("--tokens", min=0, help="Tokens to learn from; of gomcts.")
    ] = 0
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", min=1, help="Train from so many seeds, and keep the best against random."
        ),
    ] = 1
    ppo: Annotated[
        str, typer.Option("--ppo", metavar="KEY=VALUE,...", help="Settings of the training.")
    ] = ""
    gomcts: Annotated[
        str, typer.Option("--gomcts", metavar="KEY=VALUE,...", help="Settings, for gomcts.")
    ] = ""
    vary: Annotated[
        str,
        typer.Option(
            "--vary",
            metavar="NAME=VALUE,...",
            help="A parameter that takes these values in turns; of gomcts.",
        ),
    ] = ""
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Hold the model against a small library game's exact probabilities; of gomcts.",
        ),
    ] = False
    seed: options.Seed = None


@options.grouped
def train_network(
    game: options.Game,
    *,
    out: _PolicyFile,
    asked: Training,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    force: _ForceTraining = False,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Train a network that plays a game by self-play; ppo needs the extra 'learn'.

    A training that was stopped goes on when the same command is given again.
    """
    stopped = f"stopped; what was learned is kept in {out}.part. Go on with the same command"
    with place.chosen(), ends_at_once(lambda: stopped):
        about, seats = trained_file(game, out, asked, players, settings or (), force=force)
    pairs = [*(settings or ()), *_in_turns(asked.vary)[:1]]
    also = "".join(f" --set {pair}" for pair in pairs)
    is_policy = asked.player is TrainedPlayer.PPO
    spec = f"ppo:policy={out}" if is_policy else f"gomcts:model={out}"
    line_up = f" --player {spec}" + " --player random" * (seats - 1)
    show = _show_policy if is_policy else _show_model
    result = {"file": str(out), **about}
    give(result, lambda: show(out, about, f"{game}{also}{line_up}"), as_json=as_json)


def trained_file(
    game: str,
    out: Path,
    asked: Training,
    players: int,
    settings: "Sequence[str]",
    *,
    force: bool,
) -> "tuple[dict[str, Any], int]":
    """Train, and write the file; what it says of itself, and the seats of the game."""
    page = out.with_name(f"{out.name}.html")
    for file in (out, page) if asked.player is TrainedPlayer.GOMCTS else (out,):
        options.require_new(file, force)
    part = out.with_name(f"{out.name}.part")
    # One thread, so that the same seed gives the same bytes; numpy reads it when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    _require_own_options(asked)
    with ExitStack() as stack:
        from agents.learning.matches import PRELOAD
        from app.commands.match import chosen_recipe
        from app.table.session import open_table

        made = stack.enter_context(replace(chosen_recipe(), preload=PRELOAD).make())
        setup = open_table(game, players, settings, made, stack).setup
        varied = []
        for pair in _in_turns(asked.vary):
            with ExitStack() as its:
                table = open_table(game, players, [*settings, pair], made, its)
                varied.append({**table.setup.parameters})
        trained: Policy | ObservationModel
        told = ""
        if asked.player is TrainedPlayer.PPO:
            trained = _policy(made, setup, asked, part, force=force)
        else:
            exact = _enumerated(setup) if asked.calibrate else None
            trained = _observations(made, setup, asked, part, varied, force=force)
            told = _page(trained, part, exact)
        out.write_bytes(trained.saved())
        if told:
            page.write_text(told, encoding="utf-8")
        rmtree(part)
    return dict(trained.about), setup.num_players


def _require_own_options(asked: Training) -> None:
    """Refuse options that have no effect on the player that is trained.

    Raises:
        typer.BadParameter: Naming the first one, or the one that is missing.
    """
    of_ppo = {"--steps": asked.steps, "--ppo": asked.ppo, "--seeds": asked.seeds - 1}
    of_gomcts = {
        "--minutes": asked.minutes,
        "--tokens": asked.tokens,
        "--gomcts": asked.gomcts,
        "--vary": asked.vary,
        "--calibrate": asked.calibrate,
    }
    others = of_gomcts if asked.player is TrainedPlayer.PPO else of_ppo
    for name, given in others.items():
        if given:
            raise typer.BadParameter(f"has no effect on {asked.player}", param_hint=name)
    if asked.player is TrainedPlayer.PPO and asked.steps < 1:
        raise typer.BadParameter(
            "required: at least 1 decision to learn from", param_hint="--steps"
        )
    if asked.player is TrainedPlayer.GOMCTS and bool(asked.minutes) == bool(asked.tokens):
        raise typer.BadParameter(
            "required: one of --minutes N and --tokens N", param_hint="--minutes"
        )


def _in_turns(text: str) -> list[str]:
    """NAME=VALUE for each value of a parameter that is varied.

    Raises:
        typer.BadParameter: If it names no values, or too many.
    """
    name, _, values = text.partition("=")
    pairs = [f"{name}={value}" for value in values.split(",")]
    if text and not (name and values and len(pairs) <= _VARIED):
        raise typer.BadParameter(
            f"required: NAME=VALUE,VALUE,..., at most {_VARIED} values", param_hint="--vary"
        )
    return pairs if text else []


def _policy(
    made: "Sandbox", setup: "GameSetup", asked: Training, part: Path, *, force: bool
) -> "Policy":
    from agents.learning.choosing import TrainingOrder, best_of_seeds, first_seed
    from agents.learning.settings import PpoSettings
    from agents.players.registry import PlayerRoster

    seed = seed_or_drawn(asked.seed, None if force else first_seed(part))
    return best_of_seeds(
        *(made, setup, PlayerRoster()),
        TrainingOrder(
            *(_given(PpoSettings, asked.ppo), asked.steps, seed, asked.seeds),
            about=_circumstances(made),
        ),
        folder=part,
        anew=force,
        on_update=_tell_update,
    )


def _observations(
    made: "Sandbox",
    setup: "GameSetup",
    asked: Training,
    part: Path,
    varied: "Sequence[Mapping[str, Json]]",
    *,
    force: bool,
) -> "ObservationModel":
    from agents.observing.budget import begun_token_budget, token_budget
    from agents.observing.model import ObservationSettings
    from agents.observing.population import SelfPlayTraining
    from agents.players.registry import PlayerRoster

    if force and part.is_dir():
        rmtree(part)
    begun = begun_token_budget(part)
    seed = seed_or_drawn(asked.seed, begun and begun.seed)
    settings = _given(ObservationSettings, asked.gomcts)
    if begun is not None and not begun.is_of(asked.tokens, asked.minutes):
        raise typer.BadParameter(
            f"{part} holds a training of {begun.told}; give the same amount, or --force to begin "
            "anew",
            param_hint="--tokens",
        )
    if begun is None:
        begun = token_budget(
            *(made, setup, settings, part), seed=seed, tokens=asked.tokens, minutes=asked.minutes
        )
    note(begun.told)
    population = SelfPlayTraining(
        *(made, setup, settings, begun.tokens, seed, part),
        tell=_tell_part,
        varied=varied,
        roster=PlayerRoster(),
    )
    return population.train({**_circumstances(made), "budget": begun.model_dump(mode="json")})


def _enumerated(setup: "GameSetup") -> "EnumeratedGame":
    """The game with all its logs, by which a model is judged.

    Raises:
        typer.BadParameter: If it cannot be enumerated, or is not the library's own.
    """
    from agents.solving.enumeration import TooManyHistoriesError
    from evals.gomcts.equilibrium import EnumeratedGame
    from games import library

    why = f"{setup.name} is no game of the library for two"
    own = setup.name in library.names() and setup.source == library.source(setup.name)
    if own and setup.num_players == 2:  # noqa: PLR2004 - a sequence form of two
        game = EnumeratedGame(setup.name, setup.parameters)
        try:
            if game.form.histories:
                return game
        except TooManyHistoriesError as error:
            why = f"{setup.name} cannot be enumerated: {error}"
    raise typer.BadParameter(f"{why}; leave it out", param_hint="--calibrate")


def _page(model: "ObservationModel", part: Path, exact: "EnumeratedGame | None") -> str:
    """The report of a training, with a calibration where the game is enumerated."""
    from agents.learning.settings import LearningError
    from agents.observing.model import read_observation_model
    from tools.reporting.training import training_page

    if exact is None:
        return training_page(model.about)
    from evals.gomcts.calibration import calibration_of

    last = model.about["course"][-1]["iteration"]
    before = read_observation_model(str(part / f"{last - 1}.model")) if last else None
    try:
        found = calibration_of(exact, model, before)
    except LearningError as error:
        found = {"could not be judged": str(error)}
    return training_page(model.about, found)


def _circumstances(made: "Sandbox") -> "dict[str, Any]":
    from graph.run.settings import versions

    return {"versions": {**versions()}, "sandbox": made.grade.model_dump(mode="json")}


def _given(model: "type[_Settings]", pairs: str) -> "_Settings":
    """The settings of a training.

    Raises:
        PlayerSpecError: If one is unknown, out of its bounds, or at odds with another.
    """
    from pydantic import ValidationError

    from agents.players.specs import PlayerSpecError, given_settings, parameters_of

    try:
        return model.model_validate(given_settings("train", parameters_of(model), pairs))
    except ValidationError as error:
        raise PlayerSpecError(f"train: {error.errors()[0]['ctx']['error']}") from error


def _tell_part(row: "dict[str, Any]") -> None:
    if "held_out_next" in row:
        told = f"{row['matches']} matches {row['play']}, {row['tokens']} tokens"
        note(f"iteration {row['iteration']}: {told}; held out: {_held_out(row)}")
    else:
        loss = "no token" if row["next"] is None else f"{row['next']:.3f}"
        note(f"iteration {row['iteration']}, step {row['step']} of {row['of']}: {loss}")


def _held_out(row: "Mapping[str, Any]") -> str:
    told = [
        f"no {what} is known" if row[key] is None else f"{row[key]:.3f} nats {article} {what}"
        for key, article, what in (
            ("held_out_next", "a", "token"),
            ("held_out_action", "an", "own action"),
            ("held_out_outcome", "an", "outcome"),
        )
    ]
    return ", ".join(told)


def _show_model(out: Path, about: "Mapping[str, Any]", match: str) -> None:
    last = about["course"][-1]
    say(f"{out}: {about['game']}, {about['tokens']:,} tokens in {last['iteration']} iterations")
    say(f"  of logs that were held out: {_held_out(last)}")
    say(f"  how it learned: {out}.html")
    say(f"  play it: rulewright match {match} --games 20")


def _tell_update(seed: int, row: "dict[str, Any]") -> None:
    told = f"{row['steps']} decisions: {row['matches']} matches, entropy {row['entropy']:.3f}"
    note(f"seed {seed}, {told}")


def _show_policy(out: Path, about: "Mapping[str, Any]", match: str) -> None:
    explored, last = about["explored"], about["course"][-1]
    say(f"{out}: {about['game']}, {about['steps']} decisions learned from")
    own = ", made by the model's own functions" if explored["encoder"] == "model" else ""
    say(f"  {explored['actions']} actions, {explored['width']} inputs{own}")
    for row in about.get("seeds", ()):
        mark = " (kept)" if row["seed"] == about["seed"] else ""
        paid = f"{row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        say(f"  seed {row['seed']}: {paid} a match against random play{mark}")
    if explored["not_restored"]:
        told = f"{explored['not_restored']} of {explored['tried']}"
        say(f"  {told} observations are told in part: too long, or too many values")
    unknown = sum(row["without_known_action"] for row in about["course"])
    say(f"  {unknown} decisions without an action that it knows; entropy {last['entropy']:.3f}")
    say(f"  play it: rulewright match {match} --games 100")
