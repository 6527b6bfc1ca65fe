"""The pages: shelf, game, design, comparison and record, over what the commands made."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from threading import Event
from time import sleep
from typing import Any

import pytest

from app.web.game_pages import while_kept
from app.web.streams import Analyses, Heard
from graph.new.context import RunSettings
from tests.app.smaller import smaller
from tests.app.test_new import DISCS
from tests.app.web.browser import QUICK, Browser, field, moves_of, serving, words_of
from tests.processes import PATIENCE_S
from tools.sandbox import Sandbox

HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
)


@pytest.fixture(scope="module")
def made(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A server on which one game was designed, and played as soon as it was checked."""
    runs = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RULEWRIGHT_RUNS", str(runs))
        patch.setattr(RunSettings, "model_validate", smaller(RunSettings.model_validate))
        with serving(sandbox, runs) as browser:
            answer = browser.post("/design", prompt=DISCS, seed="7")
            assert answer.status_code == 200
            name = answer.url.path.rpartition("/")[2]
            browser.get(f"/design/{name}/events")
            browser.wait(f"/design/{name}", 'id="play"')
            assert not (runs / name / "report.html").exists()  # the play-test goes on behind
            browser.post("/tables", game=name, seat1="random")
            browser.wait(f"/design/{name}", 'name="words"')
            yield browser


def name_of(browser: Browser) -> str:
    return next(path.parent.name for path in browser.web.settings.runs.glob("*/.state"))


def test_a_game_is_played_before_its_play_test_is_over(made: Browser) -> None:
    (table,) = made.web.tables.known()
    link = made.web.tables.link(table.id, 0)
    assert len(moves_of(made.wait(link))) == 5  # a column each, with gravity
    assert made.move(link).status_code == 200


def test_the_stages_of_a_run_and_its_rules_are_shown(made: Browser) -> None:
    page = words_of(made.get(f"/design/{name_of(made)}").text)
    for stage in ("intake:", "design:", "check: candidate 0, outcome passed", "report: end made"):
        assert stage in page
    assert "R1" in page
    assert f"You : {DISCS}" in page


def test_a_game_is_changed_in_words_and_the_change_is_undone(made: Browser) -> None:
    name = name_of(made)
    first = words_of(made.get(f"/game/{name}").text)
    made.post(f"/design/{name}/say", words="make the board 6 columns wide")
    made.wait(f"/design/{name}", f'value="{name}@1"')  # checked; its play-test goes on behind
    assert made.post("/tables", game=f"{name}@1").status_code == 200
    design = made.wait(f"/design/{name}", 'id="undo"')
    assert "You : make the board 6 columns wide" in words_of(design)
    revised = words_of(made.get(f"/game/{name}@1").text)
    assert "columns=5" in first
    assert "columns=6" in revised
    assert "Versions" in revised
    code = re.search(r"<pre>(.*?)</pre>", made.get(f"/game/{name}@1").text, re.DOTALL)
    assert code is not None
    assert {"---", "+++", "@@"} <= {line[:3].strip() for line in code[1].splitlines()}
    made.post(f"/design/{name}/undo")
    made.wait(f"/design/{name}", f"/game/{name}@2")
    made.wait(f"/design/{name}", "Say it</button>")
    assert "columns=5" in words_of(made.get(f"/game/{name}@2").text)
    told = made.get(f"/compare/page?one={name}&other={name}@1")
    assert told.status_code == 200
    assert "columns" in told.text


def test_the_mechanics_are_drawn_with_as_many_boxes_as_are_listed(made: Browser) -> None:
    page = made.get(f"/game/{name_of(made)}").text
    drawing = page.partition('class="scroll drawing"')[2].partition("</svg>")[0]
    listed = page.partition('id="mechanics"')[2].count('<th scope="row">')
    assert drawing.count('<g role="img"') == listed > 5


def test_a_report_keeps_its_charts_in_a_frame_that_may_run_nothing(made: Browser) -> None:
    name = name_of(made)
    page, report = made.get(f"/game/{name}").text, made.get(f"/game/{name}/report")
    assert re.search(rf'<iframe sandbox="" [^>]*src="/game/{name}/report"', page)
    assert "<svg" in report.text
    assert "Beside this page: rulebook, code, records" in words_of(report.text)
    assert all(to.startswith("#") for to in re.findall(r'href="([^"]*)"', report.text))
    policy = report.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy


def test_a_record_is_stepped_through_as_a_seat_saw_it(made: Browser) -> None:
    at = f"/record/{name_of(made)}/random?match=1&seat=2"
    assert made.get(f"{at}&ply=words").status_code == 422
    first, second = (words_of(made.get(f"{at}&ply={ply}").text) for ply in (1, 2))
    does = re.search(r"Then Player 1 : (.+?) Simulations", first.replace("Player 1:", "Player 1 :"))
    assert does is not None
    assert "Ply 2 of" in second
    assert "Player 1" in second
    last = re.search(r"Ply 1 of (\d+)", first)
    assert last is not None
    assert "The match is over." in words_of(made.get(f"{at}&ply={last[1]}").text)


def test_a_position_is_analysed_as_the_command_analyses_it(browser: Browser) -> None:
    one, other, _ = browser.lay("tic_tac_toe", seat0="person", seat1="person")
    moves = ("x 1,1", "o 2,1", "x 1,2", "o 2,2", "x 3,3", "o 2,3")
    for number, move in enumerate(moves):
        browser.move((one, other)[number % 2], move)
    page = browser.get("/game/tic_tac_toe").text
    stem = re.findall(r"/record/tic_tac_toe/([^\"]+)", page)[0]
    at = f"/record/tic_tac_toe/{stem}"

    def analysed(kind: str) -> str:
        begun = browser.post(f"{at}/analyse?ply=5", analyse=kind, simulations="200")
        place = f"{begun.url.path}?{begun.url.query.decode()}"
        return words_of(browser.wait(place, "Solved by alphabeta"))

    assert "x 1,3 1.000" in analysed("position")  # the move that wins, which was not played
    assert "x 3,3 x 1,3 2.000" in analysed("blunders")  # a win became a loss
    for wrong in ({"analyse": "all"}, {"simulations": "-1"}, {"simulations": ""}):
        fields = {"analyse": "position", "simulations": "9", **wrong}
        assert browser.post(f"{at}/analyse", **fields).status_code == 400
    assert browser.get(f"{at}/events?analyse=position&simulations=7").status_code == 404


def test_an_analysis_tells_how_far_it_is_and_stops_before_the_next_decision() -> None:
    news, go_on = Queue[None](), Event()

    def work(heard: Callable[[int, int], None]) -> dict[str, Any]:
        heard(1, 3)
        assert go_on.wait(PATIENCE_S)
        heard(2, 3)
        return {"blunders": []}

    analyses = Analyses(lambda _: news.put(None))
    analyses.begin("one", work)
    news.get(timeout=PATIENCE_S)
    going = analyses.get("one")
    assert going is not None
    assert going.doing == "1 of 3 decisions"
    going.stop()
    news.get(timeout=PATIENCE_S)
    go_on.set()
    news.get(timeout=PATIENCE_S)
    assert (going.doing, going.found, going.said) == ("", {}, "The analysis was stopped.")
    analyses.begin("one", lambda _: {"blunders": [1]})  # what was stopped may begin again
    news.get(timeout=PATIENCE_S)
    again = analyses.get("one")
    assert again is not None
    assert again.found == {"blunders": [1]}


def test_an_analysis_of_a_record_that_was_removed_ends(tmp_path: Path) -> None:
    file, valued = tmp_path / "best.jsonl", Queue[int]()
    file.touch()

    def work(heard: Heard) -> dict[str, Any]:
        told = while_kept(file, heard)
        told(1, 9)
        file.unlink()
        told(2, 9)
        valued.put(2)
        return {}

    analyses = Analyses(lambda _: None)
    analyses.begin("best", work)
    analysis = analyses.get("best")
    assert analysis is not None
    while analysis.doing:
        sleep(0.01)
    assert "was removed" in analysis.said
    assert valued.empty()


def test_the_shelf_shows_runs_library_and_what_a_search_finds(made: Browser) -> None:
    shelf = words_of(made.get("/").text)
    assert name_of(made) in shelf
    assert "Whist" in shelf
    found = words_of(made.get("/?q=fishing for cards of a rank").text)
    assert "Found Go fish" in found


