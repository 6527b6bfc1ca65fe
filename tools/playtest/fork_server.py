"""The quiet of a process pool's fork server: only the server loads this, before all else.

A process that ends while it has a server start another leaves both with half a message. Each would
print a traceback below the farewell of the one that ended. What jobs raise goes another way.
"""

import sys
from types import TracebackType


def _told(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, EOFError | BrokenPipeError):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _told
