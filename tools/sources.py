"""Sources of games: found by what a person calls them, or made a module of what was learned.

A person names a library game, a module file or a run's folder. A learned source (Code World Models
App. H) defines the functions of play, and may define its inference and value functions. It was
never told the first state, the parameters and the zones: `learned.txt` adds them.
"""

import os
import pprint
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from games import library
from games.environments import Environment, ModuleEnvironment, SourceTable
from games.environments.registry import environment_named
from games.environments.served import file_source, source_of
from games.text import bound_by, did_you_mean
from games.values import Json, ModuleFault, State
from tools.playtest.jobs import GameSetup
from tools.sandbox.reading import foreign_tree

_LARGEST_SOURCE = 2_000_000
_MOST_HEURISTICS = 64
_WIDTH = 96
ADDED = ("GAME", "ZONES", "initial_state", "get_events", "visible")


class GameNotFoundError(LookupError):
    """Nothing by that name, or nothing that can be read; the message says what would do."""


_PLACE = "required is a module file, or a folder with game.py"

# Games that come with the product: an installer such as uv links its files to its own copies.
_OURS = os.path.realpath(Path(__file__).parents[1] / "gallery")


@dataclass(frozen=True)
class GameSource:
    """One game as source text.

    Attributes:
        name: Library name, or the file's path.
        source: The module.
        heuristics: Sources of its heuristics by name; empty where none are known.
    """

    name: str
    source: str
    heuristics: dict[str, str]


def find_game(name: str) -> GameSource:
    """A library name, a module file, or a folder with `game.py` (as a run leaves it).

    Heuristics lie beside `any.py` in `any_heuristics/`, beside `game.py` in `heuristics/` too, and
    where a run left them in `players/`.

    Raises:
        GameNotFoundError: Listing the library where nothing fits; naming the file where the module
            or a heuristic beside it is no text that can be read, or leads elsewhere as a link; or
            counting its heuristics where they are too many.
    """
    if name in library.names():
        return GameSource(name, library.source(name), library.heuristic_sources(name))
    path = Path(name)
    try:
        file = path / "game.py" if path.is_dir() else path
        is_there, why = file.is_file(), _why_none(file)
    except OSError as error:
        raise GameNotFoundError(f"no game at {name[:200]!r}: {error.strerror}; {_PLACE}") from error
    if not is_there and (why or path.is_dir() or "/" in name or path.suffix == ".py"):
        why = why or (f"there is no {file}" if path.is_dir() else "there is no such file or folder")
        raise GameNotFoundError(f"no game at {name[:200]!r}: {why}; {_PLACE}")
    if not is_there:
        raise GameNotFoundError(
            f"no game called {name!r}{did_you_mean(name, library.names())}: required is a module "
            f"file, a run's folder, or a library name ({', '.join(library.names())})"
        )
    beside_it = [file.parent / "rulebook.md", *([file] if path.is_dir() else [])]
    source = read_source(file, "a module")
    folders = ["players", f"{file.stem}_heuristics"]
    if file.name == "game.py":
        folders.append("heuristics")
    beside = [item for folder in folders for item in sorted((file.parent / folder).glob("*.py"))]
    if len(beside) > _MOST_HEURISTICS:
        told = f"it has {len(beside)} heuristics; there may be {_MOST_HEURISTICS}: move some away"
        raise GameNotFoundError(f"no game is read at {name[:200]!r}: {told}")
    for item in (*beside_it, *beside):
        # Of somebody else's folder; not by resolve(), which raises at a link to itself.
        place = Path(os.path.realpath(item))
        linked = place.is_file() and place.stat().st_nlink > 1  # its other name is anywhere
        linked = linked and not place.is_relative_to(_OURS)
        if linked or not place.is_relative_to(os.path.realpath(file.parent)):
            told = f"{item} is a link that leads out of its folder; put a copy there"
            raise GameNotFoundError(f"no game is read at {name[:200]!r}: {told}")
    heuristics = {item.stem: read_source(item, "a heuristic") for item in beside}
    return GameSource(str(file), source, heuristics)


def environment_game(
    text: str, parameters: Mapping[str, Json] | None = None, players: int = 0
) -> GameSetup:
    """The game of an environment, with all its parameters.

    Args:
        text: The environment's name.
        parameters: Replace defaults.
        players: Seats; 0 for the usual number.

    Raises:
        EnvironmentNotFoundError: Listing what is known.
    """
    return game_setup_of(any_environment(text, parameters, players))


def any_environment(
    text: str, parameters: Mapping[str, Json] | None = None, players: int = 0
) -> Environment:
    """The environment of a name, a module's file or a folder with one, or a twin of any of these.

    Of a file, parameters and seats are those given; a worker plays it.

    Raises:
        EnvironmentNotFoundError: Listing what is known.
        GameNotFoundError: If there is no such file, or it cannot be read.
    """
    return environment_named(text, parameters, players, of_file=_of_file)


