"""`train`: a network learns a game by PPO, in self-play inside the game's sandboxed module."""

import os
from contextlib import ExitStack
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import ends_at_once, note, print_json, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents.learning.settings import PpoSettings


def train_network(  # noqa: PLR0913 - one parameter an option
    game: options.Game,
    *,
    steps: Annotated[int, typer.Option("--steps", help="Decisions to learn from.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The policy file to write.")],
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", min=1, help="Train from so many seeds, and keep the best against random."
        ),
    ] = 1,
    ppo: Annotated[
        str, typer.Option("--ppo", metavar="KEY=VALUE,...", help="Settings of the training.")
    ] = "",
    players: options.Seats = 0,
    settings: options.Parameters = None,
    seed: options.Seed = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file, and a training of other settings.")
    ] = False,
    sandbox: options.Backend = None,
    no_isolation: options.NoIsolation = False,
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
        options.sandbox_of(sandbox, no_isolation),
        ends_at_once(lambda: stopped),
        ExitStack() as stack,
    ):
        from dataclasses import replace

        from agents.learning.choosing import best_of_seeds
        from agents.learning.matches import PRELOAD
        from agents.players.registry import PlayerRoster
        from app.commands.match import chosen_recipe
        from app.table.opening import open_table
        from graph.run.context import versions

        chosen = _given(ppo)
        made = stack.enter_context(replace(chosen_recipe(), preload=PRELOAD).make())
        setup = open_table(game, players, settings or [], made, stack).setup
        grade = made.grade.model_dump(mode="json")
        policy = best_of_seeds(
            *(made, setup, chosen, PlayerRoster()),
            steps=steps,
            seed=seed,
            seeds=seeds,
            about={"versions": {**versions()}, "sandbox": grade},
            folder=part,
            anew=force,
            on_update=_tell,
        )
        out.write_bytes(policy.saved())
        rmtree(part)
    if as_json:
        print_json({"file": str(out), **policy.about})
    else:
        _show(out, policy.about)


def _given(pairs: str) -> "PpoSettings":
    """The settings of a training.

    Raises:
        PlayerSpecError: If one is unknown or out of its bounds.
    """
    from agents.learning.settings import PpoSettings
    from agents.players.specs import given_settings, parameters_of

    return PpoSettings(**given_settings("train", parameters_of(PpoSettings), pairs))  # type: ignore[arg-type]


def _tell(seed: int, row: "dict[str, Any]") -> None:
    told = f"{row['steps']} decisions: {row['matches']} matches, entropy {row['entropy']:.3f}"
    note(f"seed {seed}, {told}")


def _show(out: Path, about: "Mapping[str, Any]") -> None:
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
    say(f"  play it: rulewright match GAME --player ppo:policy={out} --player random --games 100")
