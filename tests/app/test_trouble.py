"""A full disk, killed workers and endpoints that do not answer: a clear end, everything kept."""

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.app.conftest import Command, Started, wait_for

SMALL = 20 * 1024  # bytes a file may grow to where the disk is full; less than the checkpoints need


class _Trouble(BaseHTTPRequestHandler):
    """An endpoint whose answer lies in the path it is asked at."""

    ANSWERS = {
        "html": (200, b"<html>Welcome to the hotel's network</html>"),
        "broken": (200, b'{"choices": [{"message": {"content": "hal'),
        "500": (500, b"internal error"),
    }

    def do_POST(self) -> None:  # noqa: N802 - http.server's name
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.ANSWERS[self.path.split("/")[1]]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
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


def test_an_endpoint_in_trouble_is_told_and_the_run_is_kept(
    started: Started, endpoint: str, tmp_path: Path
) -> None:
    addresses = {name: f"{endpoint}/{name}/v1" for name in _Trouble.ANSWERS}
    addresses["closed"] = "http://127.0.0.1:9/v1"
    runs = {}
    for name, address in addresses.items():
        runs[name] = started(
            "new", "tic tac toe", "--quick", "--out", tmp_path / name,
            RULEWRIGHT_HOME=str(tmp_path / f"home-{name}"), RULEWRIGHT_MODEL="a-model",
            RULEWRIGHT_RETRIES="0", RULEWRIGHT_TIMEOUT_S="5", OPENAI_BASE_URL=address,
            OPENAI_API_KEY="none",
        )  # fmt: skip
    for name, run in runs.items():
        out, told = run.communicate(timeout=200)
        assert run.returncode in (1, 2), (name, told)
        assert "Traceback" not in told, name
        assert "estimate: " in told, name
        assert f"rulewright resume {tmp_path / name}" in told, (name, out, told)
        assert (tmp_path / name / ".state" / "request.json").exists(), name


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    command: Command, tmp_path: Path
) -> None:
    assert command("index").code == 0  # the store is there already; the run has to write its own
    folder = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "new", "tic tac toe", "--quick", "--out", str(folder)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL)),
        capture_output=True,
        text=True,
        check=False,
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
    run = started("new", "goofspiel with 13 cards", "--quick", "--out", folder)
    wait_for(run, "evaluate: series random")
    for zygote in _children(run.pid):
        os.kill(zygote, signal.SIGKILL)
    _, told = run.communicate(timeout=120)
    assert run.returncode in (0, 2)
    assert "Traceback" not in told
    if run.returncode == 2:
        assert f"rulewright resume {folder}" in told
    assert command("resume", folder, "--json").json["end"] == "made"


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
