"""The page itself in a browser: a game is designed, played, revised and printed; people meet."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import NOWHERE, Opened, faults, faults_of_looks

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]
LONG = 120_000  # milliseconds: a run of the machine on two busy cores
PROMPT = "connect three in a row on a board of 4 by 4"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, built_home: Path) -> Iterator[str]:
    """The address of a server of its own, whose runs play few matches."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(built_home, folder / "home")
    given = {"RULEWRIGHT_HOME": str(folder / "home"), "RULEWRIGHT_RUNS": str(folder / "runs")}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.app.smaller", "serve", "--port", "0"],
        env={**os.environ, **given},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    told = next(line for line in server.stdout if "http://" in line)
    found = re.search(r"http://\S+?(?=/)", told)
    assert found, told
    yield found[0]
    server.terminate()
    server.communicate(timeout=30)


def lay(page: Any, address: str, game: str, *seats: str) -> None:  # noqa: ANN401 - a page of Playwright
    """Lay a table; a seat's entry is who sits there."""
    page.goto(f"{address}/game/{game}")
    for number, who in enumerate(seats):
        page.fill(f"#seat{number}", who)
        page.fill(f"#name{number}", f"{who.title()} {number + 1}")
    page.get_by_role("button", name="Lay the table").click()


def ready(page: Any) -> None:  # noqa: ANN401 - a page of Playwright
    page.wait_for_selector("#table button[name=action]", state="attached", timeout=30_000)


def test_every_page_is_accessible_and_narrow_enough(address: str, opened: Opened) -> None:
    page = opened(f"{address}/")
    found = {}
    for path in ("/", "/?q=cards", "/design", "/game/hearts", "/game/battleship", NOWHERE):
        page.goto(f"{address}{path}")
        found[path] = faults_of_looks(page)
    page.goto(f"{address}/compare?one=tic_tac_toe&other=hearts")
    found["compare"] = faults_of_looks(page)
    framed = opened(f"{address}/compare/page?one=tic_tac_toe&other=hearts", bypass_csp=True)
    found["compared"] = faults_of_looks(framed)  # the frame itself runs nothing, nor axe
    lay(page, address, "hearts")
    ready(page)
    found["table"] = faults_of_looks(page)
    page.goto(address + page.get_by_role("link", name="Rules").get_attribute("href"))
    found["rules"] = faults_of_looks(page)
    lay(page, address, "tic_tac_toe", "random", "random")
    found["seats"] = faults_of_looks(page)
    page.get_by_role("link").last.click()  # to look on, until it is over
    page.wait_for_selector("#result", timeout=60_000)
    found["watch"] = faults_of_looks(page)
    page.goto(f"{address}/game/tic_tac_toe")
    found["game"] = faults_of_looks(page)
    page.locator("a[href^='/record/']").first.click()
    found["record"] = faults_of_looks(page)
    page.get_by_role("button", name="Analyse this position").click()
    page.wait_for_selector("#analysis", timeout=60_000)
    found["analysed"] = faults_of_looks(page)
    assert {path: some for path, some in found.items() if some} == {}


