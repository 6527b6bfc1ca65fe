"""Tournaments: a round robin in parallel, resumable, whose result no number of workers changes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from games.contract import Game, Json
from games.specialise import defaults
from tools.playtest.executors import InlineExecutor, process_pool
from tools.playtest.folding import Fold, Plan
from tools.playtest.jobs import (
    Effective,
    GameSetup,
    Roster,
    SandboxRecipe,
    play_job,
    sandbox_of_process,
)
from tools.playtest.journal import Journal
from tools.playtest.outcomes import Outcome
from tools.playtest.results import TournamentResult, TournamentSettings
from tools.playtest.schedule import TournamentError, make_schedule
from tools.playtest.tallies import Tables, by_ending
from tools.sandbox import Grade, Sandbox, SandboxedModule

_AHEAD = 2  # jobs handed over for each worker: one being played, one waiting
_PAIR = 2


@dataclass(frozen=True)
class Workers:
    """Where matches are played.

    Attributes:
        jobs: Matches at the same time; above 1 in processes of a fork server.
        executor: Plays them instead, `jobs` at a time; it is not shut down.
        sandbox: How each process makes its sandbox; what to preload comes from the roster.
    """

    jobs: int = 1
    executor: Executor | None = None
    sandbox: SandboxRecipe = field(default_factory=SandboxRecipe)


class TournamentStoppedError(RuntimeError):
    """A process that played matches ended; what is in the journal is kept."""


def play_tournament(
    game: GameSetup,
    specs: Sequence[str],
    settings: TournamentSettings,
    roster: Roster,
    *,
    journal: Path | None = None,
    workers: Workers | None = None,
    on_match: Callable[[int, Outcome], None] = lambda *_: None,
) -> TournamentResult:
    """Play a round robin, or what is missing of it.

    The result, and the journal of a finished tournament, are the same bytes whatever the workers,
    and however often it was killed and begun again, as long as the players' decisions do not
    depend on the clock.

    Args:
        game: What is played; parameters that are not given take the module's defaults.
        specs: Who plays, as the roster reads them.
        settings: How much is played.
        roster: Reads the specs and makes the players.
        journal: File that keeps every finished match. None keeps nothing.
        workers: Where the matches are played; one at a time in this process by default.
        on_match: Told of every match in order of arrival: first those the journal held.

    Raises:
        TournamentError: If a parameter is unknown, two entrants are the same, or the game does not
            take so many players.
        ValueError: From the roster, if a player or a setting of it is unknown, or a player cannot
            play this game.
        ModuleFault: If the module cannot be loaded at all.
        JournalError: If the journal cannot be used.
        SandboxUnavailableError: If there is no sandbox.
        TournamentStoppedError: If a process of the executor ended.
    """
    players = _players(roster, specs)
    schedule = make_schedule(len(players), game.num_players, settings.line_ups)
    if settings.question and any(len(set(who)) != _PAIR for who in schedule.line_ups):
        raise TournamentError(
            "a question is about two entrants; required: line-ups of two entrants"
        )
    workers = workers or Workers()
    if workers.jobs < 1:
        raise TournamentError(f"{workers.jobs} matches at the same time; required: at least 1")
    recipe = replace(workers.sandbox, preload=roster.preload)
    with ExitStack() as stack:
        own = stack.enter_context(sandbox_of_process(recipe))
        game = replace(game, parameters=effective_parameters(game, own))
        plan = Plan(game, players, settings, roster, schedule, recipe)
        book = stack.enter_context(Journal(journal, plan.identity()) if journal else nullcontext())
        fold = Fold(plan)
        for index, entry in sorted(book.entries.items() if book else ()):
            fold.add(index, entry)
            on_match(index, fold.outcomes[index])
        executor = workers.executor or stack.enter_context(
            process_pool(workers.jobs, recipe) if workers.jobs > 1 else InlineExecutor()
        )
        for index, entry in _play(plan, fold, executor, workers.jobs):
            if book:
                book.append(index, entry)
            fold.add(index, entry)
            on_match(index, fold.outcomes[index])
        if book:
            book.settle(fold.kept())
        return _result(plan, fold, own.grade)


def effective_parameters(game: GameSetup, sandbox: Sandbox) -> dict[str, Json]:
    """All parameters of a game: the module's defaults, and over them what is given.

    Raises:
        TournamentError: If a parameter is unknown, or the game does not take so many players.
        ModuleFault: If the module does not load.
    """
    with sandbox.worker("parameters", game.source) as worker:
        worker.load(game.source)
        info = Game(SandboxedModule(worker)).info
    known = defaults(info)
    if unknown := sorted(set(game.parameters) - set(known)):
        raise TournamentError(
            f"{game.name} has no parameter {', '.join(unknown)}; "
            f"known parameters: {', '.join(known) or 'none'}"
        )
    fewest, most = info["min_players"], info["max_players"]
    if not (isinstance(fewest, int) and isinstance(most, int)) or not (
        fewest <= game.num_players <= most
    ):
        raise TournamentError(
            f"{game.name} takes {fewest} to {most} players, not {game.num_players}"
        )
    return {**known, **game.parameters}


def _players(roster: Roster, specs: Sequence[str]) -> tuple[Effective, ...]:
    players = tuple(roster.effective(spec) for spec in specs)
    twice = [name for name, count in Counter(p.name for p in players).items() if count > 1]
    if twice:
        raise TournamentError(
            f"{', '.join(twice)} entered more than once; required: different players"
        )
    return players


def _play(plan: Plan, fold: Fold, executor: Executor, jobs: int) -> Iterator[tuple[int, Json]]:
    """Hand matches over, a few ahead of the workers; yield each when it arrives."""
    ahead = 1 if isinstance(executor, InlineExecutor) else _AHEAD * max(jobs, 1)
    running: dict[Future[Json], int] = {}
    coming = fold.wanted()
    try:
        while True:
            while len(running) < ahead and (index := next(coming, None)) is not None:
                running[executor.submit(play_job, plan.job(index))] = index
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda one: (_failed(one), running[one])):
                yield running.pop(future), future.result()
    except BrokenExecutor as error:
        raise TournamentStoppedError(
            f"a process that played matches ended ({error}); finished matches are in the journal, "
            "where there is one: start the tournament again to go on"
        ) from error
    finally:
        for future in running:
            future.cancel()


def _failed(done: Future[Json]) -> bool:
    """Whether a call raised: what others came to is kept before that is raised."""
    return done.exception() is not None


def _result(plan: Plan, fold: Fold, grade: Grade) -> TournamentResult:
    outcomes = {index: fold.outcomes[index] for index in fold.counted()}
    tables = Tables(plan.schedule, plan.settings, plan.players, outcomes, fold.answers())
    reasons = Counter(outcome.reason for outcome in outcomes.values() if outcome.reason)
    return TournamentResult(
        game=plan.game.name,
        source_id=plan.source_id,
        heuristics=plan.heuristics,
        parameters=dict(plan.game.parameters),
        num_players=plan.game.num_players,
        settings=plan.settings,
        design=plan.schedule.design,
        sandbox=grade,
        standings=tables.standings(),
        pairs=tables.pairs(),
        matches=len(outcomes),
        endings=by_ending(outcomes.values()),
        left_out=tables.left_out,
        reasons=dict(sorted(reasons.items())),
    )
