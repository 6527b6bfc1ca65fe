"""Recorded transitions, asked of a module again, so that it cannot answer out of what it is asked.

In a trajectory the next input is the expected output of the step before. So no expected value is
ever sent, values are compared on the host, and no worker is asked for a successor that it has been
shown: all trajectories go forward side by side, the k-th step of each before the next step of any.
What meets its own successor nevertheless, as where a position comes back, is asked of a fresh
worker later on.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

from games.trajectories import Transition
from games.values import IllegalActionError, Json, ModuleFault, as_numbers, canonical_key
from tools.guest.framing import encode
from tools.sandbox import Sandbox, Worker
from tools.sandbox.worker import CallResult, answer_of

ReplayProtocol: TypeAlias = Literal["forward", "columns"]

_MESSAGE_CALLS = 512
_MESSAGE_S = 10.0  # for the calls of one message together, at most
_CALL_S = 0.05  # for each of them, beside the limit of one call
_SHOWN = 400


@dataclass(frozen=True)
class RecordedCall:
    """One call and what it must return; only the call is ever sent.

    Attributes:
        function: The contract function.
        arguments: Its arguments.
        expected: The recorded value, as `_compared_part` reads it.
        place: Where it was recorded, for messages.
        shows: Key of the state that the call shows to the worker.
        successor: Key of the state that it leads to; None where the call gives no state.
        seat: The seat whose observation was recorded; -1 where it plays no part.
    """

    function: str
    arguments: tuple[Json, ...]
    expected: Json
    place: str
    shows: str
    successor: str | None = None
    seat: int = -1

    @cached_property
    def wanted(self) -> str:
        """Key of the recorded value."""
        return self.successor or canonical_key(self.expected)

    @property
    def asked(self) -> str:
        """The call as a message holds it, `[function, arguments]`; `shows` writes its state."""
        if not self.shows:
            return encode([self.function, [*self.arguments]]).decode()
        if len(self.arguments) == 1:
            return f'["{self.function}",[{self.shows}]]'
        rest = "".join(f",{encode(more).decode()}" for more in self.arguments[1:])
        return f'["{self.function}",[{self.shows}{rest}]]'

    @cached_property
    def key(self) -> str:
        """A key that equal questions share."""
        return "\n".join(
            (self.function, canonical_key([*self.arguments[1:]]), self.shows, self.wanted)
        )


@dataclass(frozen=True)
class Difference:
    """A call that did not return what was recorded; its texts may quote the module.

    Attributes:
        function: The function that was called.
        evidence: What was returned, what was recorded, and where.
        line: Line of the module's source, where one is known.
    """

    function: str
    evidence: str
    line: int | None = None


@dataclass
class Column:
    """The k-th steps: questions that show states only, then those that give successors."""

    states: list[RecordedCall] = field(default_factory=list)
    actions: list[RecordedCall] = field(default_factory=list)


@dataclass
class DistinctCalls:
    """Every distinct question, its column, and which of them each distinct transition rests on."""

    questions: dict[str, RecordedCall] = field(default_factory=dict)
    columns: list[Column] = field(default_factory=list)
    transitions: dict[tuple[str, ...], None] = field(default_factory=dict)

    def ask(
        self, step: int, states: Sequence[RecordedCall], actions: Sequence[RecordedCall] = ()
    ) -> list[str]:
        """Put the questions that are new into the column of a step; the keys of all of them."""
        while len(self.columns) <= step:
            self.columns.append(Column())
        column = self.columns[step]
        for questions, asked in ((column.states, states), (column.actions, actions)):
            for question in asked:
                if question.key not in self.questions:
                    self.questions[question.key] = question
                    questions.append(question)
        return [question.key for question in (*states, *actions)]


def _state_keys(number: int, trajectory: Sequence[Transition]) -> list[str]:
    """Keys of the states from the first to the last one."""
    keys = [canonical_key(step.state) for step in trajectory]
    keys += [canonical_key(step.next_state) for step in trajectory[-1:]]
    for step, (one, following) in enumerate(pairwise(trajectory)):
        if one.next_state is following.state:
            continue
        if canonical_key(one.next_state) != keys[step + 1]:
            raise ValueError(
                f"trajectory {number}: step {step + 1} does not begin where step {step} ends"
            )
    return keys


def distinct_calls(trajectories: Sequence[Sequence[Transition]]) -> DistinctCalls:
    """The questions of all trajectories, the k-th steps together; none is asked twice.

    Raises:
        ValueError: If there is no transition, or a step does not begin where the last one ended.
    """
    if not any(trajectories):
        raise ValueError("there is no transition to ask for; a replay of nothing proves nothing")
    calls = DistinctCalls()
    states = [_state_keys(number, trajectory) for number, trajectory in enumerate(trajectories)]
    rests: list[list[list[str]]] = [[[] for _ in trajectory] for trajectory in trajectories]
    for step in range(max(map(len, states))):
        for number, trajectory in enumerate(trajectories):
            place, keys = f"trajectory {number}, step {step}", states[number][step : step + 2]
            if 0 < step <= len(trajectory):
                entered = _rewards(trajectory[step - 1], place, keys[0])
                rests[number][step - 1] += calls.ask(step, [entered])
            if step < len(trajectory):
                here = _here(trajectory[step], place, keys[0])
                onward = _onward(trajectory[step], place, *keys)
                rests[number][step] += calls.ask(step, here, onward)
    calls.transitions.update({tuple(keys): None for rows in rests for keys in rows})
    return calls


def _rewards(entered: Transition, place: str, key: str) -> RecordedCall:
    expected = as_numbers([*entered.rewards])
    return RecordedCall("get_rewards", (entered.next_state,), expected, place, key)


def _here(met: Transition, place: str, key: str) -> list[RecordedCall]:
    state, seen = (met.state,), met.observation
    asked = [
        RecordedCall("get_current_player", state, met.player, place, key),
        RecordedCall("get_legal_actions", state, [*met.legal], place, key),
    ]
    if seen is not None:
        asked.append(RecordedCall("get_observations", state, seen, place, key, seat=met.player))
    return asked


def _onward(met: Transition, place: str, key: str, after: str) -> list[RecordedCall]:
    arguments: tuple[Json, ...] = (met.state, met.action)
    asked = [RecordedCall("apply_action", arguments, met.next_state, place, key, after)]
    if met.events:
        events: Json = [list(seat) for seat in met.events]
        asked.append(RecordedCall("get_events", arguments, events, place, key))
    return asked


def _compared_part(function: str, value: Json, seat: int) -> Json:
    """The compared part of an answer: the acting seat's observation; rewards as numbers."""
    if function == "get_observations" and isinstance(value, list) and 0 <= seat < len(value):
        return value[seat]
    return as_numbers(value) if function == "get_rewards" else value


