"""Matches from Python: one to look at, many to count, tournaments, and the analysis of one."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from app.options import Isolation
from app.python.handles import LoadedGame, Named, load_game
from app.python.shown import (
    ArgumentError,
    Displayed,
    ShownTable,
    framed_drawing,
    quietly,
    require_kinds,
    with_interval,
)
from games.text import one_line
from tools.reporting.content import short_name

if TYPE_CHECKING:
    from app.table.layout import Setting
    from games.information import SeatLog
    from games.records import MatchRecord
    from games.values import Action, Json
    from tools.playtest.intervals import Estimate
    from tools.playtest.jobs import GameSetup
    from tools.playtest.results import PairResult, Standing, TournamentResult

Chooser: TypeAlias = "Callable[[Mapping[str, Json], Sequence[str]], str]"
"""A player in Python: what its seat sees and the legal actions -> one of them."""

_MOST_ROWS = 12


@dataclass(frozen=True)
class MatchEntrant:
    """One entrant of a series.

    Attributes:
        player: With every setting.
        win_share: Its mean share of the win, with its interval; None where it is not estimated.
        mean_return: What a match paid it.
        not_estimated: Why something is not estimated; empty where all is.
    """

    player: str
    win_share: "Estimate | None"
    mean_return: "Estimate | None"
    not_estimated: str


@dataclass(frozen=True, repr=False)
class MatchResults(Displayed):
    """Results of a series of matches.

    Attributes:
        entrants: In the order in which they were named.
        summary: What `rulewright match --json` prints, without what the command adds.
        records: The matches, ply by ply.
    """

    entrants: tuple[MatchEntrant, ...]
    summary: "Mapping[str, Any]"
    records: "tuple[MatchRecord, ...]"

    @property
    def seed(self) -> int:
        """The seed that gives these matches again."""
        return int(self.summary["seed"])

    def shown(self) -> ShownTable:
        """A row an entrant, with intervals."""
        rows = [
            (
                str(n),
                short_name(one.player),
                with_interval(one.win_share),
                with_interval(one.mean_return),
            )
            for n, one in enumerate(self.entrants, 1)
        ]
        endings = ", ".join(f"{n} {name}" for name, n in self.summary["endings"].items() if n)
        title = f"{one_line(self.summary['game'])}: {self.summary['played']} matches, {endings}"
        audit = self.summary["not_audited"]
        below = [*self.summary["cautions"].values(), *([f"not audited: {audit}"] if audit else [])]
        below += dict.fromkeys(one.not_estimated for one in self.entrants if one.not_estimated)
        heads = ("", "player", "win share", "mean return")
        return ShownTable(title, heads, rows, [*map(one_line, below), f"seed {self.seed}"])


def match_players(
    game: Named,
    players: Sequence[str],
    *,
    games: int = 20,
    seed: int | None = None,
    parameters: "Mapping[str, Json] | None" = None,
) -> MatchResults:
    """Let players play matches and count the results, as `rulewright match` does.

    Args:
        game: Which one.
        players: A spec a seat, such as "greedy" or "uct:simulations=50".
        games: Matches; a few more where whole rotations of the seats take them.
        seed: Repeats the matches; without it one is drawn, and is in the result.
        parameters: Replace the game's own.

    Raises:
        GameNotFoundError: If there is no such game.
        PlayerSpecError: If a spec is none.
        ArgumentError: If it is no number of matches, or no parameter.
        ModuleFault: If the game's module does not load.

    >>> match_players("tic_tac_toe", ["random", "random"], games=2, seed=1).entrants[0].player
    'random'
    """
    from app.commands.match import chosen_roster, chosen_workers, series_played
    from games.streams import drawn_seed
    from tools.playtest.series import SeriesSettings, series_summary

    require_kinds(players=players, games=games, seed=seed)
    loaded = load_game(game, players=len(players), parameters=parameters)
    with quietly(), Isolation().chosen():
        asked = SeriesSettings(games, drawn_seed() if seed is None else seed)
        workers = chosen_workers("threads", 1)
        roster = chosen_roster(players, workers)
        setup = _setup(loaded, len(players))
        series, _ = series_played(setup, players, roster, asked, journal=None, workers=workers)
    found = [series.figures(who) for who in range(len(series.line_up))]
    entrants = tuple(
        MatchEntrant(name, one.win_share, one.mean_return, one.not_estimated)
        for name, one in zip(series.line_up, found, strict=True)
    )
    return MatchResults(entrants, series_summary(series), series.records)


@dataclass(frozen=True, repr=False)
class TournamentTable(Displayed):
    """Results of a round robin.

    Attributes:
        result: All of it.
    """

    result: "TournamentResult"

    @property
    def standings(self) -> "tuple[Standing, ...]":
        """One an entrant, in the order in which they were named."""
        return self.result.standings

    @property
    def pairs(self) -> "tuple[PairResult, ...]":
        """Every two entrants."""
        return self.result.pairs

    def shown(self) -> ShownTable:
        """A row an entrant, the highest rating first."""
        best = sorted(self.standings, key=_rank, reverse=True)
        rows = [
            (short_name(one.name), with_interval(one.win_rate), with_interval(one.elo, 0))
            for one in best
        ]
        title = f"{one_line(self.result.game)}: {self.result.matches} matches"
        measures = [one for row in best for one in (row.win_rate, row.elo)]
        why = dict.fromkeys(one.reason for one in measures if hasattr(one, "reason"))
        below = [self.result.no_result, self.result.not_audited, *self.result.cautions.values()]
        below += [f"not measured: {reason}" for reason in why]
        told = [one_line(line) for line in below if line]
        return ShownTable(title, ("player", "win rate", "Elo"), rows, told)


def _rank(one: "Standing") -> tuple[float, float]:
    """A measure's value, and where there is none, less than all others."""
    lowest = float("-inf")
    elo, rate = getattr(one.elo, "value", lowest), getattr(one.win_rate, "value", lowest)
    return elo, rate


