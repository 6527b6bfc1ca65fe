"""Series of matches: seats rotate, deals are paired, every finished match is journalled."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from games.contract import Json, canonical_key
from games.engine import Ending, Match, Player, play_match
from games.records import MatchRecord
from games.table import Table
from tools.playtest.journal import Journal
from tools.playtest.storing import match_from_json, match_to_json
from tools.sandbox import Sandbox, SandboxTable

PlayerFactory: TypeAlias = Callable[[int, int], Player]
TableFactory: TypeAlias = Callable[[], AbstractContextManager[Table]]


@dataclass(frozen=True)
class Entrant:
    """Somebody who takes a seat in a series.

    Attributes:
        name: What it is, with its effective settings; entrants of one name are the same.
        make: Makes its player for (seat, match index); where the player has a `close`, that is
            called after the match.
    """

    name: str
    make: PlayerFactory


class SeriesSettings(BaseModel):
    """What a series plays, apart from who plays it.

    Attributes:
        game: The game's name.
        source_id: Identifies the module's source, such as its hash; a journal of another source
            is refused.
        heuristics: SHA-256 of each heuristic that players could use; a journal of others is
            refused.
        parameters: The effective parameters.
        matches: Matches to play; a multiple of the seats, unless all entrants are the same.
        seed: The run's seed.
        max_plies: Plies after which a match is left unfinished.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    source_id: str
    heuristics: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    matches: int = Field(gt=0)
    seed: int = Field(ge=0)
    max_plies: int = Field(default=2000, gt=0)


@dataclass(frozen=True)
class Series:
    """A played series.

    Attributes:
        settings: What was played.
        line_up: Names by entrant.
        rotations: Seatings each deal was played in: the number of seats, or 1 in self-play.
        records: One a match, in match order. Match m is deal `m // rotations`, in which entrant e
            sat in seat `(e + m % rotations) % seats`.
    """

    settings: SeriesSettings
    line_up: tuple[str, ...]
    rotations: int
    records: tuple[MatchRecord, ...]

    @property
    def endings(self) -> dict[Ending, int]:
        """How many matches ended in which way; unfinished, forfeit and fault apart."""
        counts = Counter(record.match.ending for record in self.records)
        endings: tuple[Ending, ...] = ("finished", "unfinished", "forfeit", "fault")
        return {ending: counts[ending] for ending in endings}

    def seat_of(self, entrant: int, match: int) -> int:
        """Where an entrant sat in a match."""
        return (entrant + match % self.rotations) % len(self.line_up)

    def entrant_at(self, seat: int, match: int) -> int:
        """Who sat at a seat in a match."""
        return (seat - match % self.rotations) % len(self.line_up)

    def finished_deals(self) -> list[tuple[MatchRecord, ...]]:
        """The records of each deal whose matches all finished, in the order of rotation."""
        deals = [
            self.records[first : first + self.rotations]
            for first in range(0, len(self.records), self.rotations)
        ]
        return [deal for deal in deals if all(r.match.ending == "finished" for r in deal)]


def sandbox_tables(
    sandbox: Sandbox, source: str, *, deadline_s: float | None = None
) -> TableFactory:
    """Tables for `play_series`: a referee's worker of its own for every match.

    Args:
        sandbox: Where the workers run.
        source: The module.
        deadline_s: Seconds one ply may take; the sandbox's `call_s` by default.
    """

    @contextmanager
    def table() -> Iterator[Table]:
        with sandbox.worker("referee", source) as worker:
            worker.load(source)
            yield SandboxTable(worker, deadline_s=deadline_s)

    return table