def difference_of(question: RecordedCall, answer: CallResult) -> Difference | None:
    """The difference of an answer from the record, in words; None where it is the same."""
    function, at = question.function, f"at {question.place}"
    if isinstance(answer, IllegalActionError):
        return Difference(function, f"refused the recorded action {at}: {answer}"[:_SHOWN])
    if isinstance(answer, ModuleFault):
        return Difference(function, f"failed {at}: {answer}"[:_SHOWN], answer.line)
    value = _compared_part(function, answer, question.seat)
    # A frame that could be read holds contract JSON alone, so that equal keys are equal values.
    found = canonical_key(value)
    if found == question.wanted:
        return None
    return Difference(
        function,
        f"asked again {at}, it returned {found[:_SHOWN]}; recorded: {question.wanted[:_SHOWN]}",
    )


def hidden_yet(
    questions: Sequence[RecordedCall], shown: set[str]
) -> tuple[list[RecordedCall], list[RecordedCall]]:
    """Questions that may stand in one message, and those that would meet their own successor."""
    now: list[RecordedCall] = []
    inputs: set[str] = set()
    promised: set[str] = set()
    later: list[RecordedCall] = []
    for question in questions:
        here, after = question.shows, question.successor
        met = after is not None and after != here and after in shown | inputs
        if met or here in promised:
            later.append(question)
            continue
        now.append(question)
        inputs.add(here)
        if after is not None and after != here:
            promised.add(after)
    return now, later


def require_hidden(questions: Sequence[RecordedCall], shown: set[str]) -> None:
    """No message may hold, and no worker may have met, what the message asks for."""
    for question in questions:
        after = question.successor
        if after is not None and after != question.shows and after in shown:
            raise AssertionError(f"{question.place}: the worker has been shown what it is asked")


