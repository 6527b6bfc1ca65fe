"""`match`: players against each other, with the results counted honestly."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import ends_at_once, kept_in, leave, note, print_json, say
from games.text import one_line, quoted

if TYPE_CHECKING:
    from agents.players.registry import PlayerRoster
    from tools.playtest.jobs import GameSetup, MatchEntry, SandboxRecipe
    from tools.playtest.runner import Workers

_TELL_EVERY = 10


def play_matches(  # noqa: PLR0913 - one parameter an option
    game: options.OptionalGame = None,
    *,
    player: Annotated[
        list[str],
        typer.Option("--player", help="One a seat, in order: NAME[:key=value,...] or ./FILE.py."),
    ],
    environment: options.Environment = None,
    games: Annotated[int, typer.Option("--games", min=1, help="Matches to play.")] = 1,
    seed: options.Seed = 0,
    settings: options.Parameters = None,
    max_plies: options.MaxPlies = 2000,
    jobs: options.Jobs = 1,
    executor: options.Executor = "threads",
    journal: options.JournalFile = None,
    host_search: options.HostSearch = False,
    sandbox: options.Backend = None,
    no_isolation: options.NoIsolation = False,
    as_json: options.Json = False,
) -> None:
    """Let players play matches and count the results."""
    with options.sandbox_of(sandbox, no_isolation), stops_resumably(journal):
        from graph.run.context import versions
        from graph.run.sandboxes import describe_grade
        from tools.playtest.jobs import sandbox_of_process
        from tools.playtest.series import play_series, series_summary

        workers = chosen_workers(executor, jobs)
        roster = replace(chosen_roster(player, workers), host_search=host_search)
        setup = chosen_game(game, len(player), settings, environment)
        names = [roster.effective(spec).name for spec in player]
        recipe = replace(chosen_recipe(), preload=roster.preload)
        with sandbox_of_process(recipe) as opened:
            grade = opened.grade
            note(describe_grade(grade))
            setup = replace(setup, parameters=options.accepted_parameters(setup, opened))
            matches = _whole_rotations(games, names)
            series = play_series(
                setup,
                player,
                roster,
                matches=matches,
                seed=seed,
                max_plies=max_plies,
                sandbox=recipe,
                journal=journal,
                workers=workers,
                on_match=teller(matches),
            )
        result = {
            "asked": games,
            "host_search": host_search,
            "sandbox": grade.model_dump(mode="json"),
            "versions": versions(),
            **asked_models(roster),
            **series_summary(series),
        }
    if as_json:
        print_json(result)
    else:
        _show(result)
    leave(0 if result["scored"] and not result["no_result"] else 1)


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
    if name is None and environment is not None and environment.endswith(".py"):
        name, environment = environment, None  # a module file is a game, as for `record`
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


def asked_models(roster: "PlayerRoster") -> dict[str, Any]:
    """What a result says of the endpoint; nothing where no player is a model."""
    return {"endpoint": roster.models.about()} if roster.models else {}


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
    """How every process makes the sandbox that was chosen."""
    from graph.run.sandboxes import ACCEPTED, NAME, choice_in_variables, chosen_backend
    from tools.playtest.jobs import SandboxRecipe

    chosen_backend()  # says what is wrong with the choice
    chosen = choice_in_variables()
    return SandboxRecipe(chosen.get(NAME), accept_no_isolation=ACCEPTED in chosen)


def teller(matches: int | None = None) -> "Callable[[int, MatchEntry], None]":
    """Notes how many matches were played, of `matches` where that is known."""
    played = count(1)

    def tell(_index: int, _entry: "MatchEntry") -> None:
        if (number := next(played)) % _TELL_EVERY == 0 or number == matches:
            note(f"{number} matches" if matches is None else f"{number} of {matches} matches")

    return tell


def _show(result: dict[str, Any]) -> None:
    """Tell a result in words."""
    endings = ", ".join(f"{count} {name}" for name, count in result["endings"].items() if count)
    say(f"{one_line(result['game'])}: {result['played']} matches: {endings}")
    for number, row in enumerate(result["entrants"], 1):
        told = [
            f"{words} {_told(row[name])}"
            for name, words in (("win_share", "win share"), ("mean_return", "mean return"))
            if name in row
        ]
        if "not_estimated" in row:
            told.append(f"not estimated: {row['not_estimated']}")
        say(f"  {number}. {one_line(row['player'])}")
        say(f"    {', '.join(told)}")
        if row["forfeits"]:
            say(f"    forfeited {row['forfeits']} matches: lost")
        totals = {name: one["total"] for name, one in row["used"]["figures"].items()}
        say_cost(totals)
        if "surprises" in totals:
            said = f"{totals['surprises']:.0f} surprises, {totals['failed_searches']:.0f} failed"
            say(f"    its model: {said} searches in {row['used']['decisions']} decisions")
    if result["left_out"]:
        say(f"  {result['left_out']} matches of deals that did not finish are left out")
    for reason, times in result["reasons"].items():
        say(f"  {times} times: {quoted(reason)}")


def _told(estimate: dict[str, Any]) -> str:
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"


def say_cost(totals: Mapping[str, float]) -> None:
    """Say what an entrant used of a model, where it asked one."""
    if "model_calls" in totals:
        calls, told, said = (totals[name] for name in ("model_calls", "tokens_in", "tokens_out"))
        cost = f", ${totals['dollars']:.4f}" if "dollars" in totals else ""
        about = " (estimated in part)" if "estimated_calls" in totals else ""
        say(f"    {calls:,.0f} model calls, tokens {told:,.0f} in, {said:,.0f} out{about}{cost}")
