"""What a worker may use, and how far the sandbox can be trusted."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Limits(BaseModel):
    """Bounds of one worker.

    Attributes:
        memory_bytes: Address space, the interpreter's own share (some 150 MiB) included.
        cpu_s: Processor seconds over the worker's life; a backstop behind the deadlines.
        descriptors: Open files and sockets.
        request_bytes: Longest request.
        reply_bytes: Longest reply.
        output_characters: Printed text kept over the worker's life.
        load_s: Seconds that loading a module may take.
        call_s: Seconds that one call may take where the caller names no deadline.
        grace_s: Seconds after a deadline in which the worker may still say which line it was at;
            then it is killed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_bytes: int = Field(default=2**30, gt=0)
    cpu_s: int = Field(default=3600, gt=0)
    descriptors: int = Field(default=32, ge=8)
    request_bytes: int = Field(default=16 * 2**20, gt=0, lt=2**32)
    reply_bytes: int = Field(default=8 * 2**20, gt=0, lt=2**32)
    output_characters: int = Field(default=64 * 2**10, ge=0)
    load_s: float = Field(default=5.0, gt=0)
    call_s: float = Field(default=2.0, gt=0)
    grace_s: float = Field(default=1.0, gt=0)


class Grade(BaseModel):
    """How far the sandbox holds against hostile code; stored in every result.

    Attributes:
        name: "none" means that nothing keeps the code from the host's files and network.
        layers: What is in force, outermost first.
        reason: Why the grade is no better.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["none", "medium", "strong"]
    layers: tuple[str, ...]
    reason: str


RESOURCE_LIMITS_ONLY = Grade(
    name="none",
    layers=("process", "rlimits", "hard kill"),
    reason=(
        "time, memory and output are bounded, but nothing keeps the module's code from files, "
        "the network or other processes; run only code whose origin you trust"
    ),
)
