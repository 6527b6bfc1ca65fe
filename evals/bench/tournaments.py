"""Benchmark of the runner: two workers, a plain pool, and matches in lockstep.

Method. The same matches of connect four, UCT against UCT with twice the simulations, are played in
three ways, in turn, every other round in reverse order: a tournament in this process alone; a
tournament in two processes of a fork server, with its journal; and the bare jobs of that tournament
in a plain pool of `multiprocessing`, with neither journal, ratings nor resumption. All processes
and sandboxes are warm. Each ratio is taken within a round, where both met the same moments of the
machine, and the median over the rounds is reported. On
a busy machine two workers find less than two processors: read the load beside the figures.
"""

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

from agents.players.registry import PlayerRoster
from evals.bench.lockstep import ASKED, Asked, shares
from evals.bench.timings import interleaved, machine, seconds
from evals.results import EvalOptions, EvalResult, Row, Score, Tell, score_over
from games import library
from games.contract import Game
from games.library import defaults
from games.modules import LocalModule
from tools.playtest.jobs import GameSetup, MatchJob, SandboxRecipe, play_job, sandbox_of_process
from tools.playtest.plan import MatchPlan
from tools.playtest.runner import Workers, play_all
from tools.playtest.schedule import TournamentSettings, make_schedule
from tools.playtest.tournament import play_tournament

GAIN_AT_LEAST = 1.8
OF_PLAIN_AT_LEAST = 0.9
_NAME = "connect_four"
_TWO = 2


@dataclass(frozen=True)
class TournamentsSize:
    """The amount that is played.

    Attributes:
        deals: Deals a repetition; each is two matches.
        rounds: Repetitions of each way.
        simulations: Of the weaker player; the stronger has twice as many.
        part: Of the matches in lockstep that `lockstep` lists.
        lockstep: Series in lockstep.
    """

    deals: int = 12
    rounds: int = 5
    simulations: int = 60
    part: float = 1.0
    lockstep: Sequence[Asked] = ASKED


FULL, QUICK = TournamentsSize(), TournamentsSize(deals=4, rounds=2, part=0.1, lockstep=ASKED[:1])


def run(options: EvalOptions, size: TournamentsSize | None = None) -> EvalResult:
    """Measure matches a second in the three ways."""
    size = size or (QUICK if options.quick else FULL)
    source = library.source(_NAME)
    game = GameSetup(_NAME, source, 2, defaults(Game(LocalModule(source)).info))
    specs = (f"uct:simulations={size.simulations}", f"uct:simulations={2 * size.simulations}")
    settings = TournamentSettings(deals=size.deals, seed=options.seed)
    recipe = SandboxRecipe(preload=PlayerRoster().preload)
    jobs = _jobs(game, specs, settings, recipe)
    with ExitStack() as stack:
        sandbox = stack.enter_context(sandbox_of_process(recipe))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tournaments-")))
        two = stack.enter_context(Workers(_TWO).opened())
        plain = stack.enter_context(multiprocessing.get_context("forkserver").Pool(_TWO))
        numbers = count(1)

        def tournament(workers: Workers) -> float:
            path = folder / f"{next(numbers)}.jsonl"
            return seconds(
                lambda: play_tournament(
                    game, specs, settings, PlayerRoster(), journal=path, workers=workers
                )
            )

        ways: Mapping[str, Callable[[], float]] = {
            "one": lambda: tournament(Workers()),
            "two": lambda: tournament(two),
            "plain": lambda: seconds(lambda: plain.map(play_job, jobs, chunksize=1)),
        }
        warm = jobs[: 4 * _TWO]
        list(play_all(enumerate(warm), play_job, journal=None, workers=two))
        plain.map(play_job, warm, chunksize=1)
        options.tell(f"{len(jobs)} matches a repetition; load average {os.getloadavg()[0]:.1f}")
        times = interleaved(ways, size.rounds)
        grade = sandbox.grade.model_dump(mode="json")
    names = [PlayerRoster().effective(spec).name for spec in specs]
    effective: Row = {**machine(), "nice": os.nice(0), "players": names, "sandbox": grade}
    result = _result(times, len(jobs), effective, options.tell)
    scores, rows = shares(size.lockstep, options.seed, size.part, options.tell)
    return EvalResult(
        scores=(*result.scores, *scores),
        samples=(*result.samples, *rows),
        effective=result.effective,
    )


def _jobs(
    game: GameSetup, specs: Sequence[str], settings: TournamentSettings, recipe: SandboxRecipe
) -> list[MatchJob]:
    roster = PlayerRoster()
    players = tuple(roster.effective(spec) for spec in specs)
    schedule = make_schedule(len(players), game.num_players)
    plan = MatchPlan(game, players, settings, roster, schedule, recipe)
    return [plan.job(match) for match in range(settings.deals * schedule.matches_a_deal)]


def _result(
    times: Mapping[str, tuple[float, ...]], matches: int, effective: Row, tell: Tell
) -> EvalResult:
    for way, found in times.items():
        rates = ", ".join(f"{matches / one:.2f}" for one in found)
        tell(f"{way}: {matches / median(found):.2f} matches a second (median of {rates})")

    def ratio(name: str, slower: str, least: float) -> Score:
        ratios = [a / b for a, b in zip(times[slower], times["two"], strict=True)]
        tell(f"{name}: {median(ratios):.3f} (rounds {min(ratios):.3f} to {max(ratios):.3f})")
        return score_over(ratios, name, median, at_least=least)

    return EvalResult(
        scores=(
            ratio("matches a second of two workers over one", "one", GAIN_AT_LEAST),
            ratio("matches a second over a plain pool's", "plain", OF_PLAIN_AT_LEAST),
        ),
        samples=tuple(
            {"way": way, "round": number, "seconds": round(one, 3), "matches": matches}
            for way, found in times.items()
            for number, one in enumerate(found)
        ),
        effective=effective,
    )
