"""Eval: does UCT at 1,000 simulations lose at tic-tac-toe, and how does it fare at connect four?

Tic-tac-toe: the player `uct` as it is by default, so many games in each seat against uniformly
random play, against itself and against perfect play (a plain minimax over every position, which
draws one of the best actions uniformly). Drawn with best play, it should lose none. Connect four:
see `evals.strength_connect_four`.

The searches run in this process on library modules, which are trusted; in a sandboxed worker they
are the same code and choose the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias, cast

import numpy as np
from pydantic import JsonValue

from agents.players import parse_spec
from agents.search.algorithms import USES, Plan, planned
from agents.search.rules import bind
from agents.search.trees import tree_search
from evals.bench.search_engines import MISSING, has_openspiel
from evals.options import EvalOptions
from evals.results import EvalResult, Score
from evals.strength_connect_four import UCT_C, pairs
from games import library
from games.contract import Action, State, canonical_key, load_namespace
from games.streams import stream
from tools.playtest.intervals import share_interval

SIMULATIONS = 1000
LOW_AT_LEAST = 0.43  # of the interval of our share against MCTSBot: not inferior
Choose: TypeAlias = Callable[[State, np.random.Generator], Action]


@dataclass(frozen=True)
class Size:
    """How much is played.

    Attributes:
        games: Games of tic-tac-toe in each seat against each opponent.
        pairs: Pairs of games of connect four.
    """

    games: int
    pairs: int


FULL, QUICK = Size(200, 150), Size(20, 12)


def run(seed: int, tell: Callable[[str], None], options: EvalOptions) -> EvalResult:
    """Play both games."""
    size = QUICK if options.quick else FULL
    return played(seed, tell, size, against_openspiel=has_openspiel())


def played(
    seed: int, tell: Callable[[str], None], size: Size, *, against_openspiel: bool
) -> EvalResult:
    """Play so much of both games; without OpenSpiel there is nobody to play connect four with."""
    spec = parse_spec(f"uct:simulations={SIMULATIONS}")
    plan = planned(
        "uct", {name: spec.settings[name] for name in spec.settings.keys() & USES["uct"]}
    )
    samples: list[dict[str, JsonValue]] = []
    for sample in tic_tac_toe(plan, size.games, seed):
        tell(f"tic-tac-toe: {sample}")
        samples.append(sample)
    lost = sum(cast("int", sample["lost"]) for sample in samples)
    scores = [
        Score(
            name="games of tic-tac-toe lost",
            value=lost,
            at_most=0,
            scored=sum(cast("int", sample["games"]) for sample in samples),
        )
    ]
    unscored: dict[str, str] = {}
    if against_openspiel:
        score, sample = connect_four(plan, size, seed, tell)
        scores.append(score)
        samples.append(sample)
    else:
        unscored["connect four against MCTSBot"] = MISSING
    return EvalResult(
        name="strength",
        scores=tuple(scores),
        samples=tuple(samples),
        effective={
            "seed": seed,
            "player": str(spec),
            "runs": "library modules in this process, without a sandbox",
            "games a seat of tic-tac-toe": size.games,
            "pairs of connect four": size.pairs,
            "MCTSBot": f"{SIMULATIONS} simulations, one rollout, uct_c={UCT_C}, solve=True",
        },
        unscored=unscored,
    )


def connect_four(
    plan: Plan, size: Size, seed: int, tell: Callable[[str], None]
) -> tuple[Score, dict[str, JsonValue]]:
    """Our share of the points against MCTSBot, by the lower end of its interval.

    Fewer pairs than the full eval's leave a wider interval: its threshold is lower by as much as
    two standard errors, at least 3 points, are above those of the full eval.
    """
    points: list[float] = []
    for point in islice(pairs(plan, SIMULATIONS, seed), size.pairs):
        points.append(point)
        tell(f"connect four: {sum(points):g} of {len(points)} pairs")
    share = share_interval(points)
    reach = (share.high - share.low) / 2
    slack = 0.0 if size.pairs >= FULL.pairs else max(0.03, reach)
    sample: dict[str, JsonValue] = {
        "game": "connect_four",
        "opponent": "OpenSpiel MCTSBot",
        "pairs": len(points),
        "ours": share.value,
        "low": share.low,
        "high": share.high,
        "method": share.method,
        "required low": LOW_AT_LEAST,
        "tolerance": slack,
    }
    score = Score(
        name="connect four against MCTSBot: low end of our share",
        value=share.low,
        at_least=LOW_AT_LEAST - slack,
        scored=len(points),
    )
    return score, sample


def tic_tac_toe(plan: Plan, games: int, seed: int) -> Iterator[dict[str, JsonValue]]:
    """How many games each opponent won in each seat that was ours."""
    board = _Board()

    def ours(state: State, generator: np.random.Generator) -> Action:
        return tree_search(board.rules, state, plan.search, generator).best

    opponents: dict[str, Choose] = {"random": board.random, "itself": ours, "perfect": board.best}
    for name, other in opponents.items():
        for seat in (0, 1):
            players = [other, other]
            players[seat] = ours
            results = [
                board.play(players, stream(seed, f"tic-tac-toe {name}", match=match, seat=seat))
                for match in range(games)
            ]
            yield {
                "game": "tic_tac_toe",
                "opponent": name,
                "seat": seat,
                "games": games,
                "lost": sum(result[seat] < 0 for result in results),
                "won": sum(result[seat] > 0 for result in results),
            }


class _Board:
    """Tic-tac-toe, with the exact value of every position."""

    def __init__(self) -> None:
        namespace = load_namespace(library.source("tic_tac_toe"))
        self.rules = bind(namespace, 2)
        self.start = cast("Callable[[int], State]", namespace["initial_state"])(2)
        self.values: dict[str, float] = {}

    def play(self, players: list[Choose], generator: np.random.Generator) -> list[float]:
        """The returns of a game."""
        state = self.start
        while (player := self.rules.current_player(state)) >= 0:
            state = self.rules.apply_action(state, players[player](state, generator))
        return self.rules.rewards(state)

    def random(self, state: State, generator: np.random.Generator) -> Action:
        """Any legal action."""
        legal = self.rules.legal_actions(state)
        return legal[int(generator.integers(len(legal)))]

    def best(self, state: State, generator: np.random.Generator) -> Action:
        """One of the actions that are best against best play."""
        sign = 1 if self.rules.current_player(state) == 0 else -1
        values = {
            action: sign * self.value(self.rules.apply_action(state, action))
            for action in self.rules.legal_actions(state)
        }
        good = [action for action, value in values.items() if value == max(values.values())]
        return good[int(generator.integers(len(good)))]

    def value(self, state: State) -> float:
        """What the first seat gets where both play their best from here: minimax, to the end."""
        key = canonical_key(state)
        if key not in self.values:
            rules, player = self.rules, self.rules.current_player(state)
            if player < 0:
                self.values[key] = rules.rewards(state)[0]
            else:
                after = [rules.apply_action(state, action) for action in rules.legal_actions(state)]
                choose = max if player == 0 else min
                self.values[key] = choose(self.value(next_state) for next_state in after)
        return self.values[key]
