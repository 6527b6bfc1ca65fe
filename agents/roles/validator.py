"""The validator, asked of a chat model: verdicts on records, tests that the rules imply."""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)

from agents.model.chat import ChatModel
from agents.model.errors import ReplyError
from agents.model.replies import HINT, ask_structured
from agents.prompting import load_prompt
from agents.protocols import Claim, Design, RefusedTest, Verdict, Vote
from agents.roles.texts import record_text, rules_text, speaks_of_odds
from games.checks.unit_tests import ODDS, Relation, Tested, UnitTest
from games.records import MatchRecord
from games.table import Position
from games.values import REQUIRED_FUNCTIONS

RECORD_LIMIT = 24_000
MAX_TESTS = 8
_NAME_LENGTH = 100
_SAME_RELATION = {
    **dict.fromkeys(("equal", "equals", "eq", "=", "==", "returns"), "is"),
    **dict.fromkeys(("includes", "has", "contain"), "contains"),
    **dict.fromkeys(("excludes", "not contains", "does not contain", "lack"), "lacks"),
    **dict.fromkeys(("raise", "throws", "errors"), "raises"),
}
_STEPS = "What happens ply by ply and what the rules ask there, before any conclusion."


class VerdictReply(BaseModel, extra="forbid"):
    """What the validator concluded about one recorded match."""

    working: str = Field(description=_STEPS)
    illegal_ply: int | None = Field(description="Number of the first ply at fault, or null.")
    rule: str | None = Field(description="Id of the rule it breaks, or null.")
    explanation: str
    function: str | None = Field(description="Function at fault, or null.")

    @model_validator(mode="before")
    @classmethod
    def _no_function(cls, value: object) -> object:
        return {"function": None, **value} if isinstance(value, dict) else value


def _relation(said: object) -> object:
    """A relation by the name that is asked for, where another word says the same."""
    return _SAME_RELATION.get(said.lower(), said) if isinstance(said, str) else said


def _as_json(said: object) -> object:
    """The JSON text of a value that was given as itself."""
    return said if isinstance(said, str) else json.dumps(said)


class TestReply(BaseModel, extra="forbid"):
    """One unit test."""

    __test__ = False

    name: str = Field(description="The property it proves, in a few words.")
    rule: str = Field(description="Id of the rule it tests.")
    actions: list[str]
    function: Tested
    relation: Annotated[Relation, BeforeValidator(_relation)] = Field(
        description="How the value is compared."
    )
    derivation: str = Field(description="How the value follows from the rules, step by step.")
    expected_json: Annotated[str, BeforeValidator(_as_json)] = Field(
        description="The expected value, as JSON text."
    )


class TestsReply(BaseModel, extra="forbid"):
    """Unit tests that the rules imply."""

    __test__ = False

    tests: list[TestReply | RefusedTest]


class VoteReply(BaseModel, extra="forbid"):
    """A vote on a contested claim."""

    working: str = Field(description=_STEPS)
    upheld: bool = Field(description="Whether the rules bear the claim out.")
    why: str = Field(description="The reason, in one or two sentences, with the rule ids.")


def verdict_reply(design: Design) -> type[VerdictReply]:
    """The verdict's schema for one game: a rule is one of its ids, never free text."""
    rule: Any = Literal[tuple(rule.id for rule in design.rules)]
    function: Any = Literal[REQUIRED_FUNCTIONS]
    return create_model(
        "VerdictReply",
        __base__=VerdictReply,
        rule=(rule | None, Field(description="Id of the rule it breaks, or null.")),
        function=(
            Annotated[function | None, HINT],
            Field(description="Function at fault, or null."),
        ),
    )


def tests_reply(design: Design, amended: Sequence[str]) -> type[TestsReply]:
    """The tests' schema for one game: a rule is one of its ids, or of those that were amended."""
    rule: Any = Literal[tuple(amended or (rule.id for rule in design.rules))]
    odds = speaks_of_odds(design)
    function: Any = Literal[tuple(f for f in get_args(Tested) if f != ODDS or odds)]
    test: Any = create_model(
        "TestReply",
        __base__=TestReply,
        rule=(rule, Field(description="Id of the rule it tests.")),
        function=(function, Field()),
    )
    each: Any = list[Annotated[test, WrapValidator(_or_refused)]]
    tests: Any = (Annotated[each, AfterValidator(_in_form)], Field())
    return create_model("TestsReply", __base__=TestsReply, tests=tests)


def _or_refused(value: object, inner: ValidatorFunctionWrapHandler) -> object:
    """A test of a reply, or why it has not the form of one."""
    try:
        return inner(value)
    except ValidationError as error:
        said = value if isinstance(value, dict) else {}
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the test"
        why = f"{where}: {problem['msg']}"
        name, rule = (str(said.get(field, "?"))[:_NAME_LENGTH] for field in ("name", "rule"))
        return RefusedTest(name=name, rule=rule, why=why)


def _in_form(tests: list[TestReply | RefusedTest]) -> list[TestReply | RefusedTest]:
    """The tests, if one of them has the form that was asked for."""
    refused = [test for test in tests if isinstance(test, RefusedTest)]
    if refused and len(refused) == len(tests):
        raise ValueError(_told(refused))
    return tests


def _told(refused: Sequence[RefusedTest]) -> str:
    return "; ".join(f"the test {test.name!r}: {test.why}" for test in refused[:MAX_TESTS])


