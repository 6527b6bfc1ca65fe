"""A table is one match: persons move by their links, and a stopped server goes on where it was."""

import errno
import re
from pathlib import Path
from shutil import rmtree

import pytest

from app.web.keeping import KeptTable, Wanted
from app.web.playing import WebTable
from games.records import read_records
from tests.app.web.browser import Browser, field, moves_of, serving, words_of
from tools.playtest.jobs import GameSetup
from tools.sandbox import Sandbox

TWO = {"seat0": "person", "seat1": "person"}


def test_two_persons_play_a_match_to_its_end_and_its_record_is_kept(
    browser: Browser, runs: Path
) -> None:
    crosses, noughts, watch = browser.lay("tic_tac_toe", **TWO)
    for link, move in (
        (crosses, "x 1,1"),
        (noughts, "o 2,1"),
        (crosses, "x 1,2"),
        (noughts, "o 2,2"),
        (crosses, "x 1,3"),  # R10: who completes a line wins
    ):
        assert browser.move(link, move).status_code == 200
    assert "You win." in words_of(browser.wait(crosses, "You win."))
    for link in (noughts, watch):
        assert "Player 1 wins." in words_of(browser.wait(link, "Player 1 wins."))
    (record,) = read_records(next(runs.glob("played/*.jsonl")).read_text())
    assert record.actions == ("x 1,1", "o 2,1", "x 1,2", "o 2,2", "x 1,3")
    assert record.match.returns == (1.0, -1.0)


def test_a_stopped_server_goes_on_where_the_match_was_to_the_same_end(
    sandbox: Sandbox, runs: Path
) -> None:
    asked = {"seat0": "person", "seat1": "random", "seed": "5", "where": "here"}
    with serving(sandbox, runs) as first:
        link, _ = first.lay("tic_tac_toe", **asked)
        first.post(f"{link}/speed", speed="at once")
        first.move(link, "x 1,1")
        before = words_of(first.wait(link))
    with serving(sandbox, runs) as second:
        assert words_of(second.wait(link)) == before
        stopped = _to_the_end(second, link)
        assert "What happened Player 1 places x in row 1, column 1." in stopped
    with serving(sandbox, runs) as third:
        link, _ = third.lay("tic_tac_toe", **asked)
        third.post(f"{link}/speed", speed="at once")
        third.move(link, "x 1,1")
        assert _to_the_end(third, link) == stopped


def _to_the_end(browser: Browser, link: str) -> str:
    """The last words of a match in which the first legal move is played each time."""
    while 'id="result"' not in (page := browser.part(link)):
        if moves_of(page):
            browser.move(link)
        else:
            browser.get(f"{link}/events")
    return words_of(page)


def test_a_line_that_a_kill_cut_short_is_no_ply(sandbox: Sandbox, runs: Path) -> None:
    with serving(sandbox, runs) as first:
        link, *_ = first.lay("tic_tac_toe", **TWO)
        first.move(link, "x 1,1")
        table = first.web.tables.get(link.split("/")[2]).kept
    with table.journal.open("a") as file:
        file.write('{"ply":1,"player":1,"obs')
    with serving(sandbox, runs) as second:
        page = second.wait(second.web.tables.link(table.id, 1))
        assert "o 1,1" not in moves_of(page)
        assert "o 2,2" in moves_of(page)


def test_a_table_is_played_on_though_its_game_was_deleted(
    sandbox: Sandbox, runs: Path, game_run: Path
) -> None:
    with serving(sandbox, runs) as first:
        link, _ = first.lay(game_run.name, seat0="person", seat1="random", where="here")
        first.wait(link)
        for file in sorted(game_run.rglob("*"), reverse=True):
            file.unlink() if file.is_file() else file.rmdir()
        game_run.rmdir()
        assert first.move(link).status_code == 200
    with serving(sandbox, runs) as second:
        assert second.move(link).status_code == 200
        assert second.get(f"/game/{game_run.name}").status_code == 404
        assert second.get(f"{link}/rules").status_code == 200


def _own(browser: Browser, source: str) -> list[str]:
    """The links of a table for a game of one's own, for two persons; the last one looks on."""
    setup = GameSetup("mine", source, 2, {}, {})
    wanted = Wanted("Mine", setup, None, [None, None], ["Ann", "Ben"], 7, local=False)
    id_ = browser.web.tables.lay(wanted).kept.id
    return [browser.web.tables.link(id_, place) for place in (0, 1, "watch")]


