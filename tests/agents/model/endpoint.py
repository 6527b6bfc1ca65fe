"""A chat-completions endpoint on the loopback address that answers by a script."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from pydantic import JsonValue

Request: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    head_drip_s: float = 0.0


Step: TypeAlias = Answer | Callable[[Request], Answer]


def message(
    content: str | None = None,
    *,
    calls: Sequence[tuple[str, str]] = (),
    finish: str = "stop",
    usage: tuple[int, int] | None = (100, 20),
) -> Answer:
    """A chat completion; `calls` are (tool, arguments as text)."""
    said: dict[str, JsonValue] = {"role": "assistant", "content": content}
    if calls:
        said["tool_calls"] = [
            {
                "id": f"call_{index}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for index, (name, arguments) in enumerate(calls)
        ]
    value: dict[str, JsonValue] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
    }
    if usage is not None:
        value["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return Answer(json.dumps(value).encode())


def as_json(value: object) -> Answer:
    return message(json.dumps(value))


def error(status: int, text: str = "as scripted", **headers: str) -> Answer:
    body = json.dumps({"error": {"message": text, "type": "error", "code": None}}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, status=status, headers=named)


def events(*values: object, done: bool = True, drip_s: float = 0.0) -> Answer:
    """A stream of such events; texts stand as they are."""
    lines = [v if isinstance(v, str) else f"data: {json.dumps(v)}" for v in values]
    body = "".join(f"{line}\n\n" for line in [*lines, *(["data: [DONE]"] if done else [])])
    return Answer(body.encode(), content_type="text/event-stream", drip_s=drip_s)


def delta(**fields: object) -> dict[str, object]:
    """An event that adds to the reply; `finish` ends it."""
    finish = fields.pop("finish", None)
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def streamed(answer: Answer) -> Answer:
    """The same completion in events: its text in pieces, then its calls, its end and its usage."""
    try:
        value = json.loads(answer.body)
        choice = value["choices"][0]
        said = choice["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return answer  # a broken body stays as it is
    text: str = said.get("content") or ""
    parts: list[dict[str, object]] = [{"role": "assistant"}]
    parts += [{"content": text[at : at + 2000]} for at in range(0, len(text), 2000)]
    parts += [{"refusal": said["refusal"]}] if said.get("refusal") else []
    for index, call in enumerate(said.get("tool_calls") or ()):
        given = call["function"]["arguments"]
        head = {**call, "index": index, "function": {**call["function"], "arguments": given[:5]}}
        parts += [{"tool_calls": [head]}]
        parts += [{"tool_calls": [{"index": index, "function": {"arguments": given[5:]}}]}]
    ends = [delta(finish=choice.get("finish_reason")), {"choices": [], "usage": value.get("usage")}]
    made = events(*[delta(**part) for part in parts], *ends)
    return replace(answer, body=made.body, content_type=made.content_type)


def pieces(answer: Answer, pause_s: float) -> list[bytes]:
    """What is written at once of an answer."""
    if answer.drip_s:
        return [bytes([byte]) for byte in answer.body]
    return answer.body.splitlines(keepends=True) if pause_s else [answer.body]


class Endpoint:
    """Serves `script` step by step, its last step for ever, and keeps what it was asked.

    Completions are streamed where that is asked for, as servers do.
    """

    def __init__(self, script: Sequence[Step]) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self.pause_s = 0.0  # before each event of a stream
        self.linger_s = 0.0  # after the answer, with the connection open
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_answer(self, request: Request) -> Answer:
        with self._lock:
            step = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(request)
        answer = step if isinstance(step, Answer) else step(request)
        is_whole = answer.status == 200 and answer.content_type == "application/json"
        return streamed(answer) if request.get("stream") and is_whole else answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def setup(self) -> None:
                self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                super().setup()

            def log_message(self, format: str, *args: object) -> None:
                del format, args

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                answer = endpoint.next_answer(json.loads(raw))
                time.sleep(answer.delay_s)
                try:
                    self._send(answer)
                except OSError:
                    self.close_connection = True  # the client gave up, as some tests intend

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                if not endpoint.linger_s:
                    self.send_header("Content-Length", str(len(answer.body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                    if answer.head_drip_s:
                        time.sleep(answer.head_drip_s)
                        self.flush_headers()
                self.end_headers()
                wait_s = answer.drip_s or endpoint.pause_s / 2  # an event is a line and a blank one
                for piece in pieces(answer, endpoint.pause_s):
                    time.sleep(wait_s)
                    self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(endpoint.linger_s)

        return Handler

    def run(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(*script: Step) -> Iterator[Endpoint]:
    endpoint = Endpoint(script)
    thread = threading.Thread(target=endpoint.run, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.stop()
        thread.join()
