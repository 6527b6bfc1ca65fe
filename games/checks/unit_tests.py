"""Check: generated unit tests, and plies that were judged faulty, on the module's positions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue, model_validator

from games.checks import Finding
from games.checks.contract import from_fault
from games.checks.sampling import Subject
from games.table import Position
from games.values import (
    CHANCE,
    TERMINAL,
    IllegalActionError,
    Json,
    ModuleFault,
    as_numbers,
    canonical_key,
    require_json,
    same_value,
)

CHECK = "unit_test"
ODDS = "get_chance_probabilities"
"""The function whose tests name every outcome with its probability."""
PLY = "ply"
"""The check that a ply which was judged faulty is no longer played so."""
Tested: TypeAlias = Literal[
    "get_current_player",
    "get_legal_actions",
    "get_rewards",
    "get_observations",
    "apply_action",
    "returns",
    "winners",
    "get_chance_probabilities",
]
Relation: TypeAlias = Literal["is", "contains", "lacks", "raises"]
_RELATIONS: Mapping[str, tuple[Relation, ...]] = {
    "get_legal_actions": ("is", "contains", "lacks"),
    "get_observations": ("is", "contains", "lacks"),
    "apply_action": ("raises",),
}
_SHOWN_PLIES = 40
_ODDS_APART = 1e-3  # probabilities that differ by no more are the same


class UnitTest(BaseModel, frozen=True, extra="forbid"):
    """A generated test: play `actions` from the start, then compare one value.

    Chance outcomes are actions too. `returns` are the rewards summed over the whole sequence, a
    number a seat; `winners` the seats of the largest return where the match has ended.
    `contains` and `lacks` compare members: legal actions with a list of actions, observations
    with a list of objects (the fields that a seat's observation has, or has not; null for a seat
    that is not tested). `raises` asks `apply_action` to refuse the action `expected_json`.
    """

    name: str
    rule: str = Field(description="Id of the rule it tests.")
    actions: tuple[str, ...]
    function: Tested
    relation: Relation = "is"
    expected_json: str = Field(description="The expected value, as JSON.")
    derivation: str = Field(default="", description="How the value follows from the rules.")

    @model_validator(mode="after")
    def _fits(self) -> "UnitTest":
        if self.relation not in _RELATIONS.get(self.function, ("is",)):
            raise ValueError(f"{self.function} is not tested with {self.relation!r}")
        return self


class PlayedPly(BaseModel, frozen=True, extra="forbid"):
    """A ply as a module once played it: the last of `actions`, which begin at the first state.

    Attributes:
        actions: Chance outcomes are actions too.
        before: The position that the ply was played in, by the names of `Position`.
        after: The position that it led to.
    """

    actions: tuple[str, ...]
    before: dict[str, JsonValue]
    after: dict[str, JsonValue]


def played_ply(actions: Sequence[str], positions: Sequence[Position], ply: int) -> PlayedPly:
    """A ply of a match, with all that the module did there."""
    before, after = (_place(position) for position in positions[ply : ply + 2])
    return PlayedPly(actions=tuple(actions[: ply + 1]), before=before, after=after)


def _place(position: Position) -> dict[str, JsonValue]:
    place: dict[str, JsonValue] = json.loads(json.dumps(asdict(position)))
    return place


def check_plies(subject: Subject, plies: Sequence[PlayedPly]) -> list[Finding]:
    """Play each line of actions; one finding a ply: failed where the ply is played as it was.

    It passes where the ply's action is no longer legal, or leads elsewhere. It could not be judged
    where the line ends before, or its position already shows the players something else: then
    nothing is known of the fault.
    """
    return [_replayed(subject, ply) for ply in plies]


def _replayed(subject: Subject, ply: PlayedPly) -> Finding:
    lost = "the play that led to it is no longer possible, or shows the players something else"
    doubt = Finding(check=PLY, outcome="could_not_judge", evidence=lost)
    mended = Finding(check=PLY, outcome="passed")
    try:
        position = subject.open()
        for action in ply.actions[:-1]:
            if action not in position.legal:
                return doubt
            position = subject.table.advance(position, action)
        before = _place(position)
        if len(ply.actions) > 1 and before["observations"] != ply.before["observations"]:
            return doubt
        if ply.actions[-1] not in position.legal or not _alike(ply.before, before):
            return mended
        after = _place(subject.table.advance(position, ply.actions[-1]))
    except ModuleFault as fault:
        return from_fault(PLY, fault)
    if not _alike(ply.after, after):
        return mended
    told = "The same actions were played again: the module still plays this ply as it did."
    return Finding(check=PLY, outcome="failed", evidence=told)


def _alike(old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> bool:
    """True for equal positions; a note that only one state holds does not count.

    >>> _alike({"player": 0, "state": {"at": 1}}, {"player": 0, "state": {"at": 1, "log": []}})
    True
    >>> _alike({"player": 0, "state": {"at": 1}}, {"player": 1, "state": {"at": 1}})
    False
    """
    was, now = old["state"], new["state"]
    if isinstance(was, dict) and isinstance(now, dict):
        both = was.keys() & now.keys()
        was, now = ({name: state[name] for name in both} for state in (was, now))
    return {**old, "state": was} == {**new, "state": now}


def check_unit_tests(subject: Subject, tests: Sequence[UnitTest]) -> list[Finding]:
    """Run each test; one finding a test.

    A test whose actions the module refuses fails: the tests speak for the rules. One whose
    expected value is no JSON could not be judged. Shorter tests run first: a longer one's path
    may be what a shorter one asks for.
    """
    found: dict[int, Finding] = {}
    for index in sorted(range(len(tests)), key=lambda index: len(tests[index].actions)):
        found[index] = _run(subject, tests[index])
    return [found[index] for index in range(len(tests))]


def _run(subject: Subject, test: UnitTest) -> Finding:
    try:
        expected = json.loads(test.expected_json)
        require_json(expected, "expected_json")
    except (ValueError, RecursionError, ModuleFault) as error:
        return _finding(test, "could_not_judge", f"expected_json is not JSON: {error}")
    path: list[Position] = []
    try:
        _reach(subject, test, path)
        actual = _value(subject, path, test, expected)
    except ModuleFault as fault:
        found = from_fault(CHECK, fault)
        return found.model_copy(
            update={"rule": test.rule, "evidence": f"{test.name}: {fault}\n{_told(path, test)}"}
        )
    except IllegalActionError as refusal:
        found = _finding(test, "failed", f"{refusal}\n{_told(path, test)}", "get_legal_actions")
        return found.model_copy(update={"unplayable": True})
    if _holds(actual, expected, test):
        return Finding(check=CHECK, outcome="passed", rule=test.rule)
    relation = "" if test.relation == "is" else f"{test.relation} "
    shown = _asked_of(actual, expected) if relation else actual
    return _finding(
        test,
        "failed",
        f"{test.function} is {canonical_key(shown)[:600]}; required by {test.rule}: "
        f"{relation}{test.expected_json[:600]}\n{_told(path, test)}",
        None if test.function in ("returns", "winners") else test.function,
    )


def _reach(subject: Subject, test: UnitTest, path: list[Position]) -> None:
    """Play the test's actions; `path` takes every position on the way."""
    path.append(subject.open())
    for index, action in enumerate(test.actions):
        if action not in path[-1].legal:
            raise IllegalActionError(
                f"action {index} ({action!r}) is not legal; legal: {list(path[-1].legal)[:30]}"
            )
        path.append(subject.table.advance(path[-1], action))


