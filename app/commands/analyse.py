"""`analyse`: one position of a recorded match as its seats see it, and what decisions lost."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import give, note_decisions, say
from app.seeds import seed_or_drawn
from games.text import one_line
from games.values import TERMINAL

if TYPE_CHECKING:
    from agents.analysis import FollowedMatch, Valued, Valuer
    from app.table.session import LaidTable
    from games.records import MatchRecord
    from tools.sandbox import Sandbox

_MOST_DECISIONS = 12  # searched for who is ahead since when
_MOST_LINES = 10
_LEAST = 0.0005  # of a loss that is told
_CLOSE = 0.1  # of the values' spread: nobody is ahead by less
_REACHED = {
    "yes": "Another play reaches the edited position; seats know what that play told them.",
    "no": "No play reaches the edited position: it is analysed as a start that all seats know.",
    "unknown": "No play to the edited position was found, nor that there is none: it is analysed "
    "as a start that all seats know.",
}
_NO_BELIEF = {
    "no_turn": "Its belief is told from its first turn on.",
    "none": "No state was found that fits what it saw.",
}


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """The position that is asked for, by numbers from 1, as `explain` tells them."""

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
    asked: _Asked,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Show a position of a recorded match: views, beliefs, values of moves; or its blunders."""
    from agents.analysis import Valuer, edited_match, match_followed, solved_line
    from app.table.session import open_table
    from graph.run.settings import versions

    if (asked.play and as_json) or (asked.blunders and (asked.play or asked.edit)):
        raise typer.BadParameter("--play takes no --json; --blunders neither --play nor --edit")
    name, file, record = _recorded(game, asked)
    seed = seed_or_drawn(asked.seed)
    settings = [f"{key}={json.dumps(value)}" for key, value in record.parameters.items()]
    with place.opened() as opened, ExitStack() as stack:
        table = open_table(name, len(record.players), settings, opened, stack)
        seats = table.setup.num_players
        if asked.seat is not None and asked.seat > seats:
            raise typer.BadParameter(f"--seat is {asked.seat}; the seats are 1 to {seats}")
        match = match_followed(opened, table.setup, record.actions, record)
        last = len(match.actions)
        ply = last if asked.ply is None else asked.ply - 1
        if ply > last:
            raise typer.BadParameter(
                f"--ply is {ply + 1}; match {asked.match} has plies 1 to {last}, and {last + 1} "
                "for its end"
            )
        found: dict[str, Any] = {
            **{"game": name, "record": str(file), "match": asked.match, "ply": ply + 1},
            **{"players": record.players, "parameters": table.setup.parameters, "seed": seed},
            **{"simulations": asked.simulations, "sandbox": opened.grade, "versions": versions()},
        }
        if asked.edit is not None:
            changes = _changes(asked.edit)
            match, way = edited_match(opened, match, ply, changes)
            play = way.actions if asked.seat is None else []  # it tells what others hold
            found["edited"] = {"changes": changes, "reached": way.answer, "play": play}
            ply = len(match.actions)
        line = solved_line(opened, match)
        found["solved"] = {"by": line.by, "why": line.why, "nash_conv": line.nash_conv}
        valuer = Valuer(opened, match, line, asked.simulations, seed, note_decisions)
        if asked.blunders:
            found |= blunders_of(valuer, asked.seat)
            give(found, lambda: _show_blunders(found), as_json=as_json)
            return
        found |= position_of_seats(valuer, ply, asked.seat)
        shown = _Shown(table, match, ply, seed, opened, stack)
        give(found, lambda: _show(found, shown), as_json=as_json)
        if asked.play:
            _play_on(shown, record, name, asked.seat)


def _recorded(game: str, asked: _Asked) -> "tuple[str, Path, MatchRecord]":
    """The game's name, and the record with its file.

    Raises:
        SavedMatchError: If there is no such record.
        typer.BadParameter: If it has no such match.
    """
    from app.table.saved import SavedMatchError, matches_of_file

    is_record = Path(game).suffix == ".jsonl"
    named = asked.record or (game if is_record else "")
    files = [] if is_record else records_of(game, named)
    files = [Path(named)] if named and (Path(named).exists() or not files) else files
    if not files:
        raise SavedMatchError(
            f"{one_line(game)} has no recorded match; required: --record with a .jsonl file, as "
            "`rulewright play` and the play-test of a run write them"
        )
    matches = [(path, record) for path in files for record in matches_of_file(path)]
    if asked.match > len(matches):
        raise typer.BadParameter(f"--match is {asked.match}; recorded are 1 to {len(matches)}")
    path, record = matches[asked.match - 1]
    return record.game if is_record else game, path, record


def records_of(game: str, named: str = "") -> list[Path]:
    """The files of a game's recorded matches, of a run those that are named; none where none are.

    Raises:
        GameNotFoundError: If there is no such game.
        RunFolderError: If a run's folder holds a link.
    """
    from graph.run.folder import RunFolder, runs_folder

    source = Path(options.game_called(game).name)
    stem = source.resolve().parent.name if source.name == "game.py" else source.stem
    kept, pattern = runs_folder() / "played", f"played-{stem}-*.jsonl"
    if source.is_file() and (source.parent / "records").is_dir():
        kept = source.parent.resolve() / "records"
        RunFolder(kept.parent).require_plain()
        pattern = f"{Path(named).name.removesuffix('.jsonl') or '*'}.jsonl"
    return sorted(kept.glob(pattern))


