"""Players by a model of what their seat sees: the best value, and a search in what is imagined."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from agents.encoding.vocabulary import SPELL
from agents.learning.settings import LearningError
from agents.observing.following import LogFollower
from agents.observing.imagining import ImaginedLogs
from agents.observing.model import ObservationModel, read_observation_model
from agents.observing.selfplay import argmax_values, best_place
from agents.players.specs import PlayerSpecError, Seating, require_suited, require_unchanged
from agents.search.observation import ObservationSearch, ObservationSearchSettings
from agents.search.settings import PlayerSettings
from games.engine import Decision, Effort
from games.information import SeatLog
from games.lockstep import Reads, SeatView
from games.values import Action, Json
from tools.playtest.jobs import PlayerSpec

GOMCTS, ARGMAXVAL = "gomcts", "argmaxval"


class ObservedSettings(PlayerSettings):
    """The model of a player."""

    model: str = Field(
        default="", description="The file of 'rulewright train --player gomcts'; required."
    )
    sha256: str = Field(default="", description="Of its bytes; filled in, else compared.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        if not self.model:
            raise ValueError(
                "model is ''; required: model=FILE, which 'rulewright train --player gomcts' wrote"
            )
        return self


class ArgmaxSettings(PlayerSettings):
    """Settings of `argmaxval`."""

    threshold: float = Field(
        default=0.05, ge=0, le=1, description="Probability from which an action is considered."
    )


class ArgmaxPlayer:
    """Plays the action of the highest value among the likely ones (`ArgmaxVal*`, Eqs. 2 to 5)."""

    reads: Reads = "all"
    effort: Effort | None = None

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Read the model.

        Raises:
            PlayerSpecError: If it is none, has changed, or was trained on another game.
        """
        self.model = suited_model(spec, at)
        self.threshold = spec.part(ArgmaxSettings).threshold
        self.follower = LogFollower(self.model)

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        return self.choose_many([SeatView(log, legal, lambda: generator)])[0]

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `games.lockstep.LockstepPlayer.choose_many`."""
        # One by one: a product of many rows would round otherwise than one alone.
        return [self._chosen(view) for view in views]

    def _chosen(self, view: SeatView) -> Decision:
        if not self.follower.fits(view.log):
            return _drawn(view, ARGMAXVAL, "context")
        rows, last = self.follower.turns([view.log])
        chances = self.model.legal_chances(self.model.transformer.next(last)[0], view.legal)
        worth = argmax_values(self.model, self.follower, rows, [view], [chances], self.threshold)[0]
        told: dict[str, Json] = _unmet(self.follower, view)
        if not worth:
            return _drawn(view, ARGMAXVAL, "uniform", told)
        place = best_place(worth)
        told = {"algorithm": ARGMAXVAL, **told}
        return Decision(view.legal[place], Effort.of({**told, "value": worth[place]}))

    def close(self) -> None:
        """Nothing is held."""


class ObservationPlayer:
    """Searches in what its model imagines that its seat will see (GO-MCTS)."""

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Read the model; raises like `ArgmaxPlayer`."""
        self.model = suited_model(spec, at)
        self.settings = spec.part(ObservationSearchSettings)
        self.follower = LogFollower(self.model, 1)

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        view = SeatView(log, legal, lambda: generator)
        if len(legal) == 1:
            return Decision(legal[0], Effort.of({"algorithm": GOMCTS, "runs": 0}))
        if not self.follower.fits(log):
            return _drawn(view, GOMCTS, "context")
        imagined = ImaginedLogs(
            *(self.model, self.follower, log, generator),
            redraw=self.settings.protocol == "ours",
            most=self.settings.together,
        )
        chances = self.model.legal_chances(self.model.transformer.next(imagined.root)[0], legal)
        known = self.model.vocabulary.action_number
        root = {a: float(p) for a, p in zip(legal, chances, strict=True) if a in known}
        told: dict[str, Json] = {"algorithm": GOMCTS, **_unmet(self.follower, view)}
        if not root:
            return _drawn(view, GOMCTS, "uniform", told)
        found = ObservationSearch(imagined, self.settings).search(root)
        told |= {"runs": found.runs, "impossible": found.impossible, "nodes": found.nodes}
        told |= {"passes": imagined.passes, "drawn_again": imagined.drawn_again}
        return Decision(found.best, Effort.of({**told, "value": found.values[found.best]}))

    def close(self) -> None:
        """Nothing is held."""


def _drawn(
    view: SeatView, algorithm: str, why: str, told: Mapping[str, Json] | None = None
) -> Decision:
    """A uniform draw, which is counted: the log is beyond the context, or no action is known."""
    drawn = view.legal[int(view.generator().integers(len(view.legal)))]
    return Decision(drawn, Effort.of({**(told or {}), "algorithm": algorithm, "fallback": why}))


def _unmet(follower: LogFollower, view: SeatView) -> dict[str, Json]:
    """Entries that had to be spelled, and legal actions that the model never met."""
    known = follower.model.vocabulary.action_number
    return {
        "spelled": sum(token == SPELL for token in follower.tokens(view.log)),
        "unknown_actions": sum(action not in known for action in view.legal),
    }


def suited_model(spec: PlayerSpec, at: Seating) -> ObservationModel:
    """The model of a player, for the game that it plays.

    Raises:
        PlayerSpecError: If it is none, has changed since the spec was read, or was trained on
            another game or other parameters.
    """
    settings = spec.part(ObservedSettings)
    model = _model(spec.player, settings)
    require_suited(settings.model, model.about, at.game)
    return model


def with_model_hash(spec: PlayerSpec) -> PlayerSpec:
    """The spec with the hash of the model's file.

    Raises:
        PlayerSpecError: If the file cannot be read, or the spec gives another hash.
    """
    digest = _model(spec.player, spec.part(ObservedSettings)).digest
    return PlayerSpec(player=spec.player, settings={**spec.settings, "sha256": digest})


def _model(player: str, settings: ObservedSettings) -> ObservationModel:
    try:
        found = read_observation_model(settings.model)
    except LearningError as error:
        raise PlayerSpecError(f"{player}: {error}") from error
    require_unchanged(settings.model, found.digest, settings.sha256)
    return found
