"""`tournament`: a round robin of players, rated, with every pair's results."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.console import leave, note, print_json, say
from app.interrupt import ends_at_once, kept_in
from app.parameters import accepted_parameters, given_parameters

if TYPE_CHECKING:
    from tools.playtest import (
        Estimate,
        GameSetup,
        Outcome,
        Question,
        SandboxRecipe,
        TournamentResult,
        Unmeasured,
    )

_TELL_EVERY = 10


def play_round_robin(  # noqa: PLR0913 - one parameter an option
    game: str,
    specs: Sequence[str],
    *,
    seats: int,
    deals: int,
    seed: int,
    settings: Sequence[str],
    max_plies: int,
    until: str | None,
    prior_draws: float,
    jobs: int,
    journal: Path | None,
    as_json: bool,
) -> None:
    """Play a tournament; see `app.cli.tournament`. Exit code 1 where no whole deal finished."""
    with ends_at_once(lambda: kept_in(journal)):
        from agents.players.roster import PlayerRoster
        from tools.playtest import TournamentSettings, Workers, play_tournament

        asked = TournamentSettings(
            deals=deals,
            seed=seed,
            max_plies=max_plies,
            question=_question(until),
            prior_draws=_draws(prior_draws),
        )
        recipe = _recipe()
        result = play_tournament(
            _set_up(game, seats, settings, recipe),
            specs,
            asked,
            PlayerRoster(),
            journal=journal,
            workers=Workers(jobs, sandbox=recipe),
            on_match=_teller(),
        )
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        _show(result)
    leave(0 if result.endings["finished"] > result.left_out else 1)


def _teller() -> "Callable[[int, Outcome], None]":
    played = count(1)

    def tell(_index: int, _outcome: "Outcome") -> None:
        if (number := next(played)) % _TELL_EVERY == 0:
            note(f"{number} matches")

    return tell


def _recipe() -> "SandboxRecipe":
    """How every process makes the sandbox that was chosen."""
    from graph.sandboxes import ACCEPTED, NAME, choice_in_variables, chosen_backend
    from tools.playtest import SandboxRecipe

    chosen_backend()  # says what is wrong with the choice
    chosen = choice_in_variables()
    return SandboxRecipe(chosen.get(NAME), accept_no_isolation=ACCEPTED in chosen)


def _set_up(game: str, seats: int, settings: Sequence[str], recipe: "SandboxRecipe") -> "GameSetup":
    """The game with what was given, once the module has accepted it."""
    from tools.playtest import GameSetup
    from tools.sources import find_game

    found, given = find_game(game), given_parameters(settings)
    setup = GameSetup(found.name, found.source, seats, given, found.heuristics)
    if not given:
        return setup
    with recipe.make() as sandbox:
        return replace(setup, parameters=accepted_parameters(setup, sandbox))


def _draws(prior: float) -> float:
    from tools.playtest.results import MOST_PRIOR_DRAWS

    if 0 <= prior <= MOST_PRIOR_DRAWS:  # false of NaN
        return prior
    raise typer.BadParameter(
        f"{prior:g}; required: a number from 0 to {MOST_PRIOR_DRAWS:.0f}",
        param_hint="--prior-draws",
    )


def _question(until: str | None) -> "Question | None":
    from pydantic import ValidationError

    from tools.playtest import Question

    if until is None:
        return None
    low, _, high = until.partition(",")
    try:
        return Question(low=float(low), high=float(high))
    except (ValueError, ValidationError) as error:
        raise typer.BadParameter(
            f"--until {until!r}: required are two scores from 0.001 to 0.999, the smaller first, "
            "such as 0.45,0.55"
        ) from error


def _show(result: "TournamentResult") -> None:
    endings = ", ".join(f"{count} {name}" for name, count in result.endings.items() if count)
    say(f"{result.game}: {result.matches} matches ({result.design}): {endings}")
    numbers = {one.name: number for number, one in enumerate(result.standings, 1)}
    for one in result.standings:
        say(f"  {numbers[one.name]}. {one.name}")
        say(f"    win rate {_told(one.win_rate)}, mean return {_told(one.mean_return)}")
        say(f"    Elo {_told(one.elo, 0)}, alpha-rank {_share(one.alpha_rank)}")
        if one.forfeits:
            say(f"    forfeited {one.forfeits} matches")
    say("pairs, by number: wins-draws-losses of the first, its score")
    for pair in result.pairs:
        answer = f", answer: {pair.answer.decision}" if pair.answer else ""
        counts = f"{pair.wins}-{pair.draws}-{pair.losses}"
        who = f"{numbers[pair.first]} against {numbers[pair.second]}"
        say(f"  {who}: {counts}, {_told(pair.score)}{answer}")
    if result.left_out:
        say(f"  {result.left_out} finished matches of deals that did not finish are left out")
    for reason, times in result.reasons.items():
        say(f"  {times} times: {reason}")


def _told(value: "Estimate | Unmeasured", digits: int = 3) -> str:
    from tools.playtest import Unmeasured

    if isinstance(value, Unmeasured):
        return f"not measured ({value.reason})"
    return f"{value.value:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"


def _share(value: "float | Unmeasured") -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"not measured ({value.reason})"
