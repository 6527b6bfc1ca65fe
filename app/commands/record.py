"""`record`: matches kept as trajectories."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from app import options
from app.console import give, note, say
from app.seeds import seed_or_drawn
from games.text import number_of

if TYPE_CHECKING:
    from collections.abc import Callable

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
