"""The validator, asked of a chat model: verdicts on records, tests that the rules imply."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.model.replies import ask_structured
from agents.prompting import load_prompt
from agents.protocols import Design, Verdict
from agents.roles.texts import record_text, rules_text
from games.checks.unit_tests import UnitTest
from games.contract import REQUIRED_FUNCTIONS
from games.records import MatchRecord

RECORD_LIMIT = 24_000
MAX_TESTS = 6
_STRICT = ConfigDict(extra="forbid")


class VerdictReply(BaseModel):
    """What the validator concluded about one recorded match."""

    model_config = _STRICT

    illegal_ply: int | None = Field(description="Number of the first ply at fault, or null.")
    rule: str | None = Field(description="Id of the rule it breaks, or null.")
    explanation: str
    function: str | None = Field(description="Function at fault, or null.")


class TestReply(BaseModel):
    """One unit test."""

    __test__ = False
    model_config = _STRICT

    name: str = Field(description="The property it proves, in a few words.")
    rule: str = Field(description="Id of the rule it tests.")
    actions: list[str]
    function: Literal["get_current_player", "get_legal_actions", "get_rewards", "get_observations"]
    expected_json: str = Field(description="The expected value, as JSON text.")


class TestsReply(BaseModel):
    """Unit tests that the rules imply."""

    __test__ = False
    model_config = _STRICT

    tests: list[TestReply]


def verdict_reply(design: Design) -> type[VerdictReply]:
    """The verdict's schema for one game: a rule is one of its ids, never free text."""
    rule: Any = Literal[tuple(rule.id for rule in design.rules)]
    function: Any = Literal[REQUIRED_FUNCTIONS]
    return create_model(
        "VerdictReply",
        __base__=VerdictReply,
        rule=(rule | None, Field(description="Id of the rule it breaks, or null.")),
        function=(function | None, Field(description="Function at fault, or null.")),
    )


def tests_reply(design: Design) -> type[TestsReply]:
    """The tests' schema for one game: a rule is one of its ids."""
    rule: Any = Literal[tuple(rule.id for rule in design.rules)]
    test: Any = create_model(
        "TestReply",
        __base__=TestReply,
        rule=(rule, Field(description="Id of the rule it tests.")),
    )
    return create_model("TestsReply", __base__=TestsReply, tests=(list[test], Field()))


class ModelValidator:
    """See `agents.protocols.Validator`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def judge(self, design: Design, record: MatchRecord) -> Verdict:
        """See `Validator.judge`; the explanation says so where a long record was cut."""
        text, judged = record_text(record, limit=RECORD_LIMIT)
        total = len(record.match.plies)
        messages = load_prompt("validator_judge").fill(
            rules=rules_text(design), record=text, judged=judged, total=total
        )
        cut = f" (judged plies 0 to {judged - 1} of {total})" if judged < total else ""

        def accept(reply: VerdictReply) -> Verdict:
            if (reply.illegal_ply is None) != (reply.rule is None):
                raise ReplyError("illegal_ply and rule must both be given, or both be null")
            if reply.illegal_ply is not None and not 0 <= reply.illegal_ply < judged:
                raise ReplyError(f"there is no ply {reply.illegal_ply}; shown: 0 to {judged - 1}")
            return Verdict(
                illegal_ply=reply.illegal_ply,
                rule=reply.rule or "",
                explanation=reply.explanation + cut,
                function=reply.function,
            )

        return ask_structured(self.model, messages, verdict_reply(design), accept)

    def unit_tests(self, design: Design, source: str) -> Sequence[UnitTest]:
        """See `Validator.unit_tests`."""
        messages = load_prompt("validator_tests").fill(
            rules=rules_text(design), num_players=design.num_players, source=source
        )
        return ask_structured(self.model, messages, tests_reply(design), _to_tests)


def _to_tests(reply: TestsReply) -> list[UnitTest]:
    if not 1 <= len(reply.tests) <= MAX_TESTS:
        raise ReplyError(f"it has {len(reply.tests)} tests; required: 1 to {MAX_TESTS}")
    for test in reply.tests:
        try:
            json.loads(test.expected_json)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ReplyError(
                f"expected_json of the test {test.name!r} is not JSON: {error}"
            ) from error
    return [UnitTest.model_validate(test.model_dump()) for test in reply.tests]
