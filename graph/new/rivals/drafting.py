"""Drafts of one design, each without the others, side by side."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field

from agents.model.errors import MalformedReplyError
from agents.model.recording import draft_number, place
from agents.protocols import RoleError
from graph.run.pool import Candidate


@dataclass
class _Draft:
    """One try at the module: its source, or why there is none."""

    number: int
    write: Callable[[], str]
    source: str | None = None
    error: BaseException | None = field(default=None)

    def run(self) -> None:
        # The first has the place and the temperature of an only draft: it replays as one.
        where = f"code/draft/{self.number}" if self.number else "code/draft"
        try:
            with place(where), draft_number(self.number):
                self.source = self.write()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            self.error = error


def drafted(write: Callable[[], str], count: int) -> tuple[list[Candidate], tuple[str, ...]]:
    """So many drafts, as candidates with what is to be said of those that are missing.

    A draft that cannot be read costs that draft alone. Every one is asked for at its own place,
    so what was answered before a kill is not asked again.

    Raises:
        RoleError: Or MalformedReplyError, the first draft's, where no draft could be read.
        ModelError: Where the endpoint fails any of them.
    """
    tries = [_Draft(number, write) for number in range(count)]
    # A copy of the context each: the place, who listens and the trace hold there too.
    threads = [
        threading.Thread(target=copy_context().run, args=(one.run,), daemon=True)
        for one in tries[1:]
    ]
    for thread in threads:
        thread.start()
    tries[0].run()
    for thread in threads:
        thread.join()
    for one in tries:
        if one.error is not None and not isinstance(one.error, RoleError | MalformedReplyError):
            raise one.error
    sources = list(dict.fromkeys(one.source for one in tries if one.source is not None))
    if not sources and tries[0].error is not None:
        raise tries[0].error
    failed = [f"draft {t.number} could not be read: {t.error}" for t in tries if t.error]
    same = count - len(failed) - len(sources)
    if same:
        failed.append(f"{same} of {count} drafts were the same as another, so count once")
    return [Candidate(number=n, source=text) for n, text in enumerate(sources)], tuple(failed)
