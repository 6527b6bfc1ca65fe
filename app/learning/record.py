"""`record`: matches of an environment, kept as trajectories to learn from."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import note, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from games.contract import Json
    from games.environments.environment import Environment
    from tools.sandbox import Sandbox

_TOLD = 10  # times


def record_environment(  # noqa: PLR0913 - one parameter an option
    environment: Annotated[
        str, typer.Argument(help="Such as openspiel:leduc_poker, library:whist or a module file.")
    ],
    *,
    matches: Annotated[int, typer.Option("--matches", min=1, help="Matches to record.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    policy: Annotated[
        str, typer.Option("--policy", help="random, search, or mixed: a coin for each seat.")
    ] = "random",
    simulations: Annotated[
        int, typer.Option("--simulations", min=1, help="Of a search, a decision.")
    ] = 100,
    closed_deck: Annotated[
        bool, typer.Option("--closed-deck", help="Keep what one seat saw and nothing else.")
    ] = False,
    seat: Annotated[
        int | None, typer.Option("--seat", min=0, help="Whose view a closed deck holds.")
    ] = None,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    max_plies: options.MaxPlies = 2000,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    sandbox: options.Backend = None,
    no_isolation: options.NoIsolation = False,
    as_json: options.Json = False,
) -> None:
    """Record matches of an environment as trajectories."""
    if closed_deck != (seat is not None):
        raise typer.BadParameter("--closed-deck and --seat S go together: whose view is kept")
    options.require_new(out, force)
    with options.sandbox_of(sandbox, no_isolation), ExitStack() as stack:
        from agents.recording import RecordPlan, record_matches
        from app.commands.match import chosen_recipe
        from games.environments.registry import environment_named
        from graph.run.context import versions
        from tools.sandbox.module import environment_in

        own = stack.enter_context(chosen_recipe().make())

        def of_file(name: str, given: "Mapping[str, Json]", seats: int) -> "Environment":
            del given
            return _of_file(name, settings or [], seats, own, stack)

        opened = environment_named(
            environment, options.given_parameters(settings or ()), players, of_file=of_file
        )
        plan = RecordPlan(
            matches=matches,
            policy=policy,
            simulations=simulations,
            seed=seed,
            seat=seat,
            max_plies=max_plies,
            versions=versions(),
        )
        with environment_in(own, opened) as worked:
            result = record_matches(worked, plan, out, on_match=_tell(matches))
    if as_json:
        print_json(result)
    else:
        _show(result)


def _of_file(
    name: str, settings: list[str], players: int, own: "Sandbox", stack: ExitStack
) -> "Environment":
    """A module file in a worker that lives as long as the command."""
    from app.table.opening import open_table
    from games.environments.of_module import ModuleEnvironment
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


def _show(result: "dict[str, Any]") -> None:
    deck = "open deck" if result["seat"] is None else f"closed deck of seat {result['seat']}"
    say(f"{result['file']}: {result['matches']} matches of {result['environment']}, {deck}")
    say(f"  policy: {result['policy']}")
    left = f", {result['truncated']} matches left at the limit" if result["truncated"] else ""
    say(f"  {result['plies']} plies{left}")
    if result["distinct_transitions"] is not None:
        say(f"  {result['distinct_transitions']} distinct transitions")
    paid = ", ".join(f"{mean:.3f}" for mean in result["mean_returns"])
    say(f"  mean returns: {paid}")
