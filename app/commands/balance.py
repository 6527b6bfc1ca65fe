"""`balance`: settings of a game with which figures of good play lie where they shall."""

import json
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app import options
from app.commands.match import chosen_recipe, chosen_roster, chosen_workers
from app.console import ends_at_once, give, leave, note, say
from app.seeds import seed_of_journal
from games.text import one_line

if TYPE_CHECKING:
    from app.table.session import LaidTable
    from tools.balancing.answer import Rulebook
    from tools.playtest.jobs import GameSetup
    from tools.sandbox import Sandbox

_SIMULATIONS = 50  # of a search, where a game has no heuristics


@dataclass(frozen=True, kw_only=True)
class Balancing:
    """The targets, and how much is played for them."""

    target: Annotated[
        str, typer.Option("--target", help="Such as “first seat 50±2 %, 12 to 20 turns”.")
    ]
    free: Annotated[
        str, typer.Option("--free", metavar="NAME,...", help="Search these settings alone.")
    ] = ""
    budget: Annotated[
        int, typer.Option("--budget", min=500, max=10_000_000, help="Matches to play at most.")
    ] = 20_000
    player: Annotated[
        str, typer.Option("--player", help="Who has every seat; else the best heuristic.")
    ] = ""
    seed: options.Seed = None
    max_plies: options.MaxPlies = 2000
    jobs: options.Jobs = 2
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Folder of page and journal.")
    ] = None
    apply: Annotated[
        bool, typer.Option("--apply", help="Revise the run, if the targets are reached.")
    ] = False
    seat_points: Annotated[
        int,
        typer.Option(
            "--seat-points", min=0, max=1000, help="Search points for later seats, up to this."
        ),
    ] = 0
    bar_opening: Annotated[
        int,
        typer.Option(
            "--bar-opening",
            min=0,
            max=400,
            help="Search what the first decision may not be: actions up to this number.",
        ),
    ] = 0

    @property
    def handicaps(self) -> dict[str, int]:
        """The handicaps that are searched too, with the ends of their ranges."""
        most = {"seat_points": self.seat_points, "barred_opening": self.bar_opening}
        return {name: top for name, top in most.items() if top}


