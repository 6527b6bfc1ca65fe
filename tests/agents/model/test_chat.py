import json
import socket
import time
from email.utils import formatdate
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from agents.model.budget import BudgetExhaustedError
from agents.model.chat import build_chat
from agents.model.errors import EndpointError, MalformedReplyError, RefusedRequestError, ReplyError
from agents.model.recording import Recording, place
from agents.model.settings import SettingsError
from graph.new.opening import open_model
from tests.agents.model.endpoint import Answer, error, message, serving
from tests.agents.model.talking import ASKED, Sleeper, chat_with, settings_for, text_of

HTML = Answer(b"<html>busy</html>", content_type="text/html")
FAULTS = {
    "status 500": error(500),
    "status 503": error(503),
    "not JSON but text/html": HTML,
    'beginning \'{"choices"': Answer(b'{"choices": [{"mess'),
    "'choices' is empty": Answer(b'{"choices": []}'),
    "choices is wrong": Answer(b'{"choices": null}'),
    "choices.0.message is wrong": Answer(b'{"choices": [{}]}'),
    "0 bytes": Answer(b""),
}


def test_a_good_answer_is_read_and_its_usage_accounted() -> None:
    with serving(message("the highest card", usage=(100, 20))) as endpoint:
        model = chat_with(endpoint, price_in=2.0, price_out=10.0)
        assert model.ask(ASKED, text_of) == "the highest card"
    usage = model.budget.usage
    assert (usage.calls, usage.failed_calls) == (1, 0)
    assert (usage.tokens_in, usage.tokens_out, usage.estimated_calls) == (100, 20, 0)
    assert usage.dollars == pytest.approx((100 * 2 + 20 * 10) / 1e6)


def test_usage_that_the_endpoint_hides_is_estimated_and_called_so() -> None:
    with serving(message("x" * 400, usage=None)) as endpoint:
        model = chat_with(endpoint)
        model.ask(ASKED, text_of)
    assert model.budget.usage.estimated_calls == 1
    assert 100 <= model.budget.usage.tokens_out <= 110


@pytest.mark.parametrize("said", FAULTS)
def test_a_fault_of_the_endpoint_is_tried_again(said: str) -> None:
    with serving(FAULTS[said], message("well")) as endpoint:
        model = chat_with(endpoint)
        assert model.ask(ASKED, text_of) == "well"
        assert len(endpoint.requests) == 2
    assert (model.budget.usage.calls, model.budget.usage.failed_calls) == (2, 1)


@pytest.mark.parametrize("said", FAULTS)
def test_a_lasting_fault_ends_with_an_error_that_says_what_happened(said: str) -> None:
    with serving(FAULTS[said]) as endpoint:
        model = chat_with(endpoint, retries=2)
        with place("code/draft"), pytest.raises(EndpointError) as caught:
            model.ask(ASKED, text_of)
        assert len(endpoint.requests) == 3
    assert said in str(caught.value)
    assert "'code/draft'" in str(caught.value)
    assert "sk-very-secret" not in str(caught.value)


def test_half_a_surrogate_pair_in_an_answer_does_no_harm(tmp_path: Path) -> None:
    broken = Answer(message("ace \ud83c of spades").body)
    assert b"\\ud83c" in broken.body
    with serving(broken) as endpoint:
        model = chat_with(endpoint, record=tmp_path / "recording.json")
        assert model.ask(ASKED, text_of) == "ace ? of spades"


def test_retry_after_is_obeyed() -> None:
    sleeper = Sleeper()
    with serving(error(429, retry_after="7"), message("well")) as endpoint:
        assert chat_with(endpoint, sleeper=sleeper).ask(ASKED, text_of) == "well"
    assert sleeper.waits == [7.0]


def test_a_retry_after_may_be_a_date() -> None:  # RFC 9110, 10.2.3
    sleeper, until = Sleeper(), formatdate(time.time() + 1000, usegmt=True)
    with serving(error(429, retry_after=until), message("well")) as endpoint:
        model = chat_with(endpoint, sleeper=sleeper, deadline_s=2000)
        assert model.ask(ASKED, text_of) == "well"
    assert 900 < sleeper.waits[0] <= 1000


