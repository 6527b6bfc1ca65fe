"""Eval: how much better than random play are heuristics that were made without a model?

For each of twelve library games heuristics are fitted and selected in the run itself: from lessons
in a sandboxed worker, without the library's own heuristics in any part. The ensemble then meets
random play on deals that neither taught nor chose anything, each deal in every seating. Cardiverse
(Eq. 3) calls `A(p1, p2) = w(p2, p1) - w(p2, p2)` the win rate advantage; with every seat taken
equally often and ties shared, `w(p2, p2)` is 1 / seats. No language model plays or is asked, and
the paper's games and models are others, so its figures (16.3 points on average) are no comparison.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from agents.players.registry import PRELOAD
from agents.protocols import Heuristic
from agents.search.rules import bind, first_state
from agents.strategy.contest import HeuristicContest, taught_heuristics
from agents.strategy.selection import Selection
from evals.options import EvalOptions
from evals.results import EvalResult, NothingScoredError, Row, Score
from games import library
from games.contract import CHANCE, TERMINAL, ModuleFault, load_namespace
from games.streams import stream
from tools.playtest.intervals import NoSamplesError, share_interval
from tools.playtest.jobs import GameSetup, SandboxRecipe, sandbox_of_process
from tools.playtest.runner import Workers

CARDS = frozenset({"go_fish", "goofspiel", "poker", "rummy", "shedding", "trick_taking"})
SEATS = 2
POINTS_AT_LEAST = 12.0
MS_AT_MOST = 1.0
_MEASURED = 7  # what the seed of the measuring deals is larger by
_TIMED = 60  # decisions
RECIPE = SandboxRecipe(preload=PRELOAD)


@dataclass(frozen=True)
class PlayersSize:
    """How much is played.

    Attributes:
        plies: Of a game's lessons, and ten times as many with searches.
        selecting: Matches that a line-up plays at most while heuristics are selected.
        matches: That measure a game.
        games: The library's families, all of them or a few.
    """

    plies: int
    selecting: int
    matches: int
    games: tuple[str, ...] = library.families()


FULL = PlayersSize(8_000, 200, 2_000)
QUICK = PlayersSize(1_000, 24, 24, ("goofspiel", "placement", "poker", "tic_tac_toe"))


def run(
    seed: int,
    tell: Callable[[str], None],
    options: EvalOptions,
    size: PlayersSize | None = None,
) -> EvalResult:
    """Make and measure the players of every game.

    Raises:
        NothingScoredError: If no game could be measured.
    """
    size = size or (QUICK if options.quick else FULL)
    samples: list[Row] = []
    for game in size.games:
        samples.append(_sample(game, seed, size, options))
        tell(f"{game}: {samples[-1]}")
    scored = [one for one in samples if one["points"] is not None]
    if not scored:
        raise NothingScoredError("no game could be measured")
    cards = [one["points"] for one in scored if one["cards"]]
    others = [one["points"] for one in scored if not one["cards"]]
    lost = len(samples) - len(scored)
    scores = [
        Score(
            name="mean advantage over random play, points",
            value=fmean(one["points"] for one in scored),
            at_least=POINTS_AT_LEAST,
            scored=len(scored),
            unscored=lost,
        ),
        Score(
            name="milliseconds a decision, mean of the slowest game",
            value=max(one["ms a decision"] for one in scored),
            at_most=MS_AT_MOST,
            scored=len(scored),
        ),
    ]
    parts = {"card games alone, points": cards, "other games, points": others}
    scores += [
        Score(name=name, value=fmean(points), scored=len(points))
        for name, points in parts.items()
        if points
    ]
    return EvalResult(
        name="cardiverse-players",
        scores=tuple(scores),
        samples=tuple(samples),
        effective={
            "seed": seed,
            "protocol": "ours",
            "seats": SEATS,
            "plies of lessons, a tenth of those with searches": size.plies,
            "matches a line-up, selecting": size.selecting,
            "matches a game, measuring": size.matches,
            "made by": "fitting, without a model and without the library's heuristics",
        },
    )


def made_heuristics(
    setup: GameSetup, seed: int, size: PlayersSize, options: EvalOptions
) -> tuple[Selection, tuple[Heuristic, ...]]:
    """Heuristics that were fitted to lessons and selected by play, without a model.

    Raises:
        ModuleFault: If the module fails in the lessons.
    """
    with sandbox_of_process(RECIPE) as sandbox:
        found = taught_heuristics(setup, sandbox, seed=seed, plies=size.plies, shared=False)
    return _contest(setup, found, seed, size.selecting, options).select()


def _contest(
    setup: GameSetup, found: Sequence[Heuristic], seed: int, matches: int, options: EvalOptions
) -> HeuristicContest:
    workers = Workers(options.workers)
    return HeuristicContest(
        setup, found, RECIPE, seed, matches, workers=workers, journals=options.folder
    )


def _sample(game: str, seed: int, size: PlayersSize, options: EvalOptions) -> Row:
    setup = GameSetup(game, library.source(game), SEATS)
    try:
        selection, kept = made_heuristics(setup, seed, size, options)
    except ModuleFault as fault:
        return {"game": game, "cards": game in CARDS, "points": None, "problem": str(fault)}
    measuring = _contest(setup, kept, seed + _MEASURED, size.matches, options)
    row: Row = {
        "game": game,
        "cards": game in CARDS,
        "members": [*selection.members],
        "notes": [*selection.notes],
        "ms a decision": _milliseconds(setup, kept, seed),
    }
    return row | _advantage(measuring, size.matches // SEATS)


def _advantage(measuring: HeuristicContest, deals: int) -> Row:
    """Points over an even share; without a heuristic the player is random, and has none."""
    names = tuple(heuristic.name for heuristic in measuring.heuristics)
    if not names:
        return {"points": 0.0, "low": None, "high": None, "deals": 0}
    scores = [one for one in measuring.scores(names, (), deals, True) if one is not None]  # noqa: FBT003
    try:
        found = share_interval(scores).minus(1 / SEATS)
    except NoSamplesError as error:
        return {"points": None, "problem": str(error)}
    points = {"points": found.value, "low": found.low, "high": found.high}
    return {**{name: round(100 * value, 2) for name, value in points.items()}, "deals": found.n}


def _milliseconds(setup: GameSetup, kept: Sequence[Heuristic], seed: int) -> float:
    """Processor time of a decision: all heuristics over all legal actions, in random play."""
    scores = [load_namespace(heuristic.source)["score"] for heuristic in kept]
    namespace = load_namespace(setup.source)
    rules, generator = bind(namespace, SEATS), stream(seed, "timing")
    state, spent = first_state(namespace, SEATS), list[float]()
    while len(spent) < _TIMED:
        player, legal = rules.current_player(state), rules.legal_actions(state)
        if player == TERMINAL:
            state = first_state(namespace, SEATS)
            continue
        if player != CHANCE and len(legal) > 1:
            seen = rules.observations(state)[player]
            begun = time.process_time()
            for score in scores:
                for action in legal:
                    score(seen, action)
            spent.append(1000 * (time.process_time() - begun))
        chances = rules.chance_probabilities
        weights = chances(state) if player == CHANCE and chances else None
        state = rules.apply_action(state, legal[int(generator.choice(len(legal), p=weights))])
    return round(float(np.mean(spent)), 3)
