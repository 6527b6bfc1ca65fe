"""Pages of games: the shelf, a game with its report and versions, comparison, and records."""

import json
import re
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.table.reading import Setting
from app.web.design_pages import kept_text, rules_of
from app.web.drawing.seat import SeatDrawing
from app.web.pages import Refusal, form_of, page, see, wants_part, web_of
from app.web.streams import Heard
from games.text import one_line
from games.values import TERMINAL

if TYPE_CHECKING:
    from agents.analysis import FollowedMatch
    from app.web.server import ShownGame, Web
    from games.records import MatchRecord
    from tools.sandbox import Sandbox

router = APIRouter()
_FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
)
_BESIDE = re.compile(r'<a href="(?!#)[^"]*">([^<]*)</a>')
_MOST_FOUND, _MOST_MATCHES, _MOST_SIMULATIONS = 10, 200, 2_000
_FOLLOWED = 8  # matches that are kept as they were followed
_KINDS = ("position", "blunders")


@dataclass(frozen=True)
class AskedPly:
    """The position of a record that is asked for, by numbers from 1."""

    match: int = 1
    ply: int = 1
    seat: int = 1
    analyse: str = ""
    simulations: int = 400

    def at(self, ply: int) -> "AskedPly":
        """Another position, without an analysis."""
        return replace(self, ply=ply, analyse="")

    def address(self, key: str, stem: str, deed: str = "") -> str:
        """Its page, or what is done there."""
        return f"/record/{quote(key)}/{quote(stem)}{deed}?{urlencode(asdict(self))}"


At = Annotated[AskedPly, Depends(AskedPly)]


@router.get("/")
def shelf(request: Request, q: str = "") -> Response:
    """All games: those that were made here, those that come along, and the library's."""
    from app.commands.library import listed_game
    from app.commands.trace import known_runs
    from games import library

    web = web_of(request)
    runs = known_runs()
    gallery = [] if runs else web.games.shown_gallery()
    found = web.store().search("games", q[:300], _MOST_FOUND) if q.strip() else []
    games = [listed_game(name) for name in library.names()]
    tables = [kept for kept in web.tables.known() if not kept.about.over]
    return page(
        request,
        "shelf",
        q=q,
        found=found,
        names=library.names(),
        runs=runs,
        gallery=gallery,
        games=games,
        tables=tables,
    )


@router.get("/game/{key}")
def game_page(request: Request, key: str) -> Response:
    """A game: its rulebook, its report, its mechanics, its versions, and a table to lay."""
    from games.contract import player_numbers
    from games.mechanics import GraphError
    from graph.new.comparing import game_to_compare
    from graph.run.folder import RunFolder, RunFolderError
    from tools.reporting.graphs import graph_svg

    web = web_of(request)
    shown = web.games.found(key)
    try:
        about = game_to_compare(shown.place)
        drawn = graph_svg(about.graph, f"Mechanics of {about.title}")
    except (RunFolderError, GraphError):
        about, drawn = None, ""
    folder = shown.folder
    root = RunFolder(folder).root if folder else None
    numbers: tuple[int, ...] = ()
    setup, why_not = None, web.games.closed(shown)
    rulebook = kept_text(folder, "rulebook.md") or (rules_of(folder) if folder else "")
    if not why_not:
        with web.games.loaded(shown) as laid:
            numbers, setup = player_numbers(laid.module.info), laid.setup
            rulebook = web.games.rulebook(laid.setup, laid.run)
    return page(
        request,
        "game",
        game=shown,
        about=about,
        drawn=Markup(drawn),  # escaped where it is made
        rulebook=rulebook,
        numbers=numbers,
        why_not=why_not,
        usual=setup.num_players if setup else 0,
        parameters=dict(setup.parameters) if setup else {},
        report=bool(folder and (folder / "report.html").is_file()),
        changes=kept_text(folder, "changes.md"),
        versions=[] if root is None else [root.path.name, *_revisions(root.path.name, root)],
        records=[one.stem for one in _records(shown)],
    )


