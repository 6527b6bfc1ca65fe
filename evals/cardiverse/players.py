"""Eval: how much better than random play are heuristics that were made in a run?

For each of twelve library games heuristics are fitted and selected in the run itself: from lessons
in a sandboxed worker, without the library's own heuristics in any part. For each recorded run with
a model they are what its strategist wrote, selected by the same procedure. The ensemble then meets
random play on deals that neither taught nor chose anything, each deal in every seating. Cardiverse
(Eq. 3) calls `A(p1, p2) = w(p2, p1) - w(p2, p2)` the win rate advantage; with every seat taken
equally often and ties shared, `w(p2, p2)` is 1 / seats, and a half for a team. No language model
plays or is asked, and the paper's games and models are others, so its figures (16.3 points on
average) are no comparison.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from agents.players.registry import PRELOAD, PlayerRoster
from agents.protocols import Heuristic
from agents.strategy.contest import HeuristicContest, fault_of, taught_heuristics
from agents.strategy.selection import Selection
from evals.cardiverse.recorded import RECORDINGS, recorded_generation, recorded_heuristics
from evals.results import (
    EvalError,
    EvalOptions,
    EvalResult,
    NothingScoredError,
    Row,
    Score,
    read_data,
    score_over,
)
from games import library
from games.values import ModuleFault
from tools.playtest.intervals import NoSamplesError, share_interval
from tools.playtest.jobs import GameSetup, SandboxRecipe, sandbox_of_process
from tools.playtest.of_run.played import decisions_met, random_match
from tools.playtest.runner import Workers
from tools.playtest.schedule import sides_paid_alike
from tools.sandbox import Sandbox

CARDS = frozenset({"go_fish", "goofspiel", "poker", "rummy", "shedding", "trick_taking"})
RECORDED_CARDS = frozenset({"lanterns", "smugglers", "tides"})
SEATS = 2
POINTS_AT_LEAST = 12.0
RECORDED_AT_LEAST = 16.3
MS_AT_MOST = 1.0
_MEASURED = 7  # what the seed of the measuring deals is larger by
_TRIED = 6  # random matches of a recorded game, which tell whether its seats are one team
_MAX_PLIES = 2000
_TIMED = 60  # decisions
_TIMED_S = 60.0  # seconds that they may take
_DECISIONS: str = read_data("data/sources.yaml")["decisions"]
RECIPE = SandboxRecipe(preload=PRELOAD)
Samples: TypeAlias = list[Row]


@dataclass(frozen=True)
class PlayersSize:
    """Amounts of play.

    Attributes:
        plies: Of a game's lessons, and ten times as many with searches.
        selecting: Matches that a line-up plays at most while heuristics are selected.
        matches: That measure a game.
        games: The library's families that games are made from, all of them or a few.
        recorded: Recorded runs, by name.
        written: As `selecting`, where a model wrote them: a dozen, in ten times the line-ups.
    """

    plies: int
    selecting: int
    matches: int
    games: tuple[str, ...] = tuple(
        name for name in library.families() if name in library.exemplars()
    )
    recorded: tuple[str, ...] = ()
    written: int = 200


FULL = PlayersSize(
    8_000, 200, 2_000, recorded=("kalah", "lanterns", "orchard", "smugglers", "tides")
)
QUICK = PlayersSize(1_000, 24, 24, ("goofspiel", "poker", "tic_tac_toe"), ("orchard",), 12)


@dataclass(frozen=True)
class PlayersTask:
    """A game and the heuristics that were made for it.

    Attributes:
        setup: The module and its seats; no heuristics of its own.
        found: The candidates.
        samples: `{"observation", "legal"}` of decisions met in random play.
        is_shared: Whether all seats are paid alike.
    """

    setup: GameSetup
    found: Sequence[Heuristic]
    samples: Samples
    is_shared: bool = False


def run(options: EvalOptions, size: PlayersSize | None = None) -> EvalResult:
    """Make and measure the players of every game.

    Raises:
        NothingScoredError: If no game could be measured.
    """
    size = size or (QUICK if options.quick else FULL)
    makers: list[tuple[str, Callable[[], PlayersTask]]] = [
        *(
            (
                game,
                partial(_taught, GameSetup(game, library.source(game), SEATS), options.seed, size),
            )
            for game in size.games
        ),
        *((game, partial(_recorded, game, options.seed)) for game in size.recorded),
    ]
    samples: list[Row] = []
    for game, make in makers:
        samples.append(_row(game, make, size, options))
        options.tell(f"{game}: {samples[-1]}")
    scored = [one for one in samples if one["points"] is not None]
    if not scored:
        raise NothingScoredError("no game could be measured")
    return EvalResult(
        scores=tuple(_scores(samples, scored)),
        samples=tuple(samples),
        effective={
            "protocol": "ours",
            "seats of library games": SEATS,
            "plies of lessons, a tenth of those with searches": size.plies,
            "matches a line-up, selecting": size.selecting,
            "the same, written by a model": size.written,
            "matches a game, measuring": size.matches,
            "made by": "fitting, without a model and without the library's heuristics; "
            "recorded games: the recorded strategist",
        },
    )


def _scores(samples: Sequence[Row], scored: Sequence[Row]) -> Iterator[Score]:
    fitted = [one for one in samples if not one["by model"]]
    parts: list[tuple[str, float | None, list[Row]]] = [
        ("mean advantage over random play, points", POINTS_AT_LEAST, fitted),
        ("card games alone, points", None, [one for one in fitted if one["cards"]]),
        ("other games, points", None, [one for one in fitted if not one["cards"]]),
        (
            "mean advantage of a recorded model's heuristics, points",
            RECORDED_AT_LEAST,
            [one for one in samples if one["by model"]],
        ),
    ]
    for name, bar, rows in parts:
        points = [one["points"] for one in rows]
        if any(one is not None for one in points):
            yield score_over(points, name, at_least=bar)
    spent = [one["ms a decision"] for one in scored]
    name = "milliseconds a decision, mean of the slowest game"
    yield score_over(spent, name, max, at_most=MS_AT_MOST)


def made_heuristics(
    setup: GameSetup, size: PlayersSize, options: EvalOptions
) -> tuple[Selection, tuple[Heuristic, ...]]:
    """Heuristics that were fitted to lessons and selected by play, without a model.

    Raises:
        ModuleFault: If the module fails in the lessons.
    """
    task = _taught(setup, options.seed, size)
    return _contest(task, options.seed, size.selecting, options).select()


def _taught(setup: GameSetup, seed: int, size: PlayersSize) -> PlayersTask:
    """A game with heuristics that are fitted to lessons."""
    with sandbox_of_process(RECIPE) as sandbox:
        samples, _ = _sampled(setup, seed, sandbox)
        found = taught_heuristics(setup, sandbox, seed=seed, plies=size.plies, shared=False)
    return PlayersTask(setup, found, samples)


def _recorded(game: str, seed: int) -> PlayersTask:
    """A recorded run's game, with those of its strategist's heuristics that work.

    Raises:
        EvalError: If the recording holds no game or no heuristic.
    """
    path = RECORDINGS / f"{game}.json"
    made = recorded_generation(path)
    setup = GameSetup(game, made.sources[-1], made.players)
    written = recorded_heuristics(path, made.rules)
    if not written:
        raise EvalError(f"{path.name} holds no heuristic for its game; record it anew")
    with sandbox_of_process(RECIPE) as sandbox:
        samples, is_shared = _sampled(setup, seed, sandbox)
        sound = [one for one in written if fault_of(one, samples, sandbox) is None]
    return PlayersTask(setup, sound, samples, is_shared)


def _sampled(setup: GameSetup, seed: int, sandbox: Sandbox) -> tuple[Samples, bool]:
    """Decisions of random matches, from the first one on, and whether all seats are paid alike."""
    matches = [
        random_match(setup, sandbox, seed=seed, match=number, max_plies=_MAX_PLIES)
        for number in range(_TRIED)
    ]
    paid = [match.returns for match in matches if match.returns is not None]
    return decisions_met(matches)[:_TIMED], len(sides_paid_alike(paid, setup.num_players)) == 1


def _contest(task: PlayersTask, seed: int, matches: int, options: EvalOptions) -> HeuristicContest:
    return HeuristicContest(
        task.setup,
        task.found,
        PlayerRoster(),
        RECIPE,
        seed,
        matches,
        is_shared=task.is_shared,
        workers=Workers(options.workers),
        journals=options.folder and options.folder / task.setup.name,
    )


def _row(
    game: str, make: Callable[[], PlayersTask], size: PlayersSize, options: EvalOptions
) -> Row:
    row: Row = {"game": game, "cards": game in CARDS | RECORDED_CARDS, "points": None}
    row["by model"] = game in size.recorded
    try:
        task = make()
        selecting = size.written if row["by model"] else size.selecting
        selection, kept = _contest(task, options.seed, selecting, options).select()
        row |= {"heuristics": len(task.found), "members": [*selection.members]}
        row |= {"notes": [*selection.notes], "ms a decision": _milliseconds(task, kept)}
    except (ModuleFault, EvalError) as problem:
        return row | {"problem": str(problem)}
    measuring = _contest(replace(task, found=kept), options.seed + _MEASURED, size.matches, options)
    return row | _advantage(
        measuring, size.matches // (1 if task.is_shared else task.setup.num_players)
    )


def _advantage(measuring: HeuristicContest, deals: int) -> Row:
    """Points over an even share; without a heuristic the player is random, and has none."""
    names = tuple(heuristic.name for heuristic in measuring.heuristics)
    if not names:
        return {"points": 0.0, "low": None, "high": None, "deals": 0}
    scores = [one for one in measuring.scores(names, (), deals, True) if one is not None]
    try:
        found = share_interval(scores, "deals").minus(measuring.even)
    except NoSamplesError as error:
        return {"points": None, "problem": str(error)}
    points = {"points": found.value, "low": found.low, "high": found.high}
    return {**{name: round(100 * value, 2) for name, value in points.items()}, "deals": found.n}


def _milliseconds(task: PlayersTask, kept: Sequence[Heuristic]) -> float:
    """Time of a decision: all heuristics over all legal actions, a message of all decisions each.

    Raises:
        ModuleFault: If a heuristic fails.
    """
    spent = 0.0
    with sandbox_of_process(RECIPE) as sandbox:
        for heuristic in kept:
            source = heuristic.source.rstrip() + _DECISIONS
            with sandbox.loaded(f"timed-{heuristic.name}", source) as worker:
                begun = time.perf_counter()
                worker.call("decisions", [[*task.samples]], deadline_s=_TIMED_S)
                spent += time.perf_counter() - begun
    return round(1000 * spent / max(1, len(task.samples)), 3)
