"""`games`, `players`, `init`, `index` and `search`: what there is, and how to make your own."""

import re
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.console import note, print_json, say
from app.options import Json, Parameters, Seats, given_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.players.specs import Parameter
    from games.values import Json as Value


_BY_DEFAULT = ("mechanics", "corpus")  # the collections that a search without --kind asks


def list_games(
    name: Annotated[
        str | None,
        typer.Argument(help="One game; else all. Of an environment (openspiel:hearts) its rules."),
    ] = None,
    *,
    players: Seats = 0,
    settings: Parameters = None,
    as_json: Json = False,
) -> None:
    """List the library's games with their parameters, or show one."""
    from games import library

    if name is not None and name not in library.names() and (":" in name or Path(name).exists()):
        _show_rules(name, settings or [], players, as_json=as_json)
        return
    if players or settings:
        raise typer.BadParameter(
            "--players and --set choose an environment's rules; name one, such as library:whist"
        )
    rows = [listed_game(each) for each in (library.names() if name is None else [name])]
    if as_json:
        print_json({"games": rows})
        return
    for row in rows:
        _show_game(row)


def _show_rules(name: str, settings: list[str], players: int, *, as_json: bool) -> None:
    """The rules of an environment, as `learn` takes them."""
    from tools.sources import any_environment

    found = any_environment(name, given_parameters(settings), players)
    if as_json:
        seats, parameters = found.num_players, dict(found.parameters)
        told = {"environment": found.name, "players": seats, "parameters": parameters}
        print_json({**told, "rules": found.rules})
    else:
        say(found.rules.rstrip())


@dataclass(frozen=True)
class ListedGame:
    """A game in the list, as it is printed; some of it is the module's own `GAME`."""

    name: str
    family: str
    summary: "Value"
    players: "tuple[Value, Value]"
    parameters: "Value"
    handicaps: "Value"
    fixed: "Value"
    heuristics: list[str]


def listed_game(name: str) -> ListedGame:
    """A game of the library with its parameters.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    from games import library
    from games.library import read_game
    from games.library.settings import game_of

    game, preset = read_game(library.source(name)), library.preset(name)
    own = name == preset.family
    handicaps = game_of(name).handicaps if own else {}
    return ListedGame(
        name=name,
        family=preset.family,
        summary=game["summary"],
        players=(game["min_players"], game["max_players"]),
        parameters=game.get("parameters", {}) if own else {},
        handicaps={
            key: one.model_dump(mode="json", exclude_none=True) for key, one in handicaps.items()
        },
        fixed=dict(preset.parameters),
        heuristics=sorted(library.heuristic_sources(name)),
    )


def _show_game(row: ListedGame) -> None:
    from games.values import as_object

    fewest, most = row.players
    seats = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    say(f"{row.name}  ({seats} players)  {row.summary}")
    if row.fixed:
        settings = ", ".join(f"{key}={value}" for key, value in as_object(row.fixed).items())
        say(f"    {row.family} with {settings}")
    for where, listed in (("", row.parameters), ("of new and balance: ", row.handicaps)):
        for name, told in as_object(listed).items():
            field = as_object(told)
            allowed = field.get("choices") or field.get("range")
            shown = f"  {allowed}" if allowed else ""
            say(f"    {where}{name} = {field['default']!r}{shown}  {field['meaning']}")


def list_players(
    name: Annotated[str | None, typer.Argument(help="One player; else all.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the players with their parameters, or show one."""
    from agents.players.registry import OF_FILE, PLAYERS, kind_named

    kinds = PLAYERS if name is None else {name: kind_named(name)}
    if as_json:
        rows = [
            {
                "name": each,
                "meaning": kind.meaning,
                "parameters": {one.name: _parameter_row(one) for one in kind.parameters},
            }
            for each, kind in kinds.items()
        ]
        print_json({"players": rows})
        return
    for each, kind in kinds.items():
        say(f"{each}  {kind.meaning}")
        for parameter in kind.parameters:
            allowed = ", ".join(parameter.choices)
            if not isinstance(parameter.default, str):
                allowed = f"{parameter.least:g} to {parameter.most:g}"
            shown = f"  [{allowed}]" if allowed else ""
            say(f"    {parameter.name} = {parameter.default}{shown}  {parameter.meaning}")

    if name is None:
        say(f"./FILE.py  {OF_FILE.meaning}")