class ModelValidator:
    """See `agents.protocols.Validator`."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def judge(
        self,
        design: Design,
        record: MatchRecord,
        positions: Callable[[], Sequence[Position]],
        facts: Sequence[str] = (),
        struck: str = "",
    ) -> Verdict:
        """See `Validator.judge`; the explanation says so where a long record was cut."""
        odds = speaks_of_odds(design)
        text, judged = record_text(record, positions(), limit=RECORD_LIMIT, odds=odds)
        total = len(record.match.plies)
        messages = load_prompt("validator_judge").fill(
            rules=rules_text(design),
            record=text,
            players=", ".join(record.players),
            facts="\n".join(facts),
            struck=struck,
        )
        cut = f" (it was shown {len(judged)} of {total} plies)" if len(judged) < total else ""

        def accept(reply: VerdictReply) -> Verdict:
            if (reply.illegal_ply is None) != (reply.rule is None):
                raise ReplyError("illegal_ply and rule must both be given, or both be null")
            if reply.illegal_ply is not None and reply.illegal_ply not in judged:
                raise ReplyError(f"ply {reply.illegal_ply} is none of the {len(judged)} shown")
            return Verdict(
                illegal_ply=reply.illegal_ply,
                rule=reply.rule or "",
                explanation=reply.explanation + cut,
                function=reply.function,
                shown=text,
                plies=len(judged),
            )

        return ask_structured(self.model, messages, verdict_reply(design), accept)

    def unit_tests(
        self, design: Design, source: str, amended: Sequence[str] = ()
    ) -> Sequence[UnitTest | RefusedTest]:
        """See `Validator.unit_tests`; a reply without a good one is asked for again."""
        messages = load_prompt("validator_tests").fill(
            rules=rules_text(design),
            num_players=design.num_players,
            source=source,
            amended=", ".join(amended),
            refused="",
            odds=speaks_of_odds(design),
        )
        return ask_structured(self.model, messages, tests_reply(design, amended), _to_tests)

    def tests_again(
        self, design: Design, source: str, refused: Sequence[RefusedTest]
    ) -> Sequence[UnitTest | RefusedTest]:
        """See `Validator.tests_again`."""
        messages = load_prompt("validator_tests").fill(
            rules=rules_text(design),
            num_players=design.num_players,
            source=source,
            amended="",
            refused=_told(refused),
            odds=speaks_of_odds(design),
        )
        return ask_structured(
            self.model,
            messages,
            tests_reply(design, ()),
            lambda reply: _to_tests(reply) if reply.tests else [],
        )

    def arbitrate(self, design: Design, claim: Claim, *, second: bool) -> Vote:
        """See `Validator.arbitrate`."""
        objected = [("The coder objects", claim.argument)] if claim.argument else []
        said = claim.says
        if claim.test is not None:
            played = ", ".join(claim.test.actions) or "no action"
            said = f"{claim.says}\nAfter: {played}\n{claim.test.derivation}"
        arguments = [("The validator claims", said), *objected]
        messages = load_prompt("validator_arbitrate").fill(
            rules=rules_text(design),
            rule=claim.rule,
            record=claim.shown,
            test=claim.test is not None,
            arguments=arguments[::-1] if second else arguments,
            objected=bool(objected),
        )
        return ask_structured(
            self.model, messages, VoteReply, lambda r: Vote(upheld=r.upheld, why=r.why)
        )


def _to_tests(reply: TestsReply) -> list[UnitTest | RefusedTest]:
    """The tests, each by itself: one that cannot be run costs no other.

    Raises:
        ReplyError: If none can be run.
    """
    tests = _at_one([_to_test(test) for test in reply.tests[:MAX_TESTS]])
    if not any(isinstance(test, UnitTest) for test in tests):
        refused = [test for test in tests if isinstance(test, RefusedTest)]
        raise ReplyError(_told(refused) or f"it has no tests; required: 1 to {MAX_TESTS}")
    why = f"a reply may have {MAX_TESTS}"
    more = reply.tests[MAX_TESTS:]
    name = f"the last {len(more)} tests"
    return [*tests, *(RefusedTest(name=name, rule=one.rule, why=why) for one in more[:1])]


def _at_one(tests: Sequence[UnitTest | RefusedTest]) -> list[UnitTest | RefusedTest]:
    """The tests, without those of which no module can satisfy one and another."""
    sound = [test for test in tests if isinstance(test, UnitTest)]
    against = {id(one): other for one in sound for other in sound if _contradict(one, other)}
    return [
        RefusedTest(name=test.name, rule=test.rule, why=f"it contradicts the test {other.name!r}")
        if (other := against.get(id(test)))
        else test
        for test in tests
    ]


def _contradict(one: UnitTest, other: UnitTest) -> bool:
    """True if two tests ask one function for different answers after the same actions."""
    if (one.actions, one.function) != (other.actions, other.function):
        return False
    pair = sorted((one, other), key=lambda test: test.relation)  # contains, is, lacks
    values = [json.loads(test.expected_json) for test in pair]
    lower, upper = (test.relation for test in pair)
    if one.function != "get_legal_actions" or not all(isinstance(v, list) for v in values):
        return (lower, upper) == ("is", "is") and bool(values[0] != values[1])
    first, second = ({json.dumps(action) for action in value} for value in values)
    if upper == "lacks":
        return lower != "lacks" and not first.isdisjoint(second)
    return upper == "is" and (first != second if lower == "is" else not first <= second)


def _to_test(test: TestReply | RefusedTest) -> UnitTest | RefusedTest:
    if isinstance(test, RefusedTest):
        return test
    try:
        json.loads(test.expected_json)
        return UnitTest.model_validate(test.model_dump())
    except ValidationError as error:
        why = str(error.errors()[0]["msg"])
    except (ValueError, RecursionError) as error:
        why = f"expected_json is not JSON: {error}"
    return RefusedTest(name=test.name, rule=test.rule, why=why)
