"""One match with people at the table: its opening, who sits where, going back, and its record."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from app.options import accepted_parameters, game_called, given_parameters
from app.table.layout import Setting
from app.table.saved import SavedMatchError
from games.contract import Game
from games.engine import Decision, Effort, Match, Ply, play_match
from games.records import MatchRecord, json_line, to_text
from games.text import one_line
from games.values import ModuleFault, show

if TYPE_CHECKING:
    from numpy.random import Generator

    from agents.players.registry import PlayerRoster, SeatedPlayer
    from games.information import SeatLog
    from games.table import Table
    from games.values import Action, Observation
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox, Worker

_RENDER = "render"
_DRAWING_S = 2.0
_LONGEST_DRAWING = 8_000


@dataclass(frozen=True)
class LaidTable:
    """A game that is ready to be played.

    Attributes:
        setup: Its source, its seats and all its parameters.
        run: The folder of the run that made it, or None.
        module: The referee's copy.
        worker: The referee's worker.
    """

    setup: "GameSetup"
    run: Path | None
    module: Game
    worker: "Worker"

    @property
    def records(self) -> Path:
        """Where what was played is kept."""
        from graph.run.folder import runs_folder

        return self.run / "records" if self.run else runs_folder() / "played"

    @property
    def place(self) -> "Table":
        """Where a match is played."""
        from tools.sandbox import SandboxTable

        return SandboxTable(self.worker)

    def rulebook(self) -> str:
        """The rulebook, or what the module says of itself."""
        from tools.sources import find_rulebook

        setup = self.setup
        beside = Path(setup.name).parent / "rulebook.md"
        return find_rulebook(setup.name, setup.parameters, setup.num_players) or (
            f"There is no {beside}: only the module's source says the rules."
        )


def open_table(
    name: str, players: int, settings: Sequence[str], sandbox: "Sandbox", stack: ExitStack
) -> LaidTable:
    """Find and load a game: by its run, also by the run's name alone, its file, or the library.

    Args:
        name: Which game.
        players: Seats; 0 for the usual number.
        settings: Parameters, as NAME=VALUE.
        sandbox: Where it runs.
        stack: What ends the referee's worker.

    Raises:
        GameNotFoundError: If there is none of that name.
        ModuleFault: If it does not load.
        TournamentError: If it has no such parameter, or does not take so many players.
        RunFolderError: If a run's folder holds a link, so that a record could be put elsewhere.
        typer.BadParameter: If it refuses a parameter.
    """
    from graph.run.folder import RunFolder
    from tools.checking import usual_players
    from tools.playtest.jobs import GameSetup

    found = game_called(name)
    folder = Path(found.name).parent.resolve()  # of the file that was named, were it a link
    is_run = (folder / "run.json").is_file()
    if is_run:
        RunFolder(folder).require_plain()
    setup = GameSetup(found.name, found.source, 0, given_parameters(settings), found.heuristics)
    table = laid_table(setup, folder if is_run else None, sandbox, stack)
    setup = replace(setup, num_players=players or usual_players(table.module.info))
    return replace(table, setup=replace(setup, parameters=accepted_parameters(setup, sandbox)))


def laid_table(
    setup: "GameSetup", run: Path | None, sandbox: "Sandbox", stack: ExitStack
) -> LaidTable:
    """A game in a referee's worker, which the stack ends.

    Raises:
        ModuleFault: If it does not load.
    """
    from tools.sandbox import SandboxedModule

    worker = stack.enter_context(sandbox.loaded("referee", setup.source))
    return LaidTable(setup, run, Game(SandboxedModule(worker)), worker)


def table_setting(table: LaidTable, *, is_unicode: bool) -> Setting:
    """The facts of a game that layouts need."""
    zones = table.module.module.constant("ZONES") if table.module.defines("ZONES") else {}
    return Setting(
        table.setup.num_players,
        zones if isinstance(zones, dict) else {},
        table.setup.parameters,
        is_unicode,
    )


def renderer(
    table: LaidTable, sandbox: "Sandbox", stack: ExitStack
) -> "Callable[[int, Observation], str] | None":
    """The module's own drawing, where it has one: each seat's in a worker that knows nothing else.

    The referee's worker knows the whole state, and could draw it.
    """
    from tools.sandbox import SandboxedModule

    if not table.module.defines(_RENDER):
        return None
    workers: dict[int, SandboxedModule] = {}
    source = table.setup.source

    def drawn(seat: int, observation: "Observation") -> str:
        if seat not in workers:
            worker = stack.enter_context(sandbox.loaded(f"drawing-{seat}", source))
            workers[seat] = SandboxedModule(worker, deadline_s=_DRAWING_S)
        text = workers[seat].call(_RENDER, observation)
        if not isinstance(text, str) or not text.strip():
            raise ModuleFault("bad_value", _RENDER, f"returned {show(text)}; required: a str")
        return text[:_LONGEST_DRAWING]

    return drawn


_PLIES_OF_A_DECISION = 8_000  # simulated for one decision, so that it takes about a second
_FEWEST, _MOST = 20, 400  # simulations
_LONGEST_PROBE = 1000
_RANDOM = "random"


def line_up_of(
    game: "GameSetup",
    people: Sequence[int],
    named: Sequence[str],
    run: Path | None,
    sandbox: "Sandbox",
) -> list[str | None]:
    """A spec a seat, in full; None where a person sits.

    Args:
        game: The game.
        people: Seats of persons, 0-based.
        named: Specs that were asked for: none, one for all other seats, or one a seat.
        run: The folder of the run that made the game, whose players are known.
        sandbox: Where a search is tried.

    Raises:
        PlayerSpecError: If a spec is none, or their number fits no seats.
        ModuleFault: If the module does not load.
    """
    from agents.players.registry import PlayerRoster
    from agents.players.specs import PlayerSpecError

    free = [seat for seat in range(game.num_players) if seat not in people]
    if not named:
        named = [_usual(game, run, sandbox)] if free else []
    if len(named) not in (1, len(free)) or (named and not free):
        raise PlayerSpecError(
            f"{len(named)} opponents are named for {len(free)} other seats; required: one for all "
            "of them, or one a seat"
        )
    roster = PlayerRoster()
    full = [roster.effective(spec).name for spec in named]
    others = iter(full * len(free) if len(full) == 1 else full)
    return [next(others) if seat in free else None for seat in range(game.num_players)]


def _usual(game: "GameSetup", run: Path | None, sandbox: "Sandbox") -> str:
    """The opponent where nobody names one: a run's strongest, if the run alone says all of it."""
    from agents.search.algorithms import SEARCHES

    try:
        file = (run or Path()) / "players" / "players.json"
        players = json.loads(file.read_text("utf-8"))["players"] if run and file.is_file() else []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        players = []
    named = players[-1] if players and isinstance(players, list) else None
    # A model would cost without a word, and a file may lie anywhere on this computer.
    if isinstance(named, str) and named.partition(":")[0] in ("random", "greedy", *SEARCHES):
        return named
    return "greedy" if game.heuristics else searching(game, sandbox)


