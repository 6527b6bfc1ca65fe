"""The page's parts together: its app, its tables and runs, and what there is to play."""

import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from app.table.session import LaidTable, line_up_of, open_table
from app.web import design_pages, game_pages, table_pages
from app.web.design_pages import Designs
from app.web.guard import Guard, refusal_of
from app.web.keeping import Tables
from app.web.pages import HERE, Refusal, error_page
from app.web.playing import WebTable
from app.web.settings import WebSettings
from app.web.streams import Analyses, Streams
from app.web.views import Beholder
from games import library

if TYPE_CHECKING:
    from agents.protocols import Design
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox
    from vectorstore.store import Store

_RUN = re.compile(r"(?P<run>[A-Za-z0-9][A-Za-z0-9._-]{0,99})(@(?P<revision>[0-9]{1,4}))?")
_GALLERY = "gallery:"


@dataclass(frozen=True)
class ShownGame:
    """A game that the page can show.

    Attributes:
        key: Its name in addresses.
        place: What a command would be given.
        folder: Its folder; None for the library's.
        title: For people.
    """

    key: str
    place: str
    folder: Path | None
    title: str


@dataclass(frozen=True)
class ReadyGame:
    """A game that is ready to be played."""

    title: str
    setup: "GameSetup"
    run: Path | None


@dataclass
class Games:
    """The games there are: the library's, the runs' and the gallery's.

    Attributes:
        runs: The folder of runs.
        gallery: The folder of finished games.
        sandbox: Where they are loaded.
        why_not: Why the game in a run's folder is not offered; empty for one that is.
    """

    runs: Path
    gallery: Path
    sandbox: "Sandbox"
    why_not: Callable[[Path], str]

    def found(self, key: str) -> ShownGame:
        """A game by its name in addresses.

        Raises:
            Refusal: If there is none of that name.
        """
        if key in library.names():
            return ShownGame(key, key, None, key.replace("_", " ").capitalize())
        is_shown = key.startswith(_GALLERY)
        fit = _RUN.fullmatch(key.removeprefix(_GALLERY))
        if fit is not None:
            folder = (self.gallery if is_shown else self.runs) / fit["run"]
            if fit["revision"]:
                folder = folder / "revisions" / fit["revision"]
            known = folder / ("game.py" if is_shown or fit["revision"] else ".state")
            if known.exists():
                return ShownGame(key, str(folder), folder, _title(folder))
        raise Refusal(404, "There is no such game; the shelf shows all")

    def shown_gallery(self) -> "list[tuple[ShownGame, Design | None]]":
        """The finished games that come with the product, with the design of each."""
        folders = [file.parent for file in sorted(self.gallery.glob("*/game.py"))]
        return [
            (self.found(f"{_GALLERY}{folder.name}"), design_pages.kept_design(folder))
            for folder in folders
        ]

    def closed(self, game: ShownGame) -> str:
        """Why a game is not offered; empty for one that is."""
        if game.folder is None or game.key.startswith(_GALLERY):
            return ""
        return self.why_not(game.folder)

    def laid(self, game: ShownGame, players: int, settings: Sequence[str]) -> ReadyGame:
        """A game that is loaded once, for its seats and parameters.

        Raises:
            Refusal: If it did not pass its checks.
        """
        if why_not := self.closed(game):
            raise Refusal(409, why_not)
        with self.loaded(game, players, settings) as laid:
            return ReadyGame(game.title, laid.setup, laid.run)

    @contextmanager
    def loaded(
        self, game: ShownGame, players: int = 0, settings: Sequence[str] = ()
    ) -> Iterator[LaidTable]:
        """A game in a referee's worker, for the time of a block; see `open_table`."""
        with ExitStack() as stack:
            yield open_table(game.place, players, settings, self.sandbox, stack)

    def line_up(
        self, ready: ReadyGame, people: Sequence[int], named: Sequence[str]
    ) -> list[str | None]:
        """See `line_up_of`; files of players are tried once."""
        from agents.players.registry import PlayerRoster

        specs = line_up_of(ready.setup, people, named, ready.run, self.sandbox)
        for spec in dict.fromkeys(filter(None, specs)):
            PlayerRoster().require_files(spec, ready.setup, self.sandbox)
        return specs

    def rulebook(self, setup: "GameSetup", run: Path | None) -> str:
        """The rulebook, or the design's rules where none is written yet."""
        from tools.sources import find_rulebook

        found = find_rulebook(setup.name, setup.parameters, setup.num_players)
        return found or design_pages.rules_of(run or Path(setup.name).parent)


