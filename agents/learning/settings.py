"""Settings of PPO (Schulman et al. 2017): defaults of Code World Models, App. E, Table 19."""

from typing import Annotated, Literal

from pydantic import Field

from agents.search.settings import MANY, PlayerSettings


class LearningError(ValueError):
    """What cannot be learned, or read as learned; the message says what to do."""


class PpoSettings(PlayerSettings):
    """Settings of a training."""

    environments: Annotated[
        int, Field(ge=1, le=1000, description="Matches that are played side by side.")
    ] = 50
    horizon: Annotated[
        int, Field(ge=2, le=10_000, description="Decisions of each between two updates.")
    ] = 100
    gamma: Annotated[
        float, Field(ge=0, le=1, description="Discount from decision to decision.")
    ] = 0.99
    lam: Annotated[float, Field(ge=0, le=1, description="Lambda of the advantage estimate.")] = 0.95
    clip: Annotated[
        float, Field(ge=0.001, le=10, description="Epsilon, by which a policy's ratio is clipped.")
    ] = 0.2
    value_weight: Annotated[float, Field(ge=0, le=100, description="Weight of the value loss.")] = (
        0.5
    )
    entropy_start: Annotated[
        float, Field(ge=0, le=10, description="Weight of the entropy at the start.")
    ] = 0.1
    entropy_end: Annotated[
        float, Field(ge=0, le=10, description="Its weight at the end; linear in between.")
    ] = 0.01
    learning_rate: Annotated[float, Field(ge=0, le=1, description="Step size of Adam.")] = 0.0003
    gradient: Annotated[
        float, Field(ge=0.0001, le=MANY, description="Largest norm of a gradient.")
    ] = 0.5
    minibatches: Annotated[int, Field(ge=1, le=1000, description="Parts of an update.")] = 10
    epochs: Annotated[
        int, Field(ge=1, le=100, description="Times that an update is gone through.")
    ] = 4
    units: Annotated[int, Field(ge=1, le=4096, description="Units of a hidden layer.")] = 256
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
    explore: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            description="Random decisions from which the encoder takes its paths, values and "
            "actions.",
        ),
    ] = 5000
    max_plies: Annotated[
        int, Field(ge=1, le=MANY, description="Plies after which a match is cut.")
    ] = 2000
