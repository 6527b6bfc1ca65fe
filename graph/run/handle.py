"""Handle of a run: what every face does with one, whichever machine it belongs to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from graph.run.events import Event
from graph.run.folder import RunFolder

Result = TypeVar("Result", covariant=True)


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
