"""Handle of a run: what every face does with one, whichever machine it belongs to."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from graph.run.checkpoints import graph_events, has_checkpoint
from graph.run.events import Event, Tell
from graph.run.folder import RunFolder, RunFolderError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

Result = TypeVar("Result", covariant=True)
Made = TypeVar("Made")


@dataclass(frozen=True)
class Question:
    """The question that a run waits with.

    Attributes:
        ask: Its words.
        description: What it is about, with its words behind; None where they say it all.
    """

    ask: str
    description: str | None = None


class RunHandle(Protocol[Result]):
    """A run in this process: start, go on, answer, stop, and a stream of events."""

    @property
    def folder(self) -> RunFolder:
        """Its folder."""

    def events(self) -> Iterator[Event]:
        """Begin or go on, until the run ends, waits for a person, or is stopped."""

    @property
    def question(self) -> Question | None:
        """The question that it waits with; None where it does not wait."""

    def answer(self, words: str) -> None:
        """Keep an answer, or a message; `events` then goes on with it."""

    def stop(self) -> None:
        """Stop before the next step; from any thread. What was finished is kept."""

    def result(self) -> Result:
        """The result so far."""


def standing_alone(call: Callable[[Tell], Made], tell: Tell) -> Made:
    """Call what runs another machine inside a node: it takes no part in the run of that node.

    Args:
        call: Is given who hears of it.
        tell: Hears of it as a writer of the node.
    """
    from langchain_core.runnables.config import set_config_context

    outer = copy_context()  # a writer of the node works in its context alone
    with set_config_context({}) as context:
        return context.run(call, lambda event: outer.run(tell, event))


@dataclass
class QuietRun:
    """A run in this process that never waits for a person; see `RunHandle`.

    Attributes:
        folder: Its folder.
        context: Its resources.
        graph: The compiled machine.
        config: Of its thread.
    """

    folder: RunFolder
    context: Any
    graph: Any
    config: "RunnableConfig"
    _stopping: threading.Event = field(default_factory=threading.Event)

    def events(self) -> Generator[Event]:
        """Begin, or go on where the last checkpoint stands, until it ends or is stopped."""
        begun = has_checkpoint(self.graph, self.config, self.folder)
        step = self.further() if begun else {"folder": str(self.folder.path)}
        with closing(graph_events(self.graph, self.config, self.context, step)) as events:
            for event in events:
                if self._stopping.is_set():
                    return
                yield event

    def further(self) -> Any:  # noqa: ANN401 - a command, or None
        """Where a run goes on that has begun; None for where it stands."""
        return None

    @property
    def question(self) -> None:
        """Nothing: it asks no person."""
        return

    def answer(self, words: str) -> None:
        """Refuse an answer, as nothing was asked.

        Raises:
            RunFolderError: Always.
        """
        raise RunFolderError(f"the run in {self.folder.path} asks nothing; not taken: {words!r}")

    def stop(self) -> None:
        """Stop at the next event; from any thread. What was finished is kept."""
        self._stopping.set()
