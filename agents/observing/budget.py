"""TokenBudget of a training of observations: minutes become a number of tokens, once.

What a machine does in a minute is measured; all that follows rests on the number of tokens alone.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from agents.encoding.fitting import fitted_vocabulary
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import END
from agents.learning.settings import LearningError
from agents.observing.experience import Experience, batches_of
from agents.observing.gradients import losses_and_gradients
from agents.observing.model import SIZES, ObservationModel, ObservationSettings
from agents.observing.outcomes import OutcomeTable
from agents.observing.selfplay import SHOWN, Cast, Uniform, matches_of_play
from agents.observing.transformer import Shape, Transformer, first_weights
from games.information import SeatLog
from games.lockstep import LockstepPlayer
from games.streams import stream
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

_FILE = "budget.json"
_TRIED = 128  # matches that are played to measure
_STEPS = 4


class TokenBudget(BaseModel, frozen=True, extra="forbid"):
    """The tokens of a training, and how they were found.

    Attributes:
        tokens: To learn from, in all passes.
        seed: Of the training.
        minutes: Asked for; 0 where tokens were.
        learned: Tokens that were learned a second when it was measured; 0 where it was not.
        written: Tokens that random play gave a second, likewise.
        played: Tokens to learn from that play of the network gave a second, likewise.
    """

    tokens: int = Field(ge=1)
    seed: int
    minutes: float = 0.0
    learned: float = 0.0
    written: float = 0.0
    played: float = 0.0

    def is_of(self, tokens: int, minutes: float) -> bool:
        """True for the budget of these tokens, or of these minutes where there are none."""
        return self.minutes == minutes and (not tokens or self.tokens == tokens)

    @property
    def told(self) -> str:
        """A remark on it."""
        if not self.minutes:
            return f"{self.tokens:,} tokens"
        return (
            f"{self.minutes:g} minutes are {self.tokens:,} tokens here: {self.learned:,.0f} are "
            f"learned a second, random play gives {self.written:,.0f}, and the network's play "
            f"{self.played:,.0f}"
        )


def begun_token_budget(folder: Path) -> TokenBudget | None:
    """The budget of a training that began in a folder; None where none did.

    Raises:
        LearningError: If the file is damaged.
    """
    try:
        text = (folder / _FILE).read_text(encoding="utf-8")
    except OSError:
        return None
    try:
        return TokenBudget.model_validate_json(text)
    except ValidationError as error:
        raise LearningError(f"{folder / _FILE} is damaged; say --force to begin anew") from error


def token_budget(
    sandbox: Sandbox,
    game: GameSetup,
    settings: ObservationSettings,
    folder: Path,
    *,
    seed: int,
    tokens: int,
    minutes: float,
) -> TokenBudget:
    """The budget of a new training, which its folder keeps.

    Args:
        sandbox: Where the module runs.
        game: With all its parameters.
        settings: Of the training.
        folder: Of the training.
        seed: Of the training.
        tokens: As many; 0 for minutes.
        minutes: About so long on this machine as it is now.

    Raises:
        LearningError: If no match ends.
        ModuleFault: If the module fails.
    """
    budget = TokenBudget(tokens=tokens, seed=seed) if tokens else None
    if budget is None:
        speeds = _measured(sandbox, game, settings)
        rounded = int(float(f"{speeds.tokens(60 * minutes, settings):.2g}"))
        budget = TokenBudget(
            tokens=max(1, rounded),
            seed=seed,
            minutes=minutes,
            learned=speeds.learned,
            written=speeds.random,
            played=speeds.played,
        )
    folder.mkdir(exist_ok=True)
    (folder / _FILE).write_text(budget.model_dump_json() + "\n", encoding="utf-8")
    return budget


class _Speeds(NamedTuple):
    """Work a second.

    Attributes:
        learned: Tokens that a network of this size learns.
        random: Tokens that random play gives.
        played: Tokens that play of the network gives to learn from.
        fixed: Seconds that any training takes before it learns.
    """

    learned: float
    random: float
    played: float
    fixed: float

    def tokens(self, seconds: float, settings: ObservationSettings) -> float:
        """As many as are learned in this time, or in a tenth of it where little else fits."""
        first = settings.bootstrap if settings.iterations else 1.0
        given = first / self.random + (1 - first) / self.played
        return max(seconds - self.fixed, seconds / 10) / (
            1 / self.learned + given / settings.epochs
        )


def _measured(sandbox: Sandbox, game: GameSetup, settings: ObservationSettings) -> _Speeds:
    """The speeds of this machine as it is now."""
    uniform, seats = Uniform(), game.num_players
    everybody = (uniform,) * seats
    begun = time.monotonic()
    played = [*_played(sandbox, game, lambda _: everybody, _TRIED, settings)]
    logs = [log.entries for found, _ in played for log in found.values()]
    given = time.monotonic() - begun
    vocabulary = fitted_vocabulary(logs, uniform.legal, uniform.needs)
    fixed = (time.monotonic() - begun) * SHOWN / _TRIED
    begun = time.monotonic()
    sequences = [[*LogWriter(vocabulary).write(entries), END] for entries in logs]
    given += time.monotonic() - begun
    layers, heads, width = SIZES[settings.size]
    outcomes = OutcomeTable.of([returns for _, returns in played])
    longest = 2 * max(map(len, sequences))
    shape = Shape(vocabulary.size, len(outcomes.values), longest, layers, heads, width)
    network = Transformer(shape, first_weights(shape, stream(0, "first weights")))
    batch = next(batches_of((Experience(one, 0) for one in sequences), settings.batch))
    begun = time.monotonic()
    for _ in range(_STEPS):
        losses_and_gradients(network, batch)
    learned = _STEPS * int((batch.targets >= 0).sum()) / (time.monotonic() - begun)
    mean = sum(map(len, sequences)) / len(sequences)
    cast = Cast.of(
        [ObservationModel(vocabulary, outcomes, network, {})],
        seats,
        threshold=settings.threshold,
        explore=settings.explore,
        lengths=[1],
        drawn=lambda match: stream(0, "population", match=match),
    )
    begun = time.monotonic()
    matches = sum(1 for _ in _played(sandbox, game, cast.seated, _TRIED, settings))
    own = matches * mean * len(cast.learning(0)) / (time.monotonic() - begun)
    return _Speeds(learned, sum(map(len, sequences)) / given, max(own, 1e-9), fixed)


def _played(
    sandbox: Sandbox,
    game: GameSetup,
    seated: Callable[[int], tuple[LockstepPlayer, ...]],
    matches: int,
    settings: ObservationSettings,
) -> Iterator[tuple[Mapping[int, SeatLog], tuple[float, ...]]]:
    """Logs and returns of matches that came to their end.

    Raises:
        LearningError: If none did.
    """
    ended = 0
    for _, logs, returns in matches_of_play(
        sandbox, game, seated, range(matches), seed=0, max_plies=settings.max_plies
    ):
        if returns is not None:
            ended += 1
            yield logs, returns
    if not ended:
        raise LearningError(
            f"no match of {game.name} ended within {settings.max_plies} plies; give max_plies=N"
        )
