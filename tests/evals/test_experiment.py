"""A result as an experiment, against a stand-in that speaks LangSmith's published protocol."""

import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from langsmith import Client

from evals.results import EvalError, EvalResult, Score, as_experiment
from graph.run.traces import experiment_client

RESULT = EvalResult(
    name="small",
    scores=(Score(name="games made", value=0.5, at_least=1.0, scored=2),),
    samples=(
        {"prompt": "whist", "wanted": {"family": "trick_taking"}, "made": True, "reason": ""},
        {"prompt": "go", "wanted": {"family": "go"}, "made": False, "checked": None, "reason": "!"},
    ),
    effective={"seed": 3},
)
WHEN = "2026-01-01T00:00:00+00:00"


class Service(ThreadingHTTPServer):
    """Datasets, examples, sessions, runs and feedback, as they were posted."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.kept: dict[str, list[dict[str, Any]]] = {}
        self.unknown: list[str] = []

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return self.kept.setdefault(kind, [])


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        url = urlparse(self.path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        if url.path == "/info":
            return self.reply({"version": "0.1", "instance_flags": {}})
        if url.path == "/datasets":
            named = [d for d in self.server.rows("datasets") if d["name"] == asked.get("name")]
            return self.reply(named)
        if url.path == "/examples":
            skipped = int(asked.get("offset", 0))
            mine = [e for e in self.server.rows("examples") if e["dataset_id"] == asked["dataset"]]
            return self.reply(mine[skipped:])
        if url.path == "/sessions":
            return self.reply(self.server.rows("sessions"))
        if url.path.startswith("/datasets/"):
            return self.reply(self.server.rows("datasets")[0])
        return self.reply({}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        url = urlparse(self.path)
        kind = url.path.strip("/").split("/")[0]
        if self.headers["x-api-key"] != "a key of ours":
            return self.reply({"detail": "no such key"}, 401)
        if kind not in ("datasets", "examples", "sessions", "runs", "feedback"):
            return self.reply({}, 404)
        posted = body if isinstance(body, list) else [body]
        for row in posted:
            row |= {"id": row.get("id") or str(uuid.uuid4()), "created_at": WHEN}
            row |= {"tenant_id": str(uuid.UUID(int=1)), "start_time": row.get("start_time", WHEN)}
            self.server.rows(kind).append(row)
        return self.reply(posted if isinstance(body, list) else posted[0])

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind, name = urlparse(self.path).path.strip("/").split("/")[:2]
        for row in self.server.rows(kind):
            if row["id"] == name:
                row |= {key: value for key, value in body.items() if value is not None}
                return self.reply(row)
        return self.reply({}, 404)

    def reply(self, value: object, status: int = 200) -> None:
        if status != 200:
            self.server.unknown.append(f"{self.command} {self.path}")
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def client_of(service: Service) -> Client:
    url = f"http://127.0.0.1:{service.server_port}"
    return Client(api_url=url, api_key="a key of ours", auto_batch_tracing=False)


def test_a_result_is_uploaded_as_a_dataset_and_an_experiment(service: Service) -> None:
    name = as_experiment(RESULT, client_of(service), upload=True)
    assert not service.unknown
    (dataset,) = service.rows("datasets")
    assert dataset["name"] == "rulewright-small"
    asked = [example["inputs"]["messages"][0]["content"] for example in service.rows("examples")]
    assert asked == ["whist", "go"]
    assert service.rows("examples")[0]["outputs"] == {"family": "trick_taking"}
    (session,) = service.rows("sessions")
    assert session["name"] == name
    assert session["reference_dataset_id"] == dataset["id"]
    assert session["extra"]["metadata"]["seed"] == 3
    ids = {example["id"] for example in service.rows("examples")}
    runs = [run for run in service.rows("runs") if run.get("reference_example_id") in ids]
    assert [run["outputs"]["made"] for run in runs] == [True, False]


def test_each_figure_of_a_sample_is_judged_and_every_score_is_a_summary(service: Service) -> None:
    as_experiment(RESULT, client_of(service), upload=True)
    told = [(row["key"], row.get("score")) for row in service.rows("feedback")]
    assert sorted(told, key=str) == [("games made", 0.5), ("made", 0.0), ("made", 1.0)]


def test_the_dataset_gets_each_sample_once(service: Service) -> None:
    as_experiment(RESULT, client_of(service), upload=True)
    more = RESULT.model_copy(
        update={"samples": (*RESULT.samples, {"prompt": "poker", "made": True})}
    )
    as_experiment(more, client_of(service), upload=True)
    assert len(service.rows("datasets")) == 1
    assert len(service.rows("examples")) == 3
    assert len(service.rows("sessions")) == 2


def test_without_a_key_the_same_runs_here_and_reaches_nobody() -> None:
    assert as_experiment(RESULT, experiment_client(upload=False), upload=False)


def test_a_service_that_refuses_the_key_is_told_in_a_sentence(service: Service) -> None:
    url = f"http://127.0.0.1:{service.server_port}"
    stranger = Client(api_url=url, api_key="another key", auto_batch_tracing=False)
    with pytest.raises(EvalError, match="did not take the experiment.*Check LANGSMITH_API_KEY"):
        as_experiment(RESULT, stranger, upload=True)


def test_samples_that_do_not_say_what_was_asked_are_refused() -> None:
    mute = RESULT.model_copy(update={"samples": ({"games": 4},)})
    with pytest.raises(EvalError, match="a prompt or an id: smoke"):
        as_experiment(mute, experiment_client(upload=False), upload=False)
