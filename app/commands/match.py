"""`match` and `play`: players against each other, and people at a table in the terminal."""

import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from app import options
from app.console import STOPPED, ends_at_once, give, kept_in, leave, note, say, teller
from app.options import Isolation, Parameters, Playing, Seats, grouped
from app.seeds import seed_of_journal
from games.text import one_line, quoted

if TYPE_CHECKING:
    from agents.players.registry import PlayerRoster
    from app.table.saved import PlayRequest
    from app.table.screen import TableScreen
    from app.table.session import TableSession
    from games.table import Table
    from tools.playtest.intervals import Estimate
    from tools.playtest.jobs import GameSetup, SandboxRecipe
    from tools.playtest.runner import Workers
    from tools.playtest.series import Series, SeriesSettings
    from tools.sandbox import Grade, Sandbox


@dataclass(frozen=True, kw_only=True)
class _Series:
    """The game of a series, and how much of it is played."""

    environment: options.Environment = None
    games: Annotated[int, typer.Option("--games", min=1, help="Matches to play.")] = 1
    seed: options.Seed = None
    settings: options.Parameters = None
    max_plies: options.MaxPlies = 2000


@grouped
def play_matches(
    game: options.OptionalGame = None,
    *,
    player: Annotated[
        list[str],
        typer.Option("--player", help="One a seat, in order: NAME[:key=value,...] or ./FILE.py."),
    ],
    series: _Series,
    playing: Playing,
    place: Isolation,
    as_json: options.Json = False,
) -> None:
    """Let players play matches and count the results."""
    with place.chosen(), stops_resumably(playing.journal):
        workers = chosen_workers(playing.executor, playing.jobs)
        roster = replace(chosen_roster(player, workers), host_search=playing.host_search)
        setup = chosen_game(game, len(player), series.settings, series.environment)
        from graph.run.settings import versions
        from tools.playtest.series import SeriesSettings, series_summary

        seed = seed_of_journal(series.seed, playing.journal)
        asked = SeriesSettings(series.games, seed, series.max_plies, record=False)
        played, grade = series_played(
            setup, player, roster, asked, journal=playing.journal, workers=workers
        )
    result = {
        "asked": series.games,
        "host_search": playing.host_search,
        "sandbox": grade,
        "versions": versions(),
        **({"endpoint": roster.models.about()} if roster.models else {}),
        **series_summary(played),
    }
    give(result, lambda: _show(played), as_json=as_json)
    failed = playing.failed(played.endings)
    leave(0 if played.tables.scored and not played.tables.no_result and not failed else 1)


def series_played(
    setup: "GameSetup",
    specs: Sequence[str],
    roster: "PlayerRoster",
    asked: "SeriesSettings",
    *,
    journal: Path | None,
    workers: "Workers",
) -> "tuple[Series, Grade]":
    """The matches asked for, or as many more as whole rotations take; the sandbox's grade.

    Args:
        setup: The game, with the parameters that were given.
        specs: The players, one a seat.
        roster: Takes the specs.
        asked: How much is played.
        journal: File of finished matches.
        workers: Where the matches are played.
    """
    from graph.run.sandboxes import describe_grade
    from tools.playtest.jobs import sandbox_of_process
    from tools.playtest.series import play_series

    recipe = replace(chosen_recipe(), preload=roster.preload)
    with sandbox_of_process(recipe) as opened, ExitStack() as stack:
        grade = opened.grade
        note(describe_grade(grade))
        setup = replace(setup, parameters=options.accepted_parameters(setup, opened))
        for spec in dict.fromkeys(specs):
            roster.require_files(spec, setup, opened)
        names = [roster.effective(spec).name for spec in specs]
        matches = _whole_rotations(asked.matches, names)
        series = play_series(
            *(setup, specs, roster, replace(asked, matches=matches)),
            sandbox=recipe,
            journal=journal,
            workers=workers,
            on_match=stack.enter_context(teller(roster.models, matches)),
        )
    return series, grade