def searching(game: "GameSetup", sandbox: "Sandbox") -> str:
    """The spec of a search that suits a game and takes about a second a move; else random.

    UCT where what a player sees determines the state, else ISMCTS. Its simulations are counted from
    the length of one random match and not from a clock: the same seed gives the same match.

    Raises:
        ModuleFault: If the module does not load or play.
    """
    from agents.players.registry import suitable_search
    from tools.playtest.of_run.played import random_match

    probe = random_match(game, sandbox, seed=0, max_plies=_LONGEST_PROBE)
    simulations = min(max(_PLIES_OF_A_DECISION // max(len(probe.plies), 1), _FEWEST), _MOST)
    return suitable_search(game, sandbox, simulations) or _RANDOM


class TableLeft(Exception):  # noqa: N818 - nothing is wrong
    """Somebody left the table; the match stays unfinished.

    Attributes:
        code: The exit code of the command.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class WentBack(Exception):  # noqa: N818 - nothing is wrong
    """Somebody takes a decision back: the match is played again up to it.

    Attributes:
        plies: How many plies stay.
    """

    def __init__(self, plies: int) -> None:
        super().__init__(plies)
        self.plies = plies


Asked: TypeAlias = Callable[[int, "SeatLog", Sequence["Action"]], "Action"]


@dataclass
class TableSession:
    """A match in progress.

    Attributes:
        game: The module, its parameters and its heuristics.
        players: A spec a seat; None where a person sits.
        seed: Seeds chance and the computer's players.
        sandbox: Where they run.
        kept_under: The folder of the record.
        roster: Makes the computer's players; None for those that need no endpoint.
        saved: What was played in an earlier session, and is played again first.
        plies: What was played so far.
        undone: How many decisions were taken back.
    """

    game: "GameSetup"
    players: Sequence[str | None]
    seed: int
    sandbox: "Sandbox"
    kept_under: Path
    roster: "PlayerRoster | None" = None
    saved: Sequence[Ply] = ()
    plies: list[Ply] = field(default_factory=list)
    undone: int = 0
    _script: Sequence[Ply] = ()
    _place: Path | None = None
    _helpers: dict[int, "SeatedPlayer"] = field(default_factory=dict)
    _seated: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self._script = self.saved

    @property
    def is_replaying(self) -> bool:
        """True while the match repeats plies that were played before."""
        return len(self.plies) < len(self._script)

    def play(self, table: "Table", asked: Asked, told: Callable[[Ply], None]) -> Match:
        """The match, to its end.

        Args:
            table: Where it is played.
            asked: Asks the person at a seat for one of the legal actions; may raise `TableLeft`,
                or `WentBack`.
            told: Hears of every ply.

        Raises:
            SavedMatchError: If the game does not go as it did when it was saved.
        """
        with self._seated:
            others = [spec and self._seat(spec, seat) for seat, spec in enumerate(self.players)]
            seats = [_Seat(self, asked, seat, other or None) for seat, other in enumerate(others)]

            def on_ply(ply: Ply) -> None:
                self._require_same(ply.player, [ply.action])
                self.plies.append(ply)
                told(ply)

            while True:
                try:
                    return play_match(
                        table,
                        seats,
                        parameters=self.game.parameters,
                        seed=self.seed,
                        on_ply=on_ply,
                    )
                except WentBack as back:
                    self._script = self.plies[: back.plies]
                    self.plies = []
                    self.undone += 1

    def scripted(self, seat: int, legal: "Sequence[Action]") -> Decision | None:
        """The decision that was made here before somebody went back or saved the match.

        Raises:
            SavedMatchError: If it cannot be made now.
        """
        if not self.is_replaying:
            return None
        self._require_same(seat, legal)
        ply = self._script[len(self.plies)]
        return Decision(ply.action, ply.effort)

    def repeated(self, number: int) -> Ply | None:
        """The ply of that number that was played before; None where there is none."""
        return self._script[number] if number < len(self._script) else None

    def _require_same(self, player: int, actions: "Sequence[Action]") -> None:
        """Refuse to go on where what was played cannot have been."""
        if not self.is_replaying:
            return
        before = self._script[len(self.plies)]
        if before.player != player or before.action not in actions:
            raise SavedMatchError(
                f"the game does not go as it was saved: ply {len(self.plies) + 1} was "
                f"{one_line(before.action)[:80]!r}; the game's file has changed since, or the "
                "record was edited: play it anew"
            )

    def last_decision(self, seat: int) -> int | None:
        """The ply of a seat's last decision that was one."""
        own = [n for n, ply in enumerate(self.plies) if ply.player == seat and len(ply.legal) > 1]
        return own[-1] if own else None

    def hint(self, log: "SeatLog", legal: "Sequence[Action]") -> Decision:
        """The advice of a search, from what the seat has seen and nothing else.

        Raises:
            PlayerSpecError: If no search can play this game.
            ModuleFault: If the module fails in the search.
            PlayerFault: If the search does not end.
        """
        from games.streams import stream

        if log.seat not in self._helpers:
            self._helpers[log.seat] = self._seat(searching(self.game, self.sandbox), log.seat)
        generator = stream(self.seed, "hint", seat=log.seat, ply=len(self.plies))
        return self._helpers[log.seat].choose(log, legal, generator)

    def end_hint(self, seat: int) -> None:
        """End the seat's search, from any thread: its next hint begins another."""
        if (helper := self._helpers.pop(seat, None)) is not None:
            helper.close()

    def reasons(self, seat: int) -> "dict[Action, tuple[float | None, int]]":
        """The value and the visits of each action in the seat's newest hint; {} without a search.

        Raises:
            PlayerFault: If the search does not tell them.
        """
        from agents.players.search import SearchPlayer

        helper = self._helpers.get(seat)
        if not isinstance(helper, SearchPlayer):
            return {}
        root = helper.searched_root()
        return dict(zip(root.actions, zip(root.means, root.visits, strict=False), strict=False))

    def save(self, match: Match | None = None, reason: str = "still being played") -> Path:
        """Write the record, as lines for a program and as text, and return the text's place.

        Raises:
            OSError: If it cannot be written.
        """
        if match is None:
            match = Match("unfinished", None, tuple(self.plies), None, (), reason=reason)
        record = MatchRecord(
            game=self.game.name,
            parameters=self.game.parameters,
            players=tuple(spec or "human" for spec in self.players),
            seed=self.seed,
            match_index=0,
            match=match,
        )
        if self._place is None:
            self.kept_under.mkdir(parents=True, exist_ok=True)
            file = Path(self.game.name)
            name = file.resolve().parent.name if file.name == "game.py" else file.stem
            stem = f"played-{one_line(name)}-{self.seed}"
            names = (f"{stem}{f'-{n}' if n else ''}.txt" for n in range(10_000))
            free = (self.kept_under / name for name in names)
            self._place = next(path for path in free if not any(map(os.path.lexists, _both(path))))
        back = f"decisions taken back: {self.undone}\n" if self.undone else ""
        text, lines = _both(self._place)
        text.write_text(to_text(record) + back, encoding="utf-8", errors="replace")
        lines.write_text(json_line(record), encoding="utf-8")
        return text

    def _seat(self, spec: str, seat: int) -> "SeatedPlayer":
        from agents.players.registry import PlayerRoster

        roster = self.roster or PlayerRoster()
        player = roster.seat(
            roster.effective(spec), seat=seat, match=0, game=self.game, sandbox=self.sandbox
        )
        self._seated.callback(player.close)
        return player


def verdict_words(returns: Sequence[float], you: int | None, names: Sequence[str] = ()) -> str:
    """The winners in words, to the seat `you`, or to whoever looks on.

    Where all results are equal nobody is first: those who play together may all have lost.

    >>> verdict_words([1, 0], 0), verdict_words([1, 1, 0], None), verdict_words([0, 1], 0)
    ('You win.', 'Player 1 and Player 2 share the first place.', 'Player 2 wins.')
    >>> verdict_words([0, 0], 0), verdict_words([0, 1], 0, ["Ann", "Ben"])
    ('All have the same result: 0.', 'Ben wins.')
    """
    best = max(returns)
    if len(returns) > 1 and min(returns) == best:
        return f"All have the same result: {best:g}."
    winners = [seat for seat, value in enumerate(returns) if value == best]
    is_shared = len(winners) > 1
    if you in winners:
        return "You share the first place." if is_shared else "You win."
    named = " and ".join(names[seat] if names else f"Player {seat + 1}" for seat in winners)
    return f"{named} {'share the first place' if is_shared else 'wins'}."


def _both(place: Path) -> tuple[Path, Path]:
    """The files of a record: as text, and as lines for a program."""
    return place, place.with_suffix(".jsonl")


@dataclass(frozen=True)
class _Seat:
    session: TableSession
    asked: Asked
    seat: int
    other: "SeatedPlayer | None"

    def choose(self, log: "SeatLog", legal: "Sequence[Action]", generator: "Generator") -> Decision:
        if (before := self.session.scripted(self.seat, legal)) is not None:
            return before
        if self.other is not None:
            return self.other.choose(log, legal, generator)
        return Decision(self.asked(self.seat, log, legal), Effort("human"))
