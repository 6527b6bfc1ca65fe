"""Sixty bad requests: each gets a short answer with the right status, and never a traceback."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import Response
from starlette.testclient import TestClient

from app.web.guard import Guard
from app.web.settings import WebLimits, WebSettings, kept_key
from tests.app.web.browser import QUICK, Browser, field, serving, words_of
from tools.sandbox import Sandbox

FORM = {"content-type": "application/x-www-form-urlencoded"}
EVIL = "<script>alert(1)</script>"


class Room:
    """A server with two tables, and ways to send what no page of it would."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.client = browser, browser.client
        self.first, self.second, self.watch = browser.lay(
            "tic_tac_toe", seat0="person", seat1="person"
        )
        self.elsewhere, *_ = browser.lay("go_fish", seat0="person", seat1="person")
        self.id = self.first.split("/")[2]
        self.ply = field(browser.wait(self.first), "ply")

    def get(self, address: str, **headers: str) -> httpx2.Response:
        return self.client.get(address, headers=headers)

    def post(self, address: str, **fields: str) -> httpx2.Response:
        return self.browser.post(address, **fields)

    def move(self, link: str, **fields: str) -> httpx2.Response:
        return self.post(f"{link}/move", **{"ply": self.ply, "action": "x 1,1", **fields})

    def raw(self, address: str, content: Any, **headers: str) -> httpx2.Response:  # noqa: ANN401
        return self.client.post(address, content=content, headers={**FORM, **headers})


