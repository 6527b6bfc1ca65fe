"""One match with people at the table: who sits where, going back, and the record it leaves."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from app.table.opening import searching
from games.engine import Decision, Match, Ply, play_match
from games.records import MatchRecord, json_line, to_text
from games.text import one_line

if TYPE_CHECKING:
    import numpy as np

    from agents.players.registry import PlayerRoster, SeatedPlayer
    from games.contract import Action
    from games.information import SeatLog
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox, SandboxTable


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
        plies: What was played so far.
        undone: How many decisions were taken back.
    """

    game: "GameSetup"
    players: Sequence[str | None]
    seed: int
    sandbox: "Sandbox"
    kept_under: Path
    roster: "PlayerRoster | None" = None
    plies: list[Ply] = field(default_factory=list)
    undone: int = 0
    _script: list[Ply] = field(default_factory=list)
    _place: Path | None = None
    _helpers: dict[int, "SeatedPlayer"] = field(default_factory=dict)
    _seated: ExitStack = field(default_factory=ExitStack)

    @property
    def is_replaying(self) -> bool:
        """Whether what happens was played before."""
        return len(self.plies) < len(self._script)

    def play(self, table: "SandboxTable", asked: Asked, told: Callable[[Ply], None]) -> Match:
        """The match, to its end.

        Args:
            table: Where it is played.
            asked: Asks the person at a seat for one of the legal actions; may raise `TableLeft`,
                or `WentBack`.
            told: Hears of every ply.
        """
        with self._seated:
            others = [spec and self._seat(spec, seat) for seat, spec in enumerate(self.players)]
            seats = [_Seat(self, asked, seat, other or None) for seat, other in enumerate(others)]

            def on_ply(ply: Ply) -> None:
                self.plies.append(ply)
                told(ply)

            while True:
                try:
                    return play_match(
                        table,
                        seats,
                        parameters=self.game.parameters,
                        seed=self.game.key(self.seed),
                        on_ply=on_ply,
                    )
                except WentBack as back:
                    self._script = self.plies[: back.plies]
                    self.plies = []
                    self.undone += 1

    def scripted(self) -> Decision | None:
        """The decision that was made here before somebody went back."""
        if not self.is_replaying:
            return None
        ply = self._script[len(self.plies)]
        return Decision(ply.action, ply.effort)

    def last_decision(self, seat: int) -> int | None:
        """The ply of a seat's last decision that was one."""
        own = [n for n, ply in enumerate(self.plies) if ply.player == seat and len(ply.legal) > 1]
        return own[-1] if own else None

    def hint(self, log: "SeatLog", legal: "Sequence[Action]") -> Decision:
        """What a search would do, from what the seat has seen and nothing else.

        Raises:
            PlayerSpecError: If no search can play this game.
            ModuleFault: If the module fails in the search.
            PlayerFault: If the search does not end.
        """
        from games.streams import stream

        if log.seat not in self._helpers:
            self._helpers[log.seat] = self._seat(searching(self.game, self.sandbox), log.seat)
        generator = stream(self.game.key(self.seed), "hint", seat=log.seat, ply=len(self.plies))
        return self._helpers[log.seat].choose(log, legal, generator)

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
            self._place = next(path for path in free if not path.exists())
        back = f"decisions taken back: {self.undone}\n" if self.undone else ""
        self._place.write_text(to_text(record) + back, encoding="utf-8", errors="replace")
        self._place.with_suffix(".jsonl").write_text(json_line(record), encoding="utf-8")
        return self._place

    def _seat(self, spec: str, seat: int) -> "SeatedPlayer":
        from agents.players.registry import PlayerRoster

        roster = self.roster or PlayerRoster()
        player = roster.seat(
            roster.effective(spec), seat=seat, match=0, game=self.game, sandbox=self.sandbox
        )
        self._seated.callback(player.close)
        return player


@dataclass(frozen=True)
class _Seat:
    session: TableSession
    asked: Asked
    seat: int
    other: "SeatedPlayer | None"

    def choose(
        self, log: "SeatLog", legal: "Sequence[Action]", generator: "np.random.Generator"
    ) -> Decision:
        if (before := self.session.scripted()) is not None:
            return before
        if self.other is not None:
            return self.other.choose(log, legal, generator)
        return Decision(self.asked(self.seat, log, legal), {"algorithm": "human"})
