"""Streamed replies: silence and length told apart, whole in a recording, hostile ones bounded."""

import json
import time
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.model.chat import build_chat
from agents.model.errors import EndpointError, MalformedReplyError, ModelError, ReplyError
from agents.model.recording import Recording, place
from agents.model.replies import ask_structured
from agents.model.waiting import Waiting, listen
from tests.agents.model.endpoint import (
    Answer,
    Request,
    delta,
    error,
    events,
    message,
    serving,
)
from tests.agents.model.talking import ASKED, Sleeper, chat_with, settings_for, text_of
from tests.agents.model.test_replies import GOOD, Trump, accept

WHOLE = "application/json; charset=utf-8"  # the endpoint of these tests does not stream it
STOP = delta(finish="stop")
DEEP = "[" * 200_000 + "]" * 200_000


def replayed(path: Path) -> Any:  # noqa: ANN401 - ChatModel.ask is generic
    return build_chat(settings_for(replay=path), sleep=Sleeper())


def test_a_long_reply_outlasts_the_limit_of_silence() -> None:
    """Forty events, one every 0.08 s, take longer than the 2 s that silence may last."""
    words = [delta(content=f"w{n} ") for n in range(40)]
    with serving(events(*words, STOP)) as endpoint:
        endpoint.pause_s = 0.08
        model = chat_with(endpoint, timeout_s=2, retries=0)
        started = time.monotonic()
        assert model.ask(ASKED, text_of).split() == [f"w{n}" for n in range(40)]
        assert time.monotonic() - started > 3.0


def test_a_reply_that_falls_silent_is_left() -> None:
    with serving(events(delta(content="a"), delta(content="b"), done=False)) as endpoint:
        endpoint.pause_s = 0.5
        with pytest.raises(EndpointError, match=r"1\. the endpoint was silent for 0\.2 s"):
            chat_with(endpoint, timeout_s=0.2, retries=0).ask(ASKED, text_of)


def test_a_stream_without_end_is_left_at_the_deadline_and_the_run_can_go_on() -> None:
    endless = events(*[delta(content="la ")] * 6000, done=False)
    with serving(endless) as endpoint:
        endpoint.pause_s = 0.01
        with pytest.raises(
            EndpointError, match=r"not complete within .*RULEWRIGHT_DEADLINE_S.*res"
        ):
            chat_with(endpoint, timeout_s=5, deadline_s=0.6).ask(ASKED, text_of)
        endpoint.script, endpoint.pause_s = [message("well")], 0.0
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"


def test_a_head_without_end_is_left_at_the_deadline() -> None:
    """Forty lines of a head, one every 0.05 s, and the whole answer after them."""
    answer = message("well")
    slow = replace(answer, headers={f"X-{n}": "wait" for n in range(40)}, head_drip_s=0.05)
    with serving(slow) as endpoint:
        with pytest.raises(EndpointError, match=r"not complete within 0\.6 s"):
            chat_with(endpoint, deadline_s=0.6).ask(ASKED, text_of)
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"


def test_a_byte_now_and_then_counts_as_silence() -> None:
    with (
        serving(events(delta(content="x" * 400), STOP, drip_s=0.02)) as endpoint,
        pytest.raises(EndpointError, match=r"silent for 0\.4 s"),
    ):
        chat_with(endpoint, timeout_s=0.4, retries=0).ask(ASKED, text_of)


def test_the_end_mark_ends_a_stream_whose_connection_stays_open() -> None:
    hanging = events(delta(content="well"), STOP)
    with serving(hanging) as endpoint:
        endpoint.linger_s = 600.0
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"


