"""Pages with tables of recorded observations, and a small server under the page's policy."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from app.table.layout import Setting
from app.web.drawing.seat import SeatDrawing
from games import library
from games.checks.sampling import UniformPlayer
from games.contract import Game
from games.engine import play_match
from games.modules import LocalModule
from games.table import GameTable

STATIC = Path("app/web/static")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'"
)
NAMES = ("Ana", "Björn", "Chloé", "Dee", "Eve", "Finn")
_KINDS = {".css": "text/css", ".js": "text/javascript"}
_CARD = {"component": "card", "owner": "each"}
_TABLE_CARD = {"component": "card", "owner": "table"}


@dataclass
class Shown:
    """One view to draw.

    Attributes:
        seats: How many play.
        seen: The observation.
        legal: The moves.
        zones: The module's `ZONES`.
        parameters: The game's parameters.
        hints: The module's `PRESENTATION`.
        seat: Whose view it is.
    """

    seats: int
    seen: dict[str, Any]
    legal: Sequence[str]
    zones: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    hints: dict[str, Any] | None = None
    seat: int = 0

    def html(self) -> str:
        """Its drawing."""
        setting = Setting(self.seats, self.zones, self.parameters, is_unicode=True)
        drawing = SeatDrawing(setting, self.seat, self.hints)
        return drawing.html(self.seen, self.legal, NAMES[: self.seats], self.seat)


def recorded(name: str, part: float = 0.5) -> Shown:
    """A seat's view in the middle of a random match of a library game, with moves to choose of."""
    game, preset = Game(LocalModule(library.source(name))), library.preset(name)
    zones: Any = game.module.constant("ZONES")
    declared: Any = game.module.constant("GAME")
    parameters = {key: one["default"] for key, one in declared.get("parameters", {}).items()}
    match = play_match(
        GameTable(game),
        [UniformPlayer()] * preset.players,
        parameters=dict(preset.parameters),
        seed=5,
        max_plies=300,
    )
    plies = [ply for ply in match.plies if ply.player >= 0 and len(ply.legal) > 1]
    ply = plies[int(len(plies) * part)]
    seen = game.observations(ply.state, preset.players)[ply.player]
    set_to = {**parameters, **preset.parameters}
    return Shown(preset.players, seen, ply.legal, zones, set_to, seat=ply.player)


LIARS_DICE = Shown(
    3,
    {"dice": ["2", "5", "5", "1", "6"], "dice_counts": [5, 4, 5], "bid": [3, 5], "lost": [0, 1, 0]},
    [*(f"bid {n} {face}" for n in range(3, 8) for face in range(1, 7)), "call liar"],
    {"dice.*": {"component": "die", "owner": "each"}},
)
RACE = Shown(
    3,
    {"positions": [7, 12, 3], "dice": [3, 6], "hand": ["boost", "oil 2", "shield"]},
    ["move 3", "move 6", "play boost", "play oil 2"],
    {"dice": {"component": "die", "owner": "table"}, "hands.*": _CARD},
    {"spaces": 30},
    seat=1,
)
HEX = Shown(
    2,
    {"board": [".......", "...x...", "..o.x..", ".......", ".....o.", ".......", "......."]},
    [f"{column}{row}" for column in "abcdefg" for row in (1, 4, 6, 7)],
    {"board": {"component": "mark", "owner": "table"}},
    hints={
        "fields": {"board": {"as": "board", "shape": "hex", "label": "The field"}},
        "colours": {"x": "red", "o": "blue"},
    },
)
EIGHTS = Shown(
    2,
    {"hand": ["8H", "3C", "8S"], "discards": ["QH"], "deck": 30},
    ["play 8H clubs", "play 8H spades", "play 8S clubs", "play 8S hearts", "play 3C", "draw"],
    {"hands.*": _CARD, "discards": _TABLE_CARD, "deck": _TABLE_CARD},
)
MANY = Shown(2, {"hand": ["KH"]}, [f"offer {a} for {b}" for a in range(100) for b in range(100)])
MADE = {"liars_dice": LIARS_DICE, "race": RACE, "hex": HEX, "eights": EIGHTS, "many": MANY}


def shown(name: str) -> Shown:
    """A view by its name: one that is made here, or one of a library game, such as hearts@0.7."""
    game, _, part = name.partition("@")
    return MADE.get(game) or recorded(game, float(part or 0.5))


def titled(name: str) -> str:
    """A game's name for people.

    >>> titled("connect_four@0.9")
    'Connect four'
    """
    return name.partition("@")[0].replace("_", " ").capitalize()


def page(name: str) -> str:
    """A page around a table."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{titled(name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/static/style.css"><script src="/static/table.js" defer></script>
</head><body><header><nav aria-label="Pages"><a href="/hearts">Shelf</a></nav></header>
<main><h1>{titled(name)}</h1><form method="post" action="/move" id="table">
{shown(name).html()}</form>
<h2>Log</h2><ol id="log" aria-live="polite"><li>Ana begins.</li></ol></main>
</body></html>"""


@contextmanager
def served() -> Iterator[tuple[str, list[dict[str, list[str]]]]]:
    """The address of a server of these pages, and the forms that are posted to it."""
    posted: list[dict[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            if path.startswith("/static/"):
                file = STATIC / Path(path).name
                self._answer(file.read_bytes(), _KINDS[file.suffix])
            elif path == "/favicon.ico":
                self._answer(b"", "image/x-icon")
            else:
                self._answer(page(path[1:]).encode(), "text/html")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            posted.append(parse_qs(body))
            self._answer(b"<!doctype html><title>played</title><p>played", "text/html")

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", posted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
