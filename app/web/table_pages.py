"""Pages of a table: who sits where for its owner; and for each seat what it sees, by its link."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from app.web.drawing.moves import chosen_action
from app.web.keeping import WATCH, Wanted
from app.web.pages import Refusal, form_of, page, see, seed_given, wants_part, web_of
from app.web.playing import PAUSES, WebTable
from app.web.views import Beholder
from games.text import one_line

router = APIRouter()
_LONGEST_WORDS, _MOST_WORDS = 200, 50
_PERSON = "person"
_UNCLEAR = "What you typed names no move here, or several; type one in full, as those listed are"


def beheld(request: Request, id_: str, secret: str) -> Beholder:
    """The one whom a link lets look at a table.

    Raises:
        Refusal: If there is no such table, or the link is of another.
    """
    web = web_of(request)
    table = web.tables.get(id_)
    return web.beholder(table, web.tables.seat(table, secret))


At = Annotated[Beholder, Depends(beheld)]


@router.post("/tables")
def lay(request: Request) -> Response:
    """Lay a table for a game, with a person or a computer's player at each seat."""
    web, form = web_of(request), form_of(request)
    game = web.games.found(form.get("game", ""))
    number = form.get("players", "")
    settings = form.get("settings", "").split()
    if number and not number.isdecimal():
        raise Refusal(400, "The number of players is a whole number, or left empty")
    laid = web.games.laid(game, int(number[:2] or 0), settings)
    seats = laid.setup.num_players
    sits = [form.get(f"seat{n}", "") or (_PERSON if not n else "") for n in range(seats)]
    people = [seat for seat, who in enumerate(sits) if who == _PERSON]
    computers = [who for who in sits if who not in (_PERSON, "")]
    usual = len(computers) < seats - len(people)
    players = web.games.line_up(laid, people, [] if usual else computers)
    names = [one_line(form.get(f"name{n}", ""))[:40] or f"Player {n + 1}" for n in range(seats)]
    local = len(people) <= 1 or form.get("where") == "here"
    seed = seed_given(form.get("seed", ""))
    wanted = Wanted(laid.title, laid.setup, laid.run, players, names, seed, local)
    table = web.tables.lay(wanted)
    if people and local:
        return see(web.tables.link(table.kept.id, people[0]))
    return see(f"/tables/{table.kept.id}")


@router.get("/tables/{id_}")
def seat_links(request: Request, id_: str) -> Response:
    """The links of a table's seats, for whoever laid it."""
    web = web_of(request)
    table = web.tables.get(id_)
    places: list[int | str] = [*table.kept.people, WATCH]
    links = [(place, web.tables.link(id_, place)) for place in places]
    base = str(request.base_url).rstrip("/")
    return page(request, "seats", table=table.kept, links=links, base=base)


@router.get("/table/{id_}/{secret}")
def look(request: Request, id_: str, secret: str, at: At) -> Response:
    """The table as a seat sees it; the part alone for the page's own script."""
    name = "part" if wants_part(request) else "table"
    return page(request, name, **_values(request, id_, secret, at))


def _values(request: Request, id_: str, secret: str, at: Beholder) -> dict[str, Any]:
    view, web = at.view(), web_of(request)
    here = {
        "here": f"/table/{id_}/{secret}",
        "pauses": list(PAUSES),
        "speed": at.table.kept.about.speed,
    }
    asked = view.get("asked")
    other = None if asked in (None, at.seat) else (asked, web.tables.link(id_, str(asked)))
    return {**here, **view, "other": other}


@router.get("/table/{id_}/{secret}/rules")
def table_rules(request: Request, at: At) -> Response:
    """The rules at hand."""
    kept = at.table.kept
    text = web_of(request).games.rulebook(kept.setup, kept.run)
    return page(request, "rules", title=kept.about.title, text=text)


@router.get("/table/{id_}/{secret}/events")
async def seat_events(request: Request, id_: str, at: At) -> Response:
    """A stream that tells a seat that there is something new, and nothing of it."""
    reader = f"{id_}/{at.seat}"
    if at.seat is None and request.client is not None:  # many look on by one link
        reader += f"/{request.client.host}"
    return web_of(request).streams.answer(id_, reader, at.mark)


def _seat(at: Beholder) -> tuple[WebTable, int]:
    """The table and the seat of a person who plays.

    Raises:
        Refusal: If this one only looks on.
    """
    if at.seat is None:
        raise Refusal(403, "You look on; only who has a seat may do that")
    return at.table, at.seat


def _done(request: Request, id_: str, secret: str, at: Beholder) -> Response:
    """The table after a deed: the part of it for the page's own script, else the page anew."""
    if wants_part(request):
        return page(request, "part", **_values(request, id_, secret, at))
    return see(f"/table/{id_}/{secret}")


@router.post("/table/{id_}/{secret}/{deed}")
def act_at_table(request: Request, id_: str, secret: str, deed: str, at: At) -> Response:
    """A deed of a seat's person: a move, a hint, and so on."""
    form = form_of(request)
    table, seat = _seat(at)
    mark = form.get("ply", "")
    match deed:
        case "move":
            action = chosen_action(form, table.shown.legal)
            if action is None and "typed" in form and table.shown.turn == seat:
                raise Refusal(409, _UNCLEAR)
            table.move(seat, mark, action or "")
        case "hint":
            table.hint(seat, mark, wanted="stop" not in form)
        case "back":
            table.back(seat, mark)
        case "concede":
            table.concede(seat)
        case "name":
            table.kept.rename(seat, form.get("name", ""))
            table.heard()
        case "say":
            table.say(seat, one_line(form.get("words", ""))[:_LONGEST_WORDS], _MOST_WORDS)
        case "speed" if form.get("speed") in PAUSES:
            table.kept.hurry(form["speed"])
        case _:
            raise Refusal(404, "There is no such thing to do at a table")
    return _done(request, id_, secret, at)