def test_a_recording_keeps_the_whole_reply_and_replays_it(tmp_path: Path) -> None:
    """Usage comes in an event without choices; a sign is cut in two between events."""
    told = events(
        {"id": "c1", "model": "m", "choices": []},
        ": a comment, such as proxies send",
        delta(role="assistant", content="the sun "),
        'data: {"choices": [{"index": 0, "delta": {"content": "\\ud83c"}}]}',
        'data: {"choices": [{"index": 0, "delta": {"content": "\\udf1e"}}]}',
        STOP,
        {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 5}},
    )
    path = tmp_path / "recording.json"
    with serving(told) as endpoint, place("design"):
        model = chat_with(endpoint, record=path).of_role("designer")
        assert model.ask(ASKED, text_of) == "the sun \N{SUN WITH FACE}"
    (kept,) = Recording.load(path).exchanges
    assert (kept.role, kept.content_type) == ("designer", "application/json")
    assert isinstance(kept.response, dict)
    assert "the sun" in json.dumps(kept.response["choices"])
    with place("design"):
        again = replayed(path)
        assert again.ask(ASKED, text_of) == "the sun \N{SUN WITH FACE}"
    assert (again.budget.usage.tokens_in, again.budget.usage.tokens_out) == (70, 5)


def test_calls_are_put_together_however_a_server_cuts_and_numbers_them() -> None:
    def part(text: str, **fields: object) -> dict[str, object]:
        return {"index": 0, "function": {"arguments": text}, **fields}

    first = {"index": 0, "id": "a", "function": {"name": "run", "arguments": ""}}
    second = {"index": 0, "id": "b", "function": {"name": "play", "arguments": '{"seed"'}}
    told = events(
        delta(tool_calls=[first]),
        delta(tool_calls=[part('{"source": "x')]),
        delta(tool_calls=[part(' = 1"}')]),
        delta(tool_calls=[second]),
        delta(tool_calls=[part(": 4}", id="")]),
        delta(finish="tool_calls"),
    )
    with serving(told) as endpoint:
        calls = chat_with(endpoint).ask(ASKED, lambda reply: reply.tool_calls)
    assert [(c["id"], c["name"], c["args"]) for c in calls] == [
        ("a", "run", {"source": "x = 1"}),
        ("b", "play", {"seed": 4}),
    ]


@pytest.mark.parametrize("status", [400, 501])
def test_an_endpoint_that_cannot_stream_is_asked_for_the_whole_and_that_is_remembered(
    status: int,
) -> None:
    def whole_only(request: Request) -> Answer:
        said = "'stream' is not supported" if status == 400 else "not implemented"
        return error(status, said) if request.get("stream") else message("well")

    with serving(whole_only) as endpoint:
        model = chat_with(endpoint)
        assert [model.ask(ASKED, text_of) for _ in range(2)] == ["well", "well"]
        assert [bool(r.get("stream")) for r in endpoint.requests] == [True, False, False]
    assert (model.budget.usage.calls, model.budget.usage.failed_calls) == (3, 1)


