"""Matches of a balance: one player in every seat, settings by settings, in a journal of tallies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field

from games.streams import stream
from games.text import one_line
from games.values import Json, ModuleFault, canonical_key
from tools.balancing.tallies import Tally
from tools.playtest.intervals import Estimate
from tools.playtest.jobs import GameSetup, Roster, SandboxRecipe, sandbox_of_process
from tools.playtest.journal import Journal, JournalError, journal_at
from tools.playtest.runner import Workers
from tools.playtest.schedule import TournamentSettings
from tools.playtest.series import SeriesSettings, play_series
from tools.playtest.tournament import play_tournament

_DEALS = 40  # on which two players meet, in every seating, where the better is chosen
_REFUSED = "ValueError: "
_Kept = TypeVar("_Kept")


class _Chosen(BaseModel, frozen=True):
    player: str
    matches: int = Field(ge=0, strict=True)


@dataclass
class BalanceTable:
    """A game with the player that sits in every seat, and the journal of what was played.

    What is played is decided by what was played before alone. So a table that is opened again with
    the same journal answers the same, without playing again.

    Attributes:
        game: With its settings as the search begins.
        roster: Makes the players.
        recipe: How a process makes its sandbox.
        workers: Where matches are played.
        seed: Of all matches.
        max_plies: Plies after which a match has no result.
        journal: Of tallies, in the order in which they were asked for; None keeps nothing.
        player: The player's spec.
        matches: How many were played.
    """

    game: GameSetup
    roster: Roster
    recipe: SandboxRecipe
    workers: Workers
    seed: int
    max_plies: int
    journal: Journal | None = None
    player: str = ""
    matches: int = 0
    _asked: int = field(default=0, init=False)

    def choose_player(self, specs: Sequence[str]) -> None:
        """Take the player that wins most against the others, with the settings at the start.

        Args:
            specs: One at least.
        """
        if len(specs) == 1:
            self.player = self.roster.effective(specs[0]).name
            return
        names = {self.roster.effective(spec).name for spec in specs}

        def read(entry: Mapping[str, Json]) -> _Chosen:
            found = _Chosen.model_validate({**entry})
            if found.player not in names:
                raise ValueError(f"it chose {found.player}, which is none of the players")
            return found

        found = self._kept({"players": [*specs]}, lambda: self._contest(specs), read)
        self.player, self.matches = found.player, self.matches + found.matches

    def _contest(self, specs: Sequence[str]) -> dict[str, Json]:
        seed = self._seed("players", 0)
        result = play_tournament(
            *(self.game, specs, TournamentSettings(deals=_DEALS, seed=seed), self.roster),
            workers=self.workers,
            sandbox=self.recipe,
        )
        rates = [one.win_rate for one in result.standings]
        shares = [one.value if isinstance(one, Estimate) else -1.0 for one in rates]
        best = result.standings[shares.index(max(shares))]
        return {"player": best.name, "matches": result.matches}

    def refusal(self, settings: Mapping[str, Json]) -> str:
        """Why the module refuses these settings together; empty where it does not."""
        with (
            sandbox_of_process(self.recipe) as sandbox,
            sandbox.loaded("parameters", self.game.source) as worker,
        ):
            try:
                worker.call("initial_state", [self.game.num_players], settings)
            except ModuleFault as fault:
                if fault.kind == "raised" and fault.message.startswith(_REFUSED):
                    return fault.message.removeprefix(_REFUSED)
        return ""

    def tally(
        self, settings: Mapping[str, Json], purpose: str, part: int, matches: int, *, replay: bool
    ) -> Tally:
        """The tally of matches with some settings; one purpose and part has the same deals.

        Raises:
            VoidResultError: If fresh workers do not play a sample the same.
        """
        about: dict[str, Json] = {
            "settings": {**settings},
            "purpose": purpose,
            "part": part,
            "matches": matches,
        }
        seats = self.game.num_players

        def play() -> dict[str, Json]:
            series = play_series(
                replace(self.game, parameters={**settings}),
                (self.player,) * seats,
                self.roster,
                SeriesSettings(
                    matches=matches,
                    seed=self._seed(purpose, part),
                    max_plies=self.max_plies,
                    replay=replay,
                    record=False,
                ),
                sandbox=self.recipe,
                workers=self.workers,
            )
            return {"tally": Tally.of(seats, series.entries.values()).row()}

        def read(entry: Mapping[str, Json]) -> Tally:
            found = Tally.read(seats, entry.get("tally"))
            if found.matches + found.void != matches:
                raise ValueError(f"its counts are not those of {matches} matches")
            return found

        self.matches += matches
        return self._kept(about, play, read)

    def _kept(
        self,
        asked: Mapping[str, Json],
        make: Callable[[], dict[str, Json]],
        read: Callable[[Mapping[str, Json]], _Kept],
    ) -> _Kept:
        """The next entry of the journal, made where it is not there, as `read` takes it.

        Raises:
            JournalError: If the journal holds something else in its place.
        """
        number, self._asked = self._asked, self._asked + 1
        entry = self.journal.entries.get(number) if self.journal else None
        if entry is None:
            entry = {"asked": {**asked}, **make()}
            if self.journal:
                self.journal.append(number, entry)
        place = f"line {number + 2} of {self.journal and self.journal.path}"
        if not isinstance(entry, dict) or canonical_key(entry.get("asked")) != canonical_key(
            {**asked}
        ):
            raise JournalError(
                f"{place} holds other matches than this search asks for; another version wrote "
                "it: name another folder"
            )
        try:
            return read(entry)
        except ValueError as error:
            told = one_line(str(error))[:200]
            raise JournalError(
                f"{place} is no tally of this version ({told}); name another folder"
            ) from error

    def _seed(self, purpose: str, part: int) -> int:
        return int(stream(self.seed, f"balance {purpose}", match=part).integers(2**63))


@contextmanager
def balance_table(
    table: BalanceTable, path: Path | None, identity: Mapping[str, Json]
) -> Iterator[BalanceTable]:
    """The table with its journal, workers and sandbox open for the time of a block.

    Raises:
        JournalError: If the journal cannot be used.
        SandboxUnavailableError: If there is no sandbox.
    """
    recipe = replace(table.recipe, preload=table.roster.preload)
    with (
        journal_at(path, {"balance": 2, **identity}) as journal,
        sandbox_of_process(recipe),
        table.workers.opened() as workers,
    ):
        yield replace(table, recipe=recipe, workers=workers, journal=journal)
