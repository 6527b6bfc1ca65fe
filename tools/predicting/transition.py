"""Transition tests (Code World Models §4.1): every record of a match, asked of a learned source.

A record is a position with its action, or the end. It holds up to six predictions: the player, the
player's name, the legal actions as a set, the rewards of entering, every seat's observation, and
the next state; and where chance decides the odds of its outcomes, if they were recorded.
"""

import gc
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from games.checks import Finding
from games.trajectories import ALIKE, OpenPosition, OpenTrajectory, counted_as, phase_of
from games.values import (
    CHANCE,
    TERMINAL,
    IllegalActionError,
    Json,
    ModuleFault,
    are_texts,
    as_numbers,
    canonical_key,
    is_number,
    show,
    type_of,
)
from tools.predicting import called, failing, with_output
from tools.sandbox import Sandbox
from tools.sandbox.worker import CallResult
from tools.transitions import Asking, DistinctCalls, RecordedCall, ask_columns

KIND = "transition"
LOADING = "load"
_NAMES = {CHANCE: "chance", TERMINAL: "terminal"}
_END, _STOPPED = "the end", "where a recording stops"
_LEGAL, _ODDS = "get_legal_actions", "get_chance_probabilities"


def name_of(player: int) -> str:
    """The name that the contract gives a player.

    >>> name_of(0), name_of(-1), name_of(-4)
    ('0', 'chance', 'terminal')
    """
    return _NAMES.get(player, str(player))


@dataclass(frozen=True)
class Row:
    """Records of one phase and one type of action.

    Attributes:
        phase: The phase.
        action: The type of action; "the end" where nothing was to be played, "where a recording
            stops" where nothing was though the match went on.
        right: Records all of whose predictions hold.
        records: Records there were.
    """

    phase: str
    action: str
    right: int
    records: int


@dataclass(frozen=True)
class Predicted:
    """Records of matches that a source was asked to predict.

    Attributes:
        right: Records all of whose predictions hold.
        records: Records that were asked.
        distinct_right: The same, of records that differ.
        distinct: Records that differ.
        rows: By phase and type of action, in the order of their names.
        failures: The first failing test of each function, then of each type of action.
        matches: Indices of the matches with a wrong record.
    """

    right: int
    records: int
    distinct_right: int
    distinct: int
    rows: tuple[Row, ...]
    failures: tuple[Finding, ...]
    matches: frozenset[int]

    @property
    def accuracy(self) -> float:
        """Share of the records all of whose predictions hold; 0 where nothing was asked."""
        return self.right / self.records if self.records else 0.0


@dataclass
class RecordQuestions:
    """The questions of some matches; made once, they can be asked of any number of sources.

    Attributes:
        calls: Every distinct question, in columns in the order in which they may be asked.
        records: Of each record its match (by its place), phase, type of action and questions.
    """

    calls: DistinctCalls = field(default_factory=DistinctCalls)
    records: list[tuple[int, str, str, tuple[str, ...]]] = field(default_factory=list)

    @classmethod
    def of(cls, matches: Sequence[OpenTrajectory]) -> "RecordQuestions":
        """The questions of matches of an open deck."""
        questions = cls()
        for number, match in enumerate(matches):
            questions.add(number, match)
        return questions

    def add(self, number: int, match: OpenTrajectory) -> None:
        """Take a match in."""
        keys = [canonical_key(position.state) for position in match.positions]
        for step, here in enumerate(match.positions):
            place, onward = f"match {match.match}, position {step}", list[RecordedCall]()
            kind = _STOPPED if match.truncated else _END
            if step < len(match.actions):
                action, kind = match.actions[step], type_of(match.actions[step])
                arguments, following = (here.state, action), match.positions[step + 1].state
                key, after = keys[step : step + 2]
                onward = [RecordedCall("apply_action", arguments, following, place, key, after)]
            asked = self.calls.ask(step, _of_position(here, place, keys[step]), onward)
            phase = phase_of(here.state, here.player)
            self.records.append((number, phase, kind, tuple(asked)))


