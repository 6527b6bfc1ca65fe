"""Calls that recorded transitions ask of a module, and the comparison of answers with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from games.contract import IllegalActionError, Json, ModuleFault, canonical_key
from games.trajectories import Transition
from games.values import as_numbers
from tools.guest.framing import encode

CallResult: TypeAlias = Json | ModuleFault | IllegalActionError

_SHOWN = 400


@dataclass(frozen=True)
class RecordedCall:
    """One call and what it must return; only the call is ever sent.

    Attributes:
        function: The contract function.
        arguments: Its arguments.
        expected: The recorded value, as `_compared_part` reads it.
        seat: The seat whose observation was recorded; -1 where it plays no part.
        place: Where it was recorded, for messages.
        shows: Key of the state that the call shows to the worker.
        successor: Key of the state that it leads to; None where the call gives no state.
    """

    function: str
    arguments: tuple[Json, ...]
    expected: Json
    seat: int
    place: str
    shows: str
    successor: str | None = None

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
        """What makes two questions the same one."""
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
    """Every distinct question, and which of them each distinct transition rests on."""

    questions: dict[str, RecordedCall] = field(default_factory=dict)
    transitions: dict[tuple[str, ...], None] = field(default_factory=dict)

    def note(self, questions: Iterable[RecordedCall]) -> list[RecordedCall]:
        """The questions that are new."""
        fresh = []
        for question in questions:
            if question.key not in self.questions:
                self.questions[question.key] = question
                fresh.append(question)
        return fresh


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


def columns(distinct: DistinctCalls, trajectories: Sequence[Sequence[Transition]]) -> list[Column]:
    """The questions of all trajectories, the k-th steps together; none is asked twice.

    Raises:
        ValueError: If there is no transition, or a step does not begin where the last one ended.
    """
    if not any(trajectories):
        raise ValueError("there is no transition to ask for; a replay of nothing proves nothing")
    states = [_state_keys(number, trajectory) for number, trajectory in enumerate(trajectories)]
    rests: list[list[list[str]]] = [[[] for _ in trajectory] for trajectory in trajectories]
    made: list[Column] = []
    for step in range(max(map(len, states))):
        column = Column()
        for number, trajectory in enumerate(trajectories):
            place, keys = f"trajectory {number}, step {step}", states[number][step : step + 2]
            if 0 < step <= len(trajectory):
                entered = [_rewards(trajectory[step - 1], place, keys[0])]
                rests[number][step - 1] += [question.key for question in entered]
                column.states += distinct.note(entered)
            if step < len(trajectory):
                here = _here(trajectory[step], place, keys[0])
                onward = _onward(trajectory[step], place, *keys)
                rests[number][step] += [question.key for question in (*here, *onward)]
                column.states += distinct.note(here)
                column.actions += distinct.note(onward)
        made.append(column)
    distinct.transitions.update({tuple(keys): None for rows in rests for keys in rows})
    return made


def _rewards(entered: Transition, place: str, key: str) -> RecordedCall:
    expected = as_numbers([*entered.rewards])
    return RecordedCall("get_rewards", (entered.next_state,), expected, -1, place, key)


def _here(met: Transition, place: str, key: str) -> list[RecordedCall]:
    state, legal = (met.state,), list[Json](met.legal)
    asked = [
        RecordedCall("get_current_player", state, met.player, -1, place, key),
        RecordedCall("get_legal_actions", state, legal, -1, place, key),
    ]
    if met.observation is not None:
        asked.append(
            RecordedCall("get_observations", state, met.observation, met.player, place, key)
        )
    return asked


def _onward(met: Transition, place: str, key: str, after: str) -> list[RecordedCall]:
    arguments: tuple[Json, ...] = (met.state, met.action)
    asked = [RecordedCall("apply_action", arguments, met.next_state, -1, place, key, after)]
    if met.events:
        events: Json = [list(seat) for seat in met.events]
        asked.append(RecordedCall("get_events", arguments, events, -1, place, key))
    return asked


def _compared_part(function: str, value: Json, seat: int) -> Json:
    """What of a returned value is compared: the acting seat's observation; rewards as numbers."""
    if function == "get_observations" and isinstance(value, list) and 0 <= seat < len(value):
        return value[seat]
    return as_numbers(value) if function == "get_rewards" else value


def difference_of(question: RecordedCall, answer: CallResult) -> Difference | None:
    """How an answer differs from the record, or None where it is the same."""
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
