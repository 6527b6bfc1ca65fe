"""Check: generated unit tests, run on the host against the module's own positions."""

import json
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from games.checks.comparing import as_numbers, same_value
from games.checks.contract import from_fault
from games.checks.findings import Finding
from games.checks.sampling import Subject
from games.contract import IllegalActionError, Json, ModuleFault, canonical_key, require_json
from games.table import Position

CHECK = "unit_test"


class UnitTest(BaseModel):
    """A generated test: play `actions` from the start, then compare one function's value.

    Chance outcomes are actions too. `seat` is set where the function takes a player.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    rule: str = Field(description="Id of the rule it tests.")
    actions: tuple[str, ...]
    function: Literal["get_current_player", "get_legal_actions", "get_rewards", "get_observations"]
    expected_json: str = Field(description="The expected value, as JSON.")


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
    try:
        position = _reach(subject, test)
    except ModuleFault as fault:
        found = from_fault(CHECK, fault)
        return found.model_copy(update={"rule": test.rule, "evidence": f"{test.name}: {fault}"})
    except IllegalActionError as refusal:
        return _finding(test, "failed", str(refusal), "get_legal_actions")
    actual = _value(position, test)
    if same_value(_read(actual, test), _read(expected, test)):
        return Finding(check=CHECK, outcome="passed", rule=test.rule)
    return _finding(
        test,
        "failed",
        f"after {list(test.actions)}, {test.function} is {canonical_key(actual)[:600]}; "
        f"required by {test.rule}: {test.expected_json[:600]}",
        test.function,
    )


def _reach(subject: Subject, test: UnitTest) -> Position:
    position = subject.table.open(subject.num_players, subject.parameters)
    for index, action in enumerate(test.actions):
        if action not in position.legal:
            raise IllegalActionError(
                f"action {index} ({action!r}) is not legal; legal: {list(position.legal)[:30]}"
            )
        position = subject.table.advance(position, action)
    return position


def _value(position: Position, test: UnitTest) -> Json:
    if test.function == "get_current_player":
        return position.player
    if test.function == "get_legal_actions":
        return list(position.legal)
    if test.function == "get_rewards":
        return list(position.rewards)
    return list(position.observations)


def _read(value: Json, test: UnitTest) -> Json:
    """Legal actions are a set to the rules; rewards are numbers whether written 1 or 1.0."""
    if test.function == "get_legal_actions" and isinstance(value, list):
        return sorted(value, key=canonical_key)
    return as_numbers(value) if test.function == "get_rewards" else value


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