@options.grouped
def balance_game(
    game: options.Game,
    *,
    asked: Balancing,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Search a game's settings for targets of fairness and length, and confirm the best.

    A search that was stopped goes on when the same command is given again.
    """
    from app.table.session import open_table

    if asked.apply and as_json:
        raise typer.BadParameter("--apply takes no --json: the revision has a result of its own")
    with place.opened() as sandbox, ExitStack() as stack:
        table = open_table(game, players, settings or [], sandbox, stack)
        found = balanced(game, table, asked, sandbox)
    give(found, lambda: say("\n".join(balance_lines(found))), as_json=as_json)
    if asked.apply:
        _apply(table, found, place)
    leave(0 if found["reached"] else 1)


def balanced(
    name: str,
    table: "LaidTable",
    asked: Balancing,
    sandbox: "Sandbox",
    *,
    ends: Callable[[Callable[[], str]], AbstractContextManager[None]] = ends_at_once,
    tell: Callable[[str], None] = note,
) -> dict[str, Any]:
    """The answer of a search, which is written with its page.

    Args:
        name: Of the game, as a person named it.
        table: The game.
        asked: The targets, and how much is played.
        sandbox: Where it runs.
        ends: What is done about signals meanwhile; it is given the words of farewell.
        tell: Hears of progress.

    Raises:
        TargetError: If no game can reach the targets, or no setting can be searched.
    """
    from agents.players.registry import suitable_search
    from graph.run.settings import versions
    from tools.balancing.answer import balance_answer
    from tools.balancing.compensation import compensated, write_compensated
    from tools.balancing.playing import BalanceTable, balance_table
    from tools.balancing.racing import BalanceSearch
    from tools.balancing.space import declared_settings, settings_space
    from tools.balancing.targets import parse_targets
    from tools.sandbox.reading import foreign_game
    from tools.sources import find_rulebook

    own, family = table.setup, _family(table)
    rules = find_rulebook(own.name, own.parameters, own.num_players) or ""
    setup, rules = compensated(own, asked.handicaps, rules)
    targets = parse_targets(asked.target, setup.num_players)
    free = [one.strip() for one in asked.free.split(",") if one.strip()]
    info = foreign_game(setup.source) if asked.handicaps else table.module.info
    declared = declared_settings(info, family)
    space = settings_space(declared, setup.parameters, free)
    specs = [asked.player] if asked.player else [f"greedy:heuristic={h}" for h in setup.heuristics]
    specs = specs or [suitable_search(setup, sandbox, _SIMULATIONS) or "random"]
    workers = chosen_workers("processes", asked.jobs)
    roster = chosen_roster(specs, workers)
    identity = {**_identity(name, setup, asked), "players": specs, "free": free}
    folder = asked.out or _folder(name, identity, asked.seed)
    journal = folder / "journal.jsonl"
    seed = seed_of_journal(asked.seed, journal)
    stopped = f"stopped; what was played is kept in {folder}. Go on with the same command"
    with ends(lambda: stopped):
        begun = BalanceTable(setup, roster, chosen_recipe(), workers, seed, asked.max_plies)
        with balance_table(begun, journal, {**identity, "seed": seed}) as opened:
            opened.choose_player(specs)
            search = BalanceSearch(opened, space, targets, asked.budget, tell)
            search.run()
    found = {
        **{"game": setup.name, "num_players": setup.num_players},
        **balance_answer(search, _rulebook(table)),
        **{"sandbox": sandbox.grade.model_dump(mode="json"), "versions": versions()},
    }
    if asked.handicaps:
        write_compensated(setup, rules, folder)
        name = name if family or table.run else str(folder)
    return _written({**found, "use": _command(name, table, found)}, folder)


def _identity(name: str, setup: "GameSetup", asked: Balancing) -> dict[str, Any]:
    """All that a search follows from, but for its players, its free settings and its seed."""
    return {
        **{"game": one_line(name), "num_players": setup.num_players, "start": {**setup.parameters}},
        **{"source": _digest(setup.source), "heuristics": _digest({**setup.heuristics})},
        **{"target": asked.target, "budget": asked.budget, "max_plies": asked.max_plies},
    }


def _written(found: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The answer, with the place of its page."""
    from tools.reporting.balance import balance_page

    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / "balance.json").write_text(f"{text}\n", encoding="utf-8")
    (folder / "balance.html").write_text(balance_page(found), encoding="utf-8")
    return {**found, "page": str(folder / "balance.html")}


def _family(table: "LaidTable") -> str:
    """The library's family whose code and settings a game has; empty where it is of none."""
    from games.library import names
    from games.library.settings import game_of
    from graph.vary.bases import family_of
    from tools.sources import GameSource

    setup = table.setup
    if table.run is None and setup.name not in names():
        return ""
    family = family_of(GameSource(setup.name, setup.source, {}))
    return family if family and game_of(family).defaults().keys() == setup.parameters.keys() else ""


def _rulebook(table: "LaidTable") -> "Rulebook | None":
    from games import library

    family = _family(table)
    if not family:
        return None
    return lambda settings: library.rulebook(family, settings, table.setup.num_players)


