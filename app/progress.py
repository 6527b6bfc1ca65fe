"""Live progress: a line a step, with a spinner where a terminal can show one."""

import sys
import time
import types
from typing import Any, Self

from rich.console import Console
from rich.status import Status

from games.text import plain_text

_WHAT = {
    "open": "opening the store and the sandbox",
    "intake": "reading the brief",
    "design": "designing",
    "code": "writing the code",
    "check": "checking",
    "refine": "refining",
    "strategize": "finding strategies",
    "evaluate": "playing matches",
    "report": "writing the report",
}
_NEXT = {
    "intake": "design",
    "design": "code",
    "code": "check",
    "refine": "check",
    "strategize": "evaluate",
}


class Progress:
    """Tells a person, on stderr, what the machine is doing."""

    def __init__(self, *, quiet: bool) -> None:
        """`quiet` says nothing at all, for `--json`."""
        self._console = Console(file=sys.stderr, quiet=quiet, highlight=False)
        self._started = time.monotonic()
        self._status: Status | None = None

    def __call__(self, event: dict[str, Any]) -> None:
        """Show one event of the machine."""
        node = str(event.get("node", ""))
        details = plain_text(
            ", ".join(
                f"{key} {value}"
                for key, value in event.items()
                if key != "node" and value not in ([], "")
            )
        )
        seconds = time.monotonic() - self._started
        if "played" in event and "of" in event:
            self._show(f"{_WHAT.get(node, node)}: {details}")
            return
        if node != "open":
            line = f"[{seconds:6.1f} s] {node}: {details}"
            self._console.print(line, markup=False, soft_wrap=True)
        self._show(_WHAT.get(_NEXT.get(node, node), node))

    def pause(self) -> None:
        """Take the spinner off the screen, so that somebody else may write there."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _show(self, text: str) -> None:
        if not self._console.is_terminal:
            return
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        self._status.update(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.pause()