def _of_file(name: str, parameters: Mapping[str, Json], players: int) -> Environment:
    found = find_game(name)
    rules = find_rulebook(found.name, parameters, players) or ""
    return ModuleEnvironment(found.name, players, parameters, rules, SourceTable(found.source))


def with_whole_path(text: str) -> str:
    """An environment's name that holds from any folder.

    >>> with_whole_path("twin:3:openspiel:leduc_poker")
    'twin:3:openspiel:leduc_poker'
    """
    twins = re.match(r"(?:twin:\d+:)*", text)
    start = twins.end() if twins else 0
    path = Path(text[start:])
    return f"{text[:start]}{path.resolve()}" if path.exists() else text


def game_setup_of(found: Environment) -> GameSetup:
    """An environment as a game that is played by players of ours; a module's file as the module."""
    source, known = source_of(found) or "", dict(found.parameters)
    origin = file_source(found)
    named = "" if origin and origin == source else found.name
    twin_of = origin if named else ""
    return GameSetup(
        found.name, source, found.num_players, known, environment=named, twin_of=twin_of
    )


def find_rulebook(name: str, parameters: Mapping[str, Json], players: int) -> str | None:
    """The rulebook of a game: the library's, or the one beside its file; None where there is none.

    Args:
        name: From `find_game`.
        parameters: The effective parameters; known to the game.
        players: Seats at the table.
    """
    if name in library.names():
        return library.rulebook(name, parameters, players)
    try:
        beside = Path(name).parent / "rulebook.md"
        if not beside.is_file():
            return None
        with beside.open(encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST_SOURCE)
    except OSError:
        return None


def read_source(path: Path | str, role: str) -> str:
    """The text of a file of source code.

    Raises:
        GameNotFoundError: If it is no file, too large, or no text in UTF-8.
    """
    file = Path(path)
    try:
        if not file.is_file():
            why = _why_none(file) or "there is none"
            raise GameNotFoundError(f"{file} cannot be read ({why}); {role} must be a file")
        size = file.stat().st_size
        if size > _LARGEST_SOURCE:
            raise GameNotFoundError(f"{file} has {size} bytes; {role} may have {_LARGEST_SOURCE}")
        return file.read_text(encoding="utf-8-sig")  # Python, too, takes a byte-order mark
    except (OSError, UnicodeDecodeError) as error:
        raise GameNotFoundError(
            f"{file} cannot be read as UTF-8 text: {error}; save {role} as such, and see that it "
            "may be read"
        ) from error


def _why_none(path: Path) -> str:
    """Why something that is there is no file; empty where nothing is there, or it is one."""
    if path.is_symlink() and not path.exists():
        return "it is a link to nothing"
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():
        return "it is a pipe, a socket or a device, not a file"
    return ""


def learned_module(
    source: str,
    *,
    name: str,
    num_players: int,
    initial_state: State,
    parameters: Mapping[str, Json],
) -> str:
    """A learned source as the text of a game module.

    `GAME["learned"]` is true in it: such a module need not refuse illegal actions, and declares no
    zones, so that what the rules hide cannot be told from it.

    Args:
        source: Defines get_current_player, get_player_name, get_legal_actions, apply_action,
            get_rewards and get_observations; or more, as the contract names it.
        name: The game's.
        num_players: Seats, the only number that the module takes.
        initial_state: The state before any ply.
        parameters: The environment's effective ones; the module takes these values alone.

    Raises:
        ModuleFault: If the source does not parse, or binds a name that is added to it.
    """
    try:
        tree = foreign_tree(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ModuleFault("unreadable", "module", str(error), line=line) from error
    for node in tree.body:
        for bound in sorted(bound_by(node) & {*ADDED}):
            raise ModuleFault(
                "bad_value",
                bound,
                "is defined in a learned source; required: another name, as "
                f"{', '.join(ADDED)} are added to it",
                line=node.lineno,
            )
    told = {key: {"default": value, "meaning": "As recorded."} for key, value in parameters.items()}
    game = {
        "name": name,
        "summary": f"A model of {name}, learned from recorded matches.",
        "min_players": num_players,
        "max_players": num_players,
        "parameters": told,
        "learned": True,
    }
    added = (files("tools") / "learned.txt").read_text(encoding="utf-8")
    return f"{source.rstrip()}\n\n\n" + added.format(
        game=_literal(game),
        num_players=num_players,
        parameters=_literal(dict(parameters)),
        initial_state=_literal(initial_state),
    )


def _literal(value: object) -> str:
    """A JSON value as Python code; a call that returns it makes it anew each time."""
    return pprint.pformat(value, width=_WIDTH, sort_dicts=False)