def _folder(name: str, identity: dict[str, Any], seed: int | None) -> Path:
    """A folder that the same command finds again."""
    from graph.run.folder import runs_folder

    stem = Path(name).resolve().name if Path(name).exists() else name
    seeded = "" if seed is None else f"-{seed}"
    return runs_folder() / "balanced" / f"{stem[:60]}-{_digest(identity)[:8]}{seeded}"


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _command(name: str, table: "LaidTable", found: dict[str, Any]) -> str:
    """The command that uses the settings; empty where there are none to use, or none can say it.

    Names and values are a stranger's: a shell takes each as one word. Signs that a terminal does
    not show cannot be copied from it.
    """
    from games.library import defaults
    from games.library.settings import game_of, value_text
    from tools.balancing.compensation import words_of_change

    if not found["settings"] or (table.run is not None and not found["changed"]):
        return ""
    family, seats = _family(table), table.setup.num_players
    if table.run is not None:
        words = ["revise", str(table.run), words_of_change(found["changed"], family)]
    else:
        usual = game_of(family).defaults() if family else defaults(table.module.info)
        words = ["new", "--family", family, "--players", str(seats)]
        if not family:
            words = ["match", name, *("--player", "random") * seats]
        for key, value in found["settings"].items():
            if value != usual.get(key, 0):
                words += ["--set", f"{key}={value_text(value)}"]
    text = shlex.join(["rulewright", *words])
    return text if text.isprintable() else ""


def _apply(table: "LaidTable", found: dict[str, Any], place: options.Isolation) -> None:
    from app.commands.new import revised
    from tools.balancing.compensation import words_of_change

    if not found["reached"] or not found["changed"]:
        why = "the settings stay" if found["reached"] else "the targets are not reached"
        note(f"nothing is applied: {why}")
    elif table.run is None:
        note("nothing is applied: this is no run; use the command above")
    else:
        words = words_of_change(found["changed"], _family(table))
        revised(str(table.run), words, {}, place, False)


def balance_lines(found: dict[str, Any]) -> list[str]:
    """The answer of a search as a person reads it."""
    from tools.balancing.answer import balance_remarks

    seats = f"{found['num_players']} seats, {found['player']} in each"
    lines = [f"{one_line(found['game'])}, {seats}: {found['matches']} of {found['budget']} matches"]
    if found["not_searched"]:
        fixed = "; ".join(f"{k} ({v})" for k, v in found["not_searched"].items())
        lines.append(f"  not searched: {fixed}")
    if found["settings"] is None:
        lines.append("could not tell: no settings could be confirmed")
        lines += [f"  {one_line(why)}" for why in found["why"][:5]]
    else:
        changes = ", ".join(f"{key}={value}" for key, value in found["changed"].items())
        with_ = f"with {changes}" if changes else "with the settings as they are"
        end = "reached" if found["reached"] else "not shown to be reached; nearest"
        lines.append(f"{end} {with_}")
        for row in found["figures"]:
            told = f"{row['told']} ({row['told_interval']}, n = {row['n']} matches)"
            missed = f", by {row['told_miss']}" if row["misses_by"] else ""
            lines.append(f"  {row['figure']}: {told}; {row['target']}: {row['answer']}{missed}")
        lines += [f"  {line}" for line in balance_remarks(found)]
        if any(row["answer"] == "could not tell" for row in found["figures"]):
            lines.append("  what could not be told takes more matches: --budget")
        lines += [line for lever in found["levers"] for line in _lever_lines(lever)]
    if found["use"]:
        lines.append(f"  {'use it' if found['reached'] else 'nearest'}: {found['use']}")
    return [*lines, f"  tried: {found['page']}"]


def _lever_lines(lever: dict[str, Any]) -> list[str]:
    figure, lines = lever["figure"], list[str]()
    if lever["answer"] == "could not tell":
        lines.append(f"  what moves {figure} could not be told: the start came to no result")
    for row in lever["moves"]:
        rules = f"; rules {', '.join(row['rules'])}" if row.get("rules") else ""
        alone = f"{row['setting']}={row['value']} alone: {row['told_start']} to {row['told']}"
        lines.append(f"  moves {figure}: {alone}{rules}")
    if lever["answer"] == "not moved":
        left = len(lever["not_tried_alone"])
        why = "a rule may have to change that no setting governs"
        why = f"a larger --budget tries {left} more" if left else why
        alone = f"none of {len(lever['tried_alone'])} settings alone is known to move"
        lines.append(f"  {alone} {figure} for this player: {why}")
    return lines
