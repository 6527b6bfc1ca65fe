"""`train`: a network learns a game by PPO, in self-play inside the game's sandboxed module."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import note, print_json, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agents.learning.settings import PpoSettings


def train_network(  # noqa: PLR0913 - one parameter an option
    game: options.Game,
    *,
    steps: Annotated[int, typer.Option("--steps", help="Decisions to learn from.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The policy file to write.")],
    ppo: Annotated[
        str, typer.Option("--ppo", metavar="KEY=VALUE,...", help="Settings of the training.")
    ] = "",
    players: options.Seats = 0,
    settings: options.Parameters = None,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    sandbox: options.Backend = None,
    no_isolation: options.NoIsolation = False,
    as_json: options.Json = False,
) -> None:
    """Train a network that plays a game, by PPO in self-play (needs the extra 'learn')."""
    options.require_new(out, force)
    # One thread, so that the same seed gives the same bytes; numpy reads it when it is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with options.sandbox_of(sandbox, no_isolation), ExitStack() as stack:
        from dataclasses import replace

        from agents.learning.matches import PRELOAD, Matches
        from agents.learning.ppo import train
        from app.commands.match import chosen_recipe
        from app.table.opening import open_table
        from graph.run.context import versions

        chosen = _given(ppo)
        made = stack.enter_context(replace(chosen_recipe(), preload=PRELOAD).make())
        setup = open_table(game, players, settings or [], made, stack).setup
        matches = stack.enter_context(Matches(made, setup, chosen, seed))
        grade = made.grade.model_dump(mode="json")
        policy = train(
            matches, steps, seed, {"versions": {**versions()}, "sandbox": grade}, on_update=_tell
        )
        out.write_bytes(policy.saved())
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


def _tell(row: "dict[str, Any]") -> None:
    note(f"{row['steps']} decisions: {row['matches']} matches, entropy {row['entropy']:.3f}")


def _show(out: Path, about: "Mapping[str, Any]") -> None:
    explored, last = about["explored"], about["course"][-1]
    say(f"{out}: {about['game']}, {about['steps']} decisions learned from")
    say(f"  {explored['actions']} actions, {explored['width']} inputs")
    if explored["not_restored"]:
        told = f"{explored['not_restored']} of {explored['decisions']}"
        say(f"  {told} observations are told in part: too long, or too many values")
    unknown = sum(row["without_known_action"] for row in about["course"])
    say(f"  {unknown} decisions without an action that it knows; entropy {last['entropy']:.3f}")
    say(f"  play it: rulewright match GAME --player ppo:policy={out} --player random --games 100")
