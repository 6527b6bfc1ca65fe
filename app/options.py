"""Options that several commands share, each with one meaning."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

HostSearch = Annotated[
    bool,
    typer.Option(
        "--host-search",
        help="Search on the host, where a module cannot reach the search: slower, the same moves.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seeds every random choice.")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="NAME",
        help="Where generated code runs: linux, seatbelt, e2b or process; else the platform's.",
    ),
]
NoIsolation = Annotated[
    bool,
    typer.Option(
        "--i-accept-no-isolation",
        help="Goes with --sandbox process, which keeps the code from nothing.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=64, help="Matches at the same time.")]
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="KIND",
        help="What plays them side by side: threads, processes, ray or ray:ADDRESS.",
    ),
]
Game = Annotated[str, typer.Argument(help="A library name, a module file or a run's folder.")]
OptionalGame = Annotated[
    str | None, typer.Argument(help="A library name, a module file or a run's folder.")
]
Environment = Annotated[
    str | None,
    typer.Option(
        "--environment",
        metavar="NAME",
        help="Instead of a game: what plays by itself, such as openspiel:leduc_poker.",
    ),
]
Parameters = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the game: NAME=VALUE.")
]
MaxPlies = Annotated[int, typer.Option("--max-plies", min=1)]
Seats = Annotated[int, typer.Option("--players", min=0, help="Seats; 0: the usual.")]
JournalFile = Annotated[
    Path | None, typer.Option("--journal", help="File to go on from after a stop.")
]


def require_new(file: Path, force: bool) -> None:  # noqa: FBT001 - an option
    """Refuse a file that cannot be written, or is there already.

    Raises:
        typer.BadParameter: Saying which.
    """
    if file.exists() and not force:
        raise typer.BadParameter(f"{file} is there already; choose another name, or say --force")
    if not file.parent.is_dir():
        raise typer.BadParameter(f"{file.parent} is no folder; make it first")


@contextmanager
def sandbox_of(name: str | None, no_isolation: bool) -> Iterator[None]:  # noqa: FBT001 - an option
    """Let generated code run where the command line says, inside the block."""
    from graph.run.sandboxes import SandboxChoice, sandbox_chosen

    with sandbox_chosen(SandboxChoice(name, no_isolation)):
        yield
