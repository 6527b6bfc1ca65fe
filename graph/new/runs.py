"""Runs in this process: begin, go on, answer, remedy, stop."""

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from langgraph.types import Command

from graph.new.build import build, recursion_limit
from graph.new.claims import after, without_struck
from graph.new.context import RunContext
from graph.new.nodes.revise import revise
from graph.new.requests import (
    Remedy,
    Request,
    answered,
    leave_question,
    read_request,
    waits_for_words,
    write_request,
)
from graph.new.results import RunResult
from graph.new.state import PlayOn, Retried, RunState, go_on
from graph.run.candidates import best
from graph.run.checkpoints import graph_events, has_checkpoint, open_checkpoints
from graph.run.events import Event, Unheard
from graph.run.folder import RunFolder, RunFolderError
from graph.run.handle import Question
from graph.run.sandboxes import grades_of
from graph.run.traces import tracing

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


@dataclass(frozen=True)
class Whereabouts:
    """Where a run stands.

    Attributes:
        state: Its newest state; None before its first step.
        question: What a node waits for a person to answer; None where none does.
        at_rest: Nothing is left to do where it was broken off.
        moved: This process has taken a step beyond that.
    """

    state: RunState | None
    question: Question | None = None
    at_rest: bool = False
    moved: bool = False


class Begin(NamedTuple):
    """The first step: the person's words."""

    request: Request


class GoOn(NamedTuple):
    """A broken step is finished."""


class Remedied(NamedTuple):
    """A person's remedy is taken in."""

    remedy: Remedy


class Answered(NamedTuple):
    """A node's question is answered."""

    words: str


class Said(NamedTuple):
    """A message joins the chat."""

    words: str


class TryAgain(NamedTuple):
    """The node at which a model failed is tried again."""

    node: Retried


class PlayedOn(NamedTuple):
    """The finished game is played on."""

    wish: PlayOn


Step: TypeAlias = Begin | GoOn | Remedied | Answered | Said | TryAgain | PlayedOn


def continuation(stands: Whereabouts, request: Request) -> Step | None:
    """The next step of a run; None where it has ended, or waits for a person.

    All that a person ever said stands in the request, so the same request gives the same run.

    >>> from graph.new.context import RunSettings
    >>> asked = Request(prompt="whist", settings=RunSettings())
    >>> type(continuation(Whereabouts(None), asked)).__name__
    'Begin'
    >>> continuation(Whereabouts(RunState(stopped="code"), at_rest=True), asked)
    TryAgain(node='code')
    >>> continuation(Whereabouts(RunState(), at_rest=True), asked) is None
    True
    """
    state = stands.state
    if state is None:
        return Begin(request)
    if not stands.at_rest:
        return GoOn()
    if state.end == "gave_up" and state.remedied < len(request.remedies):
        return Remedied(request.remedies[state.remedied])
    for words in request.answers[answered(state) :]:
        return Said(words) if stands.question is None else Answered(words)
    if state.stopped is not None and not stands.moved:
        return TryAgain(state.stopped)
    if state.evaluation is not None and state.played_on < len(request.played_on):
        return PlayedOn(request.played_on[state.played_on])
    return None


