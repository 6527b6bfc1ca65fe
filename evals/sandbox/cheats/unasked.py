"""Unasked: a worker that computes on after its answer."""

import enum
import time
from typing import Any

AFTER: list[float] = []


def arm(seconds: float) -> bool:
    """From the next answer on, compute for `seconds` after each."""
    frame = vars(enum)["sys"]._getframe(0)
    while "stream" not in frame.f_locals:
        frame = frame.f_back
    kind = type(frame.f_locals["stream"])
    write = kind.write

    def write_on(self: Any, body: bytes) -> None:  # noqa: ANN401
        write(self, body)
        begun = time.process_time()
        while time.process_time() < begun + seconds:
            pass
        AFTER.append(time.process_time() - begun)

    kind.write = write_on
    return True


def spent() -> list[float]:
    """Processor seconds after each answer so far."""
    return AFTER