def _title(folder: Path) -> str:
    design = design_pages.kept_design(folder)
    return folder.name.replace("-", " ") if design is None else design.title


@dataclass
class Web:
    """All that pages are about.

    Attributes:
        settings: Of the page.
        sandbox: Where generated code runs.
        gallery: The folder of finished games.
    """

    settings: WebSettings
    sandbox: "Sandbox"
    gallery: Path = field(default_factory=lambda: HERE.parents[1] / "gallery")
    _store: "Store | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        limits = self.settings.limits
        self.streams = Streams(limits)
        self.tables = Tables(self.settings, self.sandbox, self.streams.tell)
        self.designs = Designs(limits, self.sandbox, self.store, self.streams.tell)
        self.analyses = Analyses(self.streams.tell)
        self.games = Games(self.settings.runs, self.gallery, self.sandbox, self.designs.why_not)
        self._heavy = threading.BoundedSemaphore(limits.heavy)

    def warm(self) -> None:
        """Load in the background what the first page and the first run would wait for.

        Whoever makes a game goes before it.
        """
        context = copy_context()  # of where generated code runs
        threading.Thread(target=context.run, args=(self._warm,), name="warm", daemon=True).start()

    def _warm(self) -> None:
        from app.commands.library import listed_game

        for name in library.names():
            listed_game(name)
        import graph.new.runs  # noqa: F401 - the machine, with all its nodes
        from agents.composer.lexicon import lexicons
        from agents.protocols import Brief, Choices
        from graph.new.opening import composer_over
        from graph.run.settings import versions

        versions()
        self.store().snapshot_id()
        designer = composer_over(self.store()).designer
        for lexicon in lexicons() if not os.environ.get("RULEWRIGHT_MODEL") else ():
            self.designs.wait_for_rest()
            asked = Brief(prompt=lexicon.family, choices=Choices(family=lexicon.family))
            designer.design(asked, lambda _: ())  # the first one fits all that is known of it

    def store(self) -> "Store":
        """The store of games and mechanics, opened once."""
        from app.console import note
        from graph.run.opening import open_store_here

        with self._lock:
            if self._store is None:
                self._store = open_store_here(note)
            return self._store

    def beholder(self, table: WebTable, seat: int | None) -> Beholder:
        """The one who looks at a table from a seat."""
        return table.beholders.setdefault(seat, Beholder(table, seat))

    @contextmanager
    def heavy(self) -> Iterator[None]:
        """Long work: so much at once, and no more.

        Raises:
            Refusal: If as much is done already.
        """
        if not self._heavy.acquire(blocking=False):
            raise Refusal(503, "The server is busy with other searches; try again in a minute")
        try:
            yield
        finally:
            self._heavy.release()

    def close(self) -> None:
        """Stop all that goes on; what was done is kept."""
        self.streams.close()
        self.designs.close()
        self.analyses.close()
        self.tables.close()
        if self._store is not None:
            self._store.close()


def create_app(web: Web) -> FastAPI:
    """The app over all that pages are about."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = web.settings.limits.waiting
        yield
        web.streams.close()

    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=life)
    app.state.web = web
    for router in (table_pages.router, game_pages.router, design_pages.router):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")

    def refused(request: Request, error: Exception) -> Response:
        return error_page(request, refusal_of(error))

    for kind in (HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, refused)
    app.add_middleware(Guard, settings=web.settings)
    return app
