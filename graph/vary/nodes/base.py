"""Node: play the base under several seeds, so that its own noise is the unit of every distance."""

from statistics import fmean
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.strategy.contest import counted_lines
from graph.run.checkpoints import moved
from graph.run.events import BaseMeasured, MatchPlayed, writer_of
from graph.run.folder import RunFolderError
from graph.vary.state import BaseNoise, VaryContext, VaryState
from tools.playtest.jobs import GameSetup
from tools.playtest.of_run.budget import Work, rounded
from tools.playtest.of_run.played import jobs_here
from tools.playtest.series import SeriesSettings, play_series
from tools.variation.profile import chance_distance, mean_profile, units_of
from tools.variation.trial import Amounts, TrialResult

_MOST_PLIES = 3000
_PROBED = 12  # matches
_PLIES = {"random": 40_000, "good": 12_000}  # of a candidate, about
_LONGER = 6  # times as many plies as the base's mean may a variant's match take
_LEAST_PLIES = 1000
_NO_BASE = (
    "{} cannot be varied, as it cannot be measured: {}. Mend it first: rulewright check says what "
    "is wrong"
)


def base(state: VaryState, runtime: Runtime[VaryContext]) -> Command[Literal["twist"]]:
    """Play the base under several seeds.

    Raises:
        RunFolderError: If it is no game that can be played.
    """
    context, settings = runtime.context, runtime.context.settings
    tell = writer_of(runtime.stream_writer)
    amounts = _amounts(context)

    def played(done: int, of: int) -> None:
        tell(MatchPlayed(node="base", series="the base under other seeds", played=done, of=of))

    final = amounts.model_copy(
        update={
            "random": settings.final_random,
            "good": settings.final_good,
            "mixed": settings.final_good,
        }
    )
    jobs = [(n, context.job({}, f"base {n}", amounts)) for n in range(settings.base_seeds)]
    jobs.append((settings.base_seeds, context.job({}, "final", final)))
    *found, result = context.side_by_side("base", jobs, TrialResult, played, jobs_here()).values()
    if problem := next((one.problem for one in (*found, result) if one.problem), ""):
        raise RunFolderError(_NO_BASE.format(context.request.base.name, problem))
    profiles = [one.profile for one in found]
    noise = BaseNoise(
        mean=mean_profile(profiles),
        units=units_of(profiles),
        chance=chance_distance(profiles),
        result=result,
        amounts=amounts,
    )
    tell(BaseMeasured(seeds=len(found), chance_distance=f"{noise.chance:.2f}"))
    return moved("twist", state, state.measured(str(context.folder.path), noise))


def _amounts(context: VaryContext) -> Amounts:
    """The matches of a candidate's trial: fewer where the base's take much work."""
    settings, game = context.settings, context.request.base.setup({})
    lines, seen, scored = counted_lines(game, context.sandbox)
    plies = _plies_of(context, game)
    work = Work(lines=rounded(lines), seen=rounded(seen), plies=rounded(plies))
    fewest = settings.final_good // 10 or 1
    at_most = {name: max(fewest, int(of / plies)) for name, of in _PLIES.items()}
    good = min(settings.good_matches, at_most["good"])
    good = work.matches("heuristic", good, quick=True, scored=rounded(scored))
    return Amounts(
        random=min(settings.trial_matches, max(good, at_most["random"])),
        good=good,
        mixed=good,
        max_plies=min(_MOST_PLIES, max(_LEAST_PLIES, int(_LONGER * plies))),
    )


def _plies_of(context: VaryContext, game: GameSetup) -> float:
    """The mean plies of some random matches.

    Raises:
        RunFolderError: If one of them does not end.
    """
    seats = game.num_players
    asked = SeriesSettings(
        _PROBED * seats, context.settings.seed, _MOST_PLIES, replay=False, record=False
    )
    played = play_series(game, ["random"] * seats, context.roster, asked, sandbox=context.sandbox)
    if reason := next(iter(played.tables.reasons()), ""):
        raise RunFolderError(_NO_BASE.format(context.request.base.name, reason))
    return fmean(entry.plies for entry in played.entries.values())