def play_series(
    tables: TableFactory,
    entrants: Sequence[Entrant],
    settings: SeriesSettings,
    *,
    journal: Path | None = None,
    jobs: int = 1,
    on_match: Callable[[MatchRecord], None] = lambda _: None,
) -> Series:
    """Play a series, or what is missing of it.

    The result, and the journal of a finished series, depend on the settings, the entrants and the
    module alone: neither on `jobs` nor on how often the series was interrupted and resumed.

    Args:
        tables: Opens a table for one match.
        entrants: One a seat. Their seats rotate within a deal unless all are the same.
        settings: What to play.
        journal: File that keeps every finished match; a series that was cut short goes on from
            it. None keeps nothing.
        jobs: Matches played at the same time, in threads; players must be worth it by working
            outside this process.
        on_match: Told of every match, in order of arrival: first those the journal held.

    Raises:
        ModuleFault: If the module cannot be loaded at all.
        JournalError: If the journal cannot be used.
        ValueError: If the matches do not fill whole rotations.
    """
    rotations = 1 if len({entrant.name for entrant in entrants}) == 1 else len(entrants)
    if settings.matches % rotations:
        below = settings.matches // rotations * rotations
        raise ValueError(
            f"{settings.matches} matches do not give every entrant every seat equally often; "
            f"required: a multiple of {rotations}, such as {below + rotations}"
        )
    plan = _Plan(tables, tuple(entrants), settings, rotations)
    played: dict[int, MatchRecord] = {}

    def keep(index: int, entry: Json) -> None:
        played[index] = plan.record(index, match_from_json(entry))
        on_match(played[index])

    with Journal(journal, plan.identity()) if journal else nullcontext() as book:
        entries = dict(book.entries) if book else {}
        for index in sorted(entries):
            if index < settings.matches:
                keep(index, entries[index])
        missing = [index for index in range(settings.matches) if index not in played]
        for index, entry in plan.play_all(missing, jobs, book):
            keep(index, entry)
            if book:
                entries[index] = entry
        if book:
            book.settle(dict(sorted(entries.items())))
    records = tuple(played[index] for index in range(settings.matches))
    return Series(settings, tuple(entrant.name for entrant in entrants), rotations, records)


@dataclass(frozen=True)
class _Plan:
    tables: TableFactory
    entrants: tuple[Entrant, ...]
    settings: SeriesSettings
    rotations: int

    def identity(self) -> dict[str, JsonValue]:
        # Without heuristics the heading is as it always was: older journals go on.
        left = {"matches"} if self.settings.heuristics else {"matches", "heuristics"}
        settings = self.settings.model_dump(mode="json", exclude=left)
        return {**settings, "line_up": [entrant.name for entrant in self.entrants]}

    def seated(self, index: int) -> list[Entrant]:
        """The entrants by seat."""
        turn = index % self.rotations
        seats = len(self.entrants)
        return [self.entrants[(seat - turn) % seats] for seat in range(seats)]

    def record(self, index: int, match: Match) -> MatchRecord:
        return MatchRecord(
            game=self.settings.game,
            parameters=self.settings.parameters,
            players=tuple(entrant.name for entrant in self.seated(index)),
            seed=self.settings.seed,
            match_index=index,
            match=match,
        )

    def play_all(
        self, missing: Sequence[int], jobs: int, book: Journal | None
    ) -> Iterator[tuple[int, Json]]:
        if jobs <= 1:
            for index in missing:
                yield index, self.play(index, book)
            return
        with ThreadPoolExecutor(jobs, thread_name_prefix="match") as pool:
            futures: dict[Future[Json], int] = {
                pool.submit(self.play, index, book): index for index in missing
            }
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def play(self, index: int, book: Journal | None) -> Json:
        players: list[Player] = []
        try:
            for seat, entrant in enumerate(self.seated(index)):
                players.append(entrant.make(seat, index))  # noqa: PERF401 - those made must close
            with self.tables() as table:
                match = play_match(
                    table,
                    players,
                    parameters=self.settings.parameters,
                    seed=self.settings.seed,
                    match=index,
                    deal=index // self.rotations,
                    max_plies=self.settings.max_plies,
                )
        finally:
            for player in players:
                close = getattr(player, "close", None)
                if callable(close):
                    close()
        # Through text, so that a series is the same whether its journal was read or not.
        entry: Json = json.loads(canonical_key(match_to_json(match)))
        if book is not None:
            book.append(index, entry)
        return entry
