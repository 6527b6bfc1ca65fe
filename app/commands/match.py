"""`match`: players against each other, with the results counted honestly."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.match_results import counted, show
from app.console import leave, note, print_json
from app.interrupt import ends_at_once, kept_in
from app.parameters import accepted_parameters, given_parameters

if TYPE_CHECKING:
    from tools.playtest import GameSetup, Series, SeriesSettings
    from tools.sandbox import Sandbox

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
    """Play `games` matches; see `app.cli.match`. Exit code 1 where none can be counted."""
    with ends_at_once(lambda: kept_in(journal)):
        from agents.players import parse_spec
        from graph.sandboxes import describe_grade, open_sandbox
        from graph.versions import versions
        from tools.playtest import GameSetup
        from tools.sources import find_game

        found = find_game(game)
        given = given_parameters(settings)
        names = [str(parse_spec(spec)) for spec in specs]
        setup = GameSetup(found.name, found.source, len(names), given, found.heuristics)
        with open_sandbox() as sandbox:
            grade = sandbox.grade
            note(describe_grade(grade))
            setup = replace(setup, parameters=accepted_parameters(setup, sandbox))
            asked = _asked(setup, names, games, seed, max_plies)
            series = _play(setup, sandbox, names, asked, jobs, journal)
        result = {
            **asked.model_dump(mode="json", exclude={"matches"}),
            "players": names,
            "asked": games,
            "sandbox": grade.model_dump(mode="json"),
            "versions": versions(),
            **counted(series),
        }
    if as_json:
        print_json(result)
    else:
        show(result)
    leave(0 if result["scored"] else 1)


def _asked(
    game: "GameSetup", names: Sequence[str], games: int, seed: int, max_plies: int
) -> "SeriesSettings":
    from tools.playtest import SeriesSettings

    rotations = 1 if len(set(names)) == 1 else len(names)
    matches = -(-games // rotations) * rotations
    if matches != games:
        note(f"{matches} matches instead of {games}, so that every player has every seat as often")
    return SeriesSettings(
        game=game.name,
        source_id=_sha256(game.source),
        heuristics={name: _sha256(source) for name, source in sorted(game.heuristics.items())},
        parameters=dict(game.parameters),
        matches=matches,
        seed=seed,
        max_plies=max_plies,
    )


def _sha256(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def _play(
    game: "GameSetup",
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
                num_players=game.num_players,
                parameters=game.parameters,
                source=game.source,
                sandbox=sandbox,
                heuristics=game.heuristics,
            )

        return Entrant(name, make)

    played = 0

    def tell(_: MatchRecord) -> None:
        nonlocal played
        played += 1
        if played % _TELL_EVERY == 0:
            note(f"{played} of {asked.matches} matches")

    tables = sandbox_tables(sandbox, game.source)
    entrants = [entrant(name) for name in names]
    return play_series(tables, entrants, asked, journal=journal, jobs=jobs, on_match=tell)
