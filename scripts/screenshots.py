"""The pictures of the page in the documents, and of the gallery's games: `make screenshots`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.pages import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_GALLERY = Path(__file__).parents[1] / "gallery"
_MOVES = 4  # that are made before a game of the gallery is shown
_SEED = 1  # of its match: the same picture each time
_REPORTED, _VARIANT = "gallery:fair_pig", "gallery:wide_four"  # the latter of connect four
_DOCS = Path(__file__).parents[1] / "docs"
_PHONE = 600  # a narrower page is shown whole
_NAMES = ("chromium", "chromium-browser", "google-chrome")
# The picture's name, the table, the width of the page, and its colours.
_PICTURES = (
    ("table-cards", "hearts@0.2", 1000, "light"),
    ("table-board", "connect_four@0.9", 1000, "dark"),
    ("table-phone", "battleship@0.3", 360, "light"),
)


def main() -> int:
    """Take the pictures."""
    from playwright.sync_api import sync_playwright

    given = os.environ.get("RULEWRIGHT_BROWSER")
    path = given or next((found for name in _NAMES if (found := shutil.which(name))), None)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with served() as (address, _), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=arguments)
        for name, table, width, scheme in _PICTURES:
            context = browser.new_context(
                viewport={"width": width, "height": 640}, color_scheme=scheme
            )
            page = context.new_page()
            page.goto(f"{address}/{table}")
            page.screenshot(path=_DOCS / f"{name}.png", full_page=width < _PHONE)
            context.close()
        with _page_of_the_product() as address:
            page_pictures(browser, address)
            games = gallery_pictures(browser, address)
        browser.close()
    sys.stdout.write(f"{len(_PICTURES) + 2} pictures in {_DOCS}, {games} in {_GALLERY}\n")
    return 0


def page_pictures(browser: "Browser", address: str) -> None:
    """A report, and the mechanics of a game beside its variant."""
    page = browser.new_page(viewport={"width": 1000, "height": 2400})
    page.goto(f"{address}/game/{_REPORTED}/report")
    page.screenshot(path=_DOCS / "report.png")
    page.goto(f"{address}/compare/page?one=connect_four&other={_VARIANT}")
    page.locator("svg").first.screenshot(path=_DOCS / "graph.png")
    page.close()


def gallery_pictures(browser: "Browser", address: str) -> int:
    """Play a little of each game of the gallery in the page, show the table, and count them."""
    games = sorted(path.parent for path in _GALLERY.glob("*/game.py"))
    for game in games:
        page = browser.new_page(viewport={"width": 1000, "height": 640})
        page.goto(f"{address}/game/gallery:{game.name}")
        page.locator("#seed").evaluate("(field, seed) => { field.value = seed; }", str(_SEED))
        page.locator("main form button").first.click()
        for _ in range(_MOVES):
            page.locator("#table button[name=action]").first.wait_for(state="attached")
            page.locator("#table button[name=action]").first.dispatch_event("click")
            page.wait_for_timeout(1500)
        page.locator("#table button[name=action], #result").first.wait_for(state="attached")
        page.screenshot(path=game / "picture.png")
        page.close()
    return len(games)


@contextmanager
def _page_of_the_product() -> Iterator[str]:
    """The address of `rulewright serve` over an empty shelf."""
    with tempfile.TemporaryDirectory() as runs:
        command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
        environment = {**os.environ, "RULEWRIGHT_RUNS": runs, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as server:
            found = (re.search(r"http://\S+", line) for line in server.stdout or ())
            address = next(match[0] for match in found if match)
            try:
                yield address.rstrip("/")
            finally:
                server.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