def test_a_game_is_designed_played_revised_and_printed(address: str, opened: Opened) -> None:
    page = opened(f"{address}/design")
    page.fill("#prompt", PROMPT)
    page.get_by_role("button", name="Make the game").click()
    page.wait_for_selector("#play", timeout=LONG)
    design = page.url
    assert faults(page) == []
    page.get_by_role("button", name="Begin at once").click()
    ready(page)
    page.locator(".board button.spot.legal").first.click()
    page.wait_for_selector("#log li >> nth=1", timeout=30_000)
    page.goto(design)
    page.wait_for_selector("form.say", timeout=LONG)
    page.fill("form.say textarea", "make the board 5 by 5")
    page.get_by_role("button", name="Say it").click()
    page.wait_for_selector("#undo", timeout=LONG)
    assert "Revision 1" in page.inner_text("main")
    assert faults(page) == []
    page.get_by_role("link", name="Report, mechanics, versions").click()
    page.wait_for_selector("iframe")
    assert faults_of_looks(page) == []
    report = page.get_attribute("iframe", "src")
    assert faults_of_looks(opened(f"{address}{report}", bypass_csp=True)) == []
    page.emulate_media(media="print")
    assert not page.locator("nav").first.is_visible()
    assert page.get_by_role("heading", name="Rulebook").is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_two_people_and_a_computer_play_at_one_table(address: str, opened: Opened) -> None:
    owner = opened(f"{address}/")
    lay(owner, address, "oh_hell", "person", "person", "random", "random")
    links = [a.get_attribute("href") for a in owner.locator("main li a").all()]
    assert len(links) == 3
    first, second, watcher = (
        opened(f"{address}{link}", 360 * (n + 1)) for n, link in enumerate(links)
    )
    played = {0: 0, 1: 0}
    for _ in range(60):
        for number, page in enumerate((first, second)):
            button = page.locator("#table button[name=action]:not([disabled])").first
            if button.count():
                mark = page.get_attribute("#turn", "data-mark")
                button.evaluate("one => one.click()")
                page.wait_for_function(
                    "old => document.getElementById('turn').dataset.mark !== old", arg=mark
                )
                played[number] += 1
        if min(played.values()) >= 3:
            break
        first.wait_for_timeout(300)
    assert min(played.values()) >= 3, played
    assert watcher.locator("#table button[name=action]").count() == 0
    hands = [
        set(re.findall(r'data-is="(\w+)"', page.inner_html("section.own")))
        for page in (first, second)
    ]
    assert hands[0]
    assert not hands[0] & hands[1]
    assert watcher.locator("section.own").count() == 0
    told = first.locator("ol#chat").element_handle()
    for words in ("Well played.", "And you."):
        second.fill("#say", words)
        second.get_by_role("button", name="Send").click()
        first.get_by_text(words).wait_for()
    heard = told.evaluate("one => [one.isConnected, one.children.length]")
    assert heard == [True, 2]  # the same live region: its new lines alone are read out


def test_a_whole_game_is_played_on_a_phone_by_the_keyboard_alone(
    address: str, opened: Opened
) -> None:
    page = opened(f"{address}/game/tic_tac_toe", 360, reduced_motion="reduce")
    button = page.get_by_role("button", name="Lay the table")
    for _ in range(40):
        page.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    ready(page)
    for _ in range(9):
        for _ in range(30):
            if page.evaluate("document.activeElement.matches('.board button.spot.legal')"):
                break
            page.keyboard.press("Tab")
        mark = page.get_attribute("#turn", "data-mark")
        page.keyboard.press("Enter")
        page.wait_for_function(
            "old => document.getElementById('turn').dataset.mark !== old", arg=mark
        )
        page.wait_for_selector("#result, #table button[name=action]", state="attached")
        if page.locator("#result").count():
            break
    assert page.locator("#result li").count() == 2
    assert faults(page) == []


def test_a_move_is_composed_on_the_board_after_the_table_has_changed(
    address: str, opened: Opened
) -> None:
    page = opened(f"{address}/")
    lay(page, address, "breakthrough", "person", "random")
    for _ in range(2):
        ready(page)
        mark = page.get_attribute("#turn", "data-mark")
        page.locator(".board .spot.pick.begins").first.click()
        page.locator(".board .spot.target").first.click()
        page.wait_for_function(
            "old => document.getElementById('turn').dataset.mark !== old", arg=mark
        )
    assert page.locator("#log li").count() >= 2  # both moves were made
    assert faults(page) == []


def test_a_hint_is_announced_where_it_was_empty_before(address: str, opened: Opened) -> None:
    page = opened(f"{address}/")
    lay(page, address, "connect_four", "person", "random")
    ready(page)
    heard = page.locator("#advice[role=status]").element_handle()
    page.click("#hint")
    page.get_by_text("A search would play").wait_for(timeout=60_000)
    assert heard.evaluate("one => one.isConnected && one.textContent.includes('visits')")
    assert faults(page) == []


def test_a_seat_that_comes_back_sees_the_table_as_it_was(address: str, opened: Opened) -> None:
    page = opened(f"{address}/")
    lay(page, address, "connect_four", "person")
    ready(page)
    page.locator("th button.spot.legal").nth(3).click()
    page.wait_for_selector(".rack .first")
    ready(page)
    place = page.url
    before = page.inner_text(".board")
    page.close()
    again = opened(place)
    ready(again)
    assert again.inner_text(".board") == before
    assert again.locator(".rack .first").count() == 1
