"""A full disk, killed workers and endpoints that do not answer: a clear end, everything kept."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started, wait_for
from tests.processes import PATIENCE_S

# No file may grow beyond 20 KiB, as on a disk that is nearly full: the checkpoints need more.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20 * 1024, 20 * 1024))
import runpy
runpy.run_module("tests.app.smaller", run_name="__main__")
"""
CLOSED = "http://127.0.0.1:9/v1"
MODEL = {
    "RULEWRIGHT_MODEL": "a-model",
    "RULEWRIGHT_RETRIES": "0",
    "RULEWRIGHT_TIMEOUT_S": "5",
    "OPENAI_API_KEY": "none",
}


class _Trouble(BaseHTTPRequestHandler):
    """An endpoint whose answer lies in the path it is asked at."""

    ANSWERS = {
        "html": (200, b"<html>Welcome to the hotel's network</html>"),
        "broken": (200, b'{"choices": [{"message": {"content": "hal'),
        "500": (500, b"internal error"),
    }

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.ANSWERS[self.path.split("/")[1]]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Trouble)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("kind", ["closed", *_Trouble.ANSWERS])
def test_an_endpoint_in_trouble_is_told_and_the_run_is_kept(
    command: Command, monkeypatch: pytest.MonkeyPatch, endpoint: str, tmp_path: Path, kind: str
) -> None:
    address = CLOSED if kind == "closed" else f"{endpoint}/{kind}/v1"
    for name, value in {**MODEL, "OPENAI_BASE_URL": address}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "run"
    done = command("new", "tic tac toe", "--quick", "--out", folder)
    assert done.code in (1, 2)
    assert "Traceback" not in done.err
    assert "estimate: " in done.err
    assert f"rulewright resume {folder}" in done.err
    assert (folder / ".state" / "request.json").exists()


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    command: Command, tmp_path: Path
) -> None:
    assert command("index").code == 0  # the store is there already; the run has to write its own
    folder = tmp_path / "run"
    arguments = ["new", "tic tac toe", "--quick", "--out", str(folder)]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "disk" in done.stderr
    assert f"rulewright resume {folder}" in done.stderr
    assert command("resume", folder, "--json").json["end"] == "made"


def test_a_killed_zygote_ends_or_spares_the_run_and_resume_goes_on(
    command: Command, started: Started, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    run = started("new", "tic tac toe", "--quick", "--out", folder)
    wait_for(run, "evaluate: series random")
    for zygote in _children(run.pid):
        os.kill(zygote, signal.SIGKILL)
    _, told = run.communicate(timeout=PATIENCE_S)
    assert run.returncode in (0, 2)
    assert "Traceback" not in told
    if run.returncode == 2:
        assert f"rulewright resume {folder}" in told
    assert command("resume", folder, "--json").json["end"] == "made"


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_the_first_command_says_that_the_store_is_built(
    started: Started, command: Command, tmp_path: Path
) -> None:
    told = "building the store"
    wait_for(started("new", "tic tac toe", RULEWRIGHT_HOME=str(tmp_path / "home")), told)
    assert told not in command("search", "trumps").err  # here it is built