@dataclass
class GameRun:
    """A run in this process; see `RunHandle`.

    Attributes:
        folder: Its folder.
        context: Its resources.
        request: All that a person said; grows, and is kept before it is used.
        graph: The compiled machine.
        config: Of its thread.
        remedy: What a person decided, until the run stands where it can be taken in.
    """

    folder: RunFolder
    context: RunContext
    request: Request
    graph: Any
    config: "RunnableConfig"
    remedy: Remedy | None = None
    _stands: Whereabouts = field(default_factory=lambda: Whereabouts(None))
    _started: float = field(default_factory=time.monotonic)
    _live: Iterator[Event] = field(default_factory=lambda: iter(()))
    _stopping: threading.Event = field(default_factory=threading.Event)

    def events(self) -> Iterator[Event]:
        """See `RunHandle.events`.

        Raises:
            RunFolderError: If the run cannot take the remedy.
            BrokenCheckpointsError: If its checkpoints cannot be read.
        """
        self._live = self._events()
        return self._live

    def _events(self) -> Iterator[Event]:
        while not self._stopping.is_set() and (step := self._next()) is not None:
            for event in self._taken(step):
                if self._stopping.is_set():
                    return
                yield event
        self._leave_question()

    def close(self) -> None:
        """End what still streams, before its checkpoints are closed."""
        if isinstance(self._live, Generator):
            self._live.close()

    @property
    def question(self) -> Question | None:
        """See `RunHandle.question`."""
        state = self._stands.state
        if self._stands.question is not None or state is None:
            return self._stands.question
        return Question(state.reason) if waits_for_words(state) else None

    def answer(self, words: str) -> None:
        """See `RunHandle.answer`."""
        # Kept before it is used: no kill, and no loss of the checkpoints, drops it.
        self.request = self.request.answered(words)
        write_request(self.request, self.folder)

    def stop(self) -> None:
        """Stop at the next event; see `RunHandle.stop`."""
        self._stopping.set()

    def result(self) -> RunResult:
        """The result of this process's part of the run.

        Raises:
            ValueError: If the run has not begun.
        """
        state = self._state
        seconds = time.monotonic() - self._started
        grade = grades_of(self.folder, self.context.sandbox.grade)[0]
        return RunResult(self.folder, state, self._stands.question, seconds, grade)

    @property
    def _state(self) -> RunState:
        if self._stands.state is None:
            raise ValueError("the run has not begun; take its events first")
        return self._stands.state

    def to_end(self) -> RunResult:
        """The result, once it has ended or waits, with nobody there to listen or to answer."""
        for _ in self.events():
            pass
        return self.result()

    def _next(self) -> Step | None:
        if has_checkpoint(self.graph, self.config, self.folder):
            self._stands = self._looked()
            self._take_remedy()
        return continuation(self._stands, self.request)

    def _looked(self) -> Whereabouts:
        stands = self.graph.get_state(self.config)
        state = RunState(**stands.values)
        state = state.in_folder(self.folder.revision(state.revision).path)
        asked = stands.interrupts[0].value if stands.interrupts else None
        question = None if asked is None else Question(asked["ask"], asked["description"])
        return replace(self._stands, state=state, question=question)

    def _take_remedy(self) -> None:
        state = self._stands.state
        ready = state is not None and self._stands.at_rest
        if self.remedy is None or state is None or not ready:
            return
        if state.remedied == len(self.request.remedies):
            require_remedy(state, self.remedy, self.folder)
            self.request, self.remedy = self.request.remedied(self.remedy), None
            write_request(self.request, self.folder)  # before it is used: no kill drops it

    def _taken(self, step: Step) -> Iterator[Event]:
        """Take a step.

        A message for which no usable reply is had must not keep the next one, such as an undo, from
        being heard: it would be asked again and again.
        """
        from agents.model.budget import BudgetExhaustedError
        from agents.model.errors import MalformedReplyError

        moved = self._stands.moved or not isinstance(step, GoOn)
        try:
            yield from graph_events(self.graph, self.config, self.context, self._input(step))
        except (MalformedReplyError, BudgetExhaustedError):
            stands = self.graph.get_state(self.config)
            state = RunState(**stands.values)
            if state.made is None or answered(state) >= len(self.request.answers):
                raise
            node = next(iter(stands.next), state.stopped)  # none is next where a command led there
            yield Unheard(node=node or "")
            if node != revise.__name__:  # what was to be made is tried again if no more is said
                self.graph.update_state(self.config, {"stopped": node}, as_node=node)
        self._stands = replace(self._stands, at_rest=True, moved=moved)

    def _input(self, step: Step) -> Any:  # noqa: ANN401 - what LangGraph takes
        match step:
            case Begin(request):
                choices = request.choices.model_dump(mode="json")
                return {"messages": [("user", request.prompt)], "choices": choices}
            case GoOn():
                return None
            case Remedied(remedy):
                return remedied(self._state, remedy, self.folder)
            case Answered(words):
                return Command(resume=words)
            case Said(words):
                return {"messages": [("user", words)]}
            case TryAgain(node):
                return go_on(node, self._state, self._state.trying_again())
            case PlayedOn(wish):
                return go_on("evaluate", self._state, self._state.playing_on(wish))

    def _leave_question(self) -> None:
        state = self._stands.state
        asks = self._stands.question is not None or (
            state is not None and state.end in ("question", "no_fit")
        )
        asked = self.question if asks else None
        leave_question(asked.ask if asked else "", self.request, self.folder)