def _value(subject: Subject, path: Sequence[Position], test: UnitTest, expected: Json) -> Json:
    position = path[-1]
    plain: dict[str, Json] = {
        "get_current_player": position.player,
        "get_legal_actions": list(position.legal),
        "get_rewards": list(position.rewards),
        "get_observations": list(position.observations),
        ODDS: dict(zip(position.legal, position.probabilities, strict=False)),
    }
    if test.function in plain:
        return plain[test.function]
    if test.function == "apply_action":
        return _refused(subject, position, expected)
    returns = [sum(at.rewards[seat] for at in path) for seat in range(len(position.rewards))]
    if test.function == "returns":
        return list(returns)
    if position.player != TERMINAL:
        return "nobody: the match goes on"
    return [seat for seat, paid in enumerate(returns) if paid == max(returns)]


def _refused(subject: Subject, position: Position, action: Json) -> Json:
    """The refused action itself, or that it was taken."""
    try:
        subject.game.apply_action(position.state, str(action))
    except IllegalActionError:
        return action
    return f"accepted: {action!r}"


def _holds(actual: Json, expected: Json, test: UnitTest) -> bool:
    if test.function == ODDS:
        return _same_odds(actual, expected)
    if test.relation in ("is", "raises"):
        return same_value(_read(actual, test), _read(expected, test))
    if not isinstance(expected, list) or not isinstance(actual, list):
        return False
    wanted = test.relation == "contains"
    if test.function == "get_legal_actions":
        return all((one in actual) is wanted for one in expected)
    return len(expected) == len(actual) and all(
        (name in seen and same_value(seen[name], value)) is wanted
        for seen, fields in zip(actual, expected, strict=True)
        if isinstance(fields, dict) and isinstance(seen, dict)
        for name, value in fields.items()
    )