def _whole_rotations(games: int, names: Sequence[str]) -> int:
    """As many matches, or a few more, so that every player has every seat as often."""
    from tools.playtest.schedule import one_line_up

    rotations = one_line_up(names).rotations
    matches = -(-games // rotations) * rotations
    if matches != games:
        more = f"{matches} matches instead of {games}"
        note(f"{more}, so that every player has every seat as often")
    return matches


def chosen_game(
    name: str | None, seats: int, settings: Sequence[str] | None, environment: str | None = None
) -> "GameSetup":
    """The game or environment that was asked for, with the parameters that were given.

    Raises:
        typer.BadParameter: If it is both or neither, or the environment has other seats.
    """
    from tools.playtest.jobs import GameSetup
    from tools.sources import environment_game

    given = options.given_parameters(settings or ())
    if name is None and environment is not None and Path(environment).exists():
        name, environment = environment, None  # a module file, or its folder, is a game
    if environment is not None and name is None:
        setup = environment_game(environment, given, seats)
        if setup.num_players != seats:
            raise typer.BadParameter(
                f"{setup.name} has {setup.num_players} seats, and {seats} players are named; "
                "required: one a seat",
                param_hint="--player",
            )
        return setup
    if name is None or environment is not None:
        raise typer.BadParameter(
            "required: one of them, a game or --environment NAME", param_hint="GAME"
        )
    found = options.game_called(name)
    return GameSetup(found.name, found.source, seats, given, found.heuristics)


def chosen_workers(executor: str, jobs: int) -> "Workers":
    """The executor that was asked for.

    Raises:
        typer.BadParameter: If there is none of that name.
    """
    from tools.playtest.runner import ExecutorError, Workers

    try:
        return Workers.named(executor, jobs)
    except ExecutorError as error:
        raise typer.BadParameter(str(error), param_hint="--executor") from error


def chosen_roster(specs: Sequence[str], workers: "Workers | None" = None) -> "PlayerRoster":
    """Every player, with the endpoint open where a spec names a model; what that means is noted.

    Raises:
        PlayerSpecError: If a spec is none.
        ModelError: If there is no endpoint to ask.
    """
    from agents.players.endpoint import ModelTable
    from agents.players.llm import LLM
    from agents.players.registry import PlayerRoster

    roster = PlayerRoster()
    asking = [one for one in map(roster.effective, specs) if one.player == LLM]
    if not asking:
        return roster
    from graph.run.opening import model_settings  # LangGraph, which no other player needs

    models = ModelTable.opened(model_settings(), {str(one.settings["model"]) for one in asking})
    note(str(models))
    if workers is not None and any("lessons" in one.settings for one in asking):
        note("reflexion learns from deal to deal: matches are played in order, one at a time")
    elif workers is not None and workers.kind != "threads" and workers.jobs > 1:
        note(f"players that are models share a client: threads play, not {workers.kind}")
    return replace(roster, models=models)


@contextmanager
def stops_resumably(journal: Path | None) -> Iterator[None]:
    """Say where the finished matches are kept when Ctrl-C or a model's failure ends the block."""
    from agents.model.errors import ModelError
    from tools.playtest.runner import RunStoppedError

    with ends_at_once(lambda: kept_in(journal)):
        try:
            yield
        except ModelError as error:
            raise RunStoppedError(f"{error}; {kept_in(journal)}") from error


def chosen_recipe() -> "SandboxRecipe":
    """The recipe by which every process makes the sandbox that was chosen."""
    from graph.run.sandboxes import ACCEPTED, NAME, choice_in_variables, chosen_backend
    from tools.playtest.jobs import SandboxRecipe

    chosen_backend()  # says what is wrong with the choice
    chosen = choice_in_variables()
    return SandboxRecipe(chosen.get(NAME), accept_no_isolation=ACCEPTED in chosen)


def _show(series: "Series") -> None:
    """Tell a result in words."""
    tables = series.tables
    options.say_not_audited(series.replayed.not_audited)
    endings = ", ".join(f"{count} {name}" for name, count in series.endings.items() if count)
    say(f"{one_line(series.plan.game.name)}: {len(series.entries)} matches: {endings}")
    for entrant, player in enumerate(series.line_up):
        found, used = series.figures(entrant), tables.used(entrant)
        told = [
            f"{words} {_told(estimate)}"
            for words, estimate in (
                ("win share", found.win_share),
                ("mean return", found.mean_return),
            )
            if estimate is not None
        ]
        if found.not_estimated:
            told.append(f"not estimated: {found.not_estimated}")
        say(f"  {entrant + 1}. {one_line(player)}")
        say(f"    {', '.join(told)}")
        if forfeits := tables.forfeits(entrant):
            say(f"    forfeited {forfeits} matches: lost")
        totals = {name: one.total for name, one in used.figures.items()}
        say_cost(totals)
        if "surprises" in totals:
            said = f"{totals['surprises']:.0f} surprises, {totals['failed_searches']:.0f} failed"
            say(f"    its model: {said} searches in {used.decisions} decisions")
    say_doubts(tables.cautions, tables.left_out, tables.reasons())
    if (why := series.plan.one_by_one) and len(series.entries) > 1:
        note(f"matches were played one by one: {one_line(why)}")


def say_doubts(cautions: Mapping[str, str], left_out: int, reasons: Mapping[str, int]) -> None:
    """Say what a result does not rest on, and why matches did not finish."""
    for caution in cautions.values():
        say(f"  {one_line(caution)}")
    if left_out:
        say(f"  {left_out} matches of deals that did not finish are left out")
    for reason, times in reasons.items():
        say(f"  {times} times: {quoted(reason)}")


def _told(estimate: "Estimate") -> str:
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def say_cost(totals: Mapping[str, float]) -> None:
    """Say what an entrant used of a model, where it asked one."""
    if "model_calls" in totals:
        calls, told, said = (totals[name] for name in ("model_calls", "tokens_in", "tokens_out"))
        cost = f", ${totals['dollars']:.4f}" if "dollars" in totals else ""
        about = " (estimated in part)" if "estimated_calls" in totals else ""
        say(f"    {calls:,.0f} model calls, tokens {told:,.0f} in, {said:,.0f} out{about}{cost}")


@grouped
def play_game(
    game: Annotated[
        str,
        typer.Argument(help="A run, module file, library name, environment or saved match."),
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
    place: Isolation,
) -> None:
    """Play a game in the terminal: alone, with others at one keyboard, or watching."""
    for stream in (sys.stdin, sys.stdout):
        if callable(change := getattr(stream, "reconfigure", None)):
            change(errors="replace")  # what cannot be read or shown is no reason to end
    from app.table.saved import PlayRequest, with_saved_match

    asked = PlayRequest(game, seat or (), opponent or (), watch, players, settings or (), seed)
    with place.opened() as opened, ExitStack() as stack:
        sit_down(with_saved_match(asked), opened, stack)


def sit_down(asked: "PlayRequest", sandbox: "Sandbox", stack: ExitStack) -> NoReturn:
    """Lay the table, and play."""
    from app.table.environments import any_table, drawing_of
    from app.table.screen import TableScreen, shows_unicode
    from app.table.session import TableSession, line_up_of, table_setting
    from games.streams import drawn_seed

    chosen = tuple(sorted({number - 1 for number in asked.seats or [1]}))
    seed = drawn_seed() if asked.seed is None else asked.seed
    table = any_table(asked.game, asked.players, asked.settings, sandbox, stack)
    if chosen[-1] >= table.setup.num_players:
        seats = table.setup.num_players
        raise typer.BadParameter(f"--seat is {chosen[-1] + 1}; the seats are 1 to {seats}")
    people = () if asked.is_watched else chosen
    specs = line_up_of(table.setup, people, asked.opponents, table.run, sandbox)
    roster = chosen_roster([spec for spec in specs if spec])
    for spec in dict.fromkeys(filter(None, specs)):
        roster.require_files(spec, table.setup, sandbox)
    session = TableSession(table.setup, specs, seed, sandbox, table.records, roster, asked.plies)
    setting = table_setting(table, is_unicode=shows_unicode())
    drawing = drawing_of(table, sandbox, stack)
    screen = TableScreen(session, chosen, setting, table.rulebook, drawing, asked.is_watched)
    screen.introduce("{name}: {summary}".format_map(table.module.info))
    _play(session, screen, table.place)


def _play(session: "TableSession", screen: "TableScreen", place: "Table") -> NoReturn:
    """The match, to its end or until somebody leaves; either way its record is written."""
    from agents.model.errors import ModelError
    from app.table.session import TableLeft

    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    numbers = [number for number in ends if signal.getsignal(number) != signal.SIG_IGN]
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    match, code, reason = None, 1, "stopped by a fault of ours"
    try:
        match = session.play(place, screen.asked, screen.told)
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
            saved = session.save(match, reason)
            say(f"The record: {saved}")
            if match is None:
                say(f"To go on: rulewright play {shlex.quote(str(saved.with_suffix('.jsonl')))}")
        except OSError as error:
            note(f"the record could not be written: {error}")
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
    leave(code)