def _changes(file: Path) -> dict[str, Any]:
    """The changes of a file.

    Raises:
        typer.BadParameter: If it holds none.
    """
    from games.environments.reading import open_plain

    try:
        with TextIOWrapper(open_plain(file), encoding="utf-8") as text:
            found = json.loads(text.read(1 << 20))
    except (OSError, ValueError, RecursionError) as error:
        raise typer.BadParameter(f"{file} is no JSON (to 1 MiB): {one_line(str(error))}") from error
    if not isinstance(found, dict) or not found:
        raise typer.BadParameter(f'{file} holds no changes; required: {{"state.path": value, ...}}')
    return found


def position_of_seats(valuer: "Valuer", ply: int, only: int | None) -> dict[str, Any]:
    """The position as its seats see it; where `only` names none, also as the table is."""
    from agents.analysis import believed

    match, here = valuer.match, valuer.match.positions[ply]
    plies = [n for n in match.decisions() if n <= ply]
    if only is not None:
        plies = [n for n in plies if n == ply and here.player == only - 1]
    unsolved = [n for n in plies if not valuer.line.values[n]]
    kept = unsolved[:: -max(1, -(-len(unsolved) // _MOST_DECISIONS))]  # the newest, some before
    plies = [n for n in plies if n in kept or valuer.line.values[n]]
    valued = [*valuer.valued(plies)]
    now = next((one for one in valued if one.ply == ply), None)
    seats: list[dict[str, Any]] = []
    for log in match.logs(ply):
        if only in (None, log.seat + 1):
            is_turn = here.player == log.seat
            belief = believed(valuer.sandbox, match.game, log, is_turn=is_turn)
            row = {"seat": log.seat + 1, "observation": log.latest(), "belief": belief._asdict()}
            row["legal"] = here.legal if is_turn else []
            row |= _values(now) if is_turn and now else {"values": [], "by": ""}
            seats.append(row)
    if only is not None:
        return {"seats": seats}
    table = {"state": here.state, "to_move": here.player + 1 if here.player >= 0 else None}
    standing = _standing(match, valued, ply)
    return {"seats": seats, "table": table, "standing": standing}


def _values(at: "Valued") -> dict[str, Any]:
    """The actions, the best value first; a solver's have no visits."""
    best = sorted(at.values.items(), key=lambda one: (one[1] is None, -(one[1] or 0.0)))
    rows = [{"action": a, "value": value, "visits": at.visits.get(a)} for a, value in best]
    return {"values": rows, "by": at.by}


def _standing(match: "FollowedMatch", valued: "Sequence[Valued]", ply: int) -> dict[str, Any]:
    """Each seat's newest value of its own over the plies, who is ahead, and since which ply."""
    values: list[float | None] = [None] * match.game.num_players
    rows: list[dict[str, Any]] = []
    for one in valued:
        values[one.seat] = one.values.get(one.best)
        rows.append({"ply": one.ply + 1, "values": [*values]})
    if match.positions[ply].player == TERMINAL:
        paid = [match.paid(ply, seat) for seat in range(match.game.num_players)]
        rows.append({"ply": ply + 1, "values": paid})
    known = [value for row in rows for value in row["values"] if value is not None]
    least = _CLOSE * (max(known) - min(known)) if known else 0.0
    ahead, since = None, None
    for row in rows:
        leader = _leader(row["values"], least)
        if leader != ahead:
            ahead, since = leader, row["ply"]
    return {"values": rows, "ahead": ahead, "since": since if ahead else None}


def _leader(values: Sequence[float | None], least: float) -> int | None:
    """The seat that is ahead of all others by more than `least`, from 1; None for no such."""
    known = sorted((value for value in values if value is not None), reverse=True)
    is_close = len(known) < len(values) or (len(known) > 1 and known[0] - known[1] <= least)
    return None if is_close else values.index(known[0]) + 1


def blunders_of(valuer: "Valuer", only: int | None) -> dict[str, Any]:
    """All decisions, by what they lost; of one seat alone where `only` names it."""
    match, rows, unknown = valuer.match, list[dict[str, Any]](), list[int]()
    plies = [n for n in match.decisions() if n < len(match.actions)]
    plies = [n for n in plies if only in (None, match.positions[n].player + 1)]
    for one in valuer.valued(plies):
        chosen = match.actions[one.ply]
        if (loss := one.loss(chosen)) is None:
            unknown.append(one.ply + 1)
            continue
        about = {"ply": one.ply + 1, "seat": one.seat + 1, "loss": loss, "by": one.by}
        rows.append({**about, "chosen": chosen, "best": one.best})
    rows.sort(key=lambda row: -row["loss"])
    return {"decisions": len(plies), "not_told": unknown, "blunders": rows}


def _show_heading(found: dict[str, Any]) -> None:
    say(f"{one_line(found['game'])}, match {found['match']} of {found['record']}")
    by, why = found["solved"]["by"], one_line(found["solved"]["why"])[:200]
    near = f", NashConv {found['solved']['nash_conv']:.2g}" if by == "cfr+" else ""
    solved = f"solved by {by}{near}" + (f", but not from its beginning: {why}" if why else "")
    say(f"not solved, so values are those of searches: {why}" if by == "none" else solved)


def _show_blunders(found: dict[str, Any]) -> None:
    _show_heading(found)
    lost = [one for one in found["blunders"] if one["loss"] >= _LEAST]
    for one in lost[:_MOST_LINES]:
        best, by = one_line(one["best"]), one["by"].partition(":")[0]
        said = f"{one_line(one['chosen'])} lost {one['loss']:.3f} to {best} ({by})"
        say(f"  ply {one['ply']}, player {one['seat']}: {said}")
    say(f"{len(lost)} of {found['decisions']} decisions lost something")
    if found["not_told"]:
        plies = ", ".join(map(str, found["not_told"]))
        say(f"not told, as the search did not try what was played: plies {plies}")


@dataclass
class _Shown:
    """The position, as `play` draws it."""

    table: "LaidTable"
    match: "FollowedMatch"
    ply: int
    seed: int
    sandbox: "Sandbox"
    stack: ExitStack

    def show(self, seat: int) -> None:
        """Draw what one seat sees."""
        from app.table.screen import TableScreen, shows_unicode
        from app.table.session import TableSession, renderer, table_setting

        session = TableSession(self.match.game, (), self.seed, self.sandbox, self.table.records)
        setting = table_setting(self.table, is_unicode=shows_unicode())
        drawing = renderer(self.table, self.sandbox, self.stack)
        log = self.match.logs(self.ply)[seat]
        screen = TableScreen(session, (seat,), setting, self.table.rulebook, drawing)
        screen.show(seat, log.latest(), log)


def _show(found: dict[str, Any], shown: _Shown) -> None:
    """Tell a position in words."""
    _show_heading(found)
    if "edited" in found:
        say(_REACHED[found["edited"]["reached"]])
    for row in found["seats"]:
        say(f"\nBefore ply {found['ply']} player {row['seat']} sees:")
        shown.show(row["seat"] - 1)
        _show_belief(row["belief"])
        if row["values"]:
            say(f"It is to move; values by {row['by'].partition(':')[0]}:")
        for one in row["values"][:_MOST_LINES]:
            value = "not tried" if one["value"] is None else f"{one['value']:.3f}"
            visits = "" if one["visits"] is None else f", {one['visits']} visits"
            say(f"  {one_line(one['action'])}: {value}{visits}")
    if standing := found.get("standing"):
        now = standing["values"][-1]["values"] if standing["values"] else []
        told = [f"player {n} {'?' if v is None else f'{v:.3f}'}" for n, v in enumerate(now, 1)]
        say("\nFor the designer: the newest value to each seat, by what that seat knew:")
        ahead = f"player {standing['ahead']} is ahead since ply {standing['since']}"
        say(f"{', '.join(told) or 'none'}; {ahead if standing['ahead'] else 'nobody is ahead'}.")


def _show_belief(belief: dict[str, Any]) -> None:
    """Tell the zones that the seat cannot see, and how likely their contents are."""
    how = f"of {belief['states']} states ({belief['by']}, the others playing uniformly)"
    known = f"It cannot see, {how}:" if belief["zones"] else "It knows all that there is."
    say(_NO_BELIEF.get(belief["by"], known))
    for zone in belief["zones"]:
        is_parted = zone["others"] and zone["holds"]
        told = [
            f"{' '.join(map(str, value)) if isinstance(value, list) else value} {share:.0%}"
            for value, share in zone["holds" if is_parted else "contents"]
        ]
        more = [f"{zone['others']} more"] if zone["others"] and not is_parted else []
        say(f"  {one_line(zone['zone'])}: {one_line(', '.join(told + more))}")


def _play_on(shown: _Shown, record: "MatchRecord", name: str, seat: int | None) -> None:
    """Open the table of `play` at the position.

    Raises:
        AnalysisError: If no play leads there.
    """
    from agents.analysis import AnalysisError
    from app.commands.match import sit_down
    from app.table.saved import PlayRequest
    from games.engine import Effort, Ply

    match, ply = shown.match, shown.ply
    if match.game.source != shown.table.setup.source:
        raise AnalysisError("a position to which no play was found cannot be played on")
    plies = [
        Ply(at.player, None, at.legal, action, (), (), Effort("recorded"), {})
        for at, action in zip(match.positions[:ply], match.actions, strict=False)
    ]
    asked = PlayRequest(
        name,
        (seat or max(match.positions[ply].player, 0) + 1,),
        players=match.game.num_players,
        settings=[f"{key}={json.dumps(value)}" for key, value in match.game.parameters.items()],
        seed=record.seed,
        plies=plies,
    )
    sit_down(asked, shown.sandbox, shown.stack)
