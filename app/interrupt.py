"""Ctrl-C in the middle of a run."""

import os
import signal
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from games.text import plain_text

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
        try:
            text = f"{cursor}\n{plain_text(farewell())}\n"  # it may hold a path that is no UTF-8
            # Not through sys.stderr: the signal may have come in the middle of a write to it.
            os.write(2, text.encode(errors="backslashreplace"))
        finally:
            os._exit(STOPPED)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def kept_in(journal: Path | None) -> str:
    """The farewell of a command that plays matches: where they are kept, and how to go on.

    >>> kept_in(Path("matches.jsonl"))
    'stopped; finished matches are kept in matches.jsonl: give the same command again to go on'
    >>> kept_in(None)
    'stopped; nothing was kept: with --journal FILE, the same command goes on after a stop'
    """
    if journal is None:
        return (
            "stopped; nothing was kept: with --journal FILE, the same command goes on after a stop"
        )
    return f"stopped; finished matches are kept in {journal}: give the same command again to go on"
