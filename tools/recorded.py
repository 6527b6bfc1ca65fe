"""What recorded transitions ask of a module, and how an answer is compared with the record."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from games.checks.comparing import as_numbers, same_value
from games.contract import IllegalActionError, Json, ModuleFault, canonical_key
from games.trajectories import Transition

Answer: TypeAlias = Json | ModuleFault | IllegalActionError

_SHOWN = 400


@dataclass(frozen=True)
class Question:
    """One call and what it must return; only the call is ever sent.

    Attributes:
        function: The contract function.
        arguments: Its arguments.
        expected: The recorded value, as `told` reads it.
        seat: The seat whose observation was recorded; -1 where it plays no part.
        place: Where it was recorded, for messages.
        successor: Key of the state that it leads to; None where the call gives no state.
    """

    function: str
    arguments: tuple[Json, ...]
    expected: Json
    seat: int
    place: str
    successor: str | None = None

    @cached_property
    def shows(self) -> str:
        """Key of the state that the call shows to the worker."""
        return canonical_key(self.arguments[0])

    @cached_property
    def key(self) -> str:
        """What makes two questions the same one."""
        return canonical_key([self.function, list(self.arguments), self.expected])


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

    states: list[Question] = field(default_factory=list)
    actions: list[Question] = field(default_factory=list)


@dataclass
class Book:
    """Every distinct question, and which of them each distinct transition rests on."""

    questions: dict[str, Question] = field(default_factory=dict)
    transitions: dict[tuple[str, ...], None] = field(default_factory=dict)

    def note(self, questions: Iterable[Question]) -> list[Question]:
        """The questions that are new."""
        fresh = []
        for question in questions:
            if question.key not in self.questions:
                self.questions[question.key] = question
                fresh.append(question)
        return fresh


def require_sound(trajectories: Sequence[Sequence[Transition]]) -> None:
    """Hold trajectories together.

    Raises:
        ValueError: If there is no transition, or a step does not begin where the last one ended.
    """
    if not any(trajectories):
        raise ValueError("there is no transition to ask for; a replay of nothing proves nothing")
    for number, trajectory in enumerate(trajectories):
        for step, (one, following) in enumerate(pairwise(trajectory)):
            if canonical_key(one.next_state) != canonical_key(following.state):
                raise ValueError(
                    f"trajectory {number}: step {step + 1} does not begin where step {step} ends"
                )


def columns(
    book: Book,
    trajectories: Sequence[Sequence[Transition]],
) -> Iterator[Column]:
    """The questions of all trajectories, the k-th steps together; none is asked twice."""
    rests: list[list[list[str]]] = [[[] for _ in trajectory] for trajectory in trajectories]
    for step in range(max(map(len, trajectories)) + 1):
        column = Column()
        for number, trajectory in enumerate(trajectories):
            place = f"trajectory {number}, step {step}"
            if 0 < step <= len(trajectory):
                entered = [_rewards(trajectory[step - 1], place)]
                rests[number][step - 1] += [question.key for question in entered]
                column.states += book.note(entered)
            if step < len(trajectory):
                state, action = _here(trajectory[step], place), _onward(trajectory[step], place)
                rests[number][step] += [question.key for question in (*state, *action)]
                column.states += book.note(state)
                column.actions += book.note(action)
        yield column
    book.transitions.update({tuple(keys): None for rows in rests for keys in rows})


def _rewards(entered: Transition, place: str) -> Question:
    expected = as_numbers([*entered.rewards])
    return Question("get_rewards", (entered.next_state,), expected, -1, place)


def _here(met: Transition, place: str) -> list[Question]:
    legal: Json = list(met.legal)
    asked = [
        Question("get_current_player", (met.state,), met.player, -1, place),
        Question("get_legal_actions", (met.state,), legal, -1, place),
    ]
    if met.observation is not None:
        seen: Json = met.observation
        asked.append(Question("get_observations", (met.state,), seen, met.player, place))
    return asked


def _onward(met: Transition, place: str) -> list[Question]:
    arguments: tuple[Json, ...] = (met.state, met.action)
    after = canonical_key(met.next_state)
    asked = [Question("apply_action", arguments, met.next_state, -1, place, after)]
    if met.events:
        events: Json = [list(seat) for seat in met.events]
        asked.append(Question("get_events", arguments, events, -1, place))
    return asked


def told(function: str, value: Json, seat: int) -> Json:
    """What of a returned value is compared: the acting seat's observation; rewards as numbers."""
    if function == "get_observations" and isinstance(value, list) and 0 <= seat < len(value):
        return value[seat]
    return as_numbers(value) if function == "get_rewards" else value


def compared(question: Question, answer: Answer) -> Difference | None:
    """How an answer differs from the record, or None where it is the same."""
    function, at = question.function, f"at {question.place}"
    if isinstance(answer, IllegalActionError):
        return Difference(function, f"refused the recorded action {at}: {answer}"[:_SHOWN])
    if isinstance(answer, ModuleFault):
        return Difference(function, f"failed {at}: {answer}"[:_SHOWN], answer.line)
    value = told(function, answer, question.seat)
    if same_value(value, question.expected):
        return None
    return Difference(
        function,
        f"asked again {at}, it returned {canonical_key(value)[:_SHOWN]}; "
        f"recorded: {canonical_key(question.expected)[:_SHOWN]}",
    )


def hidden_yet(
    questions: Sequence[Question], shown: set[str]
) -> tuple[list[Question], list[Question]]:
    """Questions that may stand in one message, and those that would meet their own successor."""
    now: list[Question] = []
    inputs: set[str] = set()
    promised: set[str] = set()
    later: list[Question] = []
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


def require_hidden(questions: Sequence[Question], shown: set[str]) -> None:
    """No message may hold, and no worker may have met, what the message asks for."""
    for question in questions:
        after = question.successor
        if after is not None and after != question.shows and after in shown:
            raise AssertionError(f"{question.place}: the worker has been shown what it is asked")