def test_a_retry_after_beyond_the_deadline_ends_the_call_at_once() -> None:
    sleeper = Sleeper()
    with serving(error(429, retry_after="120")) as endpoint:
        with pytest.raises(EndpointError, match=r"asks to wait 120 s and (29|30) s are left"):
            chat_with(endpoint, sleeper=sleeper).ask(ASKED, text_of)
        assert len(endpoint.requests) == 1
    assert sleeper.waits == []


@pytest.mark.parametrize("shown", ["soon", "nan", "-3", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_retry_after_that_is_no_number_of_seconds_does_not_stall(shown: str) -> None:
    sleeper = Sleeper()
    with serving(error(429, retry_after=shown), message("well")) as endpoint:
        assert chat_with(endpoint, sleeper=sleeper).ask(ASKED, text_of) == "well"
    assert 0.0 <= sleeper.waits[0] <= 1.0


def test_an_endpoint_that_never_answers_is_left_after_the_timeout() -> None:
    with (
        serving(Answer(b"{}", delay_s=2.0)) as endpoint,
        pytest.raises(EndpointError, match=r"1\. the endpoint was silent for 0\.2 s"),
    ):
        chat_with(endpoint, timeout_s=0.2, retries=1).ask(ASKED, text_of)
    assert len(endpoint.requests) == 2


def test_an_endpoint_that_drips_bytes_does_not_outlast_the_timeout() -> None:
    answer = message("a long answer")
    with (
        serving(Answer(answer.body, drip_s=0.05)) as endpoint,
        pytest.raises(EndpointError, match=r"silent for 0\.4 s"),
    ):
        chat_with(endpoint, timeout_s=0.4, retries=0).ask(ASKED, text_of)


def test_a_port_where_nobody_listens_is_an_endpoint_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        model = chat_with(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1", retries=1)
        with pytest.raises(EndpointError, match="Connection refused"):
            model.ask(ASKED, text_of)


def test_a_deadline_bounds_a_call_with_all_its_retries() -> None:
    clock = iter(range(0, 10_000, 10))
    with serving(error(500)) as endpoint:
        settings = settings_for(endpoint, deadline_s=45, retries=20)
        model = build_chat(settings, clock=lambda: float(next(clock)), sleep=Sleeper())
        with pytest.raises(EndpointError, match="time for this call is used up"):
            model.ask(ASKED, text_of)
        assert len(endpoint.requests) < 5


def test_cut_off_text_is_asked_for_again_and_told_so() -> None:
    with serving(message("the high", finish="length"), message("well")) as endpoint:
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"
    again = endpoint.requests[1]["messages"]
    assert again[0] == ASKED[0]
    assert again[1] == {"role": "assistant", "content": "the high"}
    assert "cut off" in again[2]["content"]


@pytest.mark.parametrize(
    ("said", "calls"), [('{"seat": 1}', 1), ('{"seat": {"of": 1}', 2), ("seat 1", 2)]
)
def test_what_was_complete_at_the_length_limit_is_taken(said: str, calls: int) -> None:
    def seat(reply: AIMessage) -> object:
        try:
            return json.loads(text_of(reply))
        except ValueError as error:
            raise ReplyError("it does not parse") from error

    with serving(message(said, finish="length"), message('{"seat": 1}')) as endpoint:
        assert chat_with(endpoint).ask(ASKED, seat) == {"seat": 1}
        assert len(endpoint.requests) == calls
        assert calls == 1 or "cut off" in endpoint.requests[1]["messages"][-1]["content"]


def test_text_that_is_always_cut_off_is_a_malformed_reply() -> None:
    with (
        serving(message("the high", finish="length")) as endpoint,
        pytest.raises(MalformedReplyError, match="3. unusable reply: it was cut off"),
    ):
        chat_with(endpoint, retries=2).ask(ASKED, text_of)


def test_an_unusable_reply_is_told_to_the_model_and_bounded() -> None:
    def refuse(_: object) -> str:
        raise ReplyError("it names no card")

    with serving(message("dunno")) as endpoint:
        with pytest.raises(MalformedReplyError, match="it names no card"):
            chat_with(endpoint, retries=1).ask(ASKED, refuse)
        assert len(endpoint.requests) == 2
        assert "it names no card" in endpoint.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "RULEWRIGHT_MODEL"), (400, "400")],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_check(status: int, hint: str) -> None:
    with serving(error(status, "no such thing")) as endpoint:
        with pytest.raises(RefusedRequestError, match=f"no such thing.*{hint}|{hint}.*no such"):
            chat_with(endpoint).ask(ASKED, text_of)
        assert len(endpoint.requests) == 1


def test_a_used_up_quota_is_not_tried_again() -> None:
    body = {"error": {"message": "pay first", "type": "quota", "code": "insufficient_quota"}}
    with serving(Answer(json.dumps(body).encode(), status=429)) as endpoint:
        with pytest.raises(RefusedRequestError, match="quota is used up: .*pay first"):
            chat_with(endpoint).ask(ASKED, text_of)
        assert len(endpoint.requests) == 1


def test_the_budget_is_checked_before_a_request_is_sent() -> None:
    with serving(message("well")) as endpoint:
        model = chat_with(endpoint, max_calls=2)
        model.ask(ASKED, text_of)
        model.ask(ASKED, text_of)
        with pytest.raises(BudgetExhaustedError, match=r"2 of 2 calls.*RULEWRIGHT_MAX_CALLS"):
            model.ask(ASKED, text_of)
        assert len(endpoint.requests) == 2


def test_retries_are_paid_from_the_same_budget() -> None:
    with serving(error(500)) as endpoint:
        with pytest.raises(BudgetExhaustedError):
            chat_with(endpoint, max_calls=2, retries=10).ask(ASKED, text_of)
        assert len(endpoint.requests) == 2


def test_a_prompt_too_large_for_the_budget_is_not_sent() -> None:
    with serving(message("well")) as endpoint:
        model = chat_with(endpoint, max_tokens=1000)
        with pytest.raises(BudgetExhaustedError, match="RULEWRIGHT_MAX_TOKENS"):
            model.ask([{"role": "user", "content": "x" * 8000}], text_of)
        assert endpoint.requests == []


def test_a_graph_that_streams_messages_does_not_change_what_is_recorded(tmp_path: Path) -> None:
    from langgraph.graph import END, START, MessagesState, StateGraph

    with serving(message("well")) as endpoint:
        model = chat_with(endpoint, record=tmp_path / "recording.json")

        def node(state: MessagesState) -> MessagesState:
            said = model.ask(state["messages"], text_of)
            return {"messages": [{"role": "assistant", "content": said}]}  # type: ignore[list-item]

        builder = StateGraph(MessagesState)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        builder.add_edge("node", END)
        start: MessagesState = {"messages": [{"role": "user", "content": "hello"}]}  # type: ignore[list-item]
        list(builder.compile().stream(start, stream_mode="messages"))
        assert len(endpoint.requests) == 1
    (kept,) = Recording.load(tmp_path / "recording.json").exchanges
    body = kept.request["body"]
    assert isinstance(body, dict)
    assert (body["stream"], set(body)) == (False, {"model", "messages", "stream"})


def test_only_the_configured_fields_are_sent() -> None:
    with serving(message("well")) as endpoint:
        chat_with(endpoint).ask(ASKED, text_of)
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    assert endpoint.requests[0] == {"model": "scripted", "messages": ASKED, **streamed}


def test_without_a_model_there_is_nothing_to_connect() -> None:
    with pytest.raises(SettingsError, match="RULEWRIGHT_MODEL"):
        open_model(settings_for(model=None))


def test_the_roles_share_one_budget() -> None:
    with serving(message('{"question": null, "assumptions": []}')) as endpoint:
        roles, budget = open_model(settings_for(endpoint))
        roles.designer.clarify("a game of dice")
    assert roles.identity == "scripted"
    assert budget.usage.calls == 1