def _revisions(name: str, root: Any) -> list[str]:  # noqa: ANN401 - a run's folder
    return [f"{name}@{one.path.name}" for one in root.revisions]


@router.get("/game/{key}/report")
def report(request: Request, key: str) -> Response:
    """The report of a run, for a frame that may run nothing; its charts need no script.

    Its links to the files beside it are words here: the page around the frame shows them.
    """
    text = kept_text(web_of(request).games.found(key).folder, "report.html")
    if not text:
        raise Refusal(404, "There is no report yet; it is written when the play-test is over")
    return framed(_BESIDE.sub(r"\1", text))


def framed(text: str) -> HTMLResponse:
    """A whole page of ours from elsewhere, under a policy of its own."""
    return HTMLResponse(text, headers={"content-security-policy": _FRAMED})


@router.get("/compare")
def compare_form(request: Request, one: str = "", other: str = "", matches: int = 0) -> Response:
    """Two games side by side."""
    web = web_of(request)
    chosen = [web.games.found(key) for key in (one, other) if key]
    return page(request, "compare", chosen=chosen, matches=_bounded(matches, _MOST_MATCHES))


@router.get("/compare/page")
def compared(request: Request, one: str, other: str, matches: int = 0) -> Response:
    """The comparison of two games, for a frame."""
    from app.commands.compare import PlayedBoth, held_side_by_side
    from graph.new.comparing import alike_by_meaning, game_to_compare
    from tools.comparing.page import comparison_page

    web = web_of(request)
    places = [web.games.found(key).place for key in (one, other)]
    played = PlayedBoth(matches=_bounded(matches, _MOST_MATCHES), seed=0)
    with web.heavy():
        likeness = alike_by_meaning(lambda _: None)
        found = [game_to_compare(place) for place in places]
        rows = held_side_by_side(found, played, web.sandbox, likeness)
    return framed(comparison_page(rows))


def _bounded(number: int, most: int) -> int:
    return max(0, min(number, most))


def _records(shown: "ShownGame") -> list[Path]:
    """The files of a game's recorded matches."""
    from app.commands.analyse import records_of

    has_source = shown.folder is None or (shown.folder / "game.py").is_file()
    return records_of(shown.place) if has_source else []


@lru_cache(maxsize=_FOLLOWED)
def _followed(
    sandbox: "Sandbox", place: str, file: Path, stamp: float, number: int
) -> "tuple[FollowedMatch, MatchRecord, Setting, int]":
    """A recorded match, played once more for its positions; and how many its file holds."""
    from agents.analysis import match_followed
    from app.table.saved import matches_of_file
    from app.table.session import open_table, table_setting

    del stamp  # of the file: another one is followed anew
    records = matches_of_file(file)
    if not 0 < number <= len(records):
        raise Refusal(404, f"This record has matches 1 to {len(records)}")
    record = records[number - 1]
    settings = [f"{name}={json.dumps(value)}" for name, value in record.parameters.items()]
    with ExitStack() as stack:
        laid = open_table(place, len(record.players), settings, sandbox, stack)
        setting = table_setting(laid, is_unicode=True)
        match = match_followed(sandbox, laid.setup, record.actions, record)
    return match, record, setting, len(records)


def kept_record(request: Request, key: str, stem: str) -> Path:
    """The file of a game's record.

    Raises:
        Refusal: If there is none of that name.
    """
    records = _records(web_of(request).games.found(key))
    file = next((one for one in records if one.stem == stem), None)
    if file is None:
        raise Refusal(404, "There is no such record; the game's page lists them")
    return file


File = Annotated[Path, Depends(kept_record)]


def _topic(file: Path, asked: AskedPly) -> str:
    """The name of an analysis: of one position or of all decisions, and of no seat's view."""
    place = replace(asked, seat=1, ply=asked.ply if asked.analyse == "position" else 1)
    return f"analysis/{file}/{file.stat().st_mtime}/{place}"


