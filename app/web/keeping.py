"""Tables that are kept: a folder each, with a journal of a line a ply, and who sits where."""

import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, JsonValue

from app.table.saved import SavedMatchError, matches_of_file
from app.table.session import TableSession
from app.web.pages import Refusal
from app.web.playing import TAKEN_S, WebTable
from app.web.settings import WebSettings
from games.engine import Match, Ply
from games.records import MatchRecord, head_line, json_line, ply_line
from games.text import one_line

if TYPE_CHECKING:
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox

_ID = re.compile(r"[0-9a-f]{16}")
_LONGEST_NAME = 40
_MOST_SHOWN = 200
_MOST_OVER = 8  # tables that are over and stay awake, for those who still look at the end
WATCH = "watch"
"""The place of those who look on, beside the numbers of the seats."""


class _Kept(BaseModel, strict=True):
    """The file of a table."""

    title: str
    run: str | None
    name: str
    source: str
    num_players: int = Field(ge=1, le=8)
    parameters: dict[str, JsonValue]
    heuristics: dict[str, str]
    players: list[str | None]
    names: list[str]
    seed: int = Field(ge=0)
    local: bool
    over: bool = False
    speed: str = "usual"
    conceded: list[int] = Field(default_factory=list)


@contextmanager
def _there() -> Iterator[None]:
    """Writing into a table's folder, in a block.

    Raises:
        SavedMatchError: If it is gone, or another thing is in its place or its file's.
    """
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise SavedMatchError("the table's folder was removed or changed; lay another") from error


@dataclass
class KeptTable:
    """A table's folder: who sits where, and the journal of the match.

    Attributes:
        folder: Where.
        about: The file in it.
        changes: How often that was written anew.
    """

    folder: Path
    about: _Kept
    changes: int = 0
    _kept: int = 0  # plies in the journal
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @property
    def setup(self) -> "GameSetup":
        """The game as it was when the table was laid: no later change, nor loss, harms a match."""
        from tools.playtest.jobs import GameSetup

        at = self.about
        return GameSetup(at.name, at.source, at.num_players, at.parameters, at.heuristics)

    @property
    def run(self) -> Path | None:
        """The run that made the game, where it is still there."""
        run = self.about.run and Path(self.about.run)
        return run if run and run.is_dir() else None

    @property
    def journal(self) -> Path:
        """The record of the match, as far as it was played."""
        return self.folder / "match.jsonl"

    @property
    def people(self) -> list[int]:
        """The seats of persons."""
        return [seat for seat, spec in enumerate(self.about.players) if spec is None]

    @property
    def is_local(self) -> bool:
        """True where nobody plays in another browser."""
        return self.about.local or len(self.people) == 1

    def name(self, seat: int) -> str:
        """The name of who sits there."""
        return self.about.names[seat]

    def rename(self, seat: int, name: str) -> None:
        """Give a person a name."""
        self.about.names[seat] = one_line(name)[:_LONGEST_NAME] or f"Player {seat + 1}"
        self.write()

    def hurry(self, speed: str) -> None:
        """Note how fast the computer is to move."""
        self.about.speed = speed
        self.write()

    def concede(self, seat: int) -> None:
        """Note that a person gives the match up."""
        self.about.conceded = sorted({*self.about.conceded, seat})
        self.write()

    def write(self) -> None:
        """Write the file, whole or not at all.

        Raises:
            SavedMatchError: If its folder is gone.
        """
        with self._lock, _there():
            self.changes += 1
            partial = self.folder / ".table.partial"
            partial.write_text(self.about.model_dump_json(), encoding="utf-8")
            partial.replace(self.folder / "table.json")

    def session(self, sandbox: "Sandbox") -> TableSession:
        """The match, with what was played of it."""
        from app.commands.match import chosen_roster
        from graph.run.folder import runs_folder

        at, plies = self.about, self._plies()
        self._kept = len(plies)
        under = self.run / "records" if self.run else runs_folder() / "played"
        roster = chosen_roster([spec for spec in at.players if spec])
        return TableSession(self.setup, at.players, at.seed, sandbox, under, roster, plies)

    def add(self, plies: Sequence[Ply]) -> None:
        """Keep what was played since.

        Raises:
            SavedMatchError: If its folder is gone.
        """
        new = range(self._kept, len(plies))
        with _there(), self.journal.open("a", encoding="utf-8") as file:
            file.writelines(ply_line(index, plies[index]) for index in new)
        self._kept = max(self._kept, len(plies))

    def go_back(self, plies: Sequence[Ply]) -> None:
        """Keep no more than these; see `add`."""
        with _there():
            self._write_journal(plies)
        self._kept = len(plies)

    def end(self, session: TableSession, match: Match) -> None:
        """Keep the record of a match that is over, where `play` puts it too."""
        if not self.about.over:
            session.save(match, match.reason)
            self.about.over = True
            self.write()

    def _write_journal(self, plies: Sequence[Ply]) -> None:
        lines = [head_line(self._record(())), *(ply_line(n, ply) for n, ply in enumerate(plies))]
        partial = self.folder / ".match.partial"
        partial.write_text("".join(lines), encoding="utf-8")
        partial.replace(self.journal)

    def _record(self, plies: Sequence[Ply]) -> MatchRecord:
        at, match = self.about, Match("unfinished", None, tuple(plies), None, (), reason="kept")
        players = tuple(spec or "human" for spec in at.players)
        return MatchRecord(at.name, at.parameters, players, at.seed, 0, match)

    def _plies(self) -> tuple[Ply, ...]:
        """The plies of the journal; a line that a kill cut short is none.

        Raises:
            SavedMatchError: If somebody edited it.
        """
        if not self.journal.is_file():
            return ()
        text = self.journal.read_text(encoding="utf-8", errors="replace")
        whole, end = text[: text.rfind("\n") + 1], json_line(self._record(())).splitlines()[-1]
        if not whole:
            return ()
        ended = self.folder / ".ended.jsonl"
        ended.write_text(f"{whole}{end}\n", encoding="utf-8")
        try:
            plies = matches_of_file(ended)[0].match.plies
        except SavedMatchError as error:
            raise SavedMatchError("somebody edited this table's match; lay another one") from error
        finally:
            ended.unlink()
        if whole != text:
            self._write_journal(plies)
        return plies


