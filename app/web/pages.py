"""Pages from templates, in which every word is escaped; and refusals as a page or as JSON."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from app.table.markdown import MarkdownBlock, markdown_blocks
from app.web.drawing.pieces import with_signs
from games.streams import drawn_seed
from games.text import plain_text

if TYPE_CHECKING:
    from app.web.server import Web

_MOST_SEED, _LONGEST_SEED = 2**64, 20
HERE = Path(__file__).parent
_EMPHASIS = re.compile(r"(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)")


@dataclass
class Refusal(Exception):  # noqa: N818 - the request is at fault
    """A request that is not carried out.

    Attributes:
        status: The HTTP status.
        said: What was wrong, and what to do.
    """

    status: int
    said: str


@cache
def _templates() -> Environment:
    loader = FileSystemLoader(HERE / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, auto_reload=False)
    made.finalize = lambda value: plain_text(value) if type(value) is str else value
    made.filters.update(blocks=blocks, plain=unmarked, signs=with_signs)
    return made


def page(request: Request, template: str, /, *, code: int = 200, **values: object) -> HTMLResponse:
    """A page, or a part of one, from its template."""
    csrf = getattr(request.state, "csrf", "")
    text = _templates().get_template(f"{template}.html").render(csrf=csrf, **values)
    return HTMLResponse(text, code)


def error_page(request: Request, refusal: Refusal) -> Response:
    """A short page, or JSON for a script."""
    if wants_part(request) or "json" in request.headers.get("accept", ""):
        return JSONResponse({"error": refusal.said}, refusal.status)
    return page(request, "error", code=refusal.status, said=refusal.said, status=refusal.status)


def wants_part(request: Request) -> bool:
    """True for a request of the page's own script, which replaces a part of it."""
    return request.headers.get("x-part") == "1"


def see(address: str) -> RedirectResponse:
    """The answer to a form: look at another page."""
    return RedirectResponse(address, 303)


def form_of(request: Request) -> dict[str, str]:
    """The fields of the form that was sent."""
    fields: dict[str, str] = request.state.form
    return fields


def seed_given(text: str) -> int:
    """The seed that was given; a new one where none was."""
    if text and not (text.isdecimal() and len(text) <= _LONGEST_SEED and int(text) < _MOST_SEED):
        raise Refusal(400, f"The seed is a whole number below {_MOST_SEED}, or left empty")
    return int(text) if text else drawn_seed()


def web_of(request: Request) -> "Web":
    """The parts of the server that pages are about."""
    web: Web = request.app.state.web
    return web


def blocks(text: str) -> list[MarkdownBlock]:
    """Markdown for a template, as blocks."""
    return [*markdown_blocks(text)]


def unmarked(text: str) -> str:
    """Words of Markdown without the marks of emphasis.

    >>> unmarked("**R1**: Take *all* of `hand_1`.")
    'R1: Take all of hand_1.'
    """
    return _EMPHASIS.sub("", text)
