"""`play`: people at a table in the terminal, with the computer at the other seats."""

import secrets
import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app.commands.match import chosen_roster
from app.console import STOPPED, leave, note, say
from app.options import Backend, NoIsolation, Parameters, Seats, opened_sandbox

if TYPE_CHECKING:
    from app.table.screen import TableScreen
    from app.table.session import TableSession
    from tools.sandbox import Worker

_SEEDS = 1_000_000  # of a size that a person can type


def play_game(  # noqa: PLR0913 - one parameter an option
    game: Annotated[
        str, typer.Argument(help="A run's folder or name, a module file or a library name.")
    ],
    *,
    seat: Annotated[
        list[int] | None,
        typer.Option("--seat", min=1, help="Your seat, from 1; repeated: several people play."),
    ] = None,
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            help="Who sits at the other seats: NAME[:key=value,...], or one a seat in order; else "
            "the run's strongest, greedy, or a small search.",
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Nobody plays: look over the shoulder of --seat.")
    ] = False,
    players: Seats = 0,
    settings: Parameters = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Repeats a match; else a new one is drawn.")
    ] = None,
    sandbox: Backend = None,
    no_isolation: NoIsolation = False,
) -> None:
    """Play a game in the terminal: alone, with others at one keyboard, or watching."""
    for stream in (sys.stdin, sys.stdout):
        if callable(change := getattr(stream, "reconfigure", None)):
            change(errors="replace")  # what cannot be read or shown is no reason to end
    chosen = tuple(sorted({number - 1 for number in seat or [1]}))
    seed = secrets.randbelow(_SEEDS) if seed is None else seed
    with opened_sandbox(sandbox, no_isolation) as opened, ExitStack() as stack:
        from app.table.opening import line_up_of, open_table, renderer, table_setting
        from app.table.screen import TableScreen, shows_unicode
        from app.table.session import TableSession

        table = open_table(game, players, settings or (), opened, stack)
        if chosen[-1] >= table.setup.num_players:
            seats = table.setup.num_players
            raise typer.BadParameter(f"--seat is {chosen[-1] + 1}; the seats are 1 to {seats}")
        people = () if watch else chosen
        specs = line_up_of(table.setup, people, opponent or (), table.run, opened)
        roster = chosen_roster([spec for spec in specs if spec])
        session = TableSession(table.setup, specs, seed, opened, table.records, roster)
        setting = table_setting(table, is_unicode=shows_unicode())
        drawing = renderer(table, opened, stack)
        screen = TableScreen(session, chosen, setting, table.rulebook, drawing, is_watched=watch)
        screen.introduce(table.module.info)
        _play(session, screen, table.worker)


def _play(session: "TableSession", screen: "TableScreen", worker: "Worker") -> NoReturn:
    """The match, to its end or until somebody leaves; either way its record is written."""
    from agents.model.errors import ModelError
    from app.table.session import TableLeft
    from tools.sandbox import SandboxTable

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    match, code, reason = None, 1, "stopped by a fault of ours"
    try:
        match = session.play(SandboxTable(worker), screen.asked, screen.told)
        screen.show_end(match)
        code, reason = 0 if match.returns is not None else 1, match.reason
    except KeyboardInterrupt:
        code, reason = STOPPED, "stopped"
    except TableLeft as left:
        code, reason = left.code, "somebody left"
    except ModelError:
        reason = "a model could not be asked"
        raise
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)  # the record is written now
        if match is None:
            say("\nThe match is left unfinished.")
        try:
            say(f"The record: {session.save(match, reason)}")
        except OSError as error:
            note(f"the record could not be written: {error}")
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    leave(code)
