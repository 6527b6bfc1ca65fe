"""TokenBudget of a training of observations: minutes become a number of tokens, once.

What a machine does in a minute is measured; all that follows rests on the number of tokens alone.
"""

import time
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from agents.encoding.fitting import fitted_vocabulary
from agents.encoding.tokens import LogWriter
from agents.encoding.vocabulary import END
from agents.learning.settings import LearningError
from agents.observing.experience import Experience, batches_of
from agents.observing.gradients import losses_and_gradients
from agents.observing.model import SIZES, ObservationSettings
from agents.observing.selfplay import Uniform, matches_of_play
from agents.observing.transformer import Shape, Transformer, first_weights
from games.streams import stream
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

_FILE = "budget.json"
_TRIED = 128  # matches that are played to measure
_STEPS = 4
_FORWARD = 0.4  # what a token costs that is only read, of one that is learned


class TokenBudget(BaseModel, frozen=True, extra="forbid"):
    """The tokens of a training, and how they were found.

    Attributes:
        tokens: To learn from, in all passes.
        seed: Of the training.
        minutes: Asked for; 0 where tokens were.
        learned: Tokens that were learned a second when it was measured; 0 where it was not.
        written: Tokens that random play gave a second, likewise.
    """

    tokens: int = Field(ge=1)
    seed: int
    minutes: float = 0.0
    learned: float = 0.0
    written: float = 0.0

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
            f"learned a second, and random play gives {self.written:,.0f}"
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
        learned, written = _measured(sandbox, game, settings)
        reading = game.num_players * _FORWARD / learned
        a_token = 1 / learned + (1 / written + reading) / settings.epochs
        rounded = int(float(f"{60 * minutes / a_token:.2g}"))
        budget = TokenBudget(
            tokens=max(1, rounded), seed=seed, minutes=minutes, learned=learned, written=written
        )
    folder.mkdir(exist_ok=True)
    (folder / _FILE).write_text(budget.model_dump_json() + "\n", encoding="utf-8")
    return budget


def _measured(
    sandbox: Sandbox, game: GameSetup, settings: ObservationSettings
) -> tuple[float, float]:
    """Tokens a second: learned by a network of this size, and given by random play."""
    uniform = Uniform()
    begun = time.monotonic()
    everybody = (uniform,) * game.num_players
    matches = range(_TRIED)
    logs = [
        log.entries
        for _, seats, _ in matches_of_play(
            sandbox, game, lambda _: everybody, matches, seed=0, max_plies=settings.max_plies
        )
        for log in seats.values()
    ]
    vocabulary = fitted_vocabulary(logs, uniform.legal)
    middle = time.monotonic()
    sequences = [[*LogWriter(vocabulary).write(entries), END] for entries in logs]
    taken = (middle - begun) / 2 + time.monotonic() - middle  # the vocabulary is made once
    longest = max(map(len, sequences))
    layers, heads, width = SIZES[settings.size]
    shape = Shape(vocabulary.size, 2, longest, layers, heads, width)
    model = Transformer(shape, first_weights(shape, stream(0, "first weights")))
    batch = next(batches_of((Experience(one, 0) for one in sequences), settings.batch))
    begun = time.monotonic()
    for _ in range(_STEPS):
        losses_and_gradients(model, batch)
    learned = _STEPS * int((batch.targets >= 0).sum()) / (time.monotonic() - begun)
    return learned, sum(map(len, sequences)) / taken