@dataclass(frozen=True)
class Wanted:
    """A table that somebody wants.

    Attributes:
        title: The game's name, for people.
        setup: The game.
        run: The run that made it.
        players: A spec a seat; None for a person.
        names: A name a seat.
        seed: Of the match.
        local: Whether all persons play in one browser.
    """

    title: str
    setup: "GameSetup"
    run: Path | None
    players: Sequence[str | None]
    names: Sequence[str]
    seed: int
    local: bool


@dataclass
class Tables:
    """All tables: those that are played, and those that wait in their folders.

    Attributes:
        settings: Of the page.
        sandbox: Where games run.
        heard: Told of a table at which there is something new.
    """

    settings: WebSettings
    sandbox: "Sandbox"
    heard: Callable[[str], None] = lambda _: None
    _live: dict[str, WebTable] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def lay(self, wanted: Wanted, plies: Sequence[Ply] = ()) -> WebTable:
        """A new table, at which some plies were played already.

        Raises:
            Refusal: If as many are played as may be.
        """
        about = _Kept(
            title=one_line(wanted.title)[:80],
            run=str(wanted.run) if wanted.run else None,
            name=wanted.setup.name,
            source=wanted.setup.source,
            num_players=wanted.setup.num_players,
            parameters=dict(wanted.setup.parameters),
            heuristics=dict(wanted.setup.heuristics),
            players=list(wanted.players),
            names=list(wanted.names),
            seed=wanted.seed,
            local=wanted.local,
        )
        with self._lock:
            self._make_room()
            kept = KeptTable(self.settings.tables / secrets.token_hex(8), about)
            kept.folder.mkdir(parents=True)
            kept.write()
            kept.go_back(plies)
            return self._woken(kept)

    def get(self, id_: str) -> WebTable:
        """A table, woken where it waits.

        Raises:
            Refusal: If there is none of that name.
        """
        with self._lock:
            table = self._live.get(id_)
            if table is not None and table.may_try_again():
                self._live.pop(id_).close()
                table = None
            if table is not None:
                table.looked_at = time.monotonic()
                return table
            kept = self._read(id_)
            self._make_room()
            return self._woken(kept)

    def link(self, id_: str, place: int | str) -> str:
        """The address of a seat, or of those who look on."""
        return f"/table/{id_}/{self.settings.secret('seat', id_, str(place))}"

    def seat(self, table: WebTable, secret: str) -> int | None:
        """The seat whose secret is given; None for who looks on.

        Raises:
            Refusal: If it is no seat's.
        """
        id_, found = table.kept.id, []
        for place in (*map(str, table.kept.people), WATCH):  # all, so that time tells nothing
            if self.settings.is_secret(secret, "seat", id_, place):
                found.append(place)
        if not found:
            raise Refusal(403, "This link opens no seat of the table; ask for the whole link")
        return None if found[0] == WATCH else int(found[0])

    def known(self) -> list[KeptTable]:
        """All tables, the newest first."""
        folders = [path for path in self.settings.tables.glob("*") if _ID.fullmatch(path.name)]
        found = []
        newest = sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)
        for folder in newest[:_MOST_SHOWN]:
            with suppress(Refusal):
                found.append(self._read(folder.name))
        return found

    def close(self) -> None:
        """Stop all matches; they go on when they are looked at again."""
        tables, ends = [*self._live.values()], time.monotonic() + TAKEN_S
        for table in tables:
            table.stop()
        for table in tables:
            table.close(ends - time.monotonic())

    def _woken(self, kept: KeptTable) -> WebTable:
        table = WebTable(kept, self.sandbox, heard=lambda: self.heard(kept.id))
        self._live[kept.id] = table
        table.start()
        return table

    def _make_room(self) -> None:
        """Let tables sleep that are over, or at which nobody has looked for long: they are kept."""
        over = sorted((one.looked_at, id_) for id_, one in self._live.items() if one.is_over)
        for _, id_ in over[:-_MOST_OVER]:
            self._live.pop(id_).close()
        while len(self._live) >= self.settings.limits.tables:
            idle = [(one.awake_for(), id_) for id_, one in self._live.items()]
            left, idlest = min(idle)
            if left > 0:
                raise Refusal(503, "Too many tables are played; end one, then try again")
            self._live.pop(idlest).close()

    def _read(self, id_: str) -> KeptTable:
        if not _ID.fullmatch(id_):
            raise Refusal(404, "There is no such table")
        folder = self.settings.tables / id_
        try:
            text = (folder / "table.json").read_text(encoding="utf-8")
            return KeptTable(folder, _Kept.model_validate_json(text))
        except (OSError, ValueError) as error:
            raise Refusal(404, "There is no such table") from error