def round_robin(
    game: Named,
    players: Sequence[str],
    *,
    seats: int = 2,
    deals: int = 10,
    seed: int | None = None,
    parameters: "Mapping[str, Json] | None" = None,
) -> TournamentTable:
    """Let every player meet every other, and rate them, as `rulewright tournament` does.

    Args:
        game: Which one.
        players: A spec an entrant.
        seats: At the table.
        deals: Each line-up plays so many, in every seating.
        seed: Repeats the matches; without it one is drawn, and is in the result.
        parameters: Replace the game's own.

    Raises:
        GameNotFoundError: If there is no such game.
        PlayerSpecError: If a spec is none.
        TournamentError: If the entrants or the seats cannot be.
    """
    from app.commands.match import chosen_recipe, chosen_roster, chosen_workers
    from app.commands.tournament import accepted_game
    from games.streams import drawn_seed
    from tools.playtest.schedule import TournamentSettings
    from tools.playtest.tournament import play_tournament

    require_kinds(players=players, seats=seats, deals=deals, seed=seed)
    loaded = load_game(game, players=seats, parameters=parameters)
    with quietly(), Isolation().chosen():
        workers = chosen_workers("threads", 1)
        roster = chosen_roster(players, workers)
        recipe = replace(chosen_recipe(), preload=roster.preload)
        setup = accepted_game(_setup(loaded, seats), recipe, players, roster)
        asked = TournamentSettings(deals=deals, seed=drawn_seed() if seed is None else seed)
        return TournamentTable(
            play_tournament(setup, players, asked, roster, workers=workers, sandbox=recipe)
        )


@dataclass(frozen=True, repr=False)
class TablePosition:
    """A position as one seat sees it.

    Attributes:
        ply: Counted from 1.
        seat: Counted from 1.
        observation: What the seat sees.
        legal: What it may do.
        lines: The drawing of `rulewright play`.
        setting: What the drawing of the page needs to know.
    """

    ply: int
    seat: int
    observation: "Mapping[str, Json]"
    legal: "tuple[Action, ...]"
    lines: tuple[str, ...]
    setting: "Setting"

    def __repr__(self) -> str:
        return "\n".join([f"Before ply {self.ply} player {self.seat} sees:", *self.lines])

    def _repr_html_(self) -> str:
        from app.web.drawing.seat import SeatDrawing

        own = self.seat - 1
        drawn = SeatDrawing(self.setting, own).html(self.observation, self.legal, (), own)
        return framed_drawing(f"Before ply {self.ply}, as player {self.seat} sees it", drawn)


