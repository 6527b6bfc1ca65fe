"""The same store on a real Chroma server, on loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.vectorstore.hashing import HashingEmbedder
from tests.vectorstore.test_store import RULES, mechanic
from vectorstore.documents import LIBRARY_KINDS, IndexReport, StoreError, StoreSettings
from vectorstore.store import Store, open_store

START_S = 60


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def connect(port: int, path: Path) -> Store:
    settings = StoreSettings(path=path, host="127.0.0.1", port=port)
    return open_store(settings, embedder=HashingEmbedder(), tell=pytest.fail)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    port = free_port()
    command = [str(Path(sys.executable).with_name("chroma")), "run"]
    process = subprocess.Popen(
        [*command, "--path", str(tmp_path / "server"), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
    )
    with process:
        try:
            deadline = time.monotonic() + START_S
            while True:
                with closing(socket.socket()) as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server did not start"
                time.sleep(0.1)
            yield process, port
        finally:
            process.kill()


def test_a_server_answers_as_the_embedded_store_does(
    server: tuple[subprocess.Popen[bytes], int], tmp_path: Path
) -> None:
    process, port = server
    settings = StoreSettings(path=tmp_path / "embedded")
    with (
        open_store(settings, embedder=HashingEmbedder()) as embedded,
        connect(port, tmp_path / "a") as first,
        connect(port, tmp_path / "b") as second,
    ):
        for store in (embedded, first):
            added = store.index(RULES, LIBRARY_KINDS, mark="library 1")
            assert added == IndexReport(added=3)
        assert second.mark() == "library 1"
        assert second.snapshot_id() == embedded.snapshot_id()
        for where in (None, {"game": "tricks"}):
            expected = embedded.search("mechanics", "draw a trump card", 3, where)
            assert second.search("mechanics", "draw a trump card", 3, where) == expected
        changed = [mechanic("draw", "draw four cards"), RULES[1]]
        assert second.index(changed, LIBRARY_KINDS) == IndexReport(changed=1, removed=1, kept=1)
        found = first.search("mechanics", "draw four cards", 1)[0]
        assert (found.id, found.metadata) == ("draw", {})

        process.kill()
        process.wait()
        with pytest.raises(StoreError, match=r"127.0.0.1:\d+ could not be searched"):
            first.search("mechanics", "trump", 1)


def test_no_server_is_an_error_that_names_the_address(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(StoreError, match=f"127.0.0.1:{port} could not be opened.*server runs"):
        connect(port, tmp_path)
