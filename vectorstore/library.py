"""The library as the index reads it: sources, rulebook templates, and a fingerprint."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Protocol

from games import library
from games.contract import Json
from games.specialise import read_game
from vectorstore.errors import StoreError

_READ = ("__init__.py", "game.py", "rulebook.md", "presets.yaml", "tags.yaml")


@dataclass(frozen=True)
class LibraryGame:
    """One name of the library.

    Attributes:
        name: A family or a preset.
        family: The family it belongs to; its own name where it is one.
        players: The usual number of players.
        game: Its `GAME` dictionary, with a preset's parameters as the defaults.
        source: Its module source.
        rulebook: Its rulebook for the defaults.
        template: The family's rulebook template.
        shown: Tag -> the rules and functions of the family that show it.
    """

    name: str
    family: str
    players: int
    game: Mapping[str, Json]
    source: str
    rulebook: str
    template: str
    shown: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Library(Protocol):
    """Where the indexed games come from."""

    def fingerprint(self) -> str:
        """Changes whenever the games do; cheap to ask for."""
        ...

    def games(self) -> Sequence[LibraryGame]:
        """Every name of the library.

        Raises:
            StoreError: Naming the game that cannot be read.
        """
        ...


class PackagedLibrary:
    """`games.library`, as it is installed."""

    def fingerprint(self) -> str:
        """SHA-256 over the names and contents of the files that the index reads."""
        digest = hashlib.sha256()
        for name, content in sorted(_files(files("games.library"), "")):
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def games(self) -> Sequence[LibraryGame]:
        """Families first, then presets."""
        return [_read(name) for name in library.names()]


def _read(name: str) -> LibraryGame:
    chosen = library.preset(name)
    try:
        source = library.source(name)
        return LibraryGame(
            name=name,
            family=chosen.family,
            players=chosen.players,
            game=read_game(source),
            source=source,
            rulebook=library.rulebook(name),
            template=library.rulebook_template(chosen.family),
            shown=library.shown(chosen.family),
        )
    except OSError as error:
        raise StoreError(
            f"the library's {name} cannot be read ({error}); install the program again"
        ) from error


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        name = f"{prefix}{item.name}"
        if item.is_dir():
            yield from _files(item, f"{name}/")
        elif item.name in _READ:
            yield name, item.read_bytes()
