"""`check` and `playtest`: does a game keep its promises, and how does it play?"""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app import options
from app.commands.new import carry_on, require_finished
from app.console import give, leave, say
from app.seeds import seed_or_drawn
from games.text import one_line, quoted

if TYPE_CHECKING:
    from graph.run.folder import RunFolder
    from tools.checking import CheckRun

_MATCHES = 100  # that are played as `match` plays them


@options.grouped
def check_game(
    game: Annotated[
        str, typer.Argument(help="A module file, a run's folder or name, or a game's name.")
    ],
    *,
    players: options.Seats = 0,
    seed: options.Seed = None,
    deadline: Annotated[float, typer.Option("--deadline", min=1, help="Seconds in all.")] = 120.0,
    junit: options.Junit = None,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Check a module against the contract, its own rules of sight, and random play."""
    from agents.players.registry import PlayerRoster
    from app.junit import cases_of_check, write_junit
    from games.checks import verdict
    from games.checks.run import CheckSettings
    from tools.checking import check_source
    from tools.playtest.jobs import GameSetup
    from tools.playtest.series import SeriesSettings, play_finding

    if junit is not None:
        options.require_new(junit, force=True)
    found = options.game_called(game)
    settings = CheckSettings(seed=seed_or_drawn(seed))
    ends = time.monotonic() + deadline
    with place.opened() as opened:
        run = check_source(
            opened,
            found.source,
            settings=settings,
            num_players=players or None,
            parameters={},
            deadline_s=deadline,
            records=0,
        )
        if verdict(run.findings) == "passed":
            setup = GameSetup(found.name, found.source, run.num_players)
            asked = SeriesSettings(
                _MATCHES, settings.seed, settings.max_plies, until=ends, record=False
            )
            played = play_finding(opened, setup, PlayerRoster(), asked)
            run = replace(run, findings=(*run.findings, played))
        grade = opened.grade
    if junit is not None:
        write_junit(junit, found.name, cases_of_check(run.findings))
    outcome = verdict(run.findings)
    told = {
        "game": found.name,
        "outcome": outcome,
        "findings": run.findings,
        "settings": settings,
        "players": run.num_players,
        "deadline_s": deadline,
        "sandbox": grade,
        "output": run.output,
    }
    give(told, lambda: _show(found.name, run, grade.name), as_json=as_json)
    leave(0 if outcome == "passed" else 1)


def _show(name: str, run: "CheckRun", grade: str) -> None:
    from games.checks import verdict

    for found in run.findings:
        where = f" line {found.line}" if found.line else ""
        at = f" [{found.function}{where}]" if found.function else where
        say(f"{found.outcome:<16} {found.check}{at} {quoted(found.evidence)}".rstrip())
    start = f"{run.num_players} players, defaults" if run.num_players else "not started"
    say(f"{one_line(name)}: {verdict(run.findings)} ({start}; sandbox grade: {grade})")


@options.grouped
def play_on_run(
    run: Annotated[str, typer.Argument(help="Folder or name of a run.")],
    *,
    matches: Annotated[
        int,
        typer.Option("--matches", min=0, help="Of good players, in all; 0: what would decide."),
    ] = 0,
    players: options.Seats = 0,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Play a finished game on, or with another number of players, and renew its report."""
    from graph.new.requests import read_request, write_request
    from graph.new.state import PlayOn
    from graph.run.folder import find_folder, runs_folder

    folder = find_folder(run, runs_folder(), to_go_on=True)
    with folder.held(), place.chosen():
        request = read_request(folder)
        require_finished(folder)
        if players:
            _require_seats(folder, players)
        wish = PlayOn(matches=matches, players=players)
        # Part of what was asked, so that the run can be made again with it.
        write_request(request.playing_on(wish), folder)
        carry_on(folder, request.settings, fresh=False, given=None, as_json=as_json)


def _require_seats(folder: "RunFolder", players: int) -> None:
    """Refuse a number of players that the newest game of a run does not take."""
    from games.contract import player_numbers, players_text
    from tools.sandbox.reading import foreign_game
    from tools.sources import read_source

    newest = (folder, *folder.revisions)[-1]
    numbers = player_numbers(foreign_game(read_source(newest.path / "game.py", "the game")))
    if players not in numbers:
        raise typer.BadParameter(
            f"--players is {players}; the game takes {players_text(numbers)}. To have it made for "
            f"others: rulewright revise {folder.path} 'for {players} players'"
        )
