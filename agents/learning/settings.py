"""Settings of PPO (Schulman et al. 2017): defaults of Code World Models, App. E, Table 19."""

from typing import Literal

from pydantic import Field

from agents.search.settings import MANY, PlayerSettings


class LearningError(ValueError):
    """Something cannot be learned, or read as learned; the message says what to do."""


class PpoSettings(PlayerSettings):
    """Settings of a training."""

    environments: int = Field(default=50, ge=1, le=1000, description="Matches side by side.")
    horizon: int = Field(
        default=100, ge=2, le=10_000, description="Decisions of each match between two updates."
    )
    gamma: float = Field(default=0.99, ge=0, le=1, description="Discount, a decision.")
    lam: float = Field(default=0.95, ge=0, le=1, description="Lambda of the advantages.")
    clip: float = Field(default=0.2, ge=0.001, le=10, description="Bound of a ratio, from 1.")
    value_weight: float = Field(default=0.5, ge=0, le=100, description="Of the value loss.")
    entropy_start: float = Field(default=0.1, ge=0, le=10, description="Its weight, at first.")
    entropy_end: float = Field(
        default=0.01, ge=0, le=10, description="Weight of the entropy at the end; linear between."
    )
    learning_rate: float = Field(default=0.0003, ge=0, le=1, description="Of Adam.")
    gradient: float = Field(default=0.5, ge=0.0001, le=MANY, description="Its largest norm.")
    minibatches: int = Field(default=10, ge=1, le=1000, description="Parts of an update.")
    epochs: int = Field(default=4, ge=1, le=100, description="Passes over an update.")
    units: int = Field(default=256, ge=1, le=4096, description="Of each hidden layer.")
    opponents: Literal["self", "uniform"] = Field(
        default="self",
        description="Who has the other seats: the same network, which learns from every seat, "
        "or uniform random play, as in the paper.",
    )
    memory: Literal["auto", "no", "yes"] = Field(
        default="auto",
        description="Whether the network remembers (GRU) what its seat saw; auto: where play "
        "shows that a seat does not see all that there is.",
    )
    encoder: Literal["auto", "general", "model"] = Field(
        default="auto",
        description="What makes arrays of observations: the functions of the module, as "
        "'rulewright learn --tensors' asks for them, or a general encoder; auto: the module's "
        "where it has them.",
    )
    choice_deals: int = Field(
        default=100,
        ge=2,
        le=MANY,
        description="Against random play, by which the best seed is chosen.",
    )
    explore: int = Field(
        default=5000,
        ge=1,
        le=1_000_000,
        description="Random decisions that the encoder is made of.",
    )
    max_plies: int = Field(default=2000, ge=1, le=MANY, description="After which a match ends.")