@pytest.fixture(scope="module")
def room(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    runs = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RULEWRIGHT_RUNS", str(runs))
        with serving(sandbox, runs) as browser:
            yield Room(browser)


def _slowly() -> Iterator[bytes]:
    yield b"csrf="
    for _ in range(200):
        yield b"x" * 1024


Ask = Callable[[Room], httpx2.Response]
SEATS: dict[str, tuple[int, Ask]] = {
    "another table's link": (403, lambda r: r.get(f"/table/{r.id}/{r.elsewhere.split('/')[3]}")),
    "a secret that is none": (403, lambda r: r.get(f"/table/{r.id}/abc")),
    "a secret of other letters": (403, lambda r: r.get(f"/table/{r.id}/ä€")),
    "an empty secret": (404, lambda r: r.get(f"/table/{r.id}/")),
    "a secret that is too long": (403, lambda r: r.get(f"/table/{r.id}/{'a' * 3000}")),
    "a table that is none": (404, lambda r: r.get(f"/table/{'0' * 16}/abc")),
    "a table of another form": (404, lambda r: r.get("/table/key/abc")),
    "a table by a path": (404, lambda r: r.get("/table/..%2f..%2fetc/abc")),
    "a stream of no seat": (403, lambda r: r.get(f"/table/{r.id}/abc/events")),
    "a stream of no table": (404, lambda r: r.get(f"/table/{'0' * 16}/abc/events")),
    "rules of no seat": (403, lambda r: r.get(f"/table/{r.id}/abc/rules")),
    "the owner's page of no table": (404, lambda r: r.get("/tables/nothing")),
}
MOVES: dict[str, tuple[int, Ask]] = {
    "a move by who is not asked": (409, lambda r: r.move(r.second)),
    "a move by who looks on": (403, lambda r: r.move(r.watch)),
    "a move by a wrong secret": (403, lambda r: r.move(f"/table/{r.id}/abc")),
    "another table's move": (409, lambda r: r.move(r.elsewhere, ply="0.16")),
    "an old move": (409, lambda r: r.move(r.first, ply="0.0")),
    "a move of the future": (409, lambda r: r.move(r.first, ply="9.9")),
    "a move at no ply": (409, lambda r: r.move(r.first, ply="")),
    "a move at a ply of words": (409, lambda r: r.move(r.first, ply=EVIL)),
    "a move that is not legal": (409, lambda r: r.move(r.first, action="x 9,9")),
    "another seat's move": (409, lambda r: r.move(r.first, action="o 1,1")),
    "no move": (409, lambda r: r.move(r.first, action="")),
    "a move of markup": (409, lambda r: r.move(r.first, action=EVIL)),
    "a move of zeros": (409, lambda r: r.move(r.first, action="\0")),
    "a hint out of turn": (409, lambda r: r.post(f"{r.second}/hint", ply=r.ply)),
    "a hint for who looks on": (403, lambda r: r.post(f"{r.watch}/hint", ply=r.ply)),
    "taking back alone": (409, lambda r: r.post(f"{r.first}/back", ply=r.ply)),
    "a concession of who looks on": (403, lambda r: r.post(f"{r.watch}/concede")),
    "talk of who looks on": (403, lambda r: r.post(f"{r.watch}/say", words="hello")),
    "a deed that is none": (404, lambda r: r.post(f"{r.first}/cheat")),
    "a speed that is none": (404, lambda r: r.post(f"{r.first}/speed", speed=EVIL)),
}
FORMS: dict[str, tuple[int, Ask]] = {
    "10 MB": (413, lambda r: r.raw("/design", b"x" * 10_000_000)),
    "10 MB in pieces": (413, lambda r: r.raw("/design", _slowly())),
    "a length that is none": (413, lambda r: r.raw("/design", b"", **{"content-length": "-1"})),
    "a length of a hundred digits": (
        413,
        lambda r: r.raw("/design", b"", **{"content-length": "9" * 100}),
    ),
    "JSON": (415, lambda r: r.raw("/design", b"{}", **{"content-type": "application/json"})),
    "a file": (415, lambda r: r.client.post("/design", files={"a": b"x"})),
    "no token": (403, lambda r: r.raw("/design", b"prompt=x")),
    "a wrong token": (403, lambda r: r.raw("/design", b"csrf=%C3%A4&prompt=x")),
    "bytes that are no UTF-8": (400, lambda r: r.raw("/design", b"csrf=%ff&prompt=x")),
    "raw bytes that are no UTF-8": (400, lambda r: r.raw("/design", b"\xff\xfe=1")),
    "too many fields": (400, lambda r: r.raw("/design", b"&".join([b"a=1"] * 500))),
    "another page's form": (
        403,
        lambda r: r.raw("/design", b"", origin="http://evil.example"),
    ),
    "a form of no page": (403, lambda r: r.raw("/design", b"", origin="null")),
    "a form across sites": (
        403,
        lambda r: r.raw("/design", b"", **{"sec-fetch-site": "cross-site"}),
    ),
    "a part of a page across sites": (
        403,
        lambda r: r.get(
            "/compare/page?one=whist&other=hearts",
            **{"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        ),
    ),
    "another name of this machine": (400, lambda r: r.get("/", host="evil.example")),
    "no name": (400, lambda r: r.get("/", host="")),
    "a name that is none": (400, lambda r: r.get("/", host="[::1")),
    "another method": (405, lambda r: r.client.put("/design")),
    "deleting a table": (405, lambda r: r.client.delete(r.first)),
    "a form where none is taken": (405, lambda r: r.post("/game/whist")),
    "an address too long": (414, lambda r: r.get("/?q=" + "a" * 5000)),
    "cookies that are none": (200, lambda r: r.get("/design", cookie="=;;\x01=a; rulewright=")),
}
GAMES: dict[str, tuple[int, Ask]] = {
    "a page that is none": (404, lambda r: r.get("/nothing")),
    "a game that is none": (404, lambda r: r.get("/game/nothing")),
    "a game of markup": (404, lambda r: r.get(f"/game/{EVIL.replace('/', '%2f')}")),
    "a game by a path": (404, lambda r: r.get("/game/..%2f..%2fetc%2fpasswd")),
    "a game by dots": (404, lambda r: r.get("/game/%2e%2e")),
    "the tables as a game": (404, lambda r: r.get("/game/tables")),
    "a gallery by a path": (404, lambda r: r.get("/game/gallery:..")),
    "a report that is none": (404, lambda r: r.get("/game/whist/report")),
    "a revision that is none": (404, lambda r: r.get("/game/whist@3")),
    "a file of the server": (404, lambda r: r.get("/static/..%2fserver.py")),
    "a file by dots": (404, lambda r: r.get("/static/../../../pyproject.toml")),
    "a folder of files": (404, lambda r: r.get("/static/")),
    "a record that is none": (404, lambda r: r.get("/record/whist/nothing")),
    "a record by a path": (404, lambda r: r.get("/record/whist/..%2f..%2fx")),
    "a ply of words of no record": (404, lambda r: r.get("/record/whist/x?ply=abc")),
    "a comparison with nothing": (404, lambda r: r.get("/compare?one=whist&other=nothing")),
    "a comparison with itself": (400, lambda r: r.get("/compare/page?one=whist&other=whist")),
    "a comparison of too little": (422, lambda r: r.get("/compare/page?one=whist")),
    "a run that is none": (404, lambda r: r.get("/design/nothing")),
    "a run by dots": (405, lambda r: r.get("/design/..%2f..")),
    "a stream of no run": (404, lambda r: r.get("/design/nothing/events")),
    "words to no run": (404, lambda r: r.post("/design/nothing/say", words="x")),
    "no idea": (400, lambda r: r.post("/design", prompt="  ")),
    "an idea too long": (400, lambda r: r.post("/design", prompt="a" * 30_000)),
    "a seed of words": (400, lambda r: r.post("/design", prompt="whist", seed="x")),
    "a table of no game": (404, lambda r: r.post("/tables", game="../../etc")),
    "too many players": (400, lambda r: r.post("/tables", game="whist", players="99")),
    "a number of players with a point": (
        400,
        lambda r: r.post("/tables", game="whist", players="4.0"),
    ),
    "a body of another encoding": (
        400,
        lambda r: r.raw("/design", b"\x1f\x8b\x08", **{"content-encoding": "gzip"}),
    ),
    "numbers far out of range": (404, lambda r: r.get("/record/whist/x?ply=-9&match=" + "9" * 30)),
    "no whole number of matches": (
        422,
        lambda r: r.get("/compare?one=whist&other=hearts&matches=nan"),
    ),
    "brackets without end": (
        400,
        lambda r: r.post("/tables", game="tic_tac_toe", settings="size=" + "[" * 9000),
    ),
    "a player that is none": (
        400,
        lambda r: r.post(
            "/tables", game="whist", **dict.fromkeys(("seat1", "seat2", "seat3"), "x")
        ),
    ),
    "a player's file that is none": (
        400,
        lambda r: r.post("/tables", game="tic_tac_toe", seat1="/etc/passwd"),
    ),
    "a setting that is none": (400, lambda r: r.post("/tables", game="whist", settings="a=1")),
    "a seed too large": (400, lambda r: r.post("/tables", game="whist", seed="9" * 40)),
    "a seed too long": (400, lambda r: r.post("/design", prompt="whist", seed="0" * 5000)),
}
ALL = {**SEATS, **MOVES, **FORMS, **GAMES}


@pytest.mark.parametrize("name", ALL)
def test_a_bad_request_gets_a_short_answer_and_harms_nobody(room: Room, name: str) -> None:
    status, ask = ALL[name]
    answer = ask(room)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text
    assert EVIL not in answer.text
    assert len(answer.content) < 4_000 or status == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert field(room.browser.part(room.first), "ply") == room.ply


def test_there_are_sixty_bad_requests_and_more() -> None:
    assert len(ALL) >= 60


def test_a_script_is_told_in_json(room: Room) -> None:
    answer = room.client.post(
        f"{room.second}/move", data={"csrf": room.browser.csrf}, headers={"x-part": "1"}
    )
    assert answer.status_code == 409
    assert answer.json() == {"error": "It is not your turn; the page shows when it is"}


def test_what_the_end_of_the_server_cuts_short_is_told_so(runs: Path) -> None:
    async def cut_short(*_: object) -> None:
        raise asyncio.CancelledError  # as uvicorn does after Ctrl-C, when it waits no longer

    guarded = Guard(cut_short, WebSettings(kept_key(runs / "tables"), runs))
    answer = TestClient(guarded, base_url="http://127.0.0.1").get("/compare/page")
    assert answer.status_code == 503
    assert "The server was stopped" in words_of(answer.text)


def served(sandbox: Sandbox, runs: Path, **limits: float) -> Any:  # noqa: ANN401 - a context
    changed: WebLimits = replace(QUICK, **limits)  # type: ignore[arg-type] # whole numbers too
    return serving(sandbox, runs, changed)


def test_too_many_requests_of_one_client_are_refused(sandbox: Sandbox, runs: Path) -> None:
    with served(sandbox, runs, burst=5, requests_a_second=0.001) as browser:
        codes = [browser.get("/design").status_code for _ in range(7)]
    assert codes == [200] * 5 + [429] * 2


def test_too_many_tables_are_refused_and_those_there_are_stay(sandbox: Sandbox, runs: Path) -> None:
    two = {"seat0": "person", "seat1": "person"}
    with served(sandbox, runs, tables=1) as browser:
        first, *_ = browser.lay("tic_tac_toe", **two)
        assert browser.post("/tables", game="tic_tac_toe", **two).status_code == 503
        assert browser.move(first).status_code == 200


def test_too_many_streams_are_refused_and_closed_ones_make_room(
    sandbox: Sandbox, runs: Path
) -> None:
    with served(sandbox, runs, streams=0) as browser:
        first, *_ = browser.lay("tic_tac_toe", seat0="person", seat1="person")
        assert browser.get(f"{first}/events").status_code == 503
        assert browser.get(first).status_code == 200
    with served(sandbox, runs, streams=1, streams_a_seat=1) as browser:
        first, *_ = browser.lay("tic_tac_toe", seat0="person", seat1="person")
        assert [browser.get(f"{first}/events").status_code for _ in range(3)] == [200] * 3


def test_many_look_on_by_one_link_and_a_seat_has_few_streams(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat, _, watch = browser.lay("tic_tac_toe", seat0="person", seat1="person")
    readers: list[str] = []

    def noted(_: str, reader: str, __: object) -> Response:
        readers.append(reader)
        return Response()

    monkeypatch.setattr(browser.web.streams, "answer", noted)
    app = browser.client.app
    for host in ("10.0.0.1", "10.0.0.2"):
        client = TestClient(app, base_url="http://127.0.0.1", client=(host, 1))
        for link in (seat, watch):
            client.get(f"{link}/events")
    assert readers[0] == readers[2]
    assert readers[1] != readers[3]


def test_where_others_may_come_in_the_owners_pages_need_the_token(
    sandbox: Sandbox, runs: Path
) -> None:
    with serving(sandbox, runs, token="owner-token") as browser:
        for address in ("/", "/design", "/game/whist", "/tables/0000000000000000", "/compare"):
            answer = browser.get(address)
            assert (answer.status_code, "its owner's" in words_of(answer.text)) == (403, True)
        assert browser.get("/?token=wrong").status_code == 403
        assert browser.get(f"/?{'a=1&' * 500}").status_code == 403
        assert browser.get("/?token=owner-token").status_code == 200
        cookie = next(one for one in browser.client.cookies.jar if "owner" in one.name)
        assert cookie.has_nonstandard_attr("HttpOnly")
        first, *_ = browser.lay("tic_tac_toe", seat0="person", seat1="person")
        browser.client.cookies.clear()
        assert browser.get("/").status_code == 403
        assert "Your turn" in words_of(browser.wait(first))  # a seat's link needs no token
