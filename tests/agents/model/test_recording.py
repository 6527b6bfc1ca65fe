import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import JsonValue

from agents.model.budget import budget_of
from agents.model.chat import build_chat
from agents.model.errors import EndpointError, RecordingError, ReplayMissError
from agents.model.recording import UNPLACED, Exchange, Recording, current_place, place, request_key
from agents.model.replies import ask_structured
from agents.model.settings import ModelSettings
from graph.new.opening import open_model
from tests.agents.model.endpoint import Answer, Request, error, message, serving
from tests.agents.model.talking import ASKED, Sleeper, chat_with, settings_for, text_of
from tests.agents.model.test_replies import Trump


def replaying(path: Path) -> ModelSettings:
    return settings_for(replay=path, base_url="http://127.0.0.1:9/other/path")


def echo(request: Request) -> Answer:
    return message(f"answer to {request['messages'][-1]['content']}")


def test_a_recorded_run_replays_without_a_server_and_with_the_same_usage(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    with serving(echo) as endpoint:
        model = build_chat(settings_for(endpoint, record=path), label="answered by a script")
        with place("design"):
            said = model.ask(ASKED, text_of)
    again = build_chat(replaying(path))
    with place("design"):
        assert again.ask(ASKED, text_of) == said == "answer to What wins?"
    assert again.budget.usage.tokens_in == model.budget.usage.tokens_in == 100
    assert Recording.load(path).label == "answered by a script"


def test_faults_and_retries_replay_too_and_nobody_waits(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    with serving(error(429, retry_after="20"), Answer(b"<html>"), echo) as endpoint:
        chat_with(endpoint, record=path).ask(ASKED, text_of)
    sleeper = Sleeper()
    model = build_chat(replaying(path), sleep=sleeper)
    assert model.ask(ASKED, text_of) == "answer to What wins?"
    assert (model.budget.usage.calls, model.budget.usage.failed_calls) == (3, 2)
    assert sleeper.waits == []


def test_the_file_holds_no_key_and_no_header_of_the_request(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    blabbing = Answer(b'{"error": {"message": "bad key sk-very-secret"}}', status=500)
    with serving(blabbing, message("well")) as endpoint:
        chat_with(endpoint, record=path).ask(ASKED, text_of)
    text = path.read_text()
    assert "sk-very-secret" not in text
    assert "authorization" not in text.lower()
    assert set(json.loads(text)["exchanges"][0]) <= set(Exchange.model_fields)


def test_a_key_of_one_letter_does_not_change_what_the_model_said(tmp_path: Path) -> None:
    with serving(message("six of spades")) as endpoint:
        model = chat_with(endpoint, record=tmp_path / "recording.json", api_key="x")
        assert model.ask(ASKED, text_of) == "six of spades"


def test_replay_goes_by_place_not_by_order_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    counter = iter(range(100))
    with serving(lambda _: message(f"number {next(counter)}")) as endpoint:
        model = chat_with(endpoint, record=path)
        said = {}
        for index in range(6):
            with place(f"check/{index}"):
                said[index] = model.ask(ASKED, text_of)
    replayed = build_chat(replaying(path))

    def ask(index: int) -> tuple[int, str]:
        with place(f"check/{index}"):
            return index, replayed.ask(ASKED, text_of)

    with ThreadPoolExecutor(4) as pool:
        assert dict(pool.map(ask, reversed(range(6)))) == said


def test_equal_requests_at_one_place_are_answered_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    with serving(message("first"), message("second")) as endpoint:
        model = chat_with(endpoint, record=path)
        assert [model.ask(ASKED, text_of) for _ in range(2)] == ["first", "second"]
    again = build_chat(replaying(path))
    assert [again.ask(ASKED, text_of) for _ in range(2)] == ["first", "second"]
    with pytest.raises(ReplayMissError, match="recorded fewer times"):
        again.ask(ASKED, text_of)


def test_a_miss_raises_at_once_and_names_the_nearest_place_and_the_difference(
    tmp_path: Path,
) -> None:
    path = tmp_path / "recording.json"
    with serving(echo) as endpoint:
        model = chat_with(endpoint, record=path)
        for where in ("code/draft", "check/0/tests"):
            with place(where):
                model.ask(ASKED, text_of)
    again = build_chat(replaying(path))
    other = [{"role": "user", "content": "What loses?"}]
    with place("code/drafts"), pytest.raises(ReplayMissError) as caught:
        again.ask(other, text_of)
    assert "'code/draft'" in str(caught.value)
    assert "What loses?" in str(caught.value)
    assert "What wins?" in str(caught.value)
    assert again.budget.usage.calls == 1


def test_a_continued_recording_answers_what_it_holds_before_it_asks(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    other = [{"role": "user", "content": "And then?"}]
    with serving(echo) as endpoint:
        chat_with(endpoint, record=path).ask(ASKED, text_of)
        resumed = chat_with(endpoint, record=path)
        resumed.ask(ASKED, text_of)
        assert len(endpoint.requests) == 1
        resumed.ask(other, text_of)
        assert len(endpoint.requests) == 2
    assert len(Recording.load(path).exchanges) == 2


def test_a_resumed_run_counts_what_was_spent_before_and_counts_it_once(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    replies = error(500), message('{"question": null, "assumptions": []}'), echo
    with serving(*replies) as endpoint:
        build_chat(settings_for(endpoint, record=path), sleep=Sleeper()).ask(ASKED, text_of)
        _, budget = open_model(settings_for(endpoint), path)
        before = budget.usage
        resumed = build_chat(settings_for(endpoint, record=path), budget=budget, sleep=Sleeper())
        resumed.ask(ASKED, text_of)
        assert (budget.usage.calls, budget.usage.tokens_in) == (2, 100)
        resumed.ask([{"role": "user", "content": "And then?"}], text_of)
    spent = (before.calls, before.failed_calls, before.tokens_in, before.tokens_out)
    assert spent == (2, 1, 100, 20)
    assert (budget.usage.calls, budget.usage.tokens_in) == (3, 200)


def test_retrieved_text_is_no_part_of_the_key_but_everything_else_is() -> None:
    def request(system: str, user: str) -> dict[str, JsonValue]:
        return {"body": {"messages": [{"content": system}, {"content": user}]}}

    told = "Text between <retrieved> tags is material."
    one = request(told, "a design\n<retrieved>\nold text\n</retrieved>\nwrite")
    two = request(told, "a design\n<retrieved>\nnew and longer\ntext\n</retrieved>\nwrite")
    assert request_key(one) == request_key(two)
    assert request_key(one) != request_key(
        request(told, "b design\n<retrieved>\nold text\n</retrieved>\nwrite")
    )
    assert request_key(one) != request_key(
        request(told + " Obey.", "a design\n<retrieved>\nold text\n</retrieved>\nwrite")
    )


def test_the_key_does_not_depend_on_the_order_of_fields() -> None:
    assert request_key({"a": 1, "b": [1, 2]}) == request_key({"b": [1, 2], "a": 1})
    assert request_key({"a": 1, "b": [1, 2]}) != request_key({"a": 1, "b": [2, 1]})


def test_places_nest_and_are_left_again() -> None:
    assert current_place() == UNPLACED
    with place("code/draft"):
        with place("code/draft/tools"):
            assert current_place() == "code/draft/tools"
        assert current_place() == "code/draft"
    assert current_place() == UNPLACED


@pytest.mark.parametrize("text", ["", "[]", '{"label": "x"}', '{"label": "x", "exchanges": [{}]}'])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recording.json"
    path.write_text(text)
    with pytest.raises(RecordingError, match="is no recording"):
        build_chat(replaying(path))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "recording.json")
    with pytest.raises(RecordingError, match="a pipe, a socket or a device"):
        build_chat(replaying(tmp_path / "recording.json"))


def test_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="cannot read the recording"):
        build_chat(replaying(tmp_path / "none.json"))


def test_a_recording_that_cannot_be_written_stops_the_call(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with (
        serving(echo) as endpoint,
        pytest.raises(RecordingError, match="cannot write the recording"),
    ):
        chat_with(endpoint, record=blocked / "recording.json").ask(ASKED, text_of)


def test_every_request_counts_though_it_got_no_answer_or_none_of_use(tmp_path: Path) -> None:
    """Two to a closed port, then of five three that a strict server answers with no use."""
    path = tmp_path / "recording.json"
    closed = chat_with(base_url="http://127.0.0.1:9/v1", record=path, retries=1)
    with pytest.raises(EndpointError):
        closed.ask(ASKED, text_of)
    assert [one.status for one in Recording.load(path).exchanges] == [0, 0]
    whole = json.dumps({"suit": "spades", "rank": None})

    def strict(request: Request) -> Answer:
        if request.get("stream"):
            return error(400, "'stream' is not supported")
        if len(endpoint.requests) < 4:
            return message("Spades.")
        return message(whole)

    with serving(strict) as endpoint:
        model = build_chat(
            settings_for(endpoint, record=path), budget=budget_of(settings_for(record=path))
        )
        assert ask_structured(model, ASKED, Trump, lambda reply: reply.suit) == "spades"
        assert len(endpoint.requests) == 4
    used = model.budget.usage
    assert (used.calls, used.failed_calls) == (6, 5)
    again = budget_of(settings_for(record=path)).usage  # what a resumed run begins with
    assert (again.calls, again.failed_calls, again.tokens_in) == (6, 5, used.tokens_in)


def test_a_call_that_failed_is_kept_and_answers_nobody_again(tmp_path: Path) -> None:
    path = tmp_path / "exchanges.json"
    recording = Recording(path)
    failed = Exchange(place="design", key="k", request={}, status=503, response="busy")
    other = Exchange(place="code", key="k", request={}, status=200, response={})
    for exchange in (failed, other):
        recording.add(exchange)
    recording.give_up("design", 0)
    continued = Recording.open(path)
    assert len(continued.exchanges) == 2
    assert continued.find("design", "k") is None
    assert continued.find("code", "k") == other
