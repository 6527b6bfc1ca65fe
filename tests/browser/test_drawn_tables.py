"""Tables of recorded observations in a browser: looks, keys, pointing, dragging, and no script."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import Opened, faults_of_looks
from tests.browser.pages import MADE, served

pytestmark = pytest.mark.browser
TABLES = (
    *("hearts", "connect_four", "battleship", "gin_rummy", "gomoku", "leduc_poker", "the_crew"),
    *("breakthrough", "large_capture_the_flag", "goofspiel", "go_fish", "pig", "tic_tac_toe"),
    *("crazy_eights", *MADE),
)
SMALL = """[...document.querySelectorAll('button, a, input, summary')]
    .filter(one => one.offsetParent && one.closest('.cells-22, .cells-most') === null)
    .map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
    .filter(([_, box]) => box.width < 24 || box.height < 24).map(([text]) => text)"""
Site = tuple[str, list[dict[str, list[str]]]]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with served() as address_and_posts:
        yield address_and_posts


def focused(page: Any) -> str:  # noqa: ANN401 - a page of Playwright
    return str(page.evaluate("document.activeElement.value || document.activeElement.dataset.c"))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_accessible_on_a_phone_and_on_a_screen(
    site: Site, opened: Opened, name: str
) -> None:
    page = opened(f"{site[0]}/{name}")
    assert faults_of_looks(page) == []
    assert page.evaluate(SMALL) == []  # WCAG 2.5.8
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("name", ["hearts", "battleship", "many"])
def test_at_twice_the_size_nothing_is_lost_to_the_side(
    site: Site, opened: Opened, name: str
) -> None:
    page = opened(f"{site[0]}/{name}", 640, device_scale_factor=2)  # as 1280 at 200 %
    assert page.evaluate("document.documentElement.scrollWidth") <= 640


def test_a_card_is_played_by_the_keyboard_alone(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/hearts")
    page.focus("nav a")
    first = page.locator(".own button.spot.legal").first.get_attribute("value")
    second = page.locator(".own button.spot.legal").nth(1).get_attribute("value")
    for _ in range(6):
        page.keyboard.press("Tab")
        if focused(page) == first:
            break
    assert focused(page) == first
    page.keyboard.press("ArrowRight")
    assert focused(page) == second
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.own') === null")  # one stop a hand
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == [second]


def test_arrows_go_over_a_board_by_its_rows_and_columns(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/hex")
    page.focus("button.spot[value='b1']")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "c1"
    page.keyboard.press("End")
    assert focused(page) == "g7"
    page.keyboard.press("ArrowUp")
    assert focused(page)[1] == "6"
    page.keyboard.press(" ")
    page.wait_for_url("**/move")


def test_a_piece_is_moved_by_picking_it_and_its_goal(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/breakthrough")
    uses = page.locator("button.move").first.get_attribute("data-uses")
    action = page.locator("button.move").first.get_attribute("value")
    start, goal = uses.split()
    page.focus(f".board .spot[data-c='{start}']")
    page.keyboard.press("Enter")
    assert page.locator(f".spot.target[data-c='{goal}']").count() == 1
    assert page.get_by_role("status").inner_text().startswith(f"{start}: ")
    page.keyboard.press("Escape")
    assert page.locator(".spot.target").count() == 0
    page.click(f".board .spot[data-c='{start}']")
    page.click(f".board .spot[data-c='{goal}']")
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == [action]


def test_a_card_with_several_moves_shows_them(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/eights")
    page.click(".own .spot.pick[data-c='8S']")
    shown = page.locator("button.move:visible").all_inner_texts()
    assert shown == ["play 8♠ clubs", "play 8♠ hearts"]


def test_numbers_go_to_moves_and_do_not_play_them(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/leduc_poker")
    posts = len(site[1])
    page.keyboard.press("2")  # nothing: the table has not the focus
    assert page.evaluate("document.activeElement === document.body")
    page.locator("button.move").first.focus()
    page.keyboard.press("2")
    assert focused(page) == page.locator("button.move").nth(1).get_attribute("value")
    assert len(site[1]) == posts
    page.keyboard.press("Enter")
    page.wait_for_url("**/move")


def test_of_many_moves_one_is_found_by_its_words(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/liars_dice")
    page.fill(".filter", "7 6")
    assert page.locator("button.move:visible").all_inner_texts() == ["bid 6 7", "bid 7 6"][1:]
    page.press(".filter", "Enter")
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == ["bid 7 6"]


def test_a_move_that_is_not_listed_is_typed(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/many")
    page.fill("input[name=typed]", "offer 99 for 98")
    posts = len(site[1])
    page.press("input[name=typed]", "Enter")  # the first button must not be played
    page.get_by_role("button", name="Play it").click()
    page.wait_for_url("**/move")
    assert len(site[1]) == posts + 1
    assert site[1][-1] == {"typed": ["offer 99 for 98"], "by": ["typed"]}


def test_the_focus_stays_when_the_table_is_drawn_anew(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/gomoku")
    again = (
        "document.getElementById('table').innerHTML = document.getElementById('table').innerHTML"
    )
    change = f"{again}; document.dispatchEvent(new CustomEvent('part'))"
    page.locator(".board button.spot.legal").nth(20).focus()
    before = focused(page)
    page.evaluate(change)
    assert focused(page) == before
    page.focus("nav a")
    page.evaluate(change)
    assert page.evaluate("document.activeElement.matches('nav a')")  # it is not stolen


def test_a_card_is_dragged_to_the_table_and_a_piece_to_its_cell(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/eights")
    card = page.locator(".own button.spot.legal").first
    action = card.get_attribute("value")
    card.drag_to(page.locator("section.middle"))
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == [action]
    page = opened(f"{site[0]}/breakthrough")
    move = page.locator("button.move").first
    action, (start, goal) = move.get_attribute("value"), move.get_attribute("data-uses").split()
    cell = ".board .spot[data-c='{}']"
    page.locator(cell.format(start)).drag_to(page.locator(cell.format(goal)))
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == [action]


@pytest.mark.parametrize(("name", "button"), [("hearts", ".own .legal"), ("pig", ".move"),
                                              ("connect_four", "th .legal")])  # fmt: skip
def test_all_of_it_works_without_a_script(
    site: Site, opened: Opened, name: str, button: str
) -> None:
    page = opened(f"{site[0]}/{name}", java_script_enabled=False)
    action = page.locator(f"button{button.split()[-1]}" if " " not in button else button)
    wanted = action.first.get_attribute("value")
    action.first.click()
    page.wait_for_url("**/move")
    assert site[1][-1]["action"] == [wanted]


def test_who_wants_no_motion_sees_none(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/hearts", reduced_motion="reduce")
    style = "getComputedStyle(document.querySelector('button.spot')).transitionDuration"
    assert page.evaluate(style) == "0s"
    page = opened(f"{site[0]}/hearts", reduced_motion="no-preference")
    assert page.evaluate(style) != "0s"


def test_the_focus_can_be_seen(site: Site, opened: Opened) -> None:
    page = opened(f"{site[0]}/hearts")
    page.focus("nav a")
    page.keyboard.press("Tab")
    width = "getComputedStyle(document.activeElement).outlineWidth"
    assert page.evaluate(width) == "3px"