def _stones() -> str:
    """The module that the documentation shows: a heap of 15 stones."""
    blocks = re.findall(r"```python\n(.*?)```", Path("docs/module.md").read_text(), re.DOTALL)
    return str(next(block for block in blocks if "def initial_state" in block))


def test_who_looks_on_sees_what_changes_though_no_event_tells_it(browser: Browser) -> None:
    silent = "\ndef get_events(state, action):\n    return [[], []]\n"
    ann, _, watch = _own(browser, _stones() + silent)
    mark = r'data-mark="([^"]*)"'
    before = browser.wait(watch, "The seats")
    browser.move(ann, "take 3")
    after = browser.part(watch)
    assert re.findall(mark, before) != re.findall(mark, after)  # so that its page asks anew
    told = f"data: {re.findall(mark, after)[0]}"
    assert told in browser.get(f"{watch}/events").text
    assert words_of(before).count("s t n e") == 15
    assert words_of(after).count("s t n e") == 12


def test_hints_for_a_drawing_that_are_none_are_told(browser: Browser) -> None:
    for hints in ("[1]", "{1, 2}"):
        ann, *_ = _own(browser, f"{_stones()}\nPRESENTATION = {hints}\n")
        assert "PRESENTATION is no dict" in words_of(browser.wait(ann))


