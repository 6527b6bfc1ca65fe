"""Eval: how often do play-tests call even games fair, and games fair where a seat wins 0.60?

Simulated: the winners of a game with known shares are drawn, and looked at as a play-test looks.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evals.results import EvalOptions, EvalResult, Row, Score
from games.streams import stream
from tools.playtest.of_run.fairness import Counted, looked_at
from tools.playtest.schedule import each_alone

RUNS = 4_000  # play-tests of each game
GOOD = {"quick": 600, "full": 3_300}
_FAIR = {"quick": 0.90, "full": 0.95}
_UNFAIR = 0.02
_TIED = 0.3
_FEWER = 10


@dataclass(frozen=True)
class Shares:
    """A game in which each seat wins so often.

    Attributes:
        name: In words.
        wins: Share of the matches that each seat wins alone.
        ties: Share of those that all seats share.
    """

    name: str
    wins: tuple[float, ...]
    ties: float = 0.0

    @property
    def is_even(self) -> bool:
        """True where every seat wins as often as any other."""
        return len(set(self.wins)) == 1


GAMES = (
    *(Shares(f"an even game of {seats}", (1 / seats,) * seats) for seats in (2, 3, 4)),
    Shares("an even game of 2, 0.3 tied", ((1 - _TIED) / 2,) * 2, _TIED),
    Shares("0.60 to 0.40", (0.60, 0.40)),
    # Half of the ties count for each seat: 0.45 + 0.15 = 0.60.
    Shares("0.60 to 0.40, 0.3 tied", (0.45, 0.25), _TIED),
)


def run(options: EvalOptions, games: Sequence[Shares] = GAMES, runs: int = RUNS) -> EvalResult:
    """Simulate the play-tests of each game, quick and full; a quick run simulates fewer."""
    scores, samples = list[Score](), list[Row]()
    runs //= _FEWER if options.quick else 1
    for size, planned in GOOD.items():
        for game in games:
            answers = simulated(game, planned, runs, options.seed)
            options.tell(f"{size}, {game.name}: {dict(answers)}")
            samples.append({"game": game.name, "size": size, "planned": planned, **answers})
            called = answers["yes"] + (0 if game.is_even else answers["nearly"])
            scores.append(
                Score(
                    f"{game.name}, {size}: called fair",
                    called / runs,
                    runs,
                    at_least=_FAIR[size] if game.is_even else None,
                    at_most=None if game.is_even else _UNFAIR,
                )
            )
    return EvalResult(scores=tuple(scores), samples=tuple(samples), effective={"runs": runs})


def simulated(game: Shares, planned: int, runs: int, seed: int) -> Counter[str]:
    """The answers of so many play-tests."""
    found = Counter[str]()
    for number in range(runs):
        generator = stream(seed, f"{game.name}, {planned}", match=number)
        looked = looked_at("", each_alone(len(game.wins)), planned, _Drawn(game, generator))
        found[looked.answer] += 1
    return found


class _Drawn:
    """A series whose winners are drawn as far as they are looked at."""

    def __init__(self, game: Shares, generator: np.random.Generator) -> None:
        self.game, self.generator = game, generator
        self.won, self.tied, self.played = np.zeros(len(game.wins)), 0, 0

    def __call__(self, matches: int) -> Counted:
        shares = [*self.game.wins, self.game.ties]
        *won, tied = self.generator.multinomial(matches - self.played, shares)
        self.won, self.tied, self.played = self.won + won, self.tied + int(tied), matches
        each = self.tied / len(self.won)
        return [float(one) + each for one in self.won], matches
