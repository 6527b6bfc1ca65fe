"""Benchmark: what do two workers gain over one, and what does a tournament cost over a plain pool?

    python -m evals.bench.tournaments [--deals 12] [--rounds 5] [--simulations 60] [--seed 7]

Method. The same matches of connect four, UCT against UCT with twice the simulations, are played in
three ways, in turn, every other round in reverse order: a tournament in this process alone; a
tournament in two processes of a fork server, with its journal; and the bare jobs of that tournament
in a plain `ProcessPoolExecutor` of two, with neither journal, ratings nor resumption. All processes
and sandboxes are warm. Each ratio is taken within a round, where both met the same moments of the
machine, and the median over the rounds is reported. It runs niced, so on a busy machine others come
first, and two workers then find less than two processors: read the load beside the figures.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from pydantic import JsonValue

from agents.players.roster import PlayerRoster
from evals.bench.timings import interleaved, machine, seconds
from evals.results import EvalResult, Score
from games import library
from games.contract import Game, LocalModule
from games.specialise import defaults
from tools.playtest import (
    GameSetup,
    InlineExecutor,
    MatchJob,
    SandboxRecipe,
    TournamentSettings,
    Workers,
    make_schedule,
    play_job,
    play_tournament,
    process_pool,
)
from tools.playtest.jobs import sandbox_of_process

GAIN_AT_LEAST = 1.5
OF_PLAIN_AT_LEAST = 0.95
_NAME = "connect_four"
_TWO = 2
_NICE = 5


def run(seed: int, tell: Callable[[str], None]) -> EvalResult:
    """Measure with the usual sizes."""
    return measure(seed, tell, deals=12, rounds=5, simulations=60)


def measure(
    seed: int, tell: Callable[[str], None], *, deals: int, rounds: int, simulations: int
) -> EvalResult:
    """Measure matches a second in the three ways.

    Args:
        seed: Of the matches.
        tell: Hears each result.
        deals: Deals a repetition; each is two matches.
        rounds: Repetitions of each way.
        simulations: Of the weaker player; the stronger has twice as many.
    """
    source = library.source(_NAME)
    game = GameSetup(_NAME, source, 2, defaults(Game(LocalModule(source)).info))
    specs = (f"uct:simulations={simulations}", f"uct:simulations={2 * simulations}")
    settings = TournamentSettings(deals=deals, seed=seed)
    recipe = SandboxRecipe(preload=PlayerRoster().preload)
    jobs = _jobs(game, specs, settings, recipe)
    with ExitStack() as stack:
        sandbox = stack.enter_context(sandbox_of_process(recipe))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tournaments-")))
        pool = stack.enter_context(process_pool(_TWO, recipe))
        context = multiprocessing.get_context("forkserver")
        plain = stack.enter_context(ProcessPoolExecutor(_TWO, mp_context=context))
        count = 0

        def tournament(executor: Executor, workers: int) -> float:
            nonlocal count
            count += 1
            where = Workers(workers, executor, recipe)
            path = folder / f"{count}.jsonl"
            return seconds(
                lambda: play_tournament(
                    game, specs, settings, PlayerRoster(), journal=path, workers=where
                )
            )

        ways: Mapping[str, Callable[[], float]] = {
            "one": lambda: tournament(InlineExecutor(), 1),
            "two": lambda: tournament(pool, _TWO),
            "plain": lambda: seconds(lambda: list(plain.map(play_job, jobs))),
        }
        for executor in (pool, plain):
            list(executor.map(play_job, jobs[: 4 * _TWO]))
        tell(f"{len(jobs)} matches a repetition; load average {os.getloadavg()[0]:.1f}")
        times = interleaved(ways, rounds)
        grade = sandbox.grade.model_dump(mode="json")
    effective: dict[str, JsonValue] = {
        **machine(),
        "seed": seed,
        "nice": os.nice(0),
        "players": [PlayerRoster().effective(spec).name for spec in specs],
        "sandbox": grade,
    }
    return _result(times, len(jobs), effective, tell)


def _jobs(
    game: GameSetup, specs: Sequence[str], settings: TournamentSettings, recipe: SandboxRecipe
) -> list[MatchJob]:
    roster = PlayerRoster()
    players = [roster.effective(spec) for spec in specs]
    schedule = make_schedule(len(players), game.num_players)
    return [
        MatchJob(
            game=game,
            seats=tuple(players[who] for who in schedule.seated(match, settings.seed)),
            roster=roster,
            sandbox=recipe,
            seed=settings.seed,
            match=match,
            deal=schedule.place(match).deal,
            max_plies=settings.max_plies,
        )
        for match in range(settings.deals * schedule.matches_a_deal)
    ]


def _result(
    times: Mapping[str, tuple[float, ...]],
    matches: int,
    effective: dict[str, JsonValue],
    tell: Callable[[str], None],
) -> EvalResult:
    for way, found in times.items():
        rates = ", ".join(f"{matches / one:.2f}" for one in found)
        tell(f"{way}: {matches / median(found):.2f} matches a second (median of {rates})")

    def ratio(name: str, slower: str, least: float) -> Score:
        ratios = [a / b for a, b in zip(times[slower], times["two"], strict=True)]
        tell(f"{name}: {median(ratios):.3f} (rounds {min(ratios):.3f} to {max(ratios):.3f})")
        return Score(name=name, value=median(ratios), at_least=least, scored=len(ratios))

    return EvalResult(
        name="tournaments",
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


def main() -> None:
    """Measure, niced, and print."""
    parser = argparse.ArgumentParser(description="Tournaments: one worker, two, a plain pool.")
    parser.add_argument("--deals", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    os.nice(_NICE)

    def tell(line: str) -> None:
        sys.stderr.write(line + "\n")

    result = measure(
        given.seed,
        tell,
        deals=given.deals,
        rounds=given.rounds,
        simulations=given.simulations,
    )
    sys.stdout.write(f"{result.as_text()}\nload average {result.effective['load_average']}\n")


if __name__ == "__main__":
    main()
