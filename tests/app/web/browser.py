"""A browser without a screen: it follows links, sends forms, and reads what a page says."""

import html
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx2
from starlette.testclient import TestClient

from app.web.server import Web, create_app
from app.web.settings import WebLimits, WebSettings, kept_key
from tests.processes import PATIENCE_S
from tools.sandbox import Sandbox

QUICK = WebLimits(stream_s=0.02, tables=1000, burst=10**6)


class Browser:
    """Pages of one server, as one person's browser asks for them."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.client = TestClient(
            create_app(web), base_url="http://127.0.0.1", raise_server_exceptions=True
        )

    def get(self, address: str, **headers: str) -> httpx2.Response:
        return self.client.get(address, headers=headers)

    def part(self, address: str) -> str:
        """The part of a page that its own script asks for."""
        return self.get(address, **{"x-part": "1"}).text

    @property
    def csrf(self) -> str:
        return field(self.get("/design").text, "csrf")

    def post(self, address: str, **fields: str) -> httpx2.Response:
        return self.client.post(address, data={"csrf": self.csrf, **fields})

    def lay(self, game: str, **fields: str) -> list[str]:
        """The links of a new table: of its persons in order, and of whoever looks on."""
        answer = self.post("/tables", game=game, **fields)
        assert answer.status_code == 200, answer.text
        id_ = answer.url.path.split("/")[2]
        return re.findall(r'href="(/table/[^"]+)"', self.get(f"/tables/{id_}").text)

    def move(self, link: str, action: str = "") -> httpx2.Response:
        """A move of a seat: the one that is named, or the first that is legal."""
        page = self.wait(link)
        return self.post(f"{link}/move", ply=field(page, "ply"), action=action or moves_of(page)[0])

    def wait(self, link: str, words: str = 'name="action"') -> str:
        """The part of a table once it holds some words."""
        until = time.monotonic() + PATIENCE_S / 4
        place, mark, asked = link.partition("?")
        while time.monotonic() < until:
            page = self.part(link)
            if words in page:
                return page
            self.client.get(f"{place}/events{mark}{asked}")  # ends soon, or when something is new
        raise AssertionError(f"{words!r} never came: {page}")


@contextmanager
def serving(
    sandbox: Sandbox, runs: Path, limits: WebLimits = QUICK, kind: type[Web] = Web, token: str = ""
) -> Iterator[Browser]:
    """A server over a folder of runs."""
    web = kind(WebSettings(kept_key(runs / "tables"), runs, "127.0.0.1", token, limits), sandbox)
    try:
        yield Browser(web)
    finally:
        web.close()


def field(page: str, name: str) -> str:
    """The value of a hidden field of the first form that has it."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, page
    return html.unescape(found[1])


def moves_of(page: str) -> Sequence[str]:
    """The moves that a page offers."""
    found = re.findall(r'<button[^>]*name="action"[^>]*>', page)
    values = [re.search(r'value="([^"]*)"', one) for one in found]
    return list(dict.fromkeys(html.unescape(one[1]) for one in values if one))


def words_of(page: str) -> str:
    """The words of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
