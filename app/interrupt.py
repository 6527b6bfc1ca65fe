"""Ctrl-C in the middle of a run."""

import os
import signal
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPED = 130  # exit code of a command that Ctrl-C stopped
_SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def ends_at_once(farewell: Callable[[], str]) -> Iterator[None]:
    """Let Ctrl-C end the process inside the block, with `farewell()` on stderr.

    A KeyboardInterrupt would be held back until the node at work is done, which can take minutes.
    A run may be killed at any point, so ending the process loses no more than the matches in
    progress; workers end with their parent.
    """

    def stop(number: int, frame: types.FrameType | None) -> None:
        del number, frame
        cursor = _SHOW_CURSOR if os.isatty(2) else ""
        # Not through sys.stderr: the signal may have come in the middle of a write to it.
        os.write(2, f"{cursor}\n{farewell()}\n".encode())
        os._exit(STOPPED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
