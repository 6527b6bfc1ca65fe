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
        output_characters: Printed text kept over the worker's life, for each of the two streams.
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
        name: "strong": the kernel or a virtual machine keeps the code from everything but its own
            memory and processor time. "medium": an operating system's own sandbox does, untried by
            us. "none": nothing keeps the code from the host's files and network.
        backend: Where the workers run.
        layers: What is in force, outermost first.
        reason: Why the grade is no better.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["none", "medium", "strong"]
    backend: str
    layers: tuple[str, ...]
    reason: str
