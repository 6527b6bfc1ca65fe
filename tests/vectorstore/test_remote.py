"""The remote embedder against a real server on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr, ValidationError

from vectorstore.documents import Document, EmbedderError, RemoteSettings, StoreSettings
from vectorstore.embedders import LONGEST, RemoteEmbedder
from vectorstore.store import open_store


class Endpoint(ThreadingHTTPServer):
    """Answers a text with its length and its number of words; the model's name is a fault."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str | None, dict[str, Any]]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.headers["Authorization"], body))
        fault = body["model"]
        data = [
            {"object": "embedding", "index": n, "embedding": [float(len(t)), len(t.split())]}
            for n, t in enumerate(body["input"])
        ]
        reply = json.dumps(
            {"object": "list", "data": [] if fault == "empty" else data, "model": fault}
            | {"usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )
        text = {"html": "<html>busy</html>", "broken": reply[: len(reply) // 2]}.get(fault, reply)
        self.send_response(500 if fault == "error" else 200)
        self.send_header("Content-Type", "text/html" if fault == "html" else "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def settings(endpoint: Endpoint, model: str = "good", **changed: float) -> RemoteSettings:
    base_url = f"http://127.0.0.1:{endpoint.server_address[1]}/v1"
    key = SecretStr("secret")
    fields: dict[str, Any] = {"dimension": 2, "max_retries": 0, "timeout_s": 5.0} | changed
    return RemoteSettings(model=model, base_url=base_url, api_key=key, **fields)


def test_texts_go_as_they_are_and_vectors_come_in_order(endpoint: Endpoint) -> None:
    embedder = RemoteEmbedder(settings(endpoint))
    vectors = embedder.embed(["draw two cards", "pass"])
    assert vectors.tolist() == [[14.0, 3.0], [4.0, 1.0]]
    assert vectors.dtype == np.float32
    key, body = endpoint.requests[0]
    assert key == "Bearer secret"
    assert body["input"] == ["draw two cards", "pass"]
    assert "dimensions" not in body


def test_the_endpoint_is_asked_to_shorten_only_by_setting(endpoint: Endpoint) -> None:
    RemoteEmbedder(settings(endpoint, shorten=True)).embed(["a"])
    assert endpoint.requests[0][1]["dimensions"] == 2


def test_a_text_longer_than_endpoints_take_is_cut(endpoint: Endpoint) -> None:
    vectors = RemoteEmbedder(settings(endpoint)).embed(["x" * 100_000])
    assert vectors[0, 0] == LONGEST


def test_no_texts_make_no_request(endpoint: Endpoint) -> None:
    assert RemoteEmbedder(settings(endpoint)).embed([]).shape == (0, 2)
    assert endpoint.requests == []


@pytest.mark.parametrize("fault", ["error", "html", "broken", "empty"])
def test_a_bad_answer_is_an_error_that_names_the_endpoint(
    endpoint: Endpoint, tmp_path: Path, fault: str
) -> None:
    remote = settings(endpoint, fault)
    with (
        open_store(StoreSettings(path=tmp_path, embedder="remote", remote=remote)) as store,
        pytest.raises(EmbedderError, match="endpoint|answered") as caught,
    ):
        store.embedder.embed(["a"])
    assert "secret" not in str(caught.value)


def test_a_wrong_width_is_an_error_that_says_which_is_needed(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    remote = settings(endpoint, dimension=3)
    chosen = StoreSettings(path=tmp_path, embedder="remote", remote=remote)
    with open_store(chosen) as store:
        store.index([], ["mechanics"])
        with pytest.raises(EmbedderError, match=r"shape \(1, 2\); required: \(1, 3\)"):
            store.index([Document("mechanics", "a", "A", "text", "key")])
        assert store.count("mechanics") == 0


def test_no_endpoint_is_an_error_that_names_the_address(endpoint: Endpoint) -> None:
    unreachable = RemoteSettings(
        model="m",
        dimension=2,
        base_url="http://127.0.0.1:9/v1",
        api_key=SecretStr("k"),
        max_retries=0,
    )
    with pytest.raises(EmbedderError, match=r"127\.0\.0\.1:9/v1 failed for model 'm'"):
        RemoteEmbedder(unreachable).embed(["a"])


def test_identities_differ_by_model_place_and_width_and_fit_a_collection_name() -> None:
    key = SecretStr("k")
    identities = {
        RemoteEmbedder(
            RemoteSettings(model=model, dimension=dimension, base_url=url, api_key=key)
        ).identity
        for model in ("Org/Model: v1", "text-embedding-3-large")
        for dimension in (2, 3072)
        for url in (None, "http://127.0.0.1:9/v1")
    }
    assert len(identities) == 8
    for identity in identities:
        assert set(identity) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")


def test_remote_settings_and_the_remote_embedder_need_each_other(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="need each other"):
        StoreSettings(path=tmp_path, embedder="remote")
    with pytest.raises(ValidationError, match="need each other"):
        StoreSettings(
            path=tmp_path, remote=RemoteSettings(model="m", dimension=2, api_key=SecretStr("k"))
        )