def _asked_of(actual: Json, expected: Json) -> Json:
    """Of observations the fields that a test names: of the whole the last seats would be cut off.

    >>> _asked_of([{"hand": [], "coins": 3}, {"hand": []}], [{"coins": 4}, None])
    [{'coins': 3}, None]
    """
    if not isinstance(actual, list) or not isinstance(expected, list):
        return actual
    if not any(isinstance(seen, dict) for seen in actual):
        return actual
    return [
        {name: seen[name] for name in fields if name in seen}
        if isinstance(fields, dict) and isinstance(seen, dict)
        else None
        for seen, fields in zip(actual, expected, strict=False)
    ]


def _same_odds(actual: Json, expected: Json) -> bool:
    """True where equal outcomes are equally likely; one that is not named has no chance."""
    if not isinstance(actual, dict) or not isinstance(expected, dict):
        return False
    named = [(actual.get(name, 0.0), expected.get(name, 0.0)) for name in {**actual, **expected}]
    return all(
        isinstance(was, int | float)
        and isinstance(told, int | float)
        and abs(was - told) <= _ODDS_APART
        for was, told in named
    )


def _told(path: Sequence[Position], test: UnitTest) -> str:
    """The sequence that leads there, a line a ply; a long one without its beginning."""
    told = [
        f"ply {index}: {'chance' if at.player == CHANCE else f'seat {at.player}'} does: {action}"
        + (f"; it pays {list(after.rewards)}" if any(after.rewards) else "")
        for index, (at, action, after) in enumerate(zip(path, test.actions, path[1:], strict=False))
    ]
    left_out = len(told) - _SHOWN_PLIES
    if left_out > 0:
        told = [f"({left_out} plies before are left out)", *told[left_out:]]
    return "\n".join(["The sequence:", *told]) if told else "No action was played before."


def _read(value: Json, test: UnitTest) -> Json:
    """Legal actions are a set to the rules; rewards are numbers whether written 1 or 1.0."""
    if test.function == "get_legal_actions" and isinstance(value, list):
        return sorted(value, key=canonical_key)
    return as_numbers(value) if test.function in ("get_rewards", "returns") else value


def _finding(
    test: UnitTest,
    outcome: Literal["failed", "could_not_judge"],
    evidence: str,
    function: str | None = None,
) -> Finding:
    return Finding(
        check=CHECK,
        outcome=outcome,
        rule=test.rule,
        evidence=f"{test.name}: {evidence}",
        function=function,
    )