def init_game(
    path: Annotated[Path, typer.Argument(help="A new folder; its name is the game's.")],
) -> None:
    """Write a small game to start from, with a heuristic, a rulebook and a player."""
    from importlib.resources import as_file, files
    from shlex import quote
    from shutil import copytree, ignore_patterns, rmtree

    name = path.name
    if not re.fullmatch("[a-z][a-z0-9_]{0,39}", name):
        raise typer.BadParameter(
            f"{str(path)!r}; required: a new folder whose name is small letters, digits and _, "
            "such as my_game"
        )
    with as_file(files("games") / "skeleton") as skeleton:
        try:
            copytree(skeleton, path, ignore=ignore_patterns("__pycache__"))
        except FileExistsError as error:
            raise typer.BadParameter(
                f"{path} is there already, and was left as it is; choose another name"
            ) from error
        except OSError as error:
            _make_writable(path)
            rmtree(path, ignore_errors=True)
            why = error.strerror or error.args[0][0][-1]  # of the first file that it names
            raise typer.BadParameter(
                f"{path} cannot be made ({why}); make room, or choose another folder"
            ) from error
    _make_writable(path)
    title = name.replace("_", " ").capitalize()
    for file, old, new in (
        ("game.py", '"last_stone"', f'"{name}"'),
        ("game.py", '"""Last Stone:', f'"""{title}:'),
        ("rulebook.md", "# Last Stone", f"# {title}"),
    ):
        text = (path / file).read_text(encoding="utf-8")
        (path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    say(f"{path}: game.py, rulebook.md, player.py, heuristics/. Change them, and try:")
    place, player = quote(str(path)), quote(str(path / "player.py"))
    say(f"  rulewright check {place}")
    say(f"  rulewright play {place}")
    say(f"  rulewright match {place} --player greedy --player {player} --games 20")
    say("docs/module.md explains what a game must define.")


def _make_writable(path: Path) -> None:
    """Let the user write what was copied: a copy from a read-only installation is read-only."""
    for made in (path, *path.rglob("*")) if path.exists() else ():
        made.chmod(made.stat().st_mode | stat.S_IWUSR)


def _parameter_row(one: "Parameter") -> dict[str, "str | float | Sequence[str] | None"]:
    is_text = isinstance(one.default, str)
    return {
        "default": one.default,
        "choices": one.choices,
        "least": None if is_text else one.least,
        "most": None if is_text else one.most,
        "meaning": one.meaning,
    }


def build_index(*, as_json: Json = False) -> None:
    """Build or update the store of games, functions and mechanics."""
    from graph.run.opening import open_store_here
    from vectorstore.documents import KINDS

    started = time.monotonic()
    with open_store_here(note) as store:
        snapshot = store.snapshot_id()
        counts = {kind: store.count(kind) for kind in KINDS}
        seconds = time.monotonic() - started
        if as_json:
            print_json(
                {
                    "snapshot": snapshot,
                    "embedding": store.embedder.identity,
                    "counts": counts,
                    "path": str(store.settings.path),
                    "seconds": round(seconds, 3),
                }
            )
            return
        for kind, count in counts.items():
            say(f"{kind:<10} {count}")
        say(f"embedding {store.embedder.identity}, snapshot {snapshot[:16]}, {seconds:.1f} s")


def search_store(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    *,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="games, snippets, mechanics, code, corpus (traditional games) or own_games; "
            "by default mechanics and corpus.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50)] = 5,
    as_json: Json = False,
) -> None:
    """Search the store by meaning."""
    from graph.run.opening import open_store_here
    from vectorstore.documents import KINDS

    kinds = [one for one in KINDS if one == kind or (kind is None and one in _BY_DEFAULT)]
    if not kinds:
        raise typer.BadParameter(f"kind is {kind!r}; known: {', '.join(KINDS)}")
    if not query.isprintable():
        raise typer.BadParameter("the query holds control characters, or bytes that are no UTF-8")
    if not query.strip():
        raise typer.BadParameter("the query is empty; say what to look for, in words")
    with open_store_here(note) as store:
        found = [(hit, of) for of in kinds for hit in store.search(of, query, limit)]
        embedding = store.embedder.identity
    hits = sorted(found, key=lambda one: (one[0].distance, one[0].id))[:limit]
    if as_json:
        rows = [
            {
                "id": hit.id,
                "kind": of,
                "title": hit.title,
                "distance": hit.distance,
                "text": hit.text,
            }
            for hit, of in hits
        ]
        print_json({"query": query, "kind": kind, "embedding": embedding, "hits": rows})
        return
    for hit, _ in hits:
        say(f"{hit.distance:.3f}  {hit.id}  {hit.title}")
        first = hit.text.strip().splitlines()[0] if hit.text.strip() else ""
        if first and first != hit.title:
            say(f"       {first[:110]}")
