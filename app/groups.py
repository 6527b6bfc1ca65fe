"""The commands that have commands: `eval` and `sandbox`."""

from pathlib import Path
from typing import Annotated

import typer

from app.options import Backend, Json, NoIsolation, Seed, sandbox_of

eval_app = typer.Typer(help="Scripted evaluations.", no_args_is_help=True, rich_markup_mode=None)
sandbox_app = typer.Typer(
    help="Where generated code runs.", no_args_is_help=True, rich_markup_mode=None
)


@eval_app.command("list")
def eval_list(as_json: Json = False) -> None:
    """List the evaluations."""
    from app.commands.evals import list_evals

    list_evals(as_json=as_json)


@eval_app.command("run")
def eval_run(
    name: Annotated[str, typer.Argument(help="Name of an evaluation.")],
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="The small variant, of at most two minutes.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="PATH",
            help="Keep finished games there; a run that was ended goes on from them.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--jobs", min=1, max=64, help="Processes that play at the same time.")
    ] = 1,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
    as_json: Json = False,
) -> None:
    """Run an evaluation; it fails below its thresholds."""
    from app.commands.evals import run_eval

    with sandbox_of(sandbox, no_isolation):
        run_eval(name, seed=seed, quick=quick, folder=folder, workers=workers, as_json=as_json)


@sandbox_app.command("run")
def sandbox_run(
    file: Annotated[Path, typer.Argument(help="A Python module; - reads standard input.")],
    call: Annotated[
        str | None,
        typer.Option(
            "--call", metavar="EXPR", help="An expression to evaluate in it; its value is shown."
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option("--backend", "--sandbox", metavar="NAME", help="As --sandbox elsewhere."),
    ] = None,
    no_isolation: NoIsolation = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=3600, help="Seconds each step may take.")
    ] = 10.0,
    as_json: Json = False,
) -> None:
    """Run one file as a module in a sandbox, and say how that went.

    Loads it, calls its main() if it has one, and evaluates EXPR. Exit code 0: it ran to its end.
    1: it failed by itself. 4: the sandbox ended it. 2: nothing could be run as asked.
    """
    from app.commands.sandbox import run_file

    with sandbox_of(sandbox, no_isolation):
        run_file(file, call=call, timeout=timeout, as_json=as_json)


@sandbox_app.command("self-test")
def self_test(as_json: Json = False) -> None:
    """Try out every sandbox of this platform; exit code 1 where the default does not hold."""
    from app.commands.sandbox import try_backends

    try_backends(as_json=as_json)