def predicted(
    sandbox: Sandbox,
    source: str,
    questions: RecordQuestions,
    *,
    shown: int = 5,
    deadline_s: float = 60.0,
) -> Predicted:
    """Hold a source against recorded matches; no expected value is ever sent.

    Args:
        sandbox: Where it runs.
        source: The learned source.
        questions: Of the matches.
        shown: Failing tests to show at most, each of another function or type of action.
        deadline_s: Seconds for everything; what was not answered by then counts as wrong.
    """
    try:
        with _no_collection():
            # The answers are gone before the collector is back: it would walk through them all.
            wrong = _wrong(
                questions.calls,
                ask_columns(sandbox, source, questions.calls.columns, deadline_s=deadline_s),
            )
    except ModuleFault as fault:
        return _unloaded(questions, fault)
    return _counted(questions, wrong, _told(sandbox, source, questions.calls, wrong, shown))


@contextmanager
def _no_collection() -> Iterator[None]:
    """JSON holds no cycles: to look for them among all that was recorded doubles the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def record_examples(matches: Sequence[OpenTrajectory], most: int) -> list[str]:
    """Up to so many records as assertions, spread over phases and types of action."""
    chosen: dict[tuple[str, str], str] = {}
    for match in matches:
        for step, action in enumerate(match.actions):
            here = match.positions[step]
            kind = phase_of(here.state, here.player), type_of(action)
            if kind in chosen or len(chosen) >= most:
                continue
            lines = [f"state = {here.state!r}"]
            for one in _of_position(here, "", ""):
                if one.function == _ODDS and not here.is_uneven:
                    continue
                given = "state" if one.arguments == (here.state,) else repr(*one.arguments)
                call = f"{one.function}({given})"
                if one.function == _LEGAL and isinstance(one.expected, int):
                    call = f"len({call})"  # which ones is not recorded, and not asked
                if one.function == _ODDS:
                    call = f"dict(zip({_LEGAL}(state), {call}))"
                lines.append(f"{call} == {one.expected!r}")
            following = match.positions[step + 1].state
            lines.append(f"apply_action(state, {action!r}) == {following!r}")
            chosen[kind] = "\n".join(lines)
    return [*chosen.values()]


def _of_position(here: OpenPosition, place: str, key: str) -> list[RecordedCall]:
    state: tuple[Json, ...] = (here.state,)
    known = len(here.legal) == here.count
    legal: Json = [*sorted(here.legal)] if known else here.count
    name = name_of(here.player)
    values: list[tuple[str, tuple[Json, ...], Json]] = [
        ("get_current_player", state, here.player),
        ("get_player_name", (here.player,), name),
        ("get_legal_actions", state, legal),
        ("get_rewards", state, as_numbers([*here.rewards])),
        ("get_observations", state, [*here.observations]),
    ]
    if here.odds:
        values.append((_ODDS, state, dict(zip(here.legal, here.odds, strict=True))))
    return [
        RecordedCall(f, arguments, expected, place, "" if f == "get_player_name" else key)
        for f, arguments, expected in values
    ]


def _odds_are(expected: Json, answer: CallResult, legal: CallResult) -> CallResult:
    """An answer as odds by outcome, the expected ones where they are alike; without any, even ones.

    Args:
        expected: Outcome -> probability.
        answer: What the source gave, in the order of its own legal actions.
        legal: These.
    """
    outcomes = legal if are_texts(legal) else []
    if isinstance(answer, ModuleFault) and answer.kind == "missing":
        answer = [1 / len(outcomes) for _ in outcomes]
    if isinstance(answer, ModuleFault | IllegalActionError) or not isinstance(expected, dict):
        return answer
    if not isinstance(answer, list) or len(answer) != len(outcomes):
        # Odds by outcome look as they are recorded here, and no referee reads them.
        required = f"a list of {len(outcomes)} numbers, in the order of {_LEGAL}(state)"
        said = f"returned {show(answer)}; required: {required}"
        return ModuleFault("bad_value", _ODDS, said)
    if not all(map(is_number, answer)):
        return answer
    found = dict(zip(outcomes, answer, strict=True))
    same = found.keys() == expected.keys()
    same = same and all(
        abs(float(str(p)) - float(str(expected[o]))) <= ALIKE for o, p in found.items()
    )
    return expected if same else found


def _read(question: RecordedCall, answer: Json) -> Json:
    """An answer as it is compared: actions as a set, or their number; rewards as numbers."""
    if question.function == "get_rewards":
        return as_numbers(answer)
    if question.function == "get_legal_actions" and are_texts(answer):
        return [*sorted(answer)] if isinstance(question.expected, list) else len(answer)
    return answer


def _wrong(calls: DistinctCalls, answered: Asking) -> dict[str, CallResult]:
    """Key of every question that was not answered as recorded -> what came back."""
    found: dict[str, CallResult] = {}
    lost = answered.lost.evidence if answered.lost else "not answered"
    legal = {
        calls.questions[key].shows: answer
        for key, answer in answered.answers.items()
        if calls.questions[key].function == _LEGAL
    }
    for key, question in calls.questions.items():
        if key not in answered.answers:
            found[key] = ModuleFault("killed", question.function, lost)
            continue
        answer = answered.answers[key]
        if question.function == _ODDS:
            answer = _odds_are(question.expected, answer, legal.get(question.shows))
        if answer is question.expected:
            continue
        if isinstance(answer, ModuleFault | IllegalActionError):
            found[key] = answer
        elif canonical_key(read := _read(question, answer)) != question.wanted:
            found[key] = read
    return found


def _told(
    sandbox: Sandbox, source: str, calls: DistinctCalls, wrong: dict[str, CallResult], shown: int
) -> tuple[Finding, ...]:
    """The first failing test of each function, then of each type of action, with what it prints."""
    functions: dict[str, str] = {}
    actions: dict[str, str] = {}
    for key in sorted(wrong, key=lambda one: _is_lost(wrong[one])):  # stable: else as recorded
        asked = calls.questions[key]
        functions.setdefault(asked.function, key)
        if asked.function == "apply_action":
            actions.setdefault(type_of(str(asked.arguments[1])), key)
    found = []
    for key in [*dict.fromkeys([*functions.values(), *actions.values()])][:shown]:
        asked, actual = calls.questions[key], wrong[key]
        function = asked.function
        count = sum(calls.questions[one].function == function for one in wrong)
        place = f"{asked.place}; {count} distinct calls of {function} are wrong"
        expected = asked.expected
        if function == "get_legal_actions" and isinstance(expected, int):
            expected = f"{expected} different actions"
        told = failing(KIND, function, called(function, asked.arguments), expected, actual, place)
        found.append(with_output(sandbox, source, told, asked.arguments))
    return tuple(found)


def _is_lost(answer: CallResult) -> bool:
    """Say whether another call took the answer from this one, as far as can be told."""
    return isinstance(answer, ModuleFault) and answer.kind == "killed"


def _counted(
    questions: RecordQuestions, wrong: dict[str, CallResult], failures: tuple[Finding, ...]
) -> Predicted:
    rows: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    distinct: dict[tuple[str, ...], bool] = {}
    bad: set[int] = set()
    named = counted_as(kind for _, _, kind, _ in questions.records)
    for number, phase, kind, keys in questions.records:
        right = wrong.keys().isdisjoint(keys)
        rows[phase, named[kind]][0] += right
        rows[phase, named[kind]][1] += 1
        distinct[keys] = right
        if not right:
            bad.add(number)
    return Predicted(
        right=sum(row[0] for row in rows.values()),
        records=len(questions.records),
        distinct_right=sum(distinct.values()),
        distinct=len(distinct),
        rows=tuple(Row(*name, *count) for name, count in sorted(rows.items())),
        failures=failures,
        matches=frozenset(bad),
    )


def _unloaded(questions: RecordQuestions, fault: ModuleFault) -> Predicted:
    """Nothing holds of a source that does not load, or is not done in time."""
    call = "loading the module" if fault.function == "module" else fault.function
    found = failing(LOADING, fault.function, call, "no error", fault, "before any test")
    wrong: dict[str, CallResult] = dict.fromkeys(questions.calls.questions, fault)
    return _counted(questions, wrong, (found,))
