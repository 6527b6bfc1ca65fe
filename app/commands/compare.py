"""`compare`: games side by side, by their rules, settings, mechanics and figures."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.console import give, note, say
from app.seeds import seed_or_drawn
from games.text import one_line

if TYPE_CHECKING:
    from games.mechanics.matching import Likeness
    from games.records import PlayedActions
    from tools.comparing.differences import PlayedDifference
    from tools.comparing.games import ComparedGame, GamesDifference
    from tools.comparing.page import Compared
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox


@dataclass(frozen=True, kw_only=True)
class PlayedBoth:
    """The matches that two games are compared by."""

    matches: Annotated[
        int, typer.Option("--matches", min=0, max=100_000, help="Of each game and player.")
    ] = 200
    player: Annotated[
        list[str] | None,
        typer.Option("--player", help="Who has every seat; repeat it for more. Else random."),
    ] = None
    seed: options.Seed = None

    @cached_property
    def drawn(self) -> int:
        """The seed."""
        return seed_or_drawn(self.seed)

    def about(self) -> dict[str, Any]:
        """The matches and the seed, for the object."""
        return {"matches": self.matches, "seed": self.drawn}

    def actions(self, game: "GameSetup", matches: int, sandbox: "Sandbox") -> "list[PlayedActions]":
        """The actions of so many matches of the first player."""
        from app.commands.match import chosen_roster
        from games.records import PlayedActions
        from tools.playtest.series import SeriesSettings, play_series

        if not matches:
            return []
        spec = (self.player or ["random"])[0]
        settings = SeriesSettings(matches, self.drawn, record=False, replay=False)
        game = replace(game, parameters=options.accepted_parameters(game, sandbox))
        specs = [spec] * game.num_players
        series = play_series(game, specs, chosen_roster([spec]), settings, sandbox=sandbox)
        return [
            PlayedActions(spec, number, game.num_players, game.parameters, (*entry.actions,))
            for number, entry in series.entries.items()
        ]

    def compared(
        self, games: "tuple[GameSetup, GameSetup]", sandbox: "Sandbox"
    ) -> "list[PlayedDifference]":
        """The figures of two games, one a player; none where no match is asked for."""
        from app.commands.match import chosen_roster
        from tools.comparing.differences import play_and_compare
        from tools.playtest.series import SeriesSettings

        specs = list(dict.fromkeys(self.player or ["random"]))
        roster = chosen_roster(specs)
        one, other = (
            replace(game, parameters=options.accepted_parameters(game, sandbox)) for game in games
        )
        settings = SeriesSettings(self.matches, self.drawn)
        return [
            play_and_compare((one, other), spec, roster, settings, sandbox)
            for spec in specs
            if self.matches
        ]


@options.grouped
def compare_all(
    games: Annotated[
        list[str],
        typer.Argument(help="Two or more: folders or names of runs or revisions, library names."),
    ],
    *,
    played: PlayedBoth,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Also write a page of it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a page.")] = False,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Compare games: rules, settings, mechanics, and figures with what they differ by."""
    from graph.new.comparing import alike_by_meaning, game_to_compare
    from graph.run.settings import versions
    from tools.comparing.page import comparison_page

    if page is not None:
        options.require_new(page, force)
    found = [game_to_compare(name) for name in games]
    _require_several(found)  # before anything is opened
    likeness = alike_by_meaning(note)
    with place.opened() as opened:
        compared = held_side_by_side(found, played, opened, likeness)
        grade = opened.grade
    if page is not None:
        page.write_text(comparison_page(compared), encoding="utf-8")
    told = {
        **played.about(),
        "names": "meaning" if likeness else "words",
        "comparisons": [difference for difference, *_ in compared],
        "page": None if page is None else str(page),
        "sandbox": grade,
        "versions": versions(),
    }
    give(told, lambda: _show(difference for difference, *_ in compared), as_json=as_json)


def held_side_by_side(
    found: "list[ComparedGame]",
    played: PlayedBoth,
    sandbox: "Sandbox",
    likeness: "Likeness | None",
) -> "list[Compared]":
    """The differences of the first game and each other, with the graphs of both.

    Raises:
        typer.BadParameter: If a game is named twice, or alone.
    """
    from tools.comparing.games import compare_games

    _require_several(found)
    compared: list[Compared] = []
    for other in found[1:]:
        difference = compare_games(found[0], other, likeness)
        both = played.compared((found[0].setup, other.setup), sandbox)
        difference = difference.model_copy(update={"played": tuple(both)})
        compared.append((difference, found[0].graph, other.graph))
    return compared


def _require_several(found: "list[ComparedGame]") -> None:
    """Refuse one game alone, or the same twice.

    Raises:
        typer.BadParameter: Saying which.
    """
    if len(found) < 2:  # noqa: PLR2004 - a comparison is of two
        raise typer.BadParameter("one game is named; required: two or more", param_hint="GAMES")
    for one, other in combinations(found, 2):
        if one.setup.name == other.setup.name:
            said = f"{one_line(one.setup.name)} is named twice; name another run, or a revision"
            raise typer.BadParameter(said, param_hint="GAMES")


def _show(compared: "Iterable[GamesDifference]") -> None:
    for found in compared:
        say(f"{found.titles[0]} ({found.names[0]}) and {found.titles[1]} ({found.names[1]})")
        for name, rows in {
            "Rules": found.rules,
            "Settings": found.settings,
            "Mechanics": found.mechanics,
        }.items():
            say(f"\n{name}:" if rows else f"\n{name}: the same")
            for row in rows:
                said = " | ".join(filter(None, (one_line(row.before), one_line(row.after))))
                say(f"  {row.state} {one_line(row.name)}: {said}")
        shared, removed, added = found.edges
        alike = "" if found.similarity is None else f", similarity {found.similarity:.2f}"
        say(f"\nEdges of the graphs: {shared} shared, {removed} gone, {added} new{alike}")
        for one in found.played:
            show_played(one)


def show_played(found: "PlayedDifference") -> None:
    """Print the figures of two games, with what they differ by."""
    from tools.reporting.page import figure_text

    same, looked = found.alike
    way = f"paired, {same} of {looked} with the same deal" if found.paired else "two samples"
    ended = " and ".join(map(str, found.finished))
    say(f"\n{found.player} at every seat, {ended} matches finished, {way}:")
    for row in found.figures:
        before, after, apart = (
            figure_text(one, row.key) for one in (row.before, row.after, row.difference)
        )
        if row.difference.value is None:
            say(f"  {row.before.name}: {apart}")
            continue
        values = f"{before.partition(' (')[0]} and {after.partition(' (')[0]}"
        say(f"  {row.before.name}: {values}, difference {apart}{' *' * row.told}")
    for text in found.notes:
        say(f"  {text}")
