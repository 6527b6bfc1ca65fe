"""`serve` as a process: it listens on this machine, ends by Ctrl-C, and goes on with its tables."""

import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from app.commands.serve import _named
from tests.app.conftest import Started
from tests.app.web.browser import field, moves_of
from tests.processes import PATIENCE_S


def address_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    found = re.search(r"The page: (http://\S+)", process.stdout.readline())
    assert found is not None
    return found[1]


@contextmanager
def client_of(process: "subprocess.Popen[str]") -> Iterator[httpx2.Client]:
    base = address_of(process)
    with httpx2.Client(base_url=base, timeout=PATIENCE_S, follow_redirects=True) as client:
        yield client


def ended(process: "subprocess.Popen[str]") -> str:
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in told
    assert process.returncode == 130
    return told


def test_ctrl_c_ends_the_page_and_a_match_goes_on_when_it_is_started_again(
    started: Started,
) -> None:
    first = started("serve", "--port", "0")
    with client_of(first) as client:
        csrf = field(client.get("/design").text, "csrf")
        fields = {"csrf": csrf, "game": "tic_tac_toe", "seat1": "person", "where": "here"}
        page = client.post("/tables", data=fields)
        link = page.url.path
        made = {"csrf": csrf, "ply": field(page.text, "ply"), "action": "x 2,2"}
        assert client.post(f"{link}/move", data=made).status_code == 200
    ended(first)
    second = started("serve", "--port", "0")
    with client_of(second) as client:
        assert "Player 1 places x in row 2, column 2." in client.get(link).text
        with client.stream("GET", f"{link}/events") as stream:
            assert next(stream.iter_lines()) == "retry: 1000"
            assert stream.headers["content-type"].startswith("text/event-stream")
            other = client.get(link).text
            assert moves_of(other) == []
            assert "Hand over to Player 2" in other
            ended(second)  # an open stream does not keep it


def first_line(port: int, *head: str) -> str:
    """The first line of the answer to a request with such lines in its head."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
        lines = ["GET /static/app.js HTTP/1.1", f"Host: 127.0.0.1:{port}", *head, "", ""]
        client.sendall("\r\n".join(lines).encode())
        return client.recv(64).decode().partition("\r\n")[0]


def test_other_machines_are_let_in_only_where_that_is_asked_for(started: Started) -> None:
    process = started("serve", "--port", "0", "--host", "0.0.0.0")
    base, _, token = address_of(process).partition("?token=")
    assert len(token) >= 22  # 128 bits
    port = int(base.rstrip("/").rpartition(":")[2])
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
        assert client.get("/").status_code == 403
        answer = client.get(f"/?token={token}")
        assert "SameSite=strict" in answer.headers["set-cookie"]
        assert client.get("/design").status_code == 200
    assert "400" in first_line(port, f"X: {'a' * 200_000}")  # a head has an end
    assert "200" in first_line(port, "Connection: Upgrade", "Upgrade: websocket")
    ended(process)


def test_the_address_is_told_though_the_machine_has_no_name_that_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(_: str) -> str:
        raise socket.gaierror("Name or service not known")

    monkeypatch.setattr(socket, "gethostbyname", unknown)
    for host in ("0.0.0.0", "::", ""):
        assert _named(host) == "127.0.0.1"  # tests may reach no network
    assert (_named("::1"), _named("table.local")) == ("[::1]", "table.local")


def test_a_port_in_use_is_told_and_nothing_starts(started: Started) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = started("serve", "--port", str(taken.getsockname()[1]))
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "choose another --port" in " ".join(told.replace("│", " ").split())
