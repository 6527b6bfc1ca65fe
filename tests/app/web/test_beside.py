"""Beside a match: hints that end, words for whoever looks on, and loading in the background."""

import asyncio
import re
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from agents.composer import lexicon
from agents.composer.meaning.statements import statements_of
from app.table.hints import HintSearch
from app.web.design_pages import DesignRun
from app.web.keeping import Wanted
from app.web.pages import Refusal
from app.web.settings import WebLimits
from app.web.streams import Streams
from games import library
from games.information import SeatLog
from tests.app.web.browser import Browser, field, moves_of, words_of
from tests.processes import PATIENCE_S
from tools.playtest.jobs import GameSetup

SLOW = "\n_legal = get_legal_actions\ndef get_legal_actions(state):\n    sum(range(300_000))\n"
SLOW += "    return _legal(state)\n"


def laid(browser: Browser, source: str) -> list[str]:
    """The links of a table for two persons: theirs, and the one to look on."""
    setup = GameSetup("mine", source, 2, {}, {})
    wanted = Wanted("Mine", setup, None, [None, None], ["Ann", "Ben"], 7, local=False)
    id_ = browser.web.tables.lay(wanted).kept.id
    return [browser.web.tables.link(id_, place) for place in (0, 1, "watch")]


def stones() -> str:
    """The module that the documentation shows: a heap of 15 stones."""
    blocks = re.findall(r"```python\n(.*?)```", Path("docs/module.md").read_text(), re.DOTALL)
    return str(next(block for block in blocks if "def initial_state" in block))


def test_a_hint_that_takes_long_is_told_of_stopped_and_does_not_hold_the_match_up(
    browser: Browser,
) -> None:
    ann, ben, _ = laid(browser, stones() + SLOW)
    page = browser.wait(ann)
    sought = browser.post(f"{ann}/hint", ply=field(page, "ply")).text
    assert "A search looks for a move." in sought
    assert "Stop the search" in sought
    browser.post(f"{ann}/hint", ply=field(page, "ply"), stop="1")
    assert "No hint: the search was stopped" in words_of(browser.wait(ann, "was stopped"))
    browser.post(f"{ann}/hint", ply=field(page, "ply"))
    assert browser.move(ann).status_code == 200
    assert moves_of(browser.wait(ben))  # though the search may go on
    assert "No hint" not in browser.part(ben)


def test_a_search_for_a_hint_ends_by_itself(browser: Browser) -> None:
    ann, *_ = laid(browser, stones() + SLOW)
    browser.wait(ann)
    table = browser.web.tables.get(ann.split("/")[2])
    assert table.session is not None
    log, told, heard = SeatLog(0), list[str](), threading.Event()
    log.see(table.shown.looks[0].observation or {}, ())

    def tell(lines: object) -> None:
        told.append(str(lines))
        heard.set()

    search = HintSearch(table.session, log, table.shown.legal, tell, patience_s=0.05)
    search.start()
    assert heard.wait(PATIENCE_S)
    assert "has not ended in 0.05 seconds" in told[0]
    search.stop("again")
    assert len(told) == 1  # it is told once


SAME = "\ndef get_events(state, action):\n    return [['You hold a king.'], ['You hold a king.']]\n"


def test_who_looks_on_hears_no_equal_words_of_what_each_seat_alone_knows(browser: Browser) -> None:
    ann, _, watch = laid(browser, library.source("leduc_poker") + SAME)
    assert "You hold a king." in browser.wait(ann)
    page = browser.wait(watch, "What happened")
    assert "You hold a king." not in page
    assert "told once the match is over" in page
    assert "You hold a king." not in browser.get(f"{watch}/events").text
    browser.post(f"{ann}/concede")
    assert "You hold a king." in browser.wait(watch, "conceded")


def test_who_looks_on_hears_at_once_what_happens_in_an_open_game(browser: Browser) -> None:
    first, _, watch = browser.lay("tic_tac_toe", seat0="person", seat1="person")
    browser.move(first, "x 2,2")
    said = words_of(browser.wait(watch, "Player 1 places x"))
    assert "told once the match is over" not in said


@pytest.mark.parametrize("deed", ["hint", "move"])
def test_a_journal_has_one_writer(browser: Browser, deed: str) -> None:
    """A table that was put to sleep while its match went on writes no line any more."""
    ann, *_ = laid(browser, stones() + (SLOW if deed == "hint" else ""))
    page = browser.wait(ann)
    table = browser.web.tables.get(ann.split("/")[2])
    kept = table.kept.journal.read_bytes()
    if deed == "hint":
        browser.post(f"{ann}/hint", ply=field(page, "ply"))
    table.close(0.0)
    if deed == "move":
        table.move(0, field(page, "ply"), moves_of(page)[0])
    assert table.kept.journal.read_bytes() == kept


def test_what_is_typed_and_names_no_one_move_is_told_and_plays_nothing(browser: Browser) -> None:
    first, *_ = browser.lay("tic_tac_toe", seat0="person", seat1="person")
    page = browser.wait(first)
    answer = browser.post(f"{first}/move", ply=field(page, "ply"), typed="x")
    assert answer.status_code == 409
    assert "names no move here, or several" in answer.text
    assert browser.post(f"{first}/move", ply=field(page, "ply"), typed="2,2").status_code == 200


SLOWER = "\n_apply = apply_action\ndef apply_action(state, action):\n"
SLOWER += "    sum(range(5_000_000))\n    return _apply(state, action)\n"


def test_a_move_from_a_second_tab_is_never_played_for_somebody_else(browser: Browser) -> None:
    ann, ben, _ = laid(browser, stones() + SLOWER)
    mark = field(browser.wait(ann), "ply")
    table = browser.web.tables.get(ann.split("/")[2])
    first = threading.Thread(target=table.move, args=(0, mark, "take 1"))
    first.start()
    while first.is_alive():
        with suppress(Refusal):
            table.move(0, mark, "take 2")
    assert moves_of(browser.wait(ben))
    assert table.session is not None
    assert len([ply for ply in table.session.plies if ply.player >= 0]) == 1


def test_a_stream_whose_reader_went_away_at_once_counts_no_more() -> None:
    streams = Streams(WebLimits(streams=1))

    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def broken(_: object) -> None:
        raise OSError

    for _ in range(3):
        stream = streams.answer("table", "somebody", lambda: "mark")
        with suppress(OSError):
            asyncio.run(stream({"type": "http", "asgi": {}}, gone, broken))


def test_a_server_fits_what_the_first_design_needs_while_nobody_makes_a_game(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    smallest = (lexicon.lexicon_of("tic_tac_toe"),)
    monkeypatch.setattr(lexicon, "lexicons", lambda: smallest)
    monkeypatch.setattr(library, "names", lambda: ("tic_tac_toe",))
    monkeypatch.setattr(DesignRun, "start", lambda *_: None)
    designs, before = browser.web.designs, statements_of.cache_info()
    run = designs.get(designs.begin("a game", {"quick": True}))
    assert run is not None
    browser.web.warm()
    warm = next(one for one in threading.enumerate() if one.name == "warm")
    warm.join(0.3)
    assert warm.is_alive()
    assert statements_of.cache_info() == before
    run.working = False
    warm.join(PATIENCE_S)
    assert statements_of.cache_info() != before
