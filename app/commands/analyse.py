"""`analyse`: one position of a recorded match as its seats see it, and what each move was worth."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import give, say
from app.seeds import seed_or_drawn
from games.text import one_line

if TYPE_CHECKING:
    from agents.analysis import FollowedMatch, Valued
    from agents.worker.analysing import SolvedLine
    from app.table.session import LaidTable
    from games.information import SeatLog
    from games.records import MatchRecord
    from games.values import Json
    from tools.sandbox import Sandbox

_MOST_DECISIONS = 12  # searched for who is ahead since when
_MOST_LINES = 10
_LEAST = 0.0005  # of a loss that is told
_CLOSE = 0.1  # of the values' spread: nobody is ahead by less


@dataclass(frozen=True, kw_only=True)
class _Where:
    """The position that is asked for; all numbers are from 1, as `explain` tells them."""

    match: Annotated[int, typer.Option("--match", min=1, help="Which of the recorded matches.")] = 1
    ply: Annotated[
        int | None,
        typer.Option("--ply", min=1, help="The position before this ply; else the last one."),
    ] = None
    record: Annotated[
        str | None,
        typer.Option("--record", metavar="FILE", help="A .jsonl file, or the name of a run's."),
    ] = None
    edit: Annotated[
        Path | None,
        typer.Option("--edit", metavar="FILE", help="JSON of changes: state path to value."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class _How:
    """The way in which it is analysed."""

    seat: Annotated[
        int | None,
        typer.Option("--seat", min=1, help="Tell only what this seat's log tells, from 1."),
    ] = None
    blunders: Annotated[
        bool, typer.Option("--blunders", help="List all decisions by what they lost.")
    ] = False
    simulations: Annotated[
        int, typer.Option("--simulations", min=1, max=100_000, help="Of each search.")
    ] = 400
    play: Annotated[bool, typer.Option("--play", help="Then play on from there.")] = False
    seed: options.Seed = None


@options.grouped
def analyse_match(
    game: Annotated[
        str,
        typer.Argument(help="A run's folder or name, a module file, a library name, or a record."),
    ],
    *,
    where: _Where,
    how: _How,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Show a position of a recorded match: views, beliefs, values of moves, and blunders."""
    if how.play and (as_json or how.blunders):
        raise typer.BadParameter("--play takes neither --json nor --blunders")
    if where.edit is not None and how.blunders:
        raise typer.BadParameter("--blunders lists recorded decisions; leave out --edit")
    name, file, record = _recorded(game, where)
    from app.table.session import open_table

    settings = [f"{key}={json.dumps(value)}" for key, value in record.parameters.items()]
    with place.opened() as opened, ExitStack() as stack:
        table = open_table(name, len(record.players), settings, opened, stack)
        if how.seat is not None and how.seat > table.setup.num_players:
            seats = table.setup.num_players
            raise typer.BadParameter(f"--seat is {how.seat}; the seats are 1 to {seats}")
        work = _Work(opened, table, record, how, seed_or_drawn(how.seed))
        about = {"game": name, "record": str(file), "match": where.match, **work.about()}
        if how.blunders:
            found = {**about, **work.blunders()}
            give(found, lambda: _show_blunders(found), as_json=as_json)
            return
        ply, match, told = work.placed(where)
        position = {**about, **told, **work.position(match, ply)}
        give(position, lambda: _show(position, work, match, ply, stack), as_json=as_json)
        if how.play:
            _play_on(work, match, ply, name)


def _recorded(game: str, where: _Where) -> "tuple[str, Path, MatchRecord]":
    """The game's name, and the record with its file.

    Raises:
        SavedMatchError: If there is no such record.
        typer.BadParameter: If it has no such match.
    """
    from app.table.saved import SavedMatchError, recorded_matches
    from graph.run.folder import RunFolder, runs_folder

    if Path(game).suffix == ".jsonl":
        files, name = [Path(game)], ""
    else:
        found = options.game_called(game)
        folder, name = Path(found.name).parent.resolve(), game
        is_run = Path(found.name).is_file() and (folder / "records").is_dir()
        if is_run:
            RunFolder(folder).require_plain()
        stem, kept = (where.record or "*").removesuffix(".jsonl"), runs_folder() / "played"
        if where.record and (Path(where.record).exists() or not is_run):
            files = [Path(where.record)]
        elif is_run:
            files = sorted(path for path in (folder / "records").glob("*.jsonl"))
            files = [path for path in files if stem in ("*", path.stem)]
        else:
            files = sorted(kept.glob(f"played-{Path(found.name).stem}-*.jsonl"))
        if not files:
            raise SavedMatchError(
                f"{one_line(game)} has no such record of matches; required: --record with a .jsonl "
                "file, as `rulewright play` and the play-test of a run write them"
            )
    matches = [(path, record) for path in files for record in recorded_matches(path)]
    if where.match > len(matches):
        raise typer.BadParameter(
            f"--match is {where.match}; the matches recorded are 1 to {len(matches)}"
        )
    path, record = matches[where.match - 1]
    return name or record.game, path, record


