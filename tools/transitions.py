"""Recorded transitions, asked of a module again, so that it cannot answer out of what it is asked.

In a trajectory the next input is the expected output of the step before. So no expected value is
ever sent, values are compared on the host, and no worker is asked for a successor that it has been
shown: all trajectories go forward side by side, the k-th step of each before the next step of any.
What meets its own successor nevertheless, as where a position comes back, is asked of a fresh
worker later on.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from games.contract import IllegalActionError, Json, ModuleFault
from games.trajectories import Transition
from tools.guest.framing import FrameError, decode
from tools.recorded import (
    CallResult,
    Column,
    Difference,
    DistinctCalls,
    RecordedCall,
    columns,
    difference_of,
    hidden_yet,
    require_hidden,
)
from tools.sandbox import Sandbox, Worker
from tools.sandbox.worker import raise_fault

ReplayProtocol: TypeAlias = Literal["forward", "columns"]

_MESSAGE_CALLS = 512
_MESSAGE_S = 10.0  # for the calls of one message together, at most
_CALL_S = 0.05  # for each of them, beside the limit of one call


@dataclass(frozen=True)
class Replay:
    """What asking again has shown.

    Attributes:
        transitions: Distinct transitions there were.
        agreed: How many of them came out exactly as recorded.
        differences: The first difference of each function.
        workers: Fresh workers it took.
    """

    transitions: int
    agreed: int
    differences: tuple[Difference, ...]
    workers: int

    @property
    def passed(self) -> bool:
        """Whether every transition agreed."""
        return self.agreed == self.transitions and not self.differences


def replay_transitions(
    sandbox: Sandbox,
    source: str,
    trajectories: Sequence[Sequence[Transition]],
    *,
    protocol: ReplayProtocol = "forward",
    deadline_s: float = 60.0,
) -> Replay:
    """Ask a module for every recorded transition again.

    Args:
        sandbox: Where it runs; every pass has a fresh worker.
        source: The module.
        trajectories: Each a match's transitions in order; see `games.trajectories.open_deck`.
        protocol: "forward" asks one call a message; "columns" puts the k-th steps of all
            trajectories into one message.
        deadline_s: Seconds for everything.

    Raises:
        ValueError: If there is no transition, or a trajectory does not hang together.
        ModuleFault: If the source does not load, or the time is used up.
    """
    calls = DistinctCalls()
    asked = ask_columns(
        sandbox, source, columns(calls, trajectories), protocol=protocol, deadline_s=deadline_s
    )
    return _judged(calls, asked)


@dataclass(frozen=True)
class Answered:
    """What a module answered to recorded questions.

    Attributes:
        answers: Key of a question -> its value, or the fault in its place.
        lost: Why questions are without an answer; None where all have one.
        workers: Fresh workers it took.
    """

    answers: Mapping[str, CallResult]
    lost: Difference | None
    workers: int


def ask_columns(
    sandbox: Sandbox,
    source: str,
    asked: Sequence[Column],
    *,
    protocol: ReplayProtocol = "columns",
    deadline_s: float = 60.0,
) -> Answered:
    """Ask a module columns of questions, so that no worker is shown what it is asked for.

    Args:
        sandbox: Where it runs; every pass has a fresh worker.
        source: The module.
        asked: The k-th steps of all trajectories, for each k.
        protocol: See `replay_transitions`.
        deadline_s: Seconds for everything.

    Raises:
        ModuleFault: If the source does not load, or the time is used up.
    """
    run = _Run(sandbox, source, protocol, time.monotonic() + deadline_s, deadline_s)
    waiting = run.forward(asked)
    while waiting and run.lost is None:
        waiting = run.apart(waiting)
    return Answered(run.answers, run.lost, run.workers)


@dataclass
class _Run:
    """The passes: each has a fresh worker and keeps what that worker was shown."""

    sandbox: Sandbox
    source: str
    protocol: ReplayProtocol
    ends: float
    seconds: float
    workers: int = 0
    answers: dict[str, CallResult] = field(default_factory=dict)
    lost: Difference | None = None

    def forward(self, columns: Sequence[Column]) -> list[RecordedCall]:
        """The first pass, column by column; returns what has to wait for another worker."""
        waiting: list[RecordedCall] = []
        shown: set[str] = set()
        with self._worker() as worker:
            for column in columns:
                states = {question.shows for question in column.states}
                now, later = hidden_yet(column.actions, shown | states)
                shown |= self._ask(worker, [*column.states, *now], shown)
                waiting += later
        return waiting

    def apart(self, waiting: Sequence[RecordedCall]) -> list[RecordedCall]:
        """One more pass over what has to wait; at least one of them is asked."""
        now, later = hidden_yet(waiting, set())
        with self._worker() as worker:
            self._ask(worker, now, set())
        return later

    def _worker(self) -> Worker:
        self.workers += 1
        worker = self.sandbox.worker("transitions", self.source)
        try:
            worker.load(self.source)
        except BaseException:
            worker.kill()
            raise
        return worker

    def _ask(self, worker: Worker, questions: Sequence[RecordedCall], shown: set[str]) -> set[str]:
        """Have questions answered; returns the states that this has shown."""
        inputs = {question.shows for question in questions}
        require_hidden(questions, shown | inputs)
        size = _MESSAGE_CALLS if self.protocol == "columns" else 1
        for start in range(0, len(questions), size):
            if self.lost is not None:
                break
            if time.monotonic() > self.ends:
                raise ModuleFault(
                    "timed_out",
                    questions[start].function,
                    f"the recorded transitions were not answered within {self.seconds:g} s in all",
                )
            part = questions[start : start + size]
            answers = self._message(worker, part)
            self.answers |= {q.key: answer for q, answer in zip(part, answers, strict=True)}
            stuck = any(isinstance(a, ModuleFault) and a.kind == "timed_out" for a in answers)
            if stuck or not worker.alive:
                self.lost = Difference(
                    part[-1].function, "not asked again, because the worker had ended or hung"
                )
        return inputs

    def _message(self, worker: Worker, questions: Sequence[RecordedCall]) -> list[CallResult]:
        try:
            if self.protocol == "forward":
                (question,) = questions
                return [worker.call(question.function, question.arguments)]
            calls = ",".join(question.asked for question in questions)
            seconds = min(_MESSAGE_S, worker.limits.call_s + _CALL_S * len(questions))
            reply = worker.request(
                "columns", f'{{"calls":[{calls}],"keyed":true}}'.encode(), seconds
            )
        except ModuleFault as fault:
            if self.protocol == "columns" and fault.kind == "timed_out":
                return self._singly(questions)
            return [fault] * len(questions)
        except IllegalActionError as refusal:
            return [refusal] * len(questions)
        answers = reply if isinstance(reply, list) else []
        if len(answers) != len(questions):
            unanswered = ModuleFault("bad_value", "columns", "the worker left calls unanswered")
            return [unanswered] * len(questions)
        return [
            asked.expected
            if type(answer) is dict and answer.get("key") == asked.wanted
            else _answer(answer, asked)
            for answer, asked in zip(answers, questions, strict=True)
        ]

    def _singly(self, questions: Sequence[RecordedCall]) -> list[CallResult]:
        """The answers of a message that did not come, to find the call that did not return."""
        answers: list[CallResult] = []
        with self._worker() as worker:
            for question in questions:
                try:
                    answers.append(worker.call(question.function, question.arguments))
                except (ModuleFault, IllegalActionError) as fault:
                    answers.append(fault)
                    if isinstance(fault, ModuleFault) and fault.kind == "timed_out":
                        break
        unasked = [
            ModuleFault("killed", question.function, "not asked: a call before it did not return")
            for question in questions[len(answers) :]
        ]
        return [*answers, *unasked]


def _answer(reply: Json, question: RecordedCall) -> CallResult:
    """What came back, where its key is not that of the recorded value."""
    function = question.function
    if isinstance(reply, dict) and isinstance(text := reply.get("text"), str):
        try:
            return decode(text.encode())
        except FrameError as error:
            return ModuleFault("bad_value", function, f"sent what is no contract JSON: {error}")
    try:
        raise_fault(reply.get("fault") if isinstance(reply, dict) else None, function)
    except (ModuleFault, IllegalActionError) as fault:
        return fault


def _judged(calls: DistinctCalls, run: Answered) -> Replay:
    wrong: set[str] = set()
    differences: dict[str, Difference] = {}
    for key, question in calls.questions.items():
        found = difference_of(question, run.answers[key]) if key in run.answers else run.lost
        if found is not None:
            wrong.add(key)
            differences.setdefault(found.function, found)
    agreed = sum(wrong.isdisjoint(keys) for keys in calls.transitions)
    return Replay(len(calls.transitions), agreed, tuple(differences.values()), run.workers)
