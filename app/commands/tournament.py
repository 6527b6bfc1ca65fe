"""`tournament`: a round robin of players, rated, with every pair's results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from app import options
from app.commands.match import (
    chosen_game,
    chosen_recipe,
    chosen_roster,
    chosen_workers,
    say_cost,
    say_doubts,
    stops_resumably,
)
from app.console import give, leave, say, teller
from app.seeds import seed_of_journal
from games.text import one_line
from games.values import MAX_PLAYERS

if TYPE_CHECKING:
    from agents.players.registry import PlayerRoster
    from tools.playtest.intervals import Estimate, ScoreQuestion, Unmeasured
    from tools.playtest.jobs import GameSetup, SandboxRecipe
    from tools.playtest.results import TournamentResult

_PAIR = 2
_Entrants: TypeAlias = Annotated[
    list[str], typer.Option("--player", help="One an entrant: NAME[:key=value,...].")
]


@dataclass(frozen=True, kw_only=True)
class _RoundRobin:
    """The game of a tournament, and how much of it is played."""

    environment: options.Environment = None
    seats: Annotated[int, typer.Option("--seats", help="Seats at the table, 2 to 8.")] = 2
    deals: Annotated[
        int, typer.Option("--deals", min=1, help="Deals each line-up plays in every seating.")
    ] = 10
    seed: options.Seed = None
    settings: options.Parameters = None
    max_plies: options.MaxPlies = 2000
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="LOW,HIGH",
            help="Two meet only until one's score is told to be LOW or less, or HIGH or more.",
        ),
    ] = None
    prior_draws: Annotated[
        float, typer.Option("--prior-draws", min=0, help="Draws added to a pair in the ratings.")
    ] = 0.0


@dataclass(frozen=True, kw_only=True)
class _InProcesses(options.Playing):
    executor: options.Executor = "processes"


@options.grouped
def play_round_robin(
    game: options.OptionalGame = None,
    *,
    player: _Entrants,
    asked: _RoundRobin,
    playing: _InProcesses,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Let every player meet every other, and rate them."""
    with place.chosen(), stops_resumably(playing.journal):
        from graph.run.settings import versions
        from tools.playtest.schedule import TournamentSettings
        from tools.playtest.tournament import play_tournament

        workers = chosen_workers(playing.executor, playing.jobs)
        roster = replace(chosen_roster(player, workers), host_search=playing.host_search)
        tournament = TournamentSettings(
            deals=asked.deals,
            seed=seed_of_journal(asked.seed, playing.journal),
            max_plies=asked.max_plies,
            question=_question(asked.until),
            prior_draws=_draws(asked.prior_draws),
        )
        recipe = chosen_recipe()
        chosen = chosen_game(game, asked.seats, asked.settings, asked.environment)
        with teller(roster.models) as tell:
            result = play_tournament(
                *(accepted_game(chosen, recipe, player, roster), player, tournament, roster),
                on_match=tell,
                journal=playing.journal,
                workers=workers,
                sandbox=recipe,
            )
    about = {"host_search": playing.host_search, "versions": versions()}
    about |= {"endpoint": roster.models.about()} if roster.models else {}
    told = {**result.model_dump(mode="json"), **about}
    give(told, lambda: _show(result), as_json=as_json)
    scored = result.endings["finished"] + result.endings["forfeit"] - result.left_out
    failed = playing.failed(result.endings)
    leave(0 if scored and not result.no_result and not failed else 1)


def accepted_game(
    setup: "GameSetup", recipe: "SandboxRecipe", specs: Sequence[str], roster: "PlayerRoster"
) -> "GameSetup":
    """The game with all its parameters, once the module has accepted what was given.

    Raises:
        PlayerSpecError: If the file of a player or of a heuristic cannot be used.
    """
    is_table = _PAIR <= setup.num_players <= MAX_PLAYERS  # else no schedule is made, of any game
    with recipe.make() as sandbox:
        if is_table and not setup.environment:
            setup = replace(setup, parameters=options.accepted_parameters(setup, sandbox))
        for spec in dict.fromkeys(specs):
            roster.require_files(spec, setup, sandbox)
    return setup


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
    options.say_not_audited(result.not_audited)
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