def test_a_match_goes_on_once_a_full_disk_has_room_again(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    crosses, noughts, _ = browser.lay("tic_tac_toe", **TWO)
    browser.move(crosses, "x 1,1")
    with monkeypatch.context() as full:

        def no_room(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        full.setattr(KeptTable, "add", no_room)
        browser.move(noughts, "o 2,1")
        assert "make room" in words_of(browser.wait(noughts, "No space left"))
        assert "make room" in words_of(browser.part(noughts))  # not woken at each request
    monkeypatch.setattr("app.web.playing.AGAIN_S", 0.0)
    assert browser.move(noughts, "o 2,2").status_code == 200
    told = words_of(browser.wait(crosses))
    assert "Player 1 places x in row 1, column 1." in told
    assert "column 1. Player 2 places o in row 2, column 2." in told


def test_a_table_whose_files_are_removed_or_edited_says_so(sandbox: Sandbox, runs: Path) -> None:
    with serving(sandbox, runs) as browser:
        gone, *_ = browser.lay("tic_tac_toe", **TWO)
        edited, *_ = browser.lay("tic_tac_toe", **TWO)
        covered, *_ = browser.lay("tic_tac_toe", **TWO)
        browser.wait(covered)
        file = runs / "tables" / covered.split("/")[2] / "table.json"
        file.unlink()
        file.mkdir()
        refused = browser.post(f"{covered}/name", name="Ann")
        assert (refused.status_code, "was removed or changed" in words_of(refused.text)) == (
            400,
            True,
        )
        browser.wait(edited)
        browser.wait(gone)
        rmtree(runs / "tables" / gone.split("/")[2])
        for deed, words in (("name", "Ann"), ("speed", "usual"), ("concede", "")):
            refused = browser.post(f"{gone}/{deed}", name=words, speed=words)
            assert refused.status_code == 400, refused.text
            assert "folder was removed" in words_of(refused.text)
        browser.move(gone, "x 1,1")
        assert "lay another" in words_of(browser.wait(gone, "folder was removed"))
    journal = runs / "tables" / edited.split("/")[2] / "match.jsonl"
    journal.write_bytes(b'\xff\xfe\n{"ply":0}\n')
    with serving(sandbox, runs) as browser:
        told = words_of(browser.wait(edited, "somebody edited this table"))
        assert str(runs) not in told  # whoever has the link does not learn where it lies


def test_all_tables_are_stopped_before_any_is_waited_for(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        browser.lay("tic_tac_toe", **TWO)
    done: list[str] = []
    for deed in ("stop", "close"):
        monkeypatch.setattr(WebTable, deed, lambda *_, deed=deed: done.append(deed))
    browser.web.tables.close()
    monkeypatch.undo()
    assert done == ["stop"] * 3 + ["close"] * 3


def test_leaving_and_coming_back_shows_the_same_table(browser: Browser) -> None:
    link, *_ = browser.lay("go_fish", seat0="person", seat1="person", seed="1")
    before = browser.wait(link)
    browser.client.cookies.clear()
    again = browser.part(link)
    assert again.replace(field(again, "csrf"), "") == before.replace(field(before, "csrf"), "")


def test_a_decision_is_taken_back_where_all_persons_play_in_one_browser(browser: Browser) -> None:
    first, second, _ = browser.lay("tic_tac_toe", **TWO, where="here")
    browser.move(first, "x 1,1")
    browser.move(second, "o 2,2")
    page = browser.wait(first)
    assert browser.post(f"{first}/back", ply=field(page, "ply")).status_code == 200
    page = browser.wait(first)
    assert {"x 1,1", "x 2,2"} <= {*moves_of(page)}
    browser.move(first, "x 3,3")
    assert "o 1,1" in moves_of(browser.wait(second))


def test_nobody_takes_back_what_another_browser_saw(browser: Browser) -> None:
    first, second, _ = browser.lay("tic_tac_toe", **TWO)
    browser.move(first)
    browser.move(second)
    page = browser.wait(first)
    answer = browser.post(f"{first}/back", ply=field(page, "ply"))
    assert answer.status_code == 409
    assert "Others play at this table" in answer.text


def test_who_concedes_forfeits_at_once_or_when_asked_next(browser: Browser, runs: Path) -> None:
    first, second, _ = browser.lay("tic_tac_toe", **TWO)
    browser.wait(first)
    assert browser.post(f"{second}/concede").status_code == 200
    browser.move(first)
    assert "Player 2 conceded" in words_of(browser.wait(first, "conceded"))
    (record,) = read_records(next(runs.glob("played/*.jsonl")).read_text())
    assert (record.match.ending, record.match.culprit) == ("forfeit", 1)


def test_a_hint_is_shown_to_its_seat_alone_with_value_and_visits(browser: Browser) -> None:
    first, second, watch = browser.lay("tic_tac_toe", **TWO, seed="3")
    for link, move in ((first, "x 1,1"), (second, "o 2,1"), (first, "x 1,2"), (second, "o 2,2")):
        browser.move(link, move)
    page = browser.wait(first)
    browser.post(f"{first}/hint", ply=field(page, "ply"))
    told = words_of(browser.wait(first, "A search would play"))
    assert "A search would play: x 1,3" in told  # the one move that wins at once
    assert "x 1,3: value 1.00" in told
    assert "visits" in told
    for link in (second, watch):
        assert "A search would play" not in browser.part(link)


def test_a_match_against_the_computer_goes_on_by_itself(browser: Browser) -> None:
    link, _ = browser.lay("tic_tac_toe", seat0="person", seat1="uct:simulations=20", where="here")
    browser.post(f"{link}/speed", speed="at once")
    browser.move(link, "x 2,2")
    assert len(moves_of(browser.wait(link))) == 7


def test_the_rules_are_at_hand_in_the_numbers_of_the_table(browser: Browser) -> None:
    link, *_ = browser.lay("tic_tac_toe", **TWO, settings="misere=true")
    told = words_of(browser.get(f"{link}/rules").text)
    assert "R10" in told
    assert "loses" in told  # of misere: who completes a line loses


def test_names_and_talk_are_text_and_no_markup(browser: Browser) -> None:
    first, second, watch = browser.lay("tic_tac_toe", **TWO)
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
    browser.post(f"{first}/name", name=f"Ann <b>{evil}")
    browser.post(f"{first}/say", words=f"hello {evil}")
    for link in (first, second, watch):
        page = browser.get(link).text
        assert "Ann" in page
        assert ("hello" in page) == (link != watch)  # who looks on hears no talk
        assert not any(tag in page for tag in ("<b>Ann <b>", "<script>alert", "<img"))


def test_the_computer_moves_at_the_speed_that_was_asked_for(browser: Browser) -> None:
    link, _ = browser.lay("tic_tac_toe", seat0="person", seat1="random", where="here")
    browser.post(f"{link}/speed", speed="at once")
    table = browser.web.tables.get(link.split("/")[2])
    assert table.kept.about.speed == "at once"
    assert browser.post(f"{link}/speed", speed="never").status_code == 404
