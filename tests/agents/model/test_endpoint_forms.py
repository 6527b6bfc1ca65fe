"""Forms that endpoints send or refuse, one a row; the wire format says what each of them means.

The rows were seen at servers in use: proxies that rename content types, thinkers that answer in
parts, gateways that put an error where an answer belongs.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.model.chat import build_chat
from agents.model.errors import EndpointError, ModelError
from agents.model.replies import ask_structured
from agents.model.settings import SettingsError
from agents.model.transport import certificates
from agents.roles.coder import read_module
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

KEY = "sk-very-secret"
DELTAS = [delta(content="we"), delta(content="ll"), delta(finish="stop")]
WHOLE = "application/json; charset=utf-8"  # the endpoint of these tests does not stream it
END = DELTAS[-1]
WELL = events(*DELTAS)
DONE = "data: [DONE]"
PLAIN = b'data: {"choices": [{"index": 0, "delta": {"content": "well"}, "finish_reason": "stop"}]}'
PARTS = [{"type": "text", "text": "we"}, {"type": "text", "text": "ll"}]
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "bad"}]}
LIMIT = 1024 * 1024


def as_bytes(value: object) -> bytes:
    return json.dumps(value).encode()


def whole(**said: object) -> Answer:
    finish = said.pop("finish_reason", "stop")
    choice = {"index": 0, "message": {"role": "assistant", **said}, "finish_reason": finish}
    return Answer(json.dumps({"choices": [choice]}).encode(), content_type=WHOLE)


def raw(value: object, content_type: str = WHOLE) -> Answer:
    return Answer(json.dumps(value).encode(), content_type=content_type)


def stream(body: bytes) -> Answer:
    return Answer(body, content_type="text/event-stream")


TEXTS = {
    "ctjson": replace(WELL, content_type="application/json; charset=utf-8"),
    "ctplain": replace(WELL, content_type="text/plain"),
    "ctnone": replace(WELL, content_type=""),
    "ctoctet": replace(WELL, content_type="application/octet-stream"),
    "ctcase": replace(WELL, content_type="Text/Event-Stream"),
    "ctwhole": replace(whole(content="well"), content_type="text/event-stream"),
    "parts": events(*[delta(content=[part]) for part in PARTS], END),
    "parts-whole": whole(content=PARTS),
    "thinkparts": events(delta(content=[THOUGHT]), *[delta(content=[p]) for p in PARTS], END),
    "thinkparts-whole": whole(content=[THOUGHT, *PARTS]),
    "bomfirst": stream(b"\xef\xbb\xbf" + WELL.body),
    "bom-whole": Answer(b"\xef\xbb\xbf" + whole(content="well").body, content_type=WHOLE),
    "multidata": stream(PLAIN.replace(b": [", b":\ndata: [", 1) + b"\n\ndata: [DONE]\n\n"),
    "ssecr": stream(WELL.body.replace(b"\n", b"\r")),
    "ssecrlf": stream(WELL.body.replace(b"\n", b"\r\n")),
    "no-blank-lines": stream(WELL.body.replace(b"\n\n", b"\n")),
    "no-last-line-end": stream(PLAIN),
    "separator-in-text": stream(PLAIN.replace(b"well", "we\u2028ll".encode())),
    "no-finish": events(delta(content="well")),
    "no-finish-whole": whole(content="well", finish_reason=None),
    "reasononly": events(delta(reasoning_content="we"), delta(reasoning_content="ll"), END),
    "reasononly-whole": whole(content=None, reasoning_content="well"),
    "errnone-whole": raw({**json.loads(whole(content="well").body), "error": {"code": 0}}),
    "created201": replace(whole(content="well"), status=201),
    "part-alone": whole(content=PARTS[0] | {"text": "well"}),
    "odd-head": raw({**json.loads(whole(content="well", finish_reason=1).body), "model": 7}),
    "several-in-a-line": stream(
        b"data: " + b"".join(map(as_bytes, DELTAS)) + b"\n\n" + DONE.encode()
    ),
    "message-in-a-stream": events({"choices": [{"message": {"content": "well"}}]}),
    "message-once-more": events(*DELTAS, {"choices": [{"message": {"content": "well"}}]}),
    "completion": raw({"choices": [{"text": "well"}]}),
    "completion-events": events(*[{"choices": [{"text": text}]} for text in ("we", "ll")]),
    "no-index": raw({"choices": [{"index": None, "message": {"content": "well"}}]}),
    "second-first": raw(
        {
            "choices": [
                {"index": i, "message": {"content": "well" if not i else "bad"}} for i in (1, 0)
            ]
        }
    ),
    "reasoning-beside": events(delta(reasoning_content="bad"), delta(content="well"), END),
}


@pytest.mark.parametrize("mode", TEXTS)
def test_a_text_is_read_in_every_form_that_servers_send(mode: str, tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    said = "we\u2028ll" if mode == "separator-in-text" else "well"
    with serving(TEXTS[mode]) as endpoint:
        assert chat_with(endpoint, retries=0, record=path).ask(ASKED, text_of) == said
    assert build_chat(settings_for(replay=path)).ask(ASKED, text_of) == said


OBJECT = {"source": "x = 1", "seed": 4}
TEXT = json.dumps(OBJECT)


def call(arguments: object, **more: object) -> dict[str, object]:
    fields = {"id": "a", "type": "function", "name": "run", **more}
    function = {"name": fields.pop("name"), "arguments": arguments}
    return {k: v for k, v in {**fields, "function": function}.items() if v is not None}


def called(*parts: dict[str, object]) -> Answer:
    return events(*[delta(tool_calls=[part]) for part in parts], delta(finish="tool_calls"))


def called_whole(*calls: dict[str, object] | None) -> Answer:
    return whole(content=None, tool_calls=list(calls), finish_reason="tool_calls")


def under(name: str, *, index: int | None = None, **said: object) -> dict[str, object]:
    """A call of `run` whose arguments stand under another name."""
    place = {} if index is None else {"index": index}
    return {"id": "a", **place, "function": {"name": "run", name: OBJECT, **said}}


FLAT: dict[str, object] = {"id": "a", "type": "function", "name": "run", "arguments": TEXT}
PIECES = [{"source": "x"}, {"source": "x = 1"}, {"seed": 4}]
LEGACY = [{"name": "run", "arguments": TEXT[:5]}, {"arguments": TEXT[5:]}]
ONE: list[tuple[str, object]] = [("run", OBJECT)]
CALLS: dict[str, tuple[Answer, list[tuple[str, object]]]] = {
    "argsdict": (called(call(OBJECT, index=0)), ONE),
    "argsdict-whole": (called_whole(call(OBJECT)), ONE),
    "argsdouble": (called(call(json.dumps(TEXT), index=0)), ONE),
    "argsdouble-whole": (called_whole(call(json.dumps(TEXT))), ONE),
    "argsnull": (called(call(None, index=0)), [("run", {})]),
    "argsnull-whole": (called_whole(call(None)), [("run", {})]),
    "argsempty-whole": (called_whole(call("")), [("run", {})]),
    "argstwice": (called(call(TEXT, index=0), call(TEXT, index=0, name=None)), ONE),
    "noid": (called(call(TEXT, id=None, index=0)), ONE),
    "noid-whole": (called_whole(call(TEXT, id=None)), ONE),
    "noids-whole": (called_whole(call(TEXT, id=None), call("{}", id="")), [*ONE, ("run", {})]),
    "noids": (
        called(call(TEXT[:5], id=""), call(TEXT[5:], id="", name=None), call("{}", id=None)),
        [*ONE, ("run", {})],
    ),
    "unstableid": (
        called(
            call(TEXT[:5], index=0),
            call(TEXT[5:9], index=0, id="b", name=None),
            call(TEXT[9:], index=0, id="c", name=""),
        ),
        ONE,
    ),
    "dupindex": (called(call(TEXT, index=0), call(TEXT, index=1)), ONE),
    "dupindex-whole": (called_whole(call(TEXT), call(TEXT)), ONE),
    "oneid-two-calls": (called_whole(call(TEXT), call("{}")), [*ONE, ("run", {})]),
    "noindex": (called(call(TEXT)), ONE),
    "holes": (called_whole(None, call(TEXT)), ONE),
    "no-list": (events(delta(tool_calls=call(TEXT, index=0)), END), ONE),
    "parameters-whole": (called_whole(under("parameters")), ONE),
    "parameters": (called(under("parameters", index=0)), ONE),
    "input-whole": (called_whole(under("input", arguments=None)), ONE),
    "parameters-pieces": (
        called(
            *[
                {"index": 0, "function": {"name": name, "parameters": text}}
                for name, text in (("run", TEXT[:5]), (None, TEXT[5:]))
            ]
        ),
        ONE,
    ),
    "beside": (called_whole({"function": {"name": "run"}, "arguments": OBJECT}), ONE),
    "flat-whole": (called_whole(FLAT), ONE),
    "flat": (called({**FLAT, "arguments": TEXT[:5]}, {"arguments": TEXT[5:]}), ONE),
    "argsdict-pieces": (called(*[call(piece, index=0) for piece in PIECES]), ONE),
    "argsdict-after-empty": (called(call("", index=0), call(OBJECT, index=0, name=None)), ONE),
    "legacy": (events(*[delta(function_call=part) for part in LEGACY], END), ONE),
    "legacy-whole": (whole(function_call={"name": "run", "arguments": TEXT}), ONE),
    "legacy-beside": (whole(function_call=LEGACY[0], tool_calls=[call(TEXT)]), ONE),
}


@pytest.mark.parametrize("mode", CALLS)
def test_calls_are_read_in_every_form_that_servers_send(mode: str) -> None:
    answer, expected = CALLS[mode]
    with serving(answer) as endpoint:
        calls = chat_with(endpoint, retries=0).ask(ASKED, lambda reply: reply.tool_calls)
    assert [(one["name"], one["args"]) for one in calls] == expected
    ids = [one["id"] for one in calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


NO_OBJECTS = {
    "argslist": '["x"]',
    "argsnumber": "7",
    "argstext": '"x"',
    "argstrue": "true",
    "argsdouble-list": json.dumps('["x"]'),
    "argslist-raw": ["x"],
}
LOST: dict[str, list[dict[str, object]]] = {
    "no-arguments": [{"index": 0, "function": {"name": "run"}}],
    "two-objects": [under("parameters", index=0, input={"seed": 5})],
    "pieces-disagree": [call({"seed": seed}, index=0) for seed in (4, 5)],
    "text-and-object": [call('{"source', index=0), call({"seed": 4}, index=0, name=None)],
}


@pytest.mark.parametrize("mode", LOST)
def test_a_call_whose_arguments_are_not_to_be_found_does_not_run_with_none(mode: str) -> None:
    with serving(called(*LOST[mode])) as endpoint:
        reply = chat_with(endpoint, retries=0).ask(ASKED, lambda reply: reply)
    assert reply.tool_calls == []
    assert [one["name"] for one in reply.invalid_tool_calls] == ["run"]


@pytest.mark.parametrize("form", [called, called_whole])
@pytest.mark.parametrize("mode", NO_OBJECTS)
def test_arguments_that_are_no_object_are_told_to_the_model(
    mode: str, form: Callable[..., Answer]
) -> None:
    wrong = form(call(NO_OBJECTS[mode], index=0))
    with serving(wrong, message(json.dumps(GOOD))) as endpoint:
        model = chat_with(endpoint, reply_method="function_calling")
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        told = endpoint.requests[1]["messages"][-1]["content"]
    assert "could not be used" in told
    assert "arguments" in told


WORDS = "Insufficient credits, buy more"
ERRORS = {
    "errfield": events(f'error: {{"code": 500, "message": "{WORDS}"}}'),
    "errevent": events(f'event: error\ndata: {{"code": 500, "message": "{WORDS}"}}'),
    "errdata": events({"error": {"message": WORDS}}),
    "errtext": events({"error": WORDS}),
    "errobject": events({"object": "error", "message": WORDS, "code": 500}),
    "rawerr": events(delta(content="th"), json.dumps({"error": {"message": WORDS}}), done=False),
    "errlate": events(delta(content="well"), END, {"error": {"message": WORDS}}),
    "errchoice": events({"choices": [{"delta": {}, "error": {"message": WORDS}}]}),
    "err200": raw({"error": {"message": WORDS, "code": 402}}),
    "errnull200": raw({"error": {"message": WORDS}, "choices": None}),
    "detail200": raw({"detail": WORDS}),
    "errtext200": raw({"error": WORDS}),
    "message200": raw({"object": "error", "message": WORDS}),
    "errevents200": raw({"error": {"message": WORDS}}, "text/event-stream"),
    "words-as-data": events(delta(content="th"), f"data: {WORDS}"),
    "words-as-json": events(f"data: {json.dumps(WORDS)}"),
    "words-between": events(delta(content="th"), WORDS, done=False),
    "errlist": events([{"error": {"message": WORDS}}]),
    "errelsewhere200": raw({"choices": None, "base_resp": {"status_msg": WORDS}}),
    "page200": Answer(f"<style>p {{}}</style><h1>{WORDS}</h1>".encode(), content_type="text/html"),
}


@pytest.mark.parametrize("mode", ERRORS)
def test_an_error_in_the_place_of_an_answer_is_an_error_with_the_servers_words(mode: str) -> None:
    with serving(ERRORS[mode]) as endpoint, pytest.raises(EndpointError, match=WORDS):
        chat_with(endpoint, retries=1).ask(ASKED, text_of)


@pytest.mark.parametrize("reason", ["error", "content_filter", "abort", "network_error"])
def test_a_reply_that_the_server_broke_off_is_no_answer(reason: str) -> None:
    """OpenRouter, Azure, vLLM and Z.ai end a stream so, after whatever words came before."""
    with (
        serving(events(delta(content="th"), delta(finish=reason))) as endpoint,
        pytest.raises(EndpointError, match=f"after 'th': {reason}"),
    ):
        chat_with(endpoint, retries=0).ask(ASKED, text_of)


PAGE = f"<style>p {{}}</style><h1>{WORDS}</h1>"
BODIES = ({"error": WORDS}, [{"error": {"message": WORDS}}], {"x": {"msg": WORDS}}, PAGE, WORDS)


@pytest.mark.parametrize(("status", "requests"), [(402, 1), (404, 1), (413, 1), (500, 2), (524, 2)])
@pytest.mark.parametrize("body", BODIES)
def test_a_failure_is_told_in_the_servers_words_and_asked_again_where_it_may_pass(
    body: object, status: int, requests: int
) -> None:
    """Of the 400s the OpenAI client repeats 408, 409 and 429 alone."""
    said = body if isinstance(body, str) else json.dumps(body)
    with serving(Answer(said.encode(), status=status)) as endpoint:
        with pytest.raises(ModelError, match=WORDS) as told:
            chat_with(endpoint, retries=1).ask(ASKED, text_of)
        assert len(endpoint.requests) == requests
    assert "<" not in str(told.value)


def test_a_prompt_beyond_the_context_ends_the_call_whatever_the_status() -> None:
    full = error(500, "This exceeds the context window")
    with serving(full) as endpoint, pytest.raises(ModelError, match="exceeds the context window"):
        chat_with(endpoint, retries=3).ask(ASKED, text_of)
    assert len(endpoint.requests) == 1


def test_no_content_is_no_answer() -> None:
    with (
        serving(Answer(b"", status=204)) as endpoint,
        pytest.raises(EndpointError, match="0 bytes"),
    ):
        chat_with(endpoint, retries=0).ask(ASKED, text_of)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "SSL_CERT_FILE"])
def test_a_proxy_or_certificates_that_cannot_be_are_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates.cache_clear()
    monkeypatch.setenv(name, "socks9://nowhere")
    with pytest.raises(SettingsError, match="nothing can be sent .*PROXY"):
        chat_with(base_url="http://models.example/v1")


@pytest.mark.parametrize("status", [307, 308])
def test_a_request_follows_the_server_to_another_path(status: int) -> None:
    """Method and body are kept (RFC 9110, 15.4.8)."""
    moved = Answer(b"", status=status, headers={"Location": "/gateway/v1/chat/completions"})
    with serving(moved, message("well")) as endpoint:
        assert chat_with(endpoint, retries=0).ask(ASKED, text_of) == "well"
        assert endpoint.requests[0] == endpoint.requests[1]


@pytest.mark.parametrize(
    ("status", "where"),
    [(302, "/login"), (303, "x"), (308, "http://[::1/"), (307, "completions"), (308, "OTHER")],
)
def test_a_request_that_is_sent_elsewhere_ends_at_once(status: int, where: str) -> None:
    """The key goes to no other origin; what is sent to itself is sent to nowhere."""
    with serving(message("well")) as other:
        moved = Answer(b"", status=status, headers={"Location": where.replace("OTHER", other.url)})
        with serving(moved) as endpoint, pytest.raises(ModelError, match="OPENAI_BASE_URL"):
            chat_with(endpoint, retries=3).ask(ASKED, text_of)
        assert (len(endpoint.requests), other.requests) == (1, [])


def test_a_stream_that_holds_no_choice_is_no_empty_answer() -> None:
    with serving(events()) as endpoint, pytest.raises(EndpointError, match="broke off"):
        chat_with(endpoint, retries=0).ask(ASKED, text_of)


Refuses = Callable[[Request], bool]
REFUSED: dict[str, tuple[Refuses, str]] = {
    "stream": (lambda asked: bool(asked.get("stream")), "streaming is not supported"),
    "temperature": (lambda asked: "temperature" in asked, "temperature must not be set"),
    "system": (
        lambda asked: any(said["role"] == "system" for said in asked["messages"]),
        "System role not supported",
    ),
    "tool_choice": (lambda asked: "tool_choice" in asked, "tool_choice is not supported"),
}
RULES = [{"role": "system", "content": "You win tricks."}, *ASKED]


@pytest.mark.parametrize("form", REFUSED)
@pytest.mark.parametrize(("status", "named"), [(400, True), (422, True), (500, True), (500, False)])
def test_a_refused_form_is_followed_by_the_next_once_and_remembered(
    form: str, status: int, *, named: bool
) -> None:
    """A server that says 500 without words may be out of order: the same is asked again first."""
    refuses, words = REFUSED[form]

    def strict(asked: Request) -> Answer:
        if refuses(asked):
            return error(status, words if named else "Internal Server Error")
        return message("well")

    tool = {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
    options: Any = {"tools": [tool], "tool_choice": "required"} if form == "tool_choice" else {}
    with serving(strict) as endpoint:
        model = chat_with(endpoint, temperature=0.5, retries=4)
        assert model.ask(RULES, text_of, **options) == "well"
        before = len(endpoint.requests)
        assert model.of_role("coder").ask(RULES, text_of, **options) == "well"
        assert len(endpoint.requests) == before + 1
        last = endpoint.requests[-1]["messages"]
    assert not named or before == 2
    if form == "system":
        assert [said["role"] for said in last] == ["user"]
        assert last[0]["content"].startswith("You win tricks.")
        assert last[0]["content"].endswith("What wins?")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, "response_format is not supported"),
        (500, "Internal Server Error"),
        (404, "No endpoints found that support structured outputs"),
    ],
)
def test_a_schema_at_which_the_server_fails_is_followed_by_a_call(
    status: int, words: str, tmp_path: Path
) -> None:
    def strict(asked: Request) -> Answer:
        if "response_format" in asked:
            return error(status, words)
        return message(calls=[("Trump", json.dumps(GOOD))], finish="tool_calls")

    path = tmp_path / "recording.json"
    with serving(strict) as endpoint:
        model = chat_with(endpoint, record=path)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        before = len(endpoint.requests)
        assert ask_structured(model, ASKED, Trump, accept) == "spades"
        assert len(endpoint.requests) == before + 1
    again = build_chat(settings_for(replay=path), sleep=Sleeper())
    assert ask_structured(again, ASKED, Trump, accept) == "spades"


def test_turns_alternate_where_the_models_template_has_no_others() -> None:
    """Such templates have user and assistant in turns, after a system message or without one."""

    def strict(asked: Request) -> Answer:
        roles = [said["role"] for said in asked["messages"]]
        if roles != ["user", "assistant", "user"][: len(roles)]:
            return error(400, "Conversation roles must alternate user/assistant/user/assistant/...")
        return message("well")

    with serving(strict) as endpoint:
        said = chat_with(endpoint, retries=0).ask([*RULES, *RULES], text_of)
        (turn,) = endpoint.requests[-1]["messages"]
    assert said == "well"
    assert turn["content"] == "\n\n".join([RULES[0]["content"]] * 2 + [ASKED[0]["content"]] * 2)


def test_a_server_that_fails_at_everything_is_an_endpoint_error() -> None:
    with serving(error(500, "out of order")) as endpoint, pytest.raises(EndpointError):
        ask_structured(chat_with(endpoint), ASKED, Trump, accept)


MODULE = "GAME = {}\n\ndef initial_state():\n    return {}\n"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\n```python\nx = 1\n```\n</think>\n```python\n{MODULE}```",
        f"<think>\n```python\nx = 1\nso I think</think>\n```python\n{MODULE}```",
        f"Hm.\n```python\nx = 1\n```\n</think>\n\n```python\n{MODULE}```",
    ],
)
def test_what_a_thought_holds_is_no_code(text: str) -> None:
    with serving(message(text)) as endpoint:
        assert chat_with(endpoint, retries=0).ask(ASKED, read_module) == MODULE


@pytest.mark.parametrize("end", ["", "</think>"])
def test_a_thought_alone_holds_no_code(end: str) -> None:
    with (
        serving(message(f"<think>\n```python\n{MODULE}```\n{end}")) as endpoint,
        pytest.raises(ModelError, match="0 closed blocks"),
    ):
        chat_with(endpoint, retries=0).ask(ASKED, read_module)


ESCAPED = KEY.replace("s", "\\u0073")
CODED = (
    "".join(f"%{ord(sign):02X}" for sign in KEY),
    "".join(f"&#{ord(sign)};" for sign in KEY),
    "".join(f"&#x{ord(sign):x};" for sign in KEY),
    b64encode(KEY.encode()).decode(),
)
KEYS = {
    **{code: Answer(f"bad {code}".encode(), status=401) for code in CODED},
    "moved": Answer(b"", status=302, headers={"Location": f"/login?key={KEY}"}),
    "plain": message(f"the key is {KEY}, use it"),
    "escaped": Answer(message("the key is K").body.replace(b"K", ESCAPED.encode())),
    "whole": whole(content=f"the key is {KEY}"),
    "cut-in-two": events(delta(content=KEY[:6]), delta(content=KEY[6:]), END),
    "arguments": message(calls=[("run", json.dumps({"source": ESCAPED}))]),
    "json-in-text": message(f'{{"suit": "{ESCAPED}"}}'),
    "refusal": whole(content=None, refusal=KEY),
    "401": Answer(b'{"error": {"message": "bad %s"}}' % ESCAPED.encode(), status=401),
    "500-text": Answer(b"bad %s" % KEY.encode(), status=500, content_type="text/plain"),
}


@pytest.mark.parametrize("mode", KEYS)
def test_the_key_is_removed_from_every_answer_however_it_is_spelled(
    mode: str, tmp_path: Path
) -> None:
    path = tmp_path / "recording.json"
    with serving(KEYS[mode]) as endpoint:
        model = chat_with(endpoint, record=path, retries=0)
        try:
            reply = model.ask(ASKED, lambda said: said)
            told = f"{reply.text} {reply.tool_calls} {reply.additional_kwargs}"
        except ModelError as refused:
            told = str(refused)
    kept = path.read_text()
    assert not any(code in kept + told for code in CODED)
    for _ in range(3):  # as often as JSON may stand in JSON
        assert KEY not in kept
        kept = kept.replace("\\\\", "\\").replace("\\u0073", "s")
    assert KEY not in told
    assert ESCAPED not in told


@pytest.mark.parametrize(
    "reply",
    [
        whole(content="x" * (LIMIT + 1)),
        events(*[delta(content="x" * 1000)] * (LIMIT // 1000 + 2), END),
        stream(b": nothing\n" * (LIMIT // 10 + 2)),
    ],
)
def test_a_reply_of_more_than_a_mebibyte_is_refused_and_not_kept(
    reply: Answer, tmp_path: Path
) -> None:
    path = tmp_path / "recording.json"
    with serving(reply) as endpoint, pytest.raises(EndpointError):
        chat_with(endpoint, retries=0, record=path).ask(ASKED, text_of)
    assert not path.exists() or path.stat().st_size < LIMIT


def test_a_long_reply_within_the_bound_is_read_and_its_tokens_are_believed_within_reason() -> None:
    """No token of a model is longer than eight characters on the average."""
    text = "word " * (LIMIT // 10)
    with serving(message(text, usage=(100, 1))) as endpoint:
        model = chat_with(endpoint, retries=0)
        assert model.ask(ASKED, text_of) == text
    assert model.budget.usage.tokens_out >= len(text) // 8
