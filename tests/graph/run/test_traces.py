"""Traces: every node and call in `trace.jsonl`; to LangSmith only with a key, and never waiting."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agents.composer import composer_roles
from app.calls import calls_of, found_in
from graph.run.folder import RunFolder, RunFolderError
from graph.run.traces import Span, langsmith_configured, read_spans, tracing
from tests.agents.model.endpoint import Answer, Request, as_json, message, serving
from tests.agents.roles.games import high_draw
from tests.graph.answering import PROMPT, answer, schema_of
from tests.graph.conftest import MakeContext
from tests.graph.new.test_model_run import CALLS, model_context
from tests.graph.running import resume_run, start_run
from tests.graph.scripted import ScriptedRoles, role_set
from tests.processes import PATIENCE_S

ROOT = Path(__file__).parents[3]


def named(spans: list[Span], prefix: str) -> list[Span]:
    """The spans with such a name, wherever they hang."""
    found = []
    for span in spans:
        found += [span] if span.name.startswith(prefix) else []
        found += named(span.children, prefix)
    return found


def test_every_node_has_its_time_and_every_call_its_prompt_and_tokens(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with serving(answer) as endpoint:
        start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
    (root,) = read_spans(folder.trace)
    assert root.name == "rulewright"
    nodes = ["intake", "design", "code", "check", "strategize", "evaluate", "report"]
    assert [span.name for span in root.children] == nodes
    assert all(span.seconds is not None and span.seconds >= 0 for span in root.children)
    calls = named([root], "model ")
    assert [call.run_type for call in calls] == ["llm"] * CALLS
    tokens = [call.tokens or 0 for call in calls]
    assert (tokens[0], min(tokens)) == (120, 120)  # a long reply has more than the server says
    places = ["intake/clarify", "design", "code/draft", "check/0/tests", "check/0/record/0"]
    assert [call.name for call in calls[:5]] == [f"model {p}" for p in places]
    assert {call.name.split("/")[0] for call in calls[5:]} == {"model strategize"}
    assert PROMPT in json.dumps(calls[0].inputs)
    assert "High Draw" in json.dumps(calls[1].outputs)
    assert named([root.children[1]], "model ") == [calls[1]]


def test_each_call_is_told_with_its_role_tools_results_edits_and_what_was_found(
    make_context: MakeContext, folder: RunFolder
) -> None:
    """The first draft lacks a function; one edit gives it back."""
    drafts = [
        message(calls=[("run_module", json.dumps({"source": "x=1"}))], finish="tool_calls"),
        message(f"Here:\n```python\n{high_draw().replace('def get_events', 'def events')}```\n"),
    ]
    edit = {"search": "def events", "replace": "def get_events"}

    def step(request: Request) -> Answer:
        if "Checks found faults" in json.dumps(request["messages"][0]):
            return as_json({"cause": "a wrong name", "contested": [], "edits": [edit]})
        return answer(request) if schema_of(request) or not drafts else drafts.pop(0)

    with serving(step) as endpoint:
        start_run(PROMPT, folder, model_context(make_context, endpoint, folder))
    roots = read_spans(folder.trace)
    calls = list(calls_of(roots).values())
    assert [(call.role, call.place) for call in calls[:5]] == [
        ("designer", "intake/clarify"), ("designer", "design"), ("coder", "code/draft"),
        ("coder", "code/draft"), ("coder", "refine/1"),
    ]  # fmt: skip
    assert "title: High Draw" in calls[1].gist
    ((asked, result),) = calls[2].tools
    assert asked == "run_module(source: x=1)"
    assert "the module does not define initial_state" in result
    assert re.fullmatch(r"Here: \(\d+ lines of code\)", calls[3].gist)
    assert "cause: a wrong name" in calls[4].gist
    assert calls[4].edits == ("@@ -1 +1 @@\n-def events\n+def get_events",)
    assert (calls[4].tokens_in, calls[4].tokens_out) == (100, 20)
    found = [line for lines in found_in(roots).values() for line in lines]
    assert "definitions: failed, in get_events: the module does not define get_events" in found


ODD: list[object] = [None, 7, "x", [], {}, [[1]], {"kwargs": [None]}, [{"content": 3, "type": []}]]


@pytest.mark.parametrize("odd", ODD)
def test_a_trace_of_other_values_is_shown_without_them(folder: RunFolder, odd: object) -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    rows: list[dict[str, object]] = [
        {"event": "start", "id": "a", "name": "model x", "run_type": "llm", "inputs": odd},
        {"event": "start", "id": "b", "parent_run_id": "a", "name": odd, "metadata": odd},
        {"event": "end", "id": "a", "outputs": {"tool_calls": odd, "content": odd}, "error": odd},
        {"event": "end", "id": "b", "outputs": [odd, deep, {"check": odd, "outcome": odd}]},
        {"event": "end", "id": "b", "outputs": {"check": odd, "outcome": odd, "evidence": odd}},
    ]
    edits = json.dumps({"edits": [{"search": odd, "replace": "x"}, odd], "tests": odd})
    said = {"content": edits, "tool_calls": [{"name": odd, "args": odd, "id": odd}]}
    said["usage_metadata"] = odd  # type: ignore[assignment]
    rows.append({"event": "start", "id": "c", "run_type": "llm", "outputs": said, "metadata": odd})
    rows.append({"event": "end", "id": "c", "outputs": said})
    folder.trace.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roots = read_spans(folder.trace)
    assert len(calls_of(roots)) == 2
    assert set(found_in(roots)) == {"b"}
    assert json.loads(json.dumps([root.as_dict() for root in roots]))


def test_a_failed_call_is_told_by_its_message_alone(folder: RunFolder) -> None:
    said = "APIConnectionError('refused')Traceback (most recent call last):\n  File x.py, line 9"
    start = {"event": "start", "id": "a", "name": "model x", "run_type": "llm"}
    rows = [json.dumps(start), json.dumps({"event": "end", "id": "a", "error": said})]
    folder.trace.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (call,) = calls_of(read_spans(folder.trace)).values()
    assert call.error == "APIConnectionError('refused')"


def test_checks_and_series_are_spans_of_their_nodes_and_matches_are_not(
    make_context: MakeContext, folder: RunFolder
) -> None:
    start_run("tic tac toe for two players", folder, make_context(composer_roles()))
    (root,) = read_spans(folder.trace)
    tools = {
        node.name: [span.name for span in node.children if span.run_type == "tool"]
        for node in root.children
    }
    assert tools["check"] == ["checks"]
    played = ["random", "alone-uct-6"]
    assert tools["evaluate"] == [*(f"series {name}" for name in played), "skill ladder"]
    (random,) = named([root], "series random")
    assert random.outputs["finished"] == 6


def test_a_run_has_its_name_tags_and_metadata(make_context: MakeContext, folder: RunFolder) -> None:
    start_run("noughts", folder, make_context())
    first = json.loads(folder.trace.read_text().splitlines()[0])
    assert first["name"] == "rulewright"
    assert {"rulewright", "scripted"} <= set(first["tags"])
    assert (first["metadata"]["seed"], first["metadata"]["run"]) == (3, "run")


class Breaking(ScriptedRoles):
    def draft(self, *_: object) -> str:
        raise KeyboardInterrupt


def test_a_trace_that_a_kill_has_cut_is_readable_and_goes_on(
    make_context: MakeContext, folder: RunFolder
) -> None:
    with pytest.raises(KeyboardInterrupt):
        start_run("noughts", folder, make_context(role_set(Breaking())))
    whole = folder.trace.read_text()
    folder.trace.write_text(whole[: whole.rindex("\n", 0, -1) + 30])
    (cut,) = read_spans(folder.trace)
    assert cut.seconds is None
    resume_run(folder, make_context())
    first, second = read_spans(folder.trace)
    assert first.id == cut.id
    assert second.children[-1].name == "report"


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(folder: RunFolder) -> None:
    folder.trace.write_text('{"event": "start"\n{"event": "end", "id": 1}\n')
    with pytest.raises(RunFolderError, match="line 1 is not JSON"):
        read_spans(folder.trace)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xff\xfe\x00", "byte 0 is no UTF-8"), (b'{"id": 1}\n[]\n{}\n', "line 2 is no JSON object")],
)
def test_a_damaged_trace_is_an_error_that_says_what_to_do(
    folder: RunFolder, content: bytes, words: str
) -> None:
    folder.trace.write_bytes(content)
    with pytest.raises(RunFolderError, match=f"{words}.*delete"):
        read_spans(folder.trace)


@pytest.mark.parametrize(
    ("key", "switch", "remote"),
    [("lsv2", None, True), ("lsv2", "false", False), (None, "true", False), ("", None, False)],
)
def test_langsmith_takes_a_key_and_no_switch_against_it(
    monkeypatch: pytest.MonkeyPatch, key: str | None, switch: str | None, *, remote: bool
) -> None:
    for name, value in (("LANGSMITH_API_KEY", key), ("LANGSMITH_TRACING", switch)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert langsmith_configured() is remote


def test_a_switch_that_is_neither_on_nor_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "maybe")
    with pytest.raises(RunFolderError, match="'maybe'; required: true or 1 or on or false"):
        langsmith_configured()


TRACED = """
import sys
from pathlib import Path
from langchain_core.runnables import RunnableLambda
from langsmith import trace
from agents.model.transport import forbid_network
from graph.run.traces import tracing

