"""Matches to learn from: side by side in one sandboxed worker, a message a step."""

from collections.abc import Sequence
from typing import Self

from agents.learning.settings import LearningError, PpoSettings
from agents.worker.protocol import PerfectInformationRequest
from agents.worker.stepping import OpenManyRequest, StepManyRequest, Turns
from games.streams import stream
from games.values import Action, IllegalActionError, Json, ModuleFault, are_texts, is_number
from tools.guest.protocol import decoded
from tools.playtest.jobs import GameSetup
from tools.predicting.tensors import TENSORS
from tools.sandbox import Sandbox

PRELOAD = ("agents.worker.stepping", "agents.worker.session")  # what the sandbox must preload
_LATE_S = 60.0  # of one step of all matches


class Matches:
    """A worker that steps many matches of a game; its sandbox must preload `PRELOAD`."""

    def __init__(self, sandbox: Sandbox, game: GameSetup, settings: PpoSettings, seed: int) -> None:
        """Load the module.

        Args:
            sandbox: Where it runs.
            game: With all its parameters.
            settings: How many matches, and how long.
            seed: Of chance.

        Raises:
            ModuleFault: If the module does not load.
        """
        self.sandbox, self.game, self.settings = sandbox, game, settings
        self._words = stream(seed, "train").integers(2**32, size=4).tolist()
        self._worker = sandbox.worker("training", preloaded=True)
        self._worker.load(game.source)

    def hides(self) -> bool:
        """True where random play shows that a seat does not see all that there is."""
        asked = PerfectInformationRequest(
            self.game.num_players, dict(self.game.parameters), self._words
        )
        found = self._worker.request("perfect_information", asked._asdict(), _LATE_S)
        return found is not None

    @property
    def has_tensors(self) -> bool:
        """True where the module turns observations into arrays and back."""
        return self._worker.names >= {*TENSORS}

    def open(self) -> Turns:
        """The first turn of every match.

        Raises:
            ModuleFault: If the module fails or breaks the contract.
        """
        return self._turns("open_many", self._opening())

    def _opening(self) -> dict[str, Json]:
        settings, game = self.settings, self.game
        asked = OpenManyRequest(
            settings.environments,
            game.num_players,
            dict(game.parameters),
            self._words,
            settings.max_plies,
        )
        return asked._asdict()

    def keep(self) -> Json:
        """The state of every match, for `resume`.

        Raises:
            ModuleFault: If a state is no JSON.
        """
        return self._worker.request("keep_many", {}, _LATE_S)

    def resume(self, kept: Json) -> Turns:
        """The turns that stood when `keep` gave this; see `open`."""
        return self._turns("resume_many", {"asked": self._opening(), "kept": kept})

    def step(self, actions: Sequence[Action]) -> Turns:
        """The next turn of every match, each after its action; see `open`."""
        return self._turns("step_many", StepManyRequest([*actions])._asdict())

    def _turns(self, operation: str, payload: dict[str, Json]) -> Turns:
        try:
            turns = decoded(Turns, self._worker.request(operation, payload, _LATE_S))
            turns.turns()
        except IllegalActionError as error:
            raise ModuleFault(
                "raised", "apply_action", f"refused a legal action: {error}"
            ) from error
        except ValueError as error:
            raise ModuleFault("bad_value", operation, f"the worker answered: {error}") from error
        count, seats = self.settings.environments, range(self.game.num_players)
        good = all(len(column) == count for column in turns)
        good = good and all(seat in seats for seat in turns.seats)
        good = good and all(legal and are_texts(legal) for legal in turns.legal)
        good = good and all(
            len(paid) == len(seats) and all(map(is_number, paid)) for paid in turns.rewards
        )
        if not good:
            raise ModuleFault("bad_value", operation, "the worker's answer breaks the contract")
        return turns

    def close(self) -> None:
        """End the worker."""
        self._worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def require_trainable(game: GameSetup, steps: int) -> None:
    """Refuse what cannot be trained.

    Raises:
        LearningError: If there are no steps, or is nobody to play against.
    """
    if steps < 1:
        raise LearningError(f"steps is {steps}; required: at least 1 decision to learn from")
    if game.num_players < 2:  # noqa: PLR2004 - self-play
        raise LearningError(
            f"{game.name} has {game.num_players} seat; required: at least 2, as training is by "
            "self-play"
        )
