"""`tournament`: a round robin of players, rated, with every pair's results."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from app import options
from app.commands.match import (
    asked_models,
    chosen_game,
    chosen_recipe,
    chosen_roster,
    chosen_workers,
    say_cost,
    say_doubts,
    stops_resumably,
    teller,
)
from app.console import give, leave, say
from games.text import one_line

if TYPE_CHECKING:
    from tools.playtest.intervals import Estimate, ScoreQuestion, Unmeasured
    from tools.playtest.jobs import GameSetup, SandboxRecipe
    from tools.playtest.results import TournamentResult

_Entrants: TypeAlias = Annotated[
    list[str], typer.Option("--player", help="One an entrant: NAME[:key=value,...].")
]
_Deals: TypeAlias = Annotated[
    int, typer.Option("--deals", min=1, help="Deals each line-up plays in every seating.")
]
_PriorDraws: TypeAlias = Annotated[
    float, typer.Option("--prior-draws", min=0, help="Draws added to a pair in the ratings.")
]
_Until: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="LOW,HIGH",
        help="Two meet only until one's score is told to be LOW or less, or HIGH or more.",
    ),
]


def play_round_robin(  # noqa: PLR0913 - one parameter an option
    game: options.OptionalGame = None,
    *,
    player: _Entrants,
    environment: options.Environment = None,
    seats: Annotated[int, typer.Option("--seats", help="Seats at the table, 2 to 8.")] = 2,
    deals: _Deals = 10,
    seed: options.Seed = 0,
    settings: options.Parameters = None,
    max_plies: options.MaxPlies = 2000,
    until: _Until = None,
    prior_draws: _PriorDraws = 0.0,
    jobs: options.Jobs = 1,
    executor: options.Executor = "processes",
    journal: options.JournalFile = None,
    host_search: options.HostSearch = False,
    sandbox: options.Backend = None,
    no_isolation: options.NoIsolation = False,
    as_json: options.Json = False,
) -> None:
    """Let every player meet every other, and rate them."""
    with options.sandbox_of(sandbox, no_isolation), stops_resumably(journal):
        from graph.run.settings import versions
        from tools.playtest.schedule import TournamentSettings
        from tools.playtest.tournament import play_tournament

        workers = chosen_workers(executor, jobs)
        roster = replace(chosen_roster(player, workers), host_search=host_search)
        question, draws = _question(until), _draws(prior_draws)
        asked = TournamentSettings(
            deals=deals, seed=seed, max_plies=max_plies, question=question, prior_draws=draws
        )
        recipe = chosen_recipe()
        setup = _accepted(chosen_game(game, seats, settings, environment), recipe)
        bounds: dict[str, Any] = {"journal": journal, "workers": workers, "sandbox": recipe}
        result = play_tournament(setup, player, asked, roster, on_match=teller(), **bounds)
    about = {"host_search": host_search, "versions": versions(), **asked_models(roster)}
    told = {**result.model_dump(mode="json"), **about}
    give(told, lambda: _show(result), as_json=as_json)
    scored = result.endings["finished"] + result.endings["forfeit"] - result.left_out
    leave(0 if scored and not result.no_result else 1)


def _accepted(setup: "GameSetup", recipe: "SandboxRecipe") -> "GameSetup":
    """The game with all its parameters, once the module has accepted what was given."""
    if not setup.parameters:
        return setup
    with recipe.make() as sandbox:
        return replace(setup, parameters=options.accepted_parameters(setup, sandbox))


def _draws(prior: float) -> float:
    from tools.playtest.schedule import MOST_PRIOR_DRAWS

    if 0 <= prior <= MOST_PRIOR_DRAWS:  # false of NaN
        return prior
    raise typer.BadParameter(
        f"{prior:g}; required: a number from 0 to {MOST_PRIOR_DRAWS:.0f}",
        param_hint="--prior-draws",
    )


def _question(until: str | None) -> "ScoreQuestion | None":
    from pydantic import ValidationError

    from tools.playtest.intervals import ScoreQuestion

    if until is None:
        return None
    low, _, high = until.partition(",")
    try:
        return ScoreQuestion(low=float(low), high=float(high))
    except (ValueError, ValidationError) as error:
        raise typer.BadParameter(
            f"--until {until!r}: required are two scores from 0.001 to 0.999, the smaller first, "
            "such as 0.45,0.55"
        ) from error


def _show(result: "TournamentResult") -> None:
    endings = ", ".join(f"{count} {name}" for name, count in result.endings.items() if count)
    say(f"{one_line(result.game)}: {result.matches} matches ({result.design}): {endings}")
    numbers = {one.name: number for number, one in enumerate(result.standings, 1)}
    for one in result.standings:
        say(f"  {numbers[one.name]}. {one_line(one.name)}")
        say(f"    win rate {_told(one.win_rate)}, mean return {_told(one.mean_return)}")
        say(f"    Elo {_told(one.elo, 0)}, alpha-rank {_share(one.alpha_rank)}")
        if one.forfeits:
            say(f"    forfeited {one.forfeits} matches: lost")
        say_cost({name: figure.total for name, figure in one.used.figures.items()})
    say("pairs, by number: wins-draws-losses of the first, its score")
    for pair in result.pairs:
        answer = f", answer: {pair.answer.decision}" if pair.answer else ""
        counts = f"{pair.wins}-{pair.draws}-{pair.losses}"
        who = f"{numbers[pair.first]} against {numbers[pair.second]}"
        say(f"  {who}: {counts}, {_told(pair.score)}{answer}")
    if result.no_result:
        say(f"  {result.no_result}")
    say_doubts(result.cautions, result.left_out, result.reasons)


def _told(value: "Estimate | Unmeasured", digits: int = 3) -> str:
    from tools.playtest.intervals import Unmeasured

    if isinstance(value, Unmeasured):
        return f"not measured ({value.reason})"
    return f"{value.value:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"


def _share(value: "float | Unmeasured") -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"not measured ({value.reason})"
