"""Finding a game by what a person calls it: a library name, a module file, a run's folder."""

from dataclasses import dataclass
from pathlib import Path

from games import library

_LARGEST_SOURCE = 2_000_000


class GameNotFoundError(LookupError):
    """Nothing by that name; the message says what would do."""


@dataclass(frozen=True)
class GameSource:
    """One game as source text.

    Attributes:
        name: Library name, or the file's path.
        source: The module.
        heuristics: Sources of its heuristics by name; empty where none are known.
        trusted: Whether it is the library's own.
    """

    name: str
    source: str
    heuristics: dict[str, str]
    trusted: bool


def find_game(name: str) -> GameSource:
    """A library name, a module file, or a folder with `game.py` (as a run leaves it).

    Raises:
        GameNotFoundError: Listing the library where nothing fits.
    """
    if name in library.names():
        return GameSource(name, library.source(name), library.heuristic_sources(name), trusted=True)
    path = Path(name)
    file = path / "game.py" if path.is_dir() else path
    if not file.is_file():
        raise GameNotFoundError(
            f"no game called {name!r}: required is a module file, a run's folder, or a library "
            f"name ({', '.join(library.names())})"
        )
    if file.stat().st_size > _LARGEST_SOURCE:
        raise GameNotFoundError(
            f"{file} has {file.stat().st_size} bytes; a module may have {_LARGEST_SOURCE}"
        )
    try:
        source = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GameNotFoundError(f"{file} cannot be read as UTF-8 text: {error}") from error
    players = file.parent / "players"
    heuristics = {
        item.stem: item.read_text(encoding="utf-8") for item in sorted(players.glob("*.py"))
    }
    return GameSource(str(file), source, heuristics, trusted=False)
