"""The player of a trained network, by the policy file that `rulewright train` wrote."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from agents.learning.policy import Policy, read_policy
from agents.learning.settings import LearningError
from agents.players.specs import PlayerSpecError, Seating, require_suited, require_unchanged
from agents.search.settings import NoYes, PlayerSettings
from games.engine import Decision, Effort
from games.information import SeatLog, seat_turns
from games.lockstep import Reads, SeatView
from games.values import Action, ModuleFault
from tools.playtest.jobs import PlayerSpec

PPO = "ppo"


class PolicySettings(PlayerSettings):
    """Settings of a player that is a trained network."""

    policy: str = Field(default="", description="The file of 'rulewright train'; required.")
    sha256: str = Field(default="", description="Of its bytes; filled in, else compared.")
    temperature: float = Field(
        default=1.0,
        ge=0,
        le=1000,
        description="Of the softmax over legal actions; 0: the likeliest.",
    )
    elsewhere: NoYes = Field(
        default="no",
        description="Whether it plays a game of another name than it was trained on, as it "
        "does where that one was learned from this one.",
    )

    @model_validator(mode="after")
    def _given(self) -> Self:
        if not self.policy:
            raise ValueError("policy is ''; required: policy=FILE, which 'rulewright train' wrote")
        return self


class PolicyPlayer:
    """Plays by a network, on the host, from the seat's own log; legal actions alone are drawn.

    Where the file brings functions that turn observations into arrays, they run in a worker.

    What it does not know is counted in each decision's effort.
    """

    effort: None = None

    def __init__(self, spec: PlayerSpec, at: Seating) -> None:
        """Read the file.

        Raises:
            PlayerSpecError: If it is none, has changed since the spec was read, or was trained on
                another game or other parameters.
        """
        self.settings = spec.part(PolicySettings)
        self.seat = at.seat
        self.policy = _policy(self.settings)
        self.reads: Reads = "all" if self.policy.codec.recurrent else "newest"
        self.encoder = self.policy.codec.log_encoder(at.sandbox)
        elsewhere = self.settings.elsewhere == "yes"
        require_suited(self.settings.policy, self.policy.about, at.game, elsewhere=elsewhere)

    def choose(
        self, log: SeatLog, legal: Sequence[Action], generator: np.random.Generator
    ) -> Decision:
        """See `games.engine.Player.choose`."""
        return self.choose_many([SeatView(log, legal, lambda: generator)])[0]

    def choose_many(self, views: Sequence[SeatView]) -> list[Decision]:
        """See `games.lockstep.LockstepPlayer.choose_many`."""
        asked = [seat_turns(view.log.entries) for view in views]
        with suppress(ModuleFault):  # what it does not know is counted
            self.encoder.prepare([turn for turns in asked for turn in turns])
        logits, unknown = self.policy.logits(self.seat, asked, self.encoder)
        decisions: list[Decision] = []
        for row, view in enumerate(views):
            action, told = self.policy.act(
                logits[row], view.legal, self.settings.temperature, view.generator
            )
            figures = {"algorithm": PPO, "unknown_values": unknown[row], **told}
            decisions.append(Decision(action, Effort.of(figures)))
        return decisions

    def close(self) -> None:
        """End the worker of the file's functions, where it has some."""
        self.encoder.close()


def with_policy_hash(spec: PlayerSpec) -> PlayerSpec:
    """The spec with the hash of the policy's file.

    Raises:
        PlayerSpecError: If the file cannot be read, or the spec gives another hash.
    """
    digest = _policy(spec.part(PolicySettings)).digest
    return PlayerSpec(player=spec.player, settings={**spec.settings, "sha256": digest})


def _policy(settings: PolicySettings) -> Policy:
    try:
        found = read_policy(settings.policy)
    except LearningError as error:
        raise PlayerSpecError(f"{PPO}: {error}") from error
    require_unchanged(settings.policy, found.digest, settings.sha256)
    return found
