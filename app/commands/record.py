"""`record` and `train`: matches kept as trajectories, and a network that learns a game."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from app import options
from app.console import ends_at_once, give, note, say
from app.seeds import seed_or_drawn
from games.text import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agents.learning.settings import PpoSettings
    from agents.recording import RecordedFile
    from games.environments import Environment
    from tools.sandbox import Sandbox

_TOLD = 10  # times


_Recorded: TypeAlias = Annotated[
    str, typer.Argument(help="Such as openspiel:leduc_poker, library:whist or a module file.")
]


@dataclass(frozen=True, kw_only=True)
class _Recording:
    """The matches to record."""

    matches: Annotated[int, typer.Option("--matches", min=1, help="Matches to record.")]
    policy: Annotated[
        str, typer.Option("--policy", help="random, search, or mixed: a coin for each seat.")
    ] = "random"
    simulations: Annotated[
        int, typer.Option("--simulations", min=1, help="Of a search, a decision.")
    ] = 100
    closed_deck: Annotated[
        bool, typer.Option("--closed-deck", help="Keep what one seat saw and nothing else.")
    ] = False
    seat: Annotated[
        int | None, typer.Option("--seat", min=0, help="Whose view a closed deck holds.")
    ] = None
    max_plies: options.MaxPlies = 2000
    seed: options.Seed = None


@options.grouped
def record_environment(
    environment: _Recorded,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    asked: _Recording,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Record matches of an environment as trajectories."""
    if asked.closed_deck != (asked.seat is not None):
        raise typer.BadParameter("--closed-deck and --seat S go together: whose view is kept")
    options.require_new(out, force)
    with place.chosen(), ExitStack() as stack:
        from agents.recording import RecordPlan, record_matches
        from app.commands.match import chosen_recipe
        from games.environments.registry import environment_named
        from graph.run.settings import versions
        from tools.sandbox.module import environment_in

        own = stack.enter_context(chosen_recipe().make())

        opened = environment_named(
            environment,
            options.given_parameters(settings or ()),
            players,
            of_file=lambda name, _, seats: _of_file(name, settings or [], seats, own, stack),
        )
        plan = RecordPlan(
            *(asked.matches, asked.policy, asked.simulations),
            *(seed_or_drawn(asked.seed), asked.seat),
            *(asked.max_plies, versions()),
        )
        with environment_in(own, opened) as worked:
            result = record_matches(worked, plan, out, on_match=_tell(asked.matches))
    give(result, lambda: _show(result), as_json=as_json)


def _of_file(
    name: str, settings: list[str], players: int, own: "Sandbox", stack: ExitStack
) -> "Environment":
    """A module file in a worker that lives as long as the command."""
    from app.table.session import open_table
    from games.environments import ModuleEnvironment
    from tools.sandbox import SandboxTable

    laid = open_table(name, players, settings, own, stack)
    setup, table = laid.setup, SandboxTable(laid.worker)
    return ModuleEnvironment(
        setup.name, setup.num_players, setup.parameters, laid.rulebook(), table
    )


def _tell(matches: int) -> "Callable[[int], None]":
    step = max(1, matches // _TOLD)

    def tell(match: int) -> None:
        if (match + 1) % step == 0:
            note(f"{match + 1} of {matches} matches")

    return tell


def _show(result: "RecordedFile") -> None:
    deck = "open deck" if result.seat is None else f"closed deck of seat {result.seat}"
    matches = number_of(result.matches, "match")
    say(f"{result.file}: {matches} of {result.environment}, {deck}")
    say(f"  policy: {result.policy}")
    left = number_of(result.truncated, "match") + " left at the limit"
    left = f", {left}" if result.truncated else ""
    say(f"  {result.plies} plies{left}")
    if result.distinct_transitions is not None:
        say(f"  {result.distinct_transitions} distinct transitions")
    paid = ", ".join(f"{mean:.3f}" for mean in result.mean_returns)
    say(f"  mean returns: {paid}")


_PolicyFile: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="The policy file to write.")
]
_ForceTraining: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace the file, and a training of other settings.")
]


@dataclass(frozen=True, kw_only=True)
class _Training:
    """The training of one network."""

    steps: Annotated[int, typer.Option("--steps", help="Decisions to learn from.")]
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", min=1, help="Train from so many seeds, and keep the best against random."
        ),
    ] = 1
    ppo: Annotated[
        str, typer.Option("--ppo", metavar="KEY=VALUE,...", help="Settings of the training.")
    ] = ""
    seed: options.Seed = None


@options.grouped
def train_network(
    game: options.Game,
    *,
    out: _PolicyFile,
    asked: _Training,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    force: _ForceTraining = False,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Train a network that plays a game, by PPO in self-play (needs the extra 'learn').

    A training that was stopped goes on when the same command is given again.
    """
    options.require_new(out, force)
    part = out.with_name(f"{out.name}.part")
    stopped = f"stopped; what was learned is kept in {part}. Go on with the same command"
    # One thread, so that the same seed gives the same bytes; numpy reads it when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with (
        place.chosen(),
        ends_at_once(lambda: stopped),
        ExitStack() as stack,
    ):
        from dataclasses import replace

        from agents.learning.choosing import TrainingOrder, best_of_seeds, first_seed
        from agents.learning.matches import PRELOAD
        from agents.players.registry import PlayerRoster
        from app.commands.match import chosen_recipe
        from app.table.session import open_table
        from graph.run.settings import versions

        chosen = _given(asked.ppo)
        seed = seed_or_drawn(asked.seed, None if force else first_seed(part))
        made = stack.enter_context(replace(chosen_recipe(), preload=PRELOAD).make())
        setup = open_table(game, players, settings or [], made, stack).setup
        grade = made.grade.model_dump(mode="json")
        policy = best_of_seeds(
            *(made, setup, PlayerRoster()),
            TrainingOrder(
                *(chosen, asked.steps, seed, asked.seeds),
                about={"versions": {**versions()}, "sandbox": grade},
            ),
            folder=part,
            anew=force,
            on_update=_tell_update,
        )
        out.write_bytes(policy.saved())
        rmtree(part)
    result = {"file": str(out), **policy.about}
    also = "".join(f" --set {pair}" for pair in settings or ())
    seats = f" --player ppo:policy={out}" + " --player random" * (setup.num_players - 1)
    give(result, lambda: _show_policy(out, policy.about, f"{game}{also}{seats}"), as_json=as_json)


def _given(pairs: str) -> "PpoSettings":
    """The settings of a training.

    Raises:
        PlayerSpecError: If one is unknown or out of its bounds.
    """
    from agents.learning.settings import PpoSettings
    from agents.players.specs import given_settings, parameters_of

    return PpoSettings(**given_settings("train", parameters_of(PpoSettings), pairs))  # type: ignore[arg-type]


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
