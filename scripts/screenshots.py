"""The pictures of tables in the documents: `make screenshots`."""

import os
import shutil
import sys
from pathlib import Path

from tests.browser.pages import served

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
        browser.close()
    sys.stdout.write(f"{len(_PICTURES)} pictures in {_DOCS}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
