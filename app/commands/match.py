"""`match`: players against each other, with the results counted honestly."""

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.console import leave, note, print_json, say

if TYPE_CHECKING:
    from games.contract import Json
    from tools.playtest import Series, SeriesSettings
    from tools.sandbox import Sandbox
    from tools.sources import GameSource

_TELL_EVERY = 10


def play_matches(  # noqa: PLR0913 - one parameter an option
    game: str,
    specs: Sequence[str],
    *,
    games: int,
    seed: int,
    settings: Sequence[str],
    max_plies: int,
    jobs: int,
    journal: Path | None,
    as_json: bool,
) -> None:
    """Play `games` matches; see `app.cli.match`. Exit code 1 where none finished."""
    from agents.players import parse_spec
    from graph.sandboxes import describe_grade, open_sandbox
    from tools.sources import find_game

    found = find_game(game)
    names = [str(parse_spec(spec)) for spec in specs]
    with ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox())
        grade = sandbox.grade
        note(describe_grade(grade))
        parameters = _parameters(found, sandbox, settings)
        _require_seats(found, sandbox, len(specs))
        asked = _asked(found, names, parameters, games, seed, max_plies)
        series = _play(found, sandbox, names, asked, jobs, journal)
    result = {
        "game": found.name,
        "players": names,
        "parameters": parameters,
        "games": games,
        "seed": seed,
        "max_plies": max_plies,
        "sandbox": grade.model_dump(mode="json"),
        **counted(series),
    }
    if as_json:
        print_json(result)
    else:
        _show(result)
    leave(0 if series.endings["finished"] else 1)


def counted(series: "Series") -> dict[str, Any]:
    """Endings, wins and returns by entrant, with intervals where there are enough matches.

    `used` is what the entrant's decisions really used, as they reported it.
    """
    from tools.playtest import NoSamplesError, mean_interval, wilson, win_share
    from tools.playtest.outcomes import used_by

    finished = [r.match for r in series.records if r.match.returns is not None]
    rows = []
    for entrant, name in enumerate(series.line_up):
        returns, wins, efforts = [], 0.0, []
        for record in series.records:
            seat = (entrant + record.match_index % series.rotations) % len(series.line_up)
            efforts += [ply.effort for ply in record.match.plies if ply.player == seat]
            if record.match.returns is None:
                continue
            returns.append(record.match.returns[seat])
            wins += win_share(record.match.returns, seat)
        row: dict[str, Any] = {"player": name, "entrant": entrant, "wins": wins}
        try:
            row["win_share"] = wilson(wins, len(returns)).model_dump()
            row["mean_return"] = mean_interval(returns).model_dump()
        except NoSamplesError as error:
            row["not_estimated"] = str(error)
        row["used"] = used_by(efforts).model_dump(mode="json")
        rows.append(row)
    return {
        "finished": len(finished),
        "endings": dict(series.endings),
        "reasons": sorted({r.match.reason for r in series.records if r.match.reason}),
        "rotations": series.rotations,
        "entrants": rows,
        "matches": [
            {
                "match": record.match_index,
                "players": list(record.players),
                "ending": record.match.ending,
                "returns": record.match.returns,
                "plies": len(record.match.plies),
                "actions": list(record.actions),
            }
            for record in series.records
        ],
    }


def _asked(
    found: "GameSource",
    names: Sequence[str],
    parameters: "dict[str, Json]",
    games: int,
    seed: int,
    max_plies: int,
) -> "SeriesSettings":
    from tools.playtest import SeriesSettings

    rotations = 1 if len(set(names)) == 1 else len(names)
    matches = -(-games // rotations) * rotations
    if matches != games:
        note(f"{matches} matches instead of {games}, so that every player has every seat as often")
    return SeriesSettings(
        game=found.name,
        source_id=hashlib.sha256(found.source.encode()).hexdigest(),
        parameters=parameters,
        matches=matches,
        seed=seed,
        max_plies=max_plies,
    )


def _play(
    found: "GameSource",
    sandbox: "Sandbox",
    names: Sequence[str],
    asked: "SeriesSettings",
    jobs: int,
    journal: Path | None,
) -> "Series":
    from agents.players import make_player, parse_spec
    from games.engine import Player
    from games.records import MatchRecord
    from tools.playtest import Entrant, play_series, sandbox_tables

    def entrant(name: str) -> Entrant:
        spec = parse_spec(name)

        def make(seat: int, match: int) -> Player:
            del match
            return make_player(
                spec,
                seat=seat,
                num_players=len(names),
                parameters=asked.parameters,
                source=found.source,
                sandbox=sandbox,
                heuristics=found.heuristics,
            )

        return Entrant(name, make)

    played = 0

    def tell(_: MatchRecord) -> None:
        nonlocal played
        played += 1
        if played % _TELL_EVERY == 0:
            note(f"{played} of {asked.matches} matches")

    tables = sandbox_tables(sandbox, found.source)
    entrants = [entrant(name) for name in names]
    return play_series(tables, entrants, asked, journal=journal, jobs=jobs, on_match=tell)


def _parameters(
    found: "GameSource", sandbox: "Sandbox", settings: Sequence[str]
) -> "dict[str, Json]":
    """NAME=VALUE pairs as parameters; the value is JSON, or else a word."""
    from games.contract import Game
    from games.library import UnknownParameterError, defaults
    from tools.sandbox import SandboxedModule

    parameters: dict[str, Json] = {}
    if not settings:
        return parameters
    with sandbox.worker("parameters", found.source) as worker:
        worker.load(found.source)
        known = defaults(Game(SandboxedModule(worker)).info)
    for pair in settings:
        name, equals, text = pair.partition("=")
        if name not in known or not equals:
            raise UnknownParameterError(
                f"--set {pair!r}: required is NAME=VALUE with one of {', '.join(sorted(known))}"
            )
        try:
            parameters[name] = json.loads(text)
        except json.JSONDecodeError:
            parameters[name] = text
    return parameters


def _require_seats(found: "GameSource", sandbox: "Sandbox", count: int) -> None:
    from games.contract import Game
    from tools.sandbox import SandboxedModule

    with sandbox.worker("seats", found.source) as worker:
        worker.load(found.source)
        info = Game(SandboxedModule(worker)).info
    fewest, most = info["min_players"], info["max_players"]
    if not (isinstance(fewest, int) and isinstance(most, int) and fewest <= count <= most):
        raise typer.BadParameter(
            f"{found.name} takes {fewest} to {most} players; {count} --player were given"
        )


def _show(result: dict[str, Any]) -> None:
    endings = ", ".join(f"{count} {name}" for name, count in result["endings"].items() if count)
    say(f"{result['game']}: {endings}")
    for row in result["entrants"]:
        share = row.get("win_share")
        shown = (
            f"win share {share['value']:.3f} ({share['low']:.3f} to {share['high']:.3f})"
            if share
            else row["not_estimated"]
        )
        mean = row.get("mean_return")
        paid = f", mean return {mean['value']:.3f}" if mean else ""
        say(f"  {row['player']}: {shown}{paid}")
    for reason in result["reasons"]:
        say(f"  {reason}")