@dataclass(frozen=True)
class Replay:
    """The outcome of asking a module recorded questions again.

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
        """True where every transition agreed."""
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
    calls = distinct_calls(trajectories)
    run = ask_columns(sandbox, source, calls.columns, protocol=protocol, deadline_s=deadline_s)
    wrong: set[str] = set()
    differences: dict[str, Difference] = {}
    for key, question in calls.questions.items():
        found = difference_of(question, run.answers[key]) if key in run.answers else run.lost
        if found is not None:
            wrong.add(key)
            differences.setdefault(found.function, found)
    agreed = sum(wrong.isdisjoint(keys) for keys in calls.transitions)
    return Replay(len(calls.transitions), agreed, tuple(differences.values()), run.workers)


def ask_columns(
    sandbox: Sandbox,
    source: str,
    asked: Sequence[Column],
    *,
    protocol: ReplayProtocol = "columns",
    deadline_s: float = 60.0,
) -> "Asking":
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
    run = Asking(sandbox, source, protocol, time.monotonic() + deadline_s, deadline_s)
    waiting = run.forward(asked)
    while waiting and run.lost is None:
        waiting = run.forward([Column(actions=waiting)])
    return run


@dataclass
class Asking:
    """A module's answers to recorded questions; each pass has a fresh worker.

    Attributes:
        sandbox: Where it runs.
        source: The module.
        protocol: See `replay_transitions`.
        ends: `time.monotonic()` at which the time is used up.
        seconds: The whole time, for messages.
        workers: Fresh workers it took.
        answers: Key of a question -> its value, or the fault in its place.
        lost: Why questions are without an answer; None where all have one.
    """

    sandbox: Sandbox
    source: str
    protocol: ReplayProtocol
    ends: float
    seconds: float
    workers: int = 0
    answers: dict[str, CallResult] = field(default_factory=dict)
    lost: Difference | None = None

    def forward(self, columns: Sequence[Column]) -> list[RecordedCall]:
        """One pass, column by column; returns what has to wait for another worker."""
        waiting: list[RecordedCall] = []
        shown: set[str] = set()
        with self._worker() as worker:
            worker.load(self.source)
            for column in columns:
                states = {question.shows for question in column.states}
                now, later = hidden_yet(column.actions, shown | states)
                shown |= self._ask(worker, [*column.states, *now], shown)
                waiting += later
        return waiting

    def _worker(self) -> Worker:
        self.workers += 1
        return self.sandbox.worker("transitions", self.source)

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
        if self.protocol == "forward":
            return [worker.ask(one.function, one.arguments) for one in questions]
        calls = ",".join(question.asked for question in questions)
        seconds = min(_MESSAGE_S, worker.limits.call_s + _CALL_S * len(questions))
        message = f'{{"calls":[{calls}],"keyed":true}}'.encode()
        try:
            reply = worker.request("columns", message, seconds)
        except (ModuleFault, IllegalActionError) as fault:
            if isinstance(fault, ModuleFault) and fault.kind == "timed_out":
                return self._singly(questions)
            half = len(questions) // 2
            if isinstance(fault, ModuleFault) and fault.kind == "bad_value" and half:  # too long
                parts = questions[:half], questions[half:]
                return [answer for part in parts for answer in self._message(worker, part)]
            return [fault] * len(questions)
        answers = reply if isinstance(reply, list) else []
        if len(answers) != len(questions):
            unanswered = ModuleFault("bad_value", "columns", "the worker left calls unanswered")
            return [unanswered] * len(questions)
        return [
            asked.expected
            if type(answer) is dict and answer.get("key") == asked.wanted
            else answer_of(answer, asked.function)
            for answer, asked in zip(answers, questions, strict=True)
        ]

    def _singly(self, questions: Sequence[RecordedCall]) -> list[CallResult]:
        """The answers of a message that did not come, to find the call that did not return."""
        answers: list[CallResult] = []
        with self._worker() as worker:
            worker.load(self.source)
            for question in questions:
                answer = worker.ask(question.function, question.arguments)
                answers.append(answer)
                if isinstance(answer, ModuleFault) and answer.kind == "timed_out":
                    break
        unasked = [
            ModuleFault("killed", question.function, "not asked: a call before it did not return")
            for question in questions[len(answers) :]
        ]
        return [*answers, *unasked]