@router.get("/record/{key}/{stem}")
def record(request: Request, key: str, stem: str, asked: At, file: File) -> Response:
    """One position of a recorded match, as a seat sees it; with its analysis where it was asked."""
    web = web_of(request)
    shown = web.games.found(key)
    analysis = web.analyses.get(_topic(file, asked))
    told: dict[str, Any] = {"analysis": analysis, "key": key, "stem": stem, "asked": asked}
    if wants_part(request):
        return page(request, "analysis", **told)
    found = _followed(web.sandbox, shown.place, file, file.stat().st_mtime, asked.match)
    match, kept, setting, matches = found
    last, seats = len(match.actions), len(kept.players)
    at, seat = _bounded(asked.ply - 1, last), _bounded(asked.seat - 1, seats - 1)
    here, log = match.positions[at], match.logs(at)[seat]
    names = [f"Player {number + 1}" for number in range(seats)]
    to_move = here.player if here.player >= 0 else None
    drawn = SeatDrawing(setting, seat).html(log.latest(), (), names, to_move)
    told |= {"ply": at + 1, "last": last + 1, "match": asked.match, "matches": matches}
    return page(
        request,
        "record",
        game=shown,
        players=kept.players,
        seat=seat + 1,
        drawn=Markup(drawn),  # escaped where it is made
        does=None if here.player == TERMINAL else one_line(match.actions[at]) if at < last else "",
        who=names[here.player] if here.player >= 0 else "Chance",
        events=[one_line(event) for event in here.events[seat]],
        **told,
    )


@router.get("/record/{key}/{stem}/events")
async def analysis_events(request: Request, asked: At, file: File) -> Response:
    """A stream that tells how far an analysis is."""
    web, topic = web_of(request), _topic(file, asked)
    if (analysis := web.analyses.get(topic)) is None:
        raise Refusal(404, "Nothing is analysed here; the record's page begins it")
    return web.streams.answer(topic, topic, lambda: str(analysis.news))


@router.post("/record/{key}/{stem}/{deed}")
def act_on_record(
    request: Request, key: str, stem: str, deed: str, asked: At, file: File
) -> Response:
    """Begin an analysis of a record, or stop it."""
    web, form = web_of(request), form_of(request)
    if deed == "stop" and (going := web.analyses.get(_topic(file, asked))) is not None:
        going.stop()
        return see(asked.address(key, stem))
    number = form.get("simulations", "")
    if deed != "analyse" or form.get("analyse") not in _KINDS or not number[:9].isdecimal():
        raise Refusal(400, "Choose what to analyse, and a whole number of simulations")
    simulations = _bounded(int(number[:9]), _MOST_SIMULATIONS) or 1
    asked = replace(asked, analyse=form["analyse"], simulations=simulations)
    place = web.games.found(key).place
    match, *_ = _followed(web.sandbox, place, file, file.stat().st_mtime, asked.match)
    topic, kept = _topic(file, asked), partial(while_kept, file)
    web.analyses.begin(topic, lambda heard: _analysed(web, match, asked, kept(heard)))
    return see(asked.address(key, stem))


def while_kept(file: Path, heard: Heard) -> Heard:
    """The same, but that it ends the analysis of a record that was removed.

    Nobody could stop it: the record's page is no more.
    """

    def told(done: int, of: int) -> None:
        if not file.is_file():
            raise Refusal(404, "The record was removed, so that its analysis has ended")
        heard(done, of)

    return told


def _analysed(web: "Web", match: "FollowedMatch", asked: AskedPly, heard: Heard) -> dict[str, Any]:
    """The analysis of `rulewright analyse`: of the position, or of all decisions."""
    from agents.analysis import Valuer, solved_line
    from app.commands.analyse import blunders_of, position_of_seats

    with web.heavy():
        line = solved_line(web.sandbox, match)
        valuer = Valuer(web.sandbox, match, line, asked.simulations, seed=0, heard=heard)
        if asked.analyse == "blunders":
            found = blunders_of(valuer, None)
        else:
            ply = _bounded(asked.ply - 1, len(match.actions))
            found = position_of_seats(valuer, ply, None)
    return {**found, "by": line.by, "why": one_line(line.why)[:200]}
