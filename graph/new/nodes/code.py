"""Code: the coder drafts the module, once or several times side by side."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from agents.model.recording import draft_number, place
from agents.protocols import (
    RoleError,
)
from graph.new.coding import GraphCoderTools
from graph.new.context import RunContext
from graph.new.opening import context_of
from graph.new.results import code_message
from graph.new.state import (
    RunState,
    folder_of,
    go_on,
    need_design,
)
from graph.new.trial import UNREADABLE
from graph.run.candidates import (
    Candidate,
)
from graph.run.events import Coded, writer_of


def code(state: RunState, runtime: Runtime[RunContext]) -> Command[Literal["check", "report"]]:
    """Draft the module, as often as the settings say; each draft is a candidate."""
    context = context_of(runtime, state.folder, state.seed)
    made = need_design(state)
    coder, tools = context.roles.coder, GraphCoderTools(context, made)
    try:
        drafts, notes = drafted(lambda: coder.draft(made, tools), context.settings.candidates)
    except RoleError as error:
        return go_on("report", state, state.ending("gave_up", str(error)))
    folder_of(state).write_text("game.py", drafts[0].source)
    writer_of(runtime.stream_writer)(Coded(lines=drafts[0].source.count("\n")))
    after = state.with_versions(*drafts).noting(notes)
    return go_on("check", state, after.saying(code_message(drafts[-1]), "code"))


def drafted(write: Callable[[], str], count: int) -> tuple[list[Candidate], tuple[str, ...]]:
    """So many drafts, as candidates with what is to be said of those that are missing.

    A draft that cannot be read costs that draft alone. Every one is asked for at its own place,
    so what was answered before a kill is not asked again.

    Raises:
        RoleError: Or MalformedReplyError, the first draft's, where no draft could be read.
        ModelError: Where the endpoint fails any of them.
    """
    made: dict[int, str | BaseException] = {}

    def draft(number: int) -> None:
        # The first has the place and the temperature of an only draft: it replays as one.
        where = f"code/draft/{number}" if number else "code/draft"
        try:
            with place(where), draft_number(number):
                made[number] = write()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            made[number] = error

    # A copy of the context each: the place, who listens and the trace hold there too.
    threads = [
        threading.Thread(target=copy_context().run, args=(draft, number), daemon=True)
        for number in range(1, count)
    ]
    for thread in threads:
        thread.start()
    draft(0)
    for thread in threads:
        thread.join()
    tried = sorted(made.items())
    errors = {number: one for number, one in tried if isinstance(one, BaseException)}
    sources = list(dict.fromkeys(one for _, one in tried if isinstance(one, str)))
    fatal = [error for error in errors.values() if not isinstance(error, UNREADABLE)]
    if fatal or not sources:
        raise [*fatal, *errors.values()][0]
    failed = [f"draft {number} could not be read: {error}" for number, error in errors.items()]
    same = count - len(failed) - len(sources)
    if same:
        failed.append(f"{same} of {count} drafts were the same as another, so count once")
    return [Candidate(number=n, source=text) for n, text in enumerate(sources)], tuple(failed)