def test_an_endpoint_that_answers_whole_although_asked_to_stream_is_read() -> None:
    whole = Answer(message("well").body, content_type=WHOLE)
    with serving(whole) as endpoint:
        assert chat_with(endpoint).ask(ASKED, text_of) == "well"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (events(delta(content="the hi"), done=False), "the stream broke off"),
        (events("data: {broken", STOP), "not of the protocol"),
        (events("data: [1, 2]", STOP), "not of the protocol"),
        (events({"choices": [{"delta": {"content": 7}}]}, STOP), "not of the protocol"),
        (events({"choices": [{"delta": {"tool_calls": [{"index": []}]}}]}), "not of the protocol"),
        (events(f'data: {{"choices": {DEEP}}}'), "not of the protocol"),
        (events({"error": {"message": "out of memory"}}), "ended the stream: .*out of memory"),
        (events(delta(content="He sh", finish="content_filter")), "'He sh': content_filter"),
    ],
)
def test_a_faulty_stream_is_told_and_tried_again(fault: Answer, said: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    with serving(fault, message("well")) as endpoint:
        assert chat_with(endpoint, record=path).ask(ASKED, text_of) == "well"
    assert replayed(path).ask(ASKED, text_of) == "well"
    with serving(fault) as endpoint, pytest.raises(EndpointError, match=said):
        chat_with(endpoint, retries=1).ask(ASKED, text_of)


@pytest.mark.parametrize(
    ("refusal", "quoted"),
    [
        (message("I'm sorry, but I can't help with gambling."), "'?I'm sorry, but I can't help"),
        (message("Unfortunately, I cannot do that."), "'Unfortunately, I cannot do that.'"),
        (
            Answer(message(None).body.replace(b'"content": null', b'"refusal": "Not this."')),
            "Not th",
        ),
    ],
)
def test_a_refusal_is_quoted(refusal: Answer, quoted: str) -> None:
    with (
        serving(refusal) as endpoint,
        pytest.raises(MalformedReplyError, match=f"1. the model refuses: .*{quoted}") as caught,
    ):
        ask_structured(chat_with(endpoint, retries=1), ASKED, Trump, accept)
    assert "no JSON object" not in str(caught.value)


def test_an_unusable_reply_is_quoted_from_its_start() -> None:
    with (
        serving(message("Spades,\x1b[2J of course. " + "x" * 500)) as endpoint,
        pytest.raises(
            MalformedReplyError, match=r"no JSON object; it begins 'Spades, of course. x"
        ),
    ):
        ask_structured(chat_with(endpoint, retries=0), ASKED, Trump, accept)


def temperatures(requests: list[Request]) -> list[float | None]:
    return [request.get("temperature") for request in requests]


def test_the_temperature_rises_after_a_wrong_reply_and_not_after_a_fault_or_a_misfit() -> None:
    wrong = json_of({**GOOD, "suit": "stars"})
    with serving(wrong, error(500), wrong, json_of(GOOD)) as endpoint:
        model = chat_with(endpoint, temperature=0.0)
        ask_structured(model, ASKED, Trump, accept)
        assert temperatures(endpoint.requests) == [0.0, 0.2, 0.2, 0.4]
    with serving(wrong) as endpoint, pytest.raises(MalformedReplyError):
        ask_structured(chat_with(endpoint), ASKED, Trump, accept)
    assert temperatures(endpoint.requests) == [None, 1.0, 1.2, 1.2]
    for answer, step in ((wrong, 0.0), (message("?"), 0.2)):
        with serving(answer) as endpoint, pytest.raises(MalformedReplyError):
            ask_structured(chat_with(endpoint, temperature_step=step), ASKED, Trump, accept)
        assert temperatures(endpoint.requests) == [None] * 4


def test_an_endpoint_that_takes_no_temperature_is_asked_without_and_that_is_remembered() -> None:
    def strict(request: Request) -> Answer:
        if "temperature" in request:
            return error(400, "Unsupported value: 'temperature'")
        return message("?")

    with serving(strict) as endpoint:
        model = chat_with(endpoint, retries=2)
        for _ in range(2):
            with pytest.raises(MalformedReplyError):
                model.of_role("coder").ask(ASKED, unreadable)
    assert temperatures(endpoint.requests) == [None, 1.0, None, None, None, None, None]


def json_of(value: object) -> Answer:
    return message(json.dumps(value))


def unreadable(_: object) -> str:
    raise ReplyError("it names no card")


def test_who_listens_hears_what_is_waited_for_and_which_try() -> None:
    heard: list[Waiting] = []

    def asked() -> None:
        listen(heard.append, 0.05)
        with serving(error(500, "busy"), Answer(message("well").body, delay_s=0.3)) as endpoint:
            chat_with(endpoint).of_role("designer").ask(ASKED, text_of)

    copy_context().run(asked)
    last = heard.pop()
    assert (last.role, last.over) == ("designer", True)
    second = [event for event in heard if event.attempt == 2]
    assert {(e.model, e.role, e.of) for e in heard} == {("scripted", "designer", 4)}
    assert len(second) >= 3
    assert all("status 500: busy" in event.after for event in second)
    assert second[-1].seconds == 0


def test_who_streams_a_graph_hears_it_while_the_node_waits() -> None:
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.runtime import Runtime

    with serving(Answer(message("well").body, delay_s=0.4)) as endpoint:
        model = chat_with(endpoint)

        def node(state: MessagesState, runtime: Runtime[None]) -> MessagesState:
            listen(runtime.stream_writer, 0.05)
            model.ask(ASKED, text_of)
            return state

        graph = StateGraph(MessagesState).add_node("node", node).add_edge(START, "node").compile()
        heard: list[Any] = list(graph.stream({"messages": []}, stream_mode="custom"))
    assert len(heard) > 2
    assert [event.over for event in heard[-2:]] == [False, True]
    assert all(event.model == "scripted" for event in heard)


@pytest.mark.parametrize("shown", [7, 7.0])
def test_a_number_of_tokens_may_be_written_as_json_writes_numbers(shown: float) -> None:
    """RFC 8259, 6: there is one kind of number."""
    value = json.loads(message("well").body)
    value["usage"] = {"prompt_tokens": shown, "completion_tokens": 20.0, "total_tokens": None}
    with serving(Answer(json.dumps(value).encode())) as endpoint:
        model = chat_with(endpoint)
        model.ask(ASKED, text_of)
    usage = model.budget.usage
    assert (usage.tokens_in, usage.tokens_out, usage.estimated_calls) == (7, 20, 0)


NUMBERS: list[object] = [-5, 10**30, "many", None, 1.5, [], True]


@pytest.mark.parametrize("shown", NUMBERS)
def test_a_usage_that_cannot_be_true_is_estimated(shown: object, tmp_path: Path) -> None:
    value = json.loads(message("x" * 400).body)
    value["usage"] = {"prompt_tokens": shown, "completion_tokens": 20, "total_tokens": shown}
    value["usage"]["prompt_tokens_details"] = shown
    with serving(Answer(json.dumps(value).encode())) as endpoint:
        model = chat_with(endpoint, price_in=1.0, price_out=1.0, record=tmp_path / "r.json")
        model.ask(ASKED, text_of)
    usage = model.budget.usage
    assert 0 < usage.tokens_in < 1000
    assert usage.estimated_calls == (shown is not True)
    assert 0 <= (usage.dollars or 0) < 0.01


def many_calls(count: int) -> Answer:
    return message(calls=[("run", "{}")] * count, finish="tool_calls")


HALF = '{"suit": "\\ud83c", "rank": null}'


@pytest.mark.parametrize(
    ("hostile", "said"),
    [
        (message(DEEP), "no JSON object"),
        (message('{"suit": ' + DEEP + "}"), "does not parse"),
        (message('{"suit": ' + "[" * 800 + "]" * 800 + "}"), "does not fit"),
        (message('{"suit": ' + "9" * 5000 + "}"), "does not parse"),
        (message(HALF), "does not fit|is no suit"),
        (message(calls=[("Trump", DEEP)]), "not valid JSON|Input should be a valid dict"),
        (message(calls=[("Trump", '{"suit": ' + "[" * 800 + "]" * 800 + "}")]), "does not fit"),
        (message(calls=[("Trump", HALF)]), "does not fit|is no suit"),
        (many_calls(400), "400 tool calls; at most 16"),
        (Answer(DEEP.encode(), content_type=WHOLE), "not JSON"),
        (Answer(b'{"choices": ' + b"[" * 900 + b"]" * 900 + b"}", content_type=WHOLE), "choices"),
        (Answer(message(calls=[("Trump", DEEP)]).body, content_type=WHOLE), "not valid JSON"),
    ],
)
def test_a_hostile_reply_is_bounded_told_in_one_sentence_and_replayed(
    hostile: Answer, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "recording.json"
    with serving(hostile) as endpoint:
        model = chat_with(endpoint, retries=1, record=path)
        with pytest.raises(ModelError, match=said) as caught:
            ask_structured(model, ASKED, Trump, accept)
    assert len(str(caught.value)) < 2000
    assert "\n" not in str(caught.value)
    kept = path.read_text()
    path.write_text(kept.replace('"given_up": true', '"given_up": false'))
    with pytest.raises(ModelError, match=said):
        ask_structured(build_chat(settings_for(replay=path, retries=1)), ASKED, Trump, accept)


def test_half_a_sign_in_the_arguments_of_a_call_can_be_sent_back() -> None:
    call = message(calls=[("look", '{"query": "\\ud83c"}')], finish="tool_calls")
    with serving(call, message("well")) as endpoint:
        model = chat_with(endpoint)
        reply = model.ask(ASKED, lambda said: said)
        told = {"role": "tool", "tool_call_id": reply.tool_calls[0]["id"], "content": "nothing"}
        assert model.ask([*ASKED, reply, told], text_of) == "well"