@contextmanager
def open_run(
    folder: RunFolder,
    context: RunContext,
    *,
    prompt: str = "",
    database: str | None = None,
    remedy: Remedy | None = None,
) -> Iterator[GameRun]:
    """A run that begins, or goes on where its last checkpoint stands, to the same result.

    A run without checkpoints is made from its request, with the answers that stand there. A run
    that ended stays as it is, unless the request holds more that was said of its game; one
    that ended in a question takes an answer to it, one that gave up a game takes a remedy.

    Args:
        folder: The run's folder; where it holds a request (see `write_request`), that one counts.
        context: The run's resources.
        prompt: The person's words, for a folder without a request.
        database: A Postgres address for its checkpoints; None for a file in its folder.
        remedy: What a person decided for a run that gave up.

    Raises:
        RunFolderError: If its request cannot be read.
        BrokenCheckpointsError: If its checkpoints cannot be read.
    """
    if not folder.asked:
        write_request(Request(prompt=prompt, settings=context.settings), folder)
    request = read_request(folder)
    context = replace(context, folder=folder.path)
    with _machine(folder, context, database) as (graph, config):
        run = GameRun(folder, context, request, graph, config, remedy)
        try:
            yield run
        finally:
            run.close()


def require_remedy(state: RunState, remedy: Remedy, folder: RunFolder) -> None:
    """Refuse a remedy that the run cannot take.

    Raises:
        RunFolderError: Saying why, and what it could take.
    """
    if state.end != "gave_up" or not state.candidates:
        raise RunFolderError(
            f"the run in {folder.path} did not give up a game that does not pass (its end: "
            f"{state.end}); --rounds, --drop-test and --accept are for such a run"
        )
    held = [claim.id for claim in state.claims if claim.counts]
    if remedy.drop and remedy.drop not in held:
        known = ", ".join(held) or "none"
        raise RunFolderError(
            f"no candidate is held against a claim {remedy.drop!r}; those in force: {known} "
            f"(checks.json in {folder.path} has their words)"
        )


def remedied(
    state: RunState, remedy: Remedy, folder: RunFolder
) -> Command[Literal["strategize", "refine", "check"]]:
    """The step that takes a remedy in: where the run goes on, and from what.

    Raises:
        RunFolderError: For `require_remedy`'s reasons.
    """
    require_remedy(state, remedy, folder)
    taken = state.remedying()
    if remedy.accept:
        return go_on("strategize", state, taken.accepting(best(state.candidates).number))
    if not remedy.drop:
        return go_on("refine", state, taken)
    claims = tuple(after(c, "dropped") if c.id == remedy.drop else c for c in state.claims)
    pool = without_struck(state.candidates, claims)
    again = best(pool)
    if again != pool[-1]:
        pool.append(replace(again, number=len(pool), parent=again.number))
    return go_on("check", state, taken.holding(claims).with_versions(*pool))


@contextmanager
def _machine(
    folder: RunFolder, context: RunContext, database: str | None
) -> "Iterator[tuple[Any, RunnableConfig]]":
    settings = context.settings
    with open_checkpoints(folder.checkpoints, database) as saver, tracing(folder.trace):
        config: RunnableConfig = {
            "configurable": {"thread_id": folder.thread},
            "recursion_limit": recursion_limit(settings.max_rounds, settings.candidates),
            "run_name": "rulewright",
            "tags": ["rulewright", context.roles.identity],
            "metadata": {"seed": settings.seed, "quick": settings.quick, "run": folder.path.name},
        }
        yield build(in_chat=False).compile(checkpointer=saver, name="rulewright"), config
