"""`langgraph dev` on loopback, driven by the SDK client: the graph answers a chat there too."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph_api", reason="needs the studio dependency group: make studio")

pytestmark = [pytest.mark.studio, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
PROMPT = "tic tac toe for two players"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    base = tmp_path_factory.mktemp("studio")
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("langgraph")),
        "dev",
        "--no-browser",
        "--no-reload",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    environment = {
        **os.environ,
        "RULEWRIGHT_HOME": str(base / "home"),
        "RULEWRIGHT_RUNS": str(base / "runs"),
        "LANGSMITH_TRACING": "false",
    }
    log = base / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server ended:\n{log.read_text()}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"the server did not open port {port}:\n{log.read_text()}")


def chat(text: str) -> Any:  # noqa: ANN401 - the client's own JSON type is narrower than JSON
    return {"messages": [{"role": "user", "content": text}]}


def test_a_chat_ends_with_what_was_made_and_where(server: str) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server) as client:
        thread = client.threads.create()
        result = client.runs.wait(thread["thread_id"], "rulewright", input=chat(PROMPT))
    assert isinstance(result, dict)
    last = result["messages"][-1]
    assert last["type"] == "ai"
    assert "Everything is in" in last["content"]
    assert Path(result["folder"], "report.html").is_file()


def test_a_prompt_that_names_no_game_gets_a_question(server: str) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server) as client:
        thread = client.threads.create()
        result = client.runs.wait(thread["thread_id"], "rulewright", input=chat(" "))
    assert isinstance(result, dict)
    assert "?" in result["messages"][-1]["content"]
