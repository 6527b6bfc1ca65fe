"""The command `rulewright`. Nothing heavy is imported before a command is chosen.

Each command is a function under `app/commands`: its signature holds its options, and the first line
of its docstring is its help.
"""

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from app.commands.analyse import analyse_match
from app.commands.balance import balance_game
from app.commands.check import check_game, play_on_run
from app.commands.compare import compare_all
from app.commands.doctor import examine
from app.commands.evals import eval_app
from app.commands.explain import explain_part
from app.commands.export import export_game
from app.commands.learn import learn_model
from app.commands.library import build_index, init_game, list_games, list_players, search_store
from app.commands.match import play_game, play_matches
from app.commands.mechanics import show_mechanics
from app.commands.new import new_run, resume_named, revise_run
from app.commands.record import record_environment
from app.commands.sandbox import sandbox_app
from app.commands.serve import serve_page
from app.commands.tournament import play_round_robin
from app.commands.trace import list_runs, show_trace
from app.commands.train import train_network
from app.commands.vary import vary_game

# One thread for numpy: with more, embedding and search fight over the cores and lose.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_NEW_OBJECTS = 20_000  # between two looks for garbage

app = typer.Typer(
    name="rulewright",
    help="From an idea for a tabletop game, in plain words, to a game that works.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    # Where no help is asked for, "no" is its value: typer would load pydantic to read none at all.
    context_settings={"help_option_names": ["-h", "--help"], "default_map": {"help": False}},
)
app.add_typer(eval_app, name="eval")
app.add_typer(sandbox_app, name="sandbox")


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"rulewright {version('rulewright')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """From an idea for a tabletop game, in plain words, to a game that works."""
    if any(name.startswith("RULEWRIGHT_") for name in os.environ):
        from agents.model.settings import require_known
        from graph.run.environment import variables

        require_known(os.environ, [known.name for known in variables()])


app.command("new")(new_run)
app.command("resume")(resume_named)
app.command("revise")(revise_run)
app.command("playtest")(play_on_run)
app.command("learn")(learn_model)
app.command("vary")(vary_game)
app.command("play")(play_game)
app.command("match")(play_matches)
app.command("tournament")(play_round_robin)
app.command("record")(record_environment)
app.command("train")(train_network)
app.command("check")(check_game)
app.command("explain")(explain_part)
app.command("compare")(compare_all)
app.command("analyse")(analyse_match)
app.command("balance")(balance_game)
app.command("mechanics")(show_mechanics)
app.command("export")(export_game)
app.command("serve")(serve_page)
app.command("index")(build_index)
app.command("search")(search_store)
app.command("games")(list_games)
app.command("players")(list_players)
app.command("init")(init_game)
app.command("runs")(list_runs)
app.command("trace")(show_trace)
app.command("doctor")(examine)


def _require_plain_names(asked: list[str]) -> None:
    """Refuse a file or folder with line breaks in its name: told, it could pass for our words.

    Raises:
        BadParameter: Naming it in one line.
    """
    for one in asked:
        parts = (one, one.rpartition("=")[2], one.rpartition(":")[2])
        if len(one.splitlines()) > 1 and any(os.path.lexists(part) for part in parts):
            raise typer.BadParameter(f"the name {one!r} has more than one line; give it another")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code.

    docs/settings.md has the table of all codes.
    """
    asked = sys.argv[1:] if arguments is None else arguments
    gc.set_threshold(_NEW_OBJECTS, 20, 20)  # what a run makes are mostly results that stay
    try:
        _require_plain_names(asked)
        command: Any = typer.main.get_command(app)
        code = command(args=arguments, standalone_mode=False)
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:
        from app.console import explained, is_hang_up, note, print_json
        from games.text import quoted

        if is_hang_up(error):
            return 128 + signal.SIGHUP
        message = explained(error)
        if message is None:
            raise  # our own bug: its traceback is what we need
        show = getattr(error, "show", None)  # of a wrong argument: also how the command is used
        show() if show else note(f"error: {quoted(message)}")
        if "--json" in asked:
            with suppress(OSError):  # the error may be that nothing can be printed
                print_json({"end": "error", "error": message})
        return 2
    return code or 0


if __name__ == "__main__":
    sys.exit(main())
