"""`langgraph dev` on loopback, driven by the SDK client: the graph answers a chat there too."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from games import library
from tests.processes import PATIENCE_S

pytest.importorskip("langgraph_api", reason="needs the studio dependency group: make studio")

pytestmark = [pytest.mark.studio, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
PROMPT = "tic tac toe for two players"
SMALL: Any = {
    "quick": True,
    "ladder_matches": 4,
    "random_matches": 4,
    "heuristic_matches": 4,
    "lessons": 0,
    "large_budget": 20,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, built_home: Path) -> Iterator[str]:
    base = tmp_path_factory.mktemp("studio")
    shutil.copytree(built_home, base / "home")
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
        process.wait(timeout=PATIENCE_S)


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
        result = client.runs.wait(
            thread["thread_id"], "rulewright", input=chat(PROMPT), context=SMALL
        )
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


def test_a_second_message_revises_the_game_of_the_first(server: str) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server) as client:
        name = client.threads.create()["thread_id"]
        said = chat("goofspiel for two players with three cards")
        first: Any = client.runs.wait(name, "rulewright", input=said, context=SMALL)
        said = chat("make it four cards")
        second: Any = client.runs.wait(name, "rulewright", input=said, context=SMALL)
        said = chat("why does the first player win so often?")
        asked: Any = client.runs.wait(name, "rulewright", input=said, context=SMALL)
    assert set(first) == {"messages", "folder", "end", "reason", "summary", "artefacts"}
    assert second["end"] == "made"
    assert second["folder"] == str(Path(first["folder"]) / "revisions" / "1")
    assert "cards (changed): 3 → 4" in second["artefacts"]["changes.md"]
    assert first["artefacts"]["game.py"] != second["artefacts"]["game.py"]
    assert "Is it fair?" in asked["messages"][-1]["content"]


def test_twists_that_a_chat_asks_for_are_a_run_beside_its_game(server: str) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server) as client:
        name = client.threads.create()["thread_id"]
        first: Any = client.runs.wait(name, "rulewright", input=chat(PROMPT), context=SMALL)
        said = chat("Give me two twists of this.")
        told: Any = client.runs.wait(name, "rulewright", input=said, context=SMALL)
    assert "2 of 2 variants kept" in told["messages"][-1]["content"]
    assert told["folder"] == first["folder"]


def test_the_five_graphs_are_served_with_schemas_of_their_own(server: str) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server) as client:
        found = {a["graph_id"]: a["assistant_id"] for a in client.assistants.search()}
        takes = {
            graph: set((client.assistants.get_schemas(name)["input_schema"] or {})["properties"])
            for graph, name in found.items()
        }
        source = library.source("tic_tac_toe")
        judged: Any = client.runs.wait(None, "check", input={"source": source})
        thread = client.threads.create()["thread_id"]
        drawn: Any = client.runs.wait(thread, "design", input=chat("tic tac toe"))
    chats = {"messages", "choices"}
    module = {"source", "players"}
    varied = {"game", "n", "keep", "seed", "quick", "with_model", "make"}
    asked = {"rulewright": chats, "design": chats, "check": module, "playtest": module}
    assert takes == {**asked, "vary": varied}
    assert judged["outcome"] == "passed"
    assert drawn["artefacts"].keys() >= {"rulebook.md", "design.json"}


def test_no_client_sets_where_a_run_writes(server: str, tmp_path: Path) -> None:
    from langgraph_sdk import get_sync_client

    said = {**chat(" "), "folder": str(tmp_path / "elsewhere")}
    with get_sync_client(url=server) as client:
        result: Any = client.runs.wait(None, "rulewright", input=said)
    assert result["end"] == "question"
    assert not (tmp_path / "elsewhere").exists()