@dataclass(frozen=True, repr=False)
class ShownMatch(Displayed):
    """One match.

    Attributes:
        game: What was played.
        record: It, ply by ply.
        setting: What a drawing needs to know.
    """

    game: LoadedGame
    record: "MatchRecord"
    setting: "Setting"

    @property
    def returns(self) -> tuple[float, ...] | None:
        """The payments to each seat; None where it was not finished."""
        return self.record.match.returns

    def position(self, ply: int, seat: int = 1) -> TablePosition:
        """The newest position that a seat decided in, up to a ply; both count from 1.

        Raises:
            ArgumentError: If there is no such ply or seat, or the seat had decided nothing.
        """
        from app.table.layout import SeatLayout

        require_kinds(ply=ply, seat=seat)
        plies = self.record.match.plies
        if not 1 <= seat <= len(self.record.players) or not 1 <= ply <= len(plies):
            raise ArgumentError(
                f"ply {ply}, seat {seat}; required: a ply from 1 to {len(plies)} and a seat from 1 "
                f"to {len(self.record.players)}"
            )
        own = [(n, one) for n, one in enumerate(plies[:ply], 1) if one.player == seat - 1]
        if not own:
            raise ArgumentError(f"player {seat} decided nothing up to ply {ply}")
        layout = SeatLayout(self.setting, seat - 1)
        for _, one in own:
            layout.learn(one.observation or {})
        number, last = own[-1]
        lines = layout.draw(last.observation or {}, last.legal)
        seen = last.observation or {}
        return TablePosition(number, seat, seen, last.legal, tuple(lines), self.setting)

    def shown(self) -> ShownTable:
        """Who played what, and what it paid."""
        match = self.record.match
        rows = [
            (str(n), f"Player {ply.player + 1}" if ply.player >= 0 else "chance", ply.action)
            for n, ply in enumerate(match.plies, 1)
        ]
        left = len(rows) - _MOST_ROWS
        shown = [*rows[: _MOST_ROWS // 2], ("...", f"{left} more", "")] if left > 0 else rows
        shown += rows[-_MOST_ROWS // 2 :] if left > 0 else []
        paid = ", ".join(f"Player {n} {value:g}" for n, value in enumerate(match.returns or (), 1))
        title = f"{one_line(self.game.title)}: {len(rows)} plies, {match.ending}"
        lines = [(n, who, one_line(action)) for n, who, action in shown]
        below = [paid or one_line(match.reason), f"seed {self.record.seed}"]
        return ShownTable(title, ("ply", "who", "action"), lines, below)


def play_one_match(
    game: Named,
    players: "Sequence[str | Chooser]",
    *,
    seed: int | None = None,
    parameters: "Mapping[str, Json] | None" = None,
) -> ShownMatch:
    """Play one match, and keep all of it to look at.

    Args:
        game: Which one.
        players: One a seat: a spec, or a function of your own that is given what its seat sees
            and the legal actions, and returns one of them.
        seed: Repeats the match; without it one is drawn, and is in the result.
        parameters: Replace the game's own.

    Raises:
        GameNotFoundError: If there is no such game.
        PlayerSpecError: If a spec is none.
        ArgumentError: If a function of yours returns what is no legal action.

    >>> first = lambda seen, legal: legal[0]
    >>> play_one_match("tic_tac_toe", [first, first], seed=1).returns
    (1.0, -1.0)
    """
    from app.commands.match import chosen_roster
    from app.table.session import TableSession, open_table, table_setting
    from games.records import MatchRecord
    from games.streams import drawn_seed
    from graph.run.sandboxes import open_sandbox
    from tools.sandbox import SandboxTable

    require_kinds(choosers=players, seed=seed)
    loaded = load_game(game, players=len(players), parameters=parameters)
    seed = drawn_seed() if seed is None else seed

    def asked(seat: int, log: "SeatLog", legal: "Sequence[Action]") -> "Action":
        chooser = players[seat]
        action = chooser(log.latest(), tuple(legal)) if callable(chooser) else ""
        if action not in legal:
            some = ", ".join(map(one_line, legal[:_MOST_ROWS]))
            raise ArgumentError(f"player {seat + 1} chose {action!r}; legal were: {some}")
        return action

    with quietly(), Isolation().chosen(), open_sandbox() as sandbox, ExitStack() as stack:
        table = open_table(loaded.name, len(players), loaded.pairs, sandbox, stack)
        named = [one for one in players if isinstance(one, str)]
        roster = chosen_roster(named)
        full = {spec: roster.effective(spec).name for spec in named}
        for spec in full:
            roster.require_files(spec, table.setup, sandbox)
        specs = [full[one] if isinstance(one, str) else None for one in players]
        session = TableSession(table.setup, specs, seed, sandbox, table.records, roster)
        match = session.play(SandboxTable(table.worker), asked, lambda _: None)
        names = tuple(spec or "a function" for spec in specs)
        record = MatchRecord(loaded.name, loaded.parameters, names, seed, 0, match)
        return ShownMatch(loaded, record, table_setting(table, is_unicode=True))


@dataclass(frozen=True, repr=False)
class MatchAnalysis(Displayed):
    """A position of a match, with what each seat may believe and what its moves are worth.

    Attributes:
        found: What `rulewright analyse --json` prints of the position, or of the blunders.
    """

    found: "Mapping[str, Any]"

    @property
    def moves(self) -> list[dict[str, Any]]:
        """Action, value and visits of whoever is to move, the best first."""
        rows = [row for seat in self.found.get("seats", ()) for row in seat["values"]]
        return [dict(row) for row in rows]

    def shown(self) -> ShownTable:
        """The moves by their values; or the decisions by what they lost."""
        title = f"{one_line(self.found['game'])}, ply {self.found['ply']}"
        if "blunders" in self.found:
            heads = ("ply", "who", "chosen", "best", "lost")
            lost = [
                (
                    *(str(one["ply"]), f"Player {one['seat']}"),
                    *(one_line(one["chosen"]), one_line(one["best"]), f"{one['loss']:.3f}"),
                )
                for one in self.found["blunders"][:_MOST_ROWS]
            ]
            return ShownTable(f"{one_line(self.found['game'])}: decisions", heads, lost)
        rows = [
            (
                one_line(row["action"]),
                "not tried" if row["value"] is None else f"{row['value']:.3f}",
                "" if row["visits"] is None else str(row["visits"]),
            )
            for row in self.moves[:_MOST_ROWS]
        ]
        below = [] if rows else ["nobody decides here"]
        return ShownTable(title, ("move", "value", "visits"), rows, below)


def analyse_match_of(
    match: "ShownMatch | MatchRecord",
    *,
    ply: int | None = None,
    seat: int | None = None,
    blunders: bool = False,
    simulations: int = 400,
    seed: int = 0,
) -> MatchAnalysis:
    """Values of the moves in a position, or what each decision lost, as `rulewright analyse` does.

    Args:
        match: From `play`, or one of the `records` of `match`.
        ply: The position before it, counted from 1; without it the end.
        seat: Tell only what this seat's log tells, from 1.
        blunders: Whether to list all decisions by what they lost.
        simulations: Of each search.
        seed: Of the searches.

    Raises:
        ArgumentError: If there is no such ply or seat.
        AnalysisError: If the game does not play so.
    """
    from agents.analysis import Valuer, match_followed, solved_line
    from app.commands.analyse import blunders_of, position_of_seats
    from games.records import MatchRecord
    from graph.run.sandboxes import open_sandbox

    require_kinds(
        ply=ply or 0, seat=seat or 0, blunders=blunders, simulations=simulations, seed=seed
    )
    record = match.record if isinstance(match, ShownMatch) else match
    if not isinstance(record, MatchRecord):
        told = one_line(repr(match))[:100]
        raise ArgumentError(f"match is {told}; required: what play gave, or one of match's records")
    seats, last = len(record.players), len(record.match.plies)
    loaded = load_game(record.game, players=seats, parameters=record.parameters)
    where = last if ply is None else ply - 1
    if not 0 <= where <= last or seat not in (None, *range(1, seats + 1)):
        raise ArgumentError(
            f"ply {ply}, seat {seat}; required: a ply from 1 to {last + 1} and a seat from 1 to "
            f"{seats}"
        )
    with quietly(), Isolation().chosen(), open_sandbox() as sandbox:
        followed = match_followed(sandbox, _setup(loaded, seats), record.actions, record)
        valuer = Valuer(sandbox, followed, solved_line(sandbox, followed), simulations, seed or 0)
        told = blunders_of(valuer, seat) if blunders else position_of_seats(valuer, where, seat)
    return MatchAnalysis({"game": loaded.title, "ply": where + 1, **told})


def _setup(loaded: LoadedGame, seats: int) -> "GameSetup":
    from app.commands.match import chosen_game

    return chosen_game(loaded.name, seats, loaded.pairs)
