"""The command `rulewright`. Nothing heavy is imported before a command is chosen."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app.groups import eval_app, sandbox_app
from app.options import Backend, Jobs, JournalFile, Json, NoIsolation, Seed, sandbox_of

# One thread for numpy: with more, embedding and search fight over the cores and lose.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = typer.Typer(
    name="rulewright",
    help="From an idea for a tabletop game, in plain words, to a game that works.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(eval_app, name="eval")
app.add_typer(sandbox_app, name="sandbox")


@app.command()
def new(  # noqa: PLR0913, PLR0917 - one parameter an option
    prompt: Annotated[str, typer.Argument(help="The game, in your own words.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run.")] = None,
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer matches, smaller searches.")
    ] = False,
    approve: Annotated[bool, typer.Option("--approve", help="Ask before coding.")] = False,
    own_games: Annotated[
        bool, typer.Option("--own-games", help="Let the roles see games of earlier runs.")
    ] = False,
    refine: Annotated[
        str, typer.Option("--refine", help="How to refine: conversation or tree.")
    ] = "conversation",
    rounds: Annotated[int, typer.Option("--rounds", min=0, help="Refinements at most.")] = 6,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Design, code, check, play and report a game from your own words."""
    from app.commands.new import new_run

    with sandbox_of(sandbox, no_isolation):
        new_run(
            prompt,
            out=out,
            seed=seed,
            quick=quick,
            approve=approve,
            own_games=own_games,
            refine=refine,
            rounds=rounds,
            as_json=as_json,
        )


@app.command()
def resume(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    answer: Annotated[
        str | None, typer.Option("--answer", help="Answer to what the run waits for.")
    ] = None,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Go on with a run that was stopped, killed, or waits for an answer."""
    from app.commands.new import resume_named

    with sandbox_of(sandbox, no_isolation):
        resume_named(run, answer=answer, as_json=as_json)


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="A run's folder, a module file or a library name.")],
    seat: Annotated[int, typer.Option("--seat", min=1, help="Your seat, from 1.")] = 1,
    opponent: Annotated[
        str, typer.Option("--opponent", help="Who sits at the other seats: NAME[:key=value,...].")
    ] = "greedy",
    players: Annotated[int, typer.Option("--players", min=0, help="Seats; 0: the usual.")] = 0,
    seed: Seed = 0,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
) -> None:
    """Play a game in the terminal."""
    from app.commands.play import play_game

    with sandbox_of(sandbox, no_isolation):
        play_game(game, seat=seat - 1, opponent=opponent, players=players, seed=seed)


@app.command()
def match(  # noqa: PLR0913, PLR0917 - one parameter an option
    game: Annotated[str, typer.Argument(help="A library name, a module file or a run's folder.")],
    player: Annotated[
        list[str], typer.Option("--player", help="One a seat, in order: NAME[:key=value,...].")
    ],
    games: Annotated[int, typer.Option("--games", min=1, help="Matches to play.")] = 1,
    seed: Seed = 0,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the game: NAME=VALUE.")
    ] = None,
    max_plies: Annotated[int, typer.Option("--max-plies", min=1)] = 2000,
    jobs: Jobs = 1,
    journal: JournalFile = None,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Let players play matches and count the results."""
    from app.commands.match import play_matches

    with sandbox_of(sandbox, no_isolation):
        play_matches(
            game,
            player,
            games=games,
            seed=seed,
            settings=setting or [],
            max_plies=max_plies,
            jobs=jobs,
            journal=journal,
            as_json=as_json,
        )


@app.command()
def tournament(  # noqa: PLR0913, PLR0917 - one parameter an option
    game: Annotated[str, typer.Argument(help="A library name, a module file or a run's folder.")],
    player: Annotated[
        list[str], typer.Option("--player", help="One an entrant: NAME[:key=value,...].")
    ],
    seats: Annotated[int, typer.Option("--seats", help="Seats at the table, 2 to 8.")] = 2,
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Deals each line-up plays in every seating.")
    ] = 10,
    seed: Seed = 0,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of the game: NAME=VALUE.")
    ] = None,
    max_plies: Annotated[int, typer.Option("--max-plies", min=1)] = 2000,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="LOW,HIGH",
            help="Two meet only until one's score is told to be LOW or less, or HIGH or more.",
        ),
    ] = None,
    prior_draws: Annotated[
        float, typer.Option("--prior-draws", min=0, help="Draws added to a pair in the ratings.")
    ] = 0.0,
    jobs: Jobs = 1,
    journal: JournalFile = None,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Let every player meet every other, and rate them."""
    from app.commands.tournament import play_round_robin

    with sandbox_of(sandbox, no_isolation):
        play_round_robin(
            game,
            player,
            seats=seats,
            deals=deals,
            seed=seed,
            settings=setting or [],
            max_plies=max_plies,
            until=until,
            prior_draws=prior_draws,
            jobs=jobs,
            journal=journal,
            as_json=as_json,
        )


@app.command()
def check(
    game: Annotated[str, typer.Argument(help="A module file, a run's folder or a library name.")],
    players: Annotated[int, typer.Option("--players", min=0, help="Seats; 0: the usual.")] = 0,
    seed: Seed = 0,
    deadline: Annotated[float, typer.Option("--deadline", min=1, help="Seconds in all.")] = 120.0,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Check a module against the contract, its own rules of sight, and random play."""
    from app.commands.check import check_game

    with sandbox_of(sandbox, no_isolation):
        check_game(game, players=players, seed=seed, deadline=deadline, as_json=as_json)


@app.command()
def index(as_json: Json = False) -> None:
    """Build or update the store of games, functions and mechanics."""
    from app.commands.store import build_index

    build_index(as_json=as_json)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    kind: Annotated[
        str, typer.Option("--kind", help="games, snippets or mechanics.")
    ] = "mechanics",
    limit: Annotated[int, typer.Option("--limit", min=1, max=50)] = 5,
    as_json: Json = False,
) -> None:
    """Search the store by meaning."""
    from app.commands.store import search_store

    search_store(query, kind=kind, limit=limit, as_json=as_json)


@app.command()
def games(as_json: Json = False) -> None:
    """List the library's games with their parameters."""
    from app.commands.listing import list_games

    list_games(as_json=as_json)


@app.command()
def players(as_json: Json = False) -> None:
    """List the players with their parameters."""
    from app.commands.listing import list_players

    list_players(as_json=as_json)


@app.command()
def trace(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    prompts: Annotated[bool, typer.Option("--prompts", help="Show prompts in full.")] = False,
    as_json: Json = False,
) -> None:
    """Show a run's trace as a tree with times, tokens and prompts."""
    from app.commands.trace import show_trace

    show_trace(run, prompts=prompts, as_json=as_json)


@app.command()
def doctor(
    sandbox: Backend = None, no_isolation: NoIsolation = False, as_json: Json = False
) -> None:
    """Say what works on this machine, and what does not."""
    from app.commands.doctor import examine

    with sandbox_of(sandbox, no_isolation):
        examine(as_json=as_json)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code.

    0: done. 1: done, and the answer is no (a check failed). 2: nothing could be done as asked.
    3: a run waits for an answer. 4: a sandbox ended what was run in it. 130: stopped by Ctrl-C.
    """
    command: Any = typer.main.get_command(app)
    try:
        command(args=arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:
        from app.console import note
        from app.errors import explained

        message = explained(error)
        if message is None:
            raise  # our own bug: its traceback is what we need
        note(f"error: {message}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
