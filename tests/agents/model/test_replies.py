import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, JsonValue

from agents.model.errors import MalformedReplyError, RefusedRequestError, ReplyError
from agents.model.replies import ask_structured
from tests.agents.model.endpoint import Answer, Request, as_json, error, message, serving
from tests.agents.model.talking import ASKED, chat_with


class Trump(BaseModel):
    """Which suit is trump."""

    model_config = ConfigDict(extra="forbid")

    suit: str
    rank: int | None


GOOD: dict[str, JsonValue] = {"suit": "spades", "rank": None}


def accept(reply: Trump) -> str:
    if reply.suit not in ("spades", "hearts"):
        raise ReplyError(f"{reply.suit} is no suit")
    return reply.suit


def refusing(*fields: str) -> Callable[[Request], Answer]:
    """A server that knows none of these fields of a request."""

    def answer(request: Request) -> Answer:
        known = [field for field in fields if field in request]
        if known:
            return error(400, f"{known[0]} is not supported here")
        if "tools" in request:
            return message(calls=[("Trump", json.dumps(GOOD))], finish="tool_calls")
        return as_json(GOOD)

    return answer


def test_a_schema_is_asked_for_strictly() -> None:
    with serving(as_json(GOOD)) as endpoint:
        model = chat_with(endpoint)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
    sent = endpoint.requests[0]["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False
    assert sent["schema"]["required"] == ["suit", "rank"]
    assert model.learned.reply_method == "json_schema"


def test_a_server_without_schemas_is_asked_for_a_function_call_and_that_is_remembered() -> None:
    with serving(refusing("response_format")) as endpoint:
        model = chat_with(endpoint)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        forms = [sorted({"response_format", "tools"} & set(r)) for r in endpoint.requests]
    assert forms == [["response_format"], ["tools"], ["tools"]]
    assert model.learned.reply_method == "function_calling"
    assert endpoint.requests[1]["tool_choice"]["function"]["name"] == "Trump"


def test_a_server_without_either_is_asked_in_plain_words_with_the_schema() -> None:
    with serving(refusing("response_format", "tools")) as endpoint:
        model = chat_with(endpoint)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
    assert model.learned.reply_method == "plain"
    assert '"suit"' in endpoint.requests[-1]["messages"][-1]["content"]


def test_a_server_that_refuses_everything_is_reported_with_each_refusal() -> None:
    with serving(error(400, "I am a teapot")) as endpoint:
        with pytest.raises(RefusedRequestError, match="json_schema.*function_calling.*plain"):
            ask_structured(chat_with(endpoint), ASKED, Trump, accept)
        assert len(endpoint.requests) == 3


def test_a_refused_key_is_not_taken_for_a_missing_feature() -> None:
    with serving(error(401)) as endpoint:
        with pytest.raises(RefusedRequestError, match="OPENAI_API_KEY"):
            ask_structured(chat_with(endpoint), ASKED, Trump, accept)
        assert len(endpoint.requests) == 1


def test_a_configured_method_is_the_only_one_used() -> None:
    with serving(refusing()) as endpoint:
        model = chat_with(endpoint, reply_method="function_calling")
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        assert "tools" in endpoint.requests[0]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD, indent=2)}\n```",
        f'<think>Such as {{"suit": "hearts", "rank": 1}}.\n{{}}</think>\n{json.dumps(GOOD)}',
        f"<think>It may be {json.dumps(GOOD)}</think>",
        f"Of course (it is {{simple}}):\n\n{json.dumps(GOOD)}\nHope that helps.",
        json.dumps(GOOD | {"why": "a field that nobody asked for is left out"}),
        '{\n// as asked\n"suit": "spades", /* none */ "rank": null, // the end\n}',
        '{"suit": "spades", "rank": null, "why": ["see http://a.b/c,]", "two\nlines",],}',
    ],
)
def test_an_object_is_found_whatever_stands_around_it(text: str) -> None:
    with serving(message(text)) as endpoint:
        assert ask_structured(chat_with(endpoint), ASKED, Trump, accept) == "spades"
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (message("spades"), "no JSON object"),
        (message('{"suit": "spades", '), "does not parse"),
        (as_json({"suit": "spades"}), "rank: Field required"),
        (as_json({"colour": "black"}), "suit: Field required; rank: Field required"),
        (as_json(GOOD | {"suit": "stars"}), "stars is no suit"),
        (message(calls=[("Trump", "{broken")]), "not valid JSON"),
        (message(None), "it is empty"),
        (message('{"suit": "spades", "rank": // none\n}'), "line 1 column 28"),
    ],
)
def test_a_reply_that_does_not_fit_is_told_why_then_read(answer: Answer, said: str) -> None:
    with serving(answer, as_json(GOOD)) as endpoint:
        assert ask_structured(chat_with(endpoint), ASKED, Trump, accept) == "spades"
        assert said in endpoint.requests[1]["messages"][-1]["content"]


@pytest.mark.timeout(60)  # the first took 46 s with 18 of them, and twice as long with one more
@pytest.mark.parametrize(
    "text",
    [
        '{"suit": [\n{"search": a, ' + "// " * 400 + '\n"replace": "b"}]}',
        '{"suit": 1,' + "/" * 4_000,
        '{"suit": 1, ' + "/* x */ " * 4_000,
        '{"suit": "' + '\\"' * 40_000,
        '{"suit": x, ' + "/*" * 40_000,
    ],
)
def test_a_reply_made_to_be_slow_is_refused_at_once(text: str) -> None:
    with serving(message(text), as_json(GOOD)) as endpoint:
        assert ask_structured(chat_with(endpoint), ASKED, Trump, accept) == "spades"


def test_a_reply_that_never_fits_is_an_error_and_no_result() -> None:
    with serving(message("spades")) as endpoint:
        with pytest.raises(MalformedReplyError, match="no JSON object"):
            ask_structured(chat_with(endpoint, retries=1), ASKED, Trump, accept)
        assert len(endpoint.requests) == 2


def test_a_server_that_gives_nothing_to_read_is_asked_otherwise_within_the_same_tries() -> None:
    def plain_alone(request: Request) -> Answer:
        return message("spades") if {"response_format", "tools"} & set(request) else as_json(GOOD)

    with serving(plain_alone) as endpoint:
        model = chat_with(endpoint, retries=3)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        forms = [sorted({"response_format", "tools"} & set(r)) for r in endpoint.requests]
    assert forms == [["response_format"], ["response_format"], ["tools"], []]
    assert model.learned.reply_method == "plain"
    with serving(plain_alone) as endpoint, pytest.raises(MalformedReplyError):
        ask_structured(chat_with(endpoint, retries=1), ASKED, Trump, accept)
    assert len(endpoint.requests) == 2


def unbound(request: Request) -> Answer:
    """A server that takes a schema and binds no reply to it: the model sees its messages alone."""
    seen = "".join(str(one["content"]) for one in request["messages"])
    return as_json(GOOD if '"required":["suit","rank"]' in seen else {"trump": "spades"})


def test_a_reply_that_does_not_fit_is_answered_with_the_schema_at_the_same_temperature() -> None:
    with serving(unbound) as endpoint:
        model = chat_with(endpoint, temperature=0.3)
        for _ in range(4):
            assert ask_structured(model, ASKED, Trump, accept) == "spades"
        told = [str(request["messages"][-1]["content"]) for request in endpoint.requests]
        forms = {tuple(sorted({"response_format", "tools"} & set(r))) for r in endpoint.requests}
    # Twice the reply is found not to fit; from then on every request shows its form.
    assert len(told) == 6
    assert [text.count("must fit this schema") for text in told] == [0, 1, 0, 1, 1, 1]
    assert {request["temperature"] for request in endpoint.requests} == {0.3}
    assert forms == {("response_format",)}


def test_a_form_that_worked_is_left_again_where_two_replies_do_not_fit() -> None:
    def turned(request: Request) -> Answer:
        bound = "response_format" in request and len(endpoint.requests) > 1
        return message("Spades.") if bound else as_json(GOOD)

    with serving(turned) as endpoint:
        model = chat_with(endpoint)
        assert [ask_structured(model, ASKED, Trump, accept) for _ in range(2)] == ["spades"] * 2
        forms = [sorted({"response_format", "tools"} & set(r)) for r in endpoint.requests]
    assert forms == [["response_format"]] * 3 + [["tools"]]


def test_a_form_that_worked_is_kept_where_the_server_fails() -> None:
    with serving(as_json(GOOD), error(500), error(500), error(500), as_json(GOOD)) as endpoint:
        model = chat_with(endpoint)
        assert [ask_structured(model, ASKED, Trump, accept) for _ in range(2)] == ["spades"] * 2
        assert all("response_format" in request for request in endpoint.requests)


def test_a_run_that_goes_on_knows_that_its_server_binds_no_replies(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.json"
    with serving(unbound) as endpoint:
        first = chat_with(endpoint, record=path)
        for name in ("a", "b"):
            ask_structured(first, [{"role": "user", "content": name}], Trump, accept)
        assert len(endpoint.requests) == 4
        ask_structured(chat_with(endpoint, record=path), ASKED, Trump, accept)
        assert len(endpoint.requests) == 5


class Doubt(BaseModel):
    """What may be null."""

    ply: int | None
    rule: Literal["R1", "R2"] | None


def test_an_empty_text_is_null_where_a_word_of_a_list_or_null_may_be_and_nowhere_else() -> None:
    def ply(reply: Doubt) -> int | None:
        return reply.ply

    fine = as_json({"ply": None, "rule": ""})
    for wrong in ({"ply": "", "rule": ""}, {"rule": ""}, {"ply": None, "rule": "R9"}):
        with serving(as_json(wrong), fine) as endpoint:
            assert ask_structured(chat_with(endpoint), ASKED, Doubt, ply) is None
            assert len(endpoint.requests) == 2
    with serving(fine) as endpoint:
        assert ask_structured(chat_with(endpoint), ASKED, Doubt, ply) is None
        assert len(endpoint.requests) == 1