forbid_network()

def play(x):
    with trace("series random", run_type="tool", inputs={"matches": x}):
        return x

with tracing(Path(sys.argv[1])):
    RunnableLambda(play).invoke(4, {"run_name": "rulewright", "tags": ["composer"]})
print("done")
"""


def trace_elsewhere(url: str, path: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    """Trace a run of two spans in a process of its own that is told of a LangSmith endpoint."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("LANGSMITH")}
    environment |= {"LANGSMITH_ENDPOINT": url, **more}
    return subprocess.run(
        [sys.executable, "-c", TRACED, str(path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@contextmanager
def receiving() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """A loopback server that takes everything: its address, and (path, key, body) of each post."""
    taken: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            del format, args

        def do_GET(self) -> None:
            self.reply()

        def do_POST(self) -> None:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                body = self.rfile.read(int(self.headers["Content-Length"]))
            taken.append((self.path, self.headers.get("x-api-key", ""), body))
            self.reply()

        def do_PATCH(self) -> None:
            self.do_POST()

        def reply(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", taken
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_with_a_key_the_same_spans_go_to_the_named_endpoint_and_to_the_file(tmp_path: Path) -> None:
    # Proves where the calls go; the service itself was never asked.
    with receiving() as (url, taken):
        done = trace_elsewhere(url, tmp_path / "trace.jsonl", LANGSMITH_API_KEY="lsv2-key")
    assert done.stdout == "done\n", done.stderr
    assert {key for _, key, _ in taken} == {"lsv2-key"}
    assert all("/runs" in path for path, _, _ in taken)
    (root,) = read_spans(tmp_path / "trace.jsonl")
    assert [root.name, root.children[0].name] == ["rulewright", "series random"]
    sent = b"".join(body for _, _, body in taken)
    assert all(f'"{span.id}"'.encode() in sent for span in (root, *root.children))


def test_without_a_key_nothing_is_sent_and_the_same_spans_are_in_the_file(tmp_path: Path) -> None:
    with receiving() as (url, taken):
        done = trace_elsewhere(url, tmp_path / "trace.jsonl", LANGSMITH_TRACING="true")
    assert done.stdout == "done\n", done.stderr
    assert taken == []
    (root,) = read_spans(tmp_path / "trace.jsonl")
    assert [root.name, root.children[0].name] == ["rulewright", "series random"]


def test_an_endpoint_that_never_answers_does_not_keep_the_process(tmp_path: Path) -> None:
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen(64)
        url = f"http://127.0.0.1:{hole.getsockname()[1]}"
        done = trace_elsewhere(url, tmp_path / "trace.jsonl", LANGSMITH_API_KEY="lsv2-key")
    assert done.stdout == "done\n", done.stderr
    assert "LANGSMITH_ENDPOINT" in done.stderr


def test_a_span_holds_no_more_than_a_file_should(tmp_path: Path) -> None:
    from langsmith import trace

    with (
        tracing(tmp_path / "trace.jsonl"),
        trace("large", inputs={"odd": object(), "text": Path("x" * 50_000)}),
    ):
        pass
    (span,) = read_spans(tmp_path / "trace.jsonl")
    assert len(json.dumps(span.inputs)) < 21_000


@pytest.mark.parametrize(
    "times", [(1, 2), ("2026-01-01T00:00:00", "2026-01-01T00:00:01+00:00"), ("soon", None)]
)
def test_times_that_somebody_edited_are_read_or_left_out(
    tmp_path: Path, times: tuple[object, object]
) -> None:
    rows = [
        {"event": "start", "id": "a", "name": "x", "start_time": times[0], "parent_run_id": "b"},
        {"event": "start", "id": "b", "name": "y", "start_time": "2026-01-01T00:00:00"},
        {"event": "end", "id": "a", "end_time": times[1]},
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (root,) = read_spans(path)
    assert [child.seconds for child in root.children] == [
        1.0 if times[1] and times[0] != 1 else None
    ]


def test_spans_nested_without_end_are_shown_beside_each_other(tmp_path: Path) -> None:
    rows = [
        {"event": "start", "id": str(n), "parent_run_id": str(n - 1), "name": "x"}
        for n in range(3000)
    ]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roots = read_spans(path)
    assert json.dumps([root.as_dict() for root in roots]).count('"name"') == 3000


def test_a_line_nested_too_deeply_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("[" * 200_000 + "\n{}\n", encoding="utf-8")
    with pytest.raises(RunFolderError, match="line 1 is not JSON"):
        read_spans(path)


def test_calls_beside_a_submit_are_not_told_as_left_undone() -> None:
    asked: list[object] = [
        {"name": name, "args": {}, "id": name} for name in ("edit_draft", "submit")
    ]
    reply = {"content": "", "tool_calls": asked}
    ended = Span("a", "model refine/1", "llm", None, None, None, outputs={"reply": reply})
    (call,) = calls_of([ended]).values()
    assert ["submit ended the conversation" in answer for _, answer in call.tools] == [True, True]


def test_a_trace_of_more_spans_than_any_run_leaves_is_refused(folder: RunFolder) -> None:
    line = '{"event": "start", "id": "%d", "name": "n", "run_type": "chain", "inputs": {}}\n'
    folder.trace.write_text("".join(line % number for number in range(60_000)))
    with pytest.raises(RunFolderError, match="more than 50000 spans"):
        read_spans(folder.trace)


def test_a_run_that_a_server_began_says_where_its_trace_is(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"only commands write it.*see Studio, or LangSmith"):
        read_spans(tmp_path / "trace.jsonl")
    with pytest.raises(RunFolderError, match="cannot be read"):
        read_spans(tmp_path)
