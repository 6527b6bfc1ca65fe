"""Settings of PPO (Schulman et al. 2017): defaults of Code World Models, App. E, Table 19."""

from typing import Annotated, Literal

from pydantic import Field

from agents.search.settings import MANY, PlayerSettings


class LearningError(ValueError):
    """What cannot be learned, or read as learned; the message says what to do."""


class PpoSettings(PlayerSettings):
    """Settings of a training."""

    environments: Annotated[int, Field(ge=1, le=1000, description="Matches side by side.")] = 50
    horizon: Annotated[
        int, Field(ge=2, le=10_000, description="Decisions of each match between two updates.")
    ] = 100
    gamma: Annotated[float, Field(ge=0, le=1, description="Discount, a decision.")] = 0.99
    lam: Annotated[float, Field(ge=0, le=1, description="Lambda of the advantages.")] = 0.95
    clip: Annotated[float, Field(ge=0.001, le=10, description="Bound of a ratio, from 1.")] = 0.2
    value_weight: Annotated[float, Field(ge=0, le=100, description="Of the value loss.")] = 0.5
    entropy_start: Annotated[float, Field(ge=0, le=10, description="Its weight, at first.")] = 0.1
    entropy_end: Annotated[
        float, Field(ge=0, le=10, description="Weight of the entropy at the end; linear between.")
    ] = 0.01
    learning_rate: Annotated[float, Field(ge=0, le=1, description="Of Adam.")] = 0.0003
    gradient: Annotated[float, Field(ge=0.0001, le=MANY, description="Its largest norm.")] = 0.5
    minibatches: Annotated[int, Field(ge=1, le=1000, description="Parts of an update.")] = 10
    epochs: Annotated[int, Field(ge=1, le=100, description="Passes over an update.")] = 4
    units: Annotated[int, Field(ge=1, le=4096, description="Of each hidden layer.")] = 256
    opponents: Annotated[
        Literal["self", "uniform"],
        Field(
            description="Who has the other seats: the same network, which learns from every seat, "
            "or uniform random play, as in the paper."
        ),
    ] = "self"
    memory: Annotated[
        Literal["auto", "no", "yes"],
        Field(
            description="Whether the network remembers (GRU) what its seat saw; auto: where play "
            "shows that a seat does not see all that there is."
        ),
    ] = "auto"
    encoder: Annotated[
        Literal["auto", "general", "model"],
        Field(
            description="What makes arrays of observations: the functions of the module, as "
            "'rulewright learn --tensors' asks for them, or a general encoder; auto: the module's "
            "where it has them."
        ),
    ] = "auto"
    choice_deals: Annotated[
        int,
        Field(ge=2, le=MANY, description="Against random play, by which the best seed is chosen."),
    ] = 100
    explore: Annotated[
        int, Field(ge=1, le=1_000_000, description="Random decisions that the encoder is made of.")
    ] = 5000
    max_plies: Annotated[int, Field(ge=1, le=MANY, description="After which a match ends.")] = 2000
