"""A browser for the tests: the system's Chromium, driven by Playwright; nothing is downloaded."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Opened: TypeAlias = Callable[..., Any]
AXE = Path(__file__).parent / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
LOOKS = ((320, "dark"), (1280, "light"))
"""A phone, at the width that WCAG's reflow asks for, and a screen."""
NOWHERE = "/nowhere"
ABSENT = "no Chromium: install Debian's package chromium, or name one in RULEWRIGHT_BROWSER"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    given = os.environ.get("RULEWRIGHT_BROWSER")
    path = given or next((found for name in NAMES if (found := shutil.which(name))), None)
    assert path, ABSENT
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:  # noqa: ANN401 - Playwright is no dependency of types
    """Opens a page; what its console says as errors fails the test at its end."""
    contexts, said = [], []

    def at(address: str, width: int = 1280, **settings: object) -> Any:  # noqa: ANN401 - a page of Playwright
        context = browser.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda one: said.append(one.text) if _is_fault(one) else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        return page

    yield at
    for context in contexts:
        context.close()
    assert said == []


def _is_fault(said: Any) -> bool:  # noqa: ANN401 - a message of Playwright
    """True for an error on the console, but that a page which was asked for is none.

    Nor that a frame's page, opened by itself, has no icon.
    """
    known = (NOWHERE, "/favicon.ico")
    return bool(said.type == "error" and not said.location["url"].endswith(known))


def faults(page: Any) -> list[str]:  # noqa: ANN401 - a page of Playwright
    """The serious and critical findings of axe-core on a page."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{one['id']}: {node['html'][:160]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def faults_of_looks(page: Any) -> list[str]:  # noqa: ANN401 - a page of Playwright
    """See `faults`, for each of `LOOKS`; and that it is wider than it should be."""
    found = []
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{width} {scheme}: {fault}" for fault in faults(page)]
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            found.append(f"{width} {scheme}: it is {wide} wide")
    return found