@dataclass
class _Work:
    """One analysis."""

    sandbox: "Sandbox"
    table: "LaidTable"
    record: "MatchRecord"
    how: _How
    seed: int

    def __post_init__(self) -> None:
        from agents.analysis import followed

        self.match = followed(self.sandbox, self.table.setup, self.record)

    def about(self) -> "dict[str, Any]":
        """What any answer holds."""
        from graph.run.settings import versions

        return {
            "players": list(self.record.players),
            "parameters": self.table.setup.parameters,
            "plies": len(self.match.actions),
            "simulations": self.how.simulations,
            "seed": self.seed,
            "sandbox": self.sandbox.grade,
            "versions": versions(),
        }

    def placed(self, where: _Where) -> "tuple[int, FollowedMatch, dict[str, Any]]":
        """The position's number, its match, and how it was come by.

        Raises:
            typer.BadParameter: If the match has no such ply.
            AnalysisError: If an edit makes no position.
        """
        from agents.analysis import edited

        last = len(self.match.actions)
        ply = last if where.ply is None else where.ply - 1
        if ply > last:
            raise typer.BadParameter(
                f"--ply is {ply + 1}; match {where.match} has plies 1 to {last}, and {last + 1} "
                "for its end"
            )
        if where.edit is None:
            return ply, self.match, {"ply": ply + 1, "edited": None}
        changes = _changes(where.edit)
        match, way = edited(self.sandbox, self.match, ply, changes)
        reached = {"reached": way.answer, "play": way.actions, "changes": changes}
        return len(match.actions), match, {"ply": ply + 1, "edited": reached}

    def position(self, match: "FollowedMatch", ply: int) -> "dict[str, Any]":
        """The position as the seats see it; without `seat`, also as the table is."""
        from agents.analysis import solved

        line, here = solved(self.sandbox, match), match.positions[ply]
        seats = range(len(here.observations))
        shown = [*seats] if self.how.seat is None else [self.how.seat - 1]
        plies = [n for n in match.decisions() if n <= ply]
        is_open = any(line.rows[: ply + 1]) and all(line.rows[: ply + 1])
        if is_open or self.how.seat is not None:
            plies = [n for n in plies if n == ply and here.player in shown]
        step = -(-len(plies) // _MOST_DECISIONS)
        valued = list(self._valued(match, line, plies[::-1][:: max(1, step)][::-1]))
        at = next((one for one in valued if one.ply == ply), None)
        logs = match.logs(ply)
        told: dict[str, Any] = {
            "seats": [self._seat(match, ply, logs[seat], at) for seat in shown],
            "solved": {"by": line.by, "why": line.why, "nash_conv": line.nash_conv},
        }
        if self.how.seat is None:
            told["table"] = {
                "state": here.state,
                "to_move": here.player + 1 if here.player >= 0 else None,
            }
            told["standing"] = _standing(match, line, valued, ply)
        return told

    def _valued(
        self, match: "FollowedMatch", line: "SolvedLine", plies: Sequence[int]
    ) -> "Iterator[Valued]":
        from agents.analysis import valued

        return valued(
            *(self.sandbox, match, line, plies),
            simulations=self.how.simulations,
            seed=self.seed,
        )

    def _seat(
        self, match: "FollowedMatch", ply: int, log: "SeatLog", at: "Valued | None"
    ) -> dict[str, Any]:
        from agents.analysis import believed

        here = match.positions[ply]
        is_mover = here.player == log.seat
        belief = believed(self.sandbox, match.game, log, is_turn=is_mover)
        return {
            "seat": log.seat + 1,
            "observation": log.latest(),
            "belief": belief._asdict(),
            "legal": list(here.legal) if is_mover else [],
            "values": _values(at) if is_mover and at else [],
            "by": at.by if is_mover and at else "",
        }

    def blunders(self) -> dict[str, Any]:
        """All decisions, by what they lost."""
        from agents.analysis import solved

        line = solved(self.sandbox, self.match)
        plies = [n for n in self.match.decisions() if n < len(self.match.actions)]
        if self.how.seat is not None:
            plies = [n for n in plies if self.match.positions[n].player == self.how.seat - 1]
        found = [one for one in self._valued(self.match, line, plies)]
        told = sorted(
            (one for one in found if one.loss is not None), key=lambda one: -(one.loss or 0.0)
        )
        return {
            "solved": {"by": line.by, "why": line.why, "nash_conv": line.nash_conv},
            "decisions": len(found),
            "not_told": [one.ply + 1 for one in found if one.loss is None],
            "blunders": [
                {
                    "ply": one.ply + 1,
                    "seat": one.seat + 1,
                    "chosen": one.chosen,
                    "best": one.best,
                    "loss": one.loss,
                    "value": one.value,
                    "by": one.by,
                }
                for one in told
            ],
        }


def _values(at: "Valued") -> "list[dict[str, Any]]":
    """The actions, the best value first; a solver's have no visits."""
    rows = [
        {"action": name, "value": value, "visits": at.visits.get(name)}
        for name, value in at.values.items()
    ]
    return sorted(rows, key=lambda row: (row["value"] is None, -(row["value"] or 0.0)))


def _standing(
    match: "FollowedMatch", line: "SolvedLine", valued: "Sequence[Valued]", ply: int
) -> dict[str, Any]:
    """Each seat's value over the plies so far, who is ahead now, and since which ply."""
    seats = match.game.num_players
    newest: list[float | None] = [None] * seats
    rows: list[tuple[int, list[float | None]]] = []
    if all(line.rows[: ply + 1]):
        rows = [(n, _returns(line, n)) for n in range(ply + 1)]
    else:
        for one in valued:
            newest[one.seat] = one.value
            rows.append((one.ply, [*newest]))
    every = [value for _, values in rows for value in values if value is not None]
    least = _CLOSE * (max(every) - min(every)) if every else 0.0
    leaders = [_leader(values, least) for _, values in rows]
    leader, since = (leaders[-1] if leaders else None), None
    for (at, _), ahead in zip(reversed(rows), reversed(leaders), strict=True):
        if ahead != leader:
            break
        since = at + 1
    return {
        "values": [{"ply": at + 1, "values": values} for at, values in rows],
        "ahead": leader,
        "since": since if leader else None,
        "by": line.by if all(line.rows[: ply + 1]) else "each seat's newest search of its own",
    }


def _returns(line: "SolvedLine", ply: int) -> list[float | None]:
    row = line.rows[ply]
    values = row["returns"] if row else []
    return (
        [float(v) if isinstance(v, int | float) else None for v in values]
        if isinstance(values, list)
        else []
    )


def _leader(values: Sequence[float | None], least: float) -> int | None:
    """The seat that is ahead of all others by more than `least`, from 1."""
    known = sorted((value for value in values if value is not None), reverse=True)
    if len(known) < len(values) or len(known) > 1 and known[0] - known[1] <= max(least, 1e-9):
        return None
    return values.index(known[0]) + 1


def _changes(file: Path) -> "dict[str, Json]":
    """The changes of a file.

    Raises:
        typer.BadParameter: If it holds none.
    """
    from games.environments.reading import open_plain

    try:
        with TextIOWrapper(open_plain(file), encoding="utf-8") as text:
            found = json.loads(text.read(1 << 20))
    except (OSError, ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{file} is no JSON: {one_line(str(error))[:200]}") from error
    if not isinstance(found, dict) or not found:
        raise typer.BadParameter(f'{file} holds no changes; required: {{"state.path": value, ...}}')
    return found


def _show(
    found: dict[str, Any], work: _Work, match: "FollowedMatch", ply: int, stack: ExitStack
) -> None:
    """Tell a position in words."""
    from app.table.screen import TableScreen, shows_unicode
    from app.table.session import TableSession, renderer, table_setting

    _show_heading(found)
    if edit := found["edited"]:
        say(_REACHED[edit["reached"]])
    session = TableSession(match.game, (), work.seed, work.sandbox, work.table.records)
    setting = table_setting(work.table, is_unicode=shows_unicode())
    drawing = renderer(work.table, work.sandbox, stack)
    logs = match.logs(ply)
    for row in found["seats"]:
        seat = row["seat"] - 1
        say(f"\nPlayer {seat + 1} sees:")
        screen = TableScreen(session, (seat,), setting, work.table.rulebook, drawing)
        screen.show(seat, row["observation"], logs[seat])
        _show_belief(row["belief"])
        if row["legal"]:
            name = row["by"].partition(":")[0]
            how = f"values by {name}" if name else "it has no choice"
            say(f"It is to move; {how}:")
        for one in row["values"][:_MOST_LINES] or [{"action": a} for a in row["legal"]]:
            visits = "" if one.get("visits") is None else f", {one['visits']} visits"
            value = "not tried" if one.get("value") is None else f"{one['value']:.3f}"
            say(f"  {one_line(one['action'])}" + (f": {value}{visits}" if row["values"] else ""))
    if standing := found.get("standing"):
        say("\nThe table, which no seat sees whole (for the designer):")
        now = standing["values"][-1]["values"] if standing["values"] else []
        told = [f"player {n}: {'?' if v is None else f'{v:.3f}'}" for n, v in enumerate(now, 1)]
        say(f"  values by {standing['by']}: {', '.join(told) or 'none'}")
        ahead = f"player {standing['ahead']}, since ply {standing['since']}"
        say(f"  ahead: {ahead if standing['ahead'] else 'nobody, as far as these tell'}")


_REACHED = {
    "yes": "The edited position is reached by another play; seats know what that play told them.",
    "no": "No play reaches the edited position. It is analysed as a start that all seats know.",
    "unknown": "No play to the edited position was found, nor that there is none. It is analysed "
    "as a start that all seats know.",
}


def _show_heading(found: dict[str, Any]) -> None:
    ply = f", before ply {found['ply']} of {found['plies']}" if "ply" in found else ""
    say(f"{one_line(found['game'])}, match {found['match']} of {found['record']}{ply}")
    solved = found["solved"]
    if solved["by"] != "none":
        near = f", NashConv {solved['nash_conv']:.2g}" if solved["by"] == "cfr+" else ""
        part = f"; not all: {one_line(solved['why'])}" if solved["why"] else ""
        say(f"solved by {solved['by']}{near}{part}")
    else:
        say(f"not solved: {one_line(solved['why'])[:200]}; values are those of searches")


def _show_belief(belief: dict[str, Any]) -> None:
    """What the seat cannot see, and how likely it is."""
    at = "" if belief["at"] == "now" else " at its newest turn"
    if belief["by"] == "no_turn":
        say("What it may think of the rest is told from its first turn on.")
    elif belief["by"] == "none":
        say("No state was found that fits what it saw.")
    elif not belief["zones"]:
        say("It knows all that there is.")
    else:
        say(f"It cannot see ({belief['by']}{at}, {belief['states']} states):")
    for zone in belief["zones"]:
        rows = zone["contents"] if not zone["others"] or not zone["holds"] else zone["holds"]
        text = ", ".join(f"{_plain(value)} {share:.0%}" for value, share in rows)
        more = f", and {zone['others']} more" if zone["others"] and rows is zone["contents"] else ""
        say(f"  {zone['zone']}: {text}{more}")


def _plain(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_plain, value)) or "empty"
    return one_line(str(value))[:60]


def _show_blunders(found: dict[str, Any]) -> None:
    _show_heading(found)
    for one in found["blunders"][:_MOST_LINES]:
        if one["loss"] >= _LEAST:
            say(
                f"  ply {one['ply']}, player {one['seat']}: {one_line(one['chosen'])} lost "
                f"{one['loss']:.3f} to {one_line(one['best'])} ({one['by'].partition(':')[0]})"
            )
    lost = sum(one["loss"] >= _LEAST for one in found["blunders"])
    say(f"{lost} of {found['decisions']} decisions lost something")
    if found["not_told"]:
        plies = ", ".join(map(str, found["not_told"]))
        say(f"not told, as the search did not try what was played: plies {plies}")


def _play_on(work: _Work, match: "FollowedMatch", ply: int, name: str) -> None:
    """Open the table of `play` at the position."""
    from agents.analysis import AnalysisError
    from app.commands.match import sit_down
    from app.table.saved import PlayRequest
    from games.engine import Effort, Ply

    if match.game.source != work.table.setup.source:
        raise AnalysisError("a position that no play was found to reach is not played on yet")
    here = match.positions[ply]
    plies = [
        Ply(at.player, None, at.legal, action, (), after.events, Effort("recorded"), {})
        for at, action, after in zip(
            match.positions, match.actions[:ply], match.positions[1 : ply + 1], strict=False
        )
    ]
    seat = work.how.seat or max(here.player, 0) + 1
    settings = [f"{key}={json.dumps(value)}" for key, value in match.game.parameters.items()]
    asked = PlayRequest(
        name, (seat,), players=match.game.num_players, settings=settings, seed=work.record.seed
    )
    from dataclasses import replace

    with ExitStack() as stack:
        sit_down(replace(asked, plies=plies), work.sandbox, stack)
