"""Shares of the bare loop: plies of a series in the sandbox beside the same functions alone.

Method. A series is played by `play_series`, matches made again included, in a sandbox of its own.
Its time is the user and system time of all processes, which are waited for before it is read, less
that of a series of a few matches. The bare loop calls the module's functions in this process. Both
are taken in turn, and the median ratio is reported: processors that are shared slow both.
"""

import resource
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from agents.players.registry import PlayerRoster
from evals.results import Row, Score, Tell, score_over
from games import library
from games.modules import LocalModule, Rules, bind, first_state, scoring
from games.values import CHANCE, TERMINAL, State
from tools.playtest.jobs import GameSetup, SandboxRecipe, sandbox_of_process
from tools.playtest.series import SeriesSettings, play_series

_FEW = 16
_ROUNDS = 3


class Asked(NamedTuple):
    """A game, who plays in every seat, how many matches, and the share that is asked for."""

    game: str
    seats: int
    player: str
    matches: int
    at_least: float


ASKED = (
    Asked("connect_four", 2, "random", 20_000, 0.33),
    Asked("trick_taking", 4, "random", 4_000, 0.40),
    Asked("leduc_poker", 2, "random", 20_000, 0.40),
    Asked("connect_four", 2, "greedy", 1_000, 0.40),
    Asked("trick_taking", 4, "greedy", 600, 0.40),
    Asked("leduc_poker", 2, "greedy", 3_000, 0.40),
)


def shares(
    series: Sequence[Asked], seed: int, part: float, tell: Tell
) -> tuple[list[Score], list[Row]]:
    """The median share of each, with its rounds; `part` of the matches is played."""
    scores: list[Score] = []
    rows: list[Row] = []
    for asked in series:
        ratios: list[float] = []
        matches = 2 * max(_FEW, round(asked.matches * part / 2))
        for number in range(_ROUNDS):
            bare = bare_seconds(asked, matches // 10, seed)
            played = played_seconds(asked, matches, seed)
            ratios.append(bare / played)
            figures = {"bare_us": round(1e6 * bare, 2), "played_us": round(1e6 * played, 2)}
            rows.append({**asked._asdict(), "round": number, **figures})
        name = f"plies over the bare loop's: {asked.player}, {asked.game}"
        tell(f"{name}: {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
        scores.append(score_over(ratios, name, median, at_least=asked.at_least))
    return scores, rows


def played_seconds(asked: Asked, matches: int, seed: int) -> float:
    """Seconds of user and system time a ply, of all processes of a series."""
    few, few_plies = _series(asked, _FEW, seed)
    many, plies = _series(asked, matches, seed)
    return (many - few) / (plies - few_plies)


def _series(asked: Asked, matches: int, seed: int) -> tuple[float, int]:
    heuristics = library.heuristic_sources(asked.game)
    game = GameSetup(asked.game, library.source(asked.game), asked.seats, {}, heuristics)
    settings = SeriesSettings(matches=matches, seed=seed, record=False)
    roster, begun = PlayerRoster(), _used()
    with sandbox_of_process(SandboxRecipe(preload=roster.preload)) as sandbox:
        series = play_series(game, [asked.player] * asked.seats, roster, settings, sandbox=sandbox)
    return _used() - begun, sum(entry.plies for entry in series.entries.values())


def _used() -> float:
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def bare_seconds(asked: Asked, matches: int, seed: int) -> float:
    """Seconds a ply of the module's functions alone, in this process."""
    namespace = LocalModule(library.source(asked.game)).namespace
    rules, generator = bind(namespace, asked.seats), np.random.default_rng(seed)
    sources = library.heuristic_sources(asked.game) if asked.player == "greedy" else {}
    heuristics = [scoring(name, source) for name, source in sorted(sources.items())]
    drawn = iter(generator.random(10_000_000).tolist()).__next__
    plies, begun = 0, time.process_time()
    for _ in range(max(matches, 2)):
        state = first_state(namespace, asked.seats)
        while (player := rules.current_player(state)) != TERMINAL:
            legal = rules.legal_actions(state)
            best = legal[int(drawn() * len(legal))]
            if player == CHANCE:
                best = _outcome(rules, state, legal, drawn)
            elif heuristics:
                seen = rules.observations(state)[player]
                means = [sum(score(seen, action) for score in heuristics) for action in legal]
                best = legal[means.index(max(means))]
            state = rules.apply_action(state, best)
            rules.rewards(state)
            plies += 1
    return (time.process_time() - begun) / plies


def _outcome(rules: Rules, state: State, legal: list[str], drawn: Callable[[], float]) -> str:
    if rules.chance_probabilities is None:
        return legal[int(drawn() * len(legal))]
    cumulative = np.cumsum(rules.chance_probabilities(state))
    return legal[min(int(np.searchsorted(cumulative, drawn())), len(legal) - 1)]