def test_an_empty_shelf_shows_the_gallery(sandbox: Sandbox, runs: Path, game_run: Path) -> None:
    gallery = runs.parent / f"{runs.name}-gallery"
    gallery.mkdir()
    game_run.rename(gallery / game_run.name)
    with serving(sandbox, runs) as browser:
        browser.web.games.gallery = gallery
        assert "Gallery my game" in words_of(browser.get("/").text)
        assert "R1: Play." in words_of(browser.get("/game/gallery:my-game").text)
        link, _ = browser.lay("gallery:my-game", seat0="person", seat1="random", where="here")
        assert browser.move(link).status_code == 200


def test_a_question_is_answered_in_place(sandbox: Sandbox, runs: Path) -> None:
    with serving(sandbox, runs) as browser:
        answer = browser.post("/design", prompt="something nice")
        here = answer.url.path
        asked = words_of(browser.wait(here, "Answer</button>"))
        assert "?" in asked
        first = field(browser.get(here).text, "asked")
        assert browser.post(f"{here}/say", words="whist").status_code == 409
        browser.post(f"{here}/answer", asked=first, words="")
        second = field(browser.wait(here, 'name="asked" value="2"'), "asked")
        late = browser.post(f"{here}/answer", asked=first, words="whist")  # another tab's
        assert late.status_code == 409
        assert 'id="play"' not in browser.part(here)  # no game is made yet
        browser.post(f"{here}/answer", asked=second, words=DISCS)
        browser.wait(here, 'id="play"')
        browser.post(f"{here}/stop")
        browser.wait(here, "Go on</button>")


def test_a_rulebook_of_other_bytes_than_utf_8_is_shown_as_far_as_it_can_be(
    browser: Browser, game_run: Path
) -> None:
    (game_run / "rulebook.md").write_bytes(b"# Mine\n\n- R1: Play caf\xe9.\n")
    for address in ("/design/my-game", "/game/my-game"):
        answer = browser.get(address)
        assert (answer.status_code, "Play caf" in answer.text) == (200, True)


def test_a_game_that_is_not_checked_is_not_played(browser: Browser, game_run: Path) -> None:
    (game_run / "run.json").unlink()
    assert browser.post("/tables", game="my-game").status_code == 409


@pytest.mark.parametrize("end", ["gave_up", "no_fit"])
def test_a_game_that_does_not_pass_is_called_so_and_is_not_offered(
    browser: Browser, game_run: Path, end: str
) -> None:
    (game_run / "run.json").write_text(f'{{"end":"{end}"}}')
    for address in ("/game/my-game", "/design/my-game"):
        page = browser.get(address).text
        assert "does not pass its checks" in page
        assert 'action="/tables"' not in page
        assert "Play it now" not in page
    answer = browser.post("/tables", game="my-game")
    assert (answer.status_code, "does not pass its checks" in answer.text) == (409, True)


@pytest.mark.parametrize(
    "address", ["/", "/design", "/compare", "/game/whist", "/game/nothing", "/static/app.js"]
)
def test_every_answer_has_a_strict_policy_and_no_script_or_style_of_its_own(
    browser: Browser, address: str
) -> None:
    answer = browser.get(address)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")
    assert "unsafe" not in policy
    assert all(answer.headers[name] == value for name, value in HEADERS)
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", answer.text)


def test_what_a_page_weighs_is_less_than_300_kb(browser: Browser) -> None:
    link, *_ = browser.lay("hearts", **{f"seat{seat}": "person" for seat in range(4)})
    page = browser.get(link).text
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert {"/static/app.js", "/static/table.js", "/static/style.css"} <= {*files}
    weight = len(page.encode()) + sum(len(browser.get(file).content) for file in files)
    assert weight < 300_000
    lines = sum(browser.get(file).text.count("\n") for file in files if file.endswith(".js"))
    assert lines <= 800


def test_the_limits_are_those_that_are_written(browser: Browser) -> None:
    assert QUICK.body_bytes == 64 * 1024
    assert browser.web.settings.limits is QUICK
