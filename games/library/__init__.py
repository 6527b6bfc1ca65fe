"""The verified library: families of games, each one source file, and presets of them.

A *family* is a module with parameters; a *preset* is a family with parameters fixed under a name
of its own (`connect_four` is `placement` with a 6 by 7 board, four in a row and gravity).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import cast

from games.contract import Json
from games.specialise import UnknownParameterError, defaults, read_game, specialise

__all__ = [
    "Preset",
    "UnknownGameError",
    "UnknownParameterError",
    "defaults",
    "families",
    "heuristic_sources",
    "names",
    "preset",
    "presets",
    "read_game",
    "rulebook",
    "source",
    "specialise",
]


class UnknownGameError(LookupError):
    """A name that the library does not have; the message lists those it has."""


@dataclass(frozen=True)
class Preset:
    """A family with its parameters fixed.

    Attributes:
        name: The preset's own name.
        family: The family's name.
        players: The usual number of players.
        parameters: What is fixed; the rest keeps the family's defaults.
    """

    name: str
    family: str
    players: int
    parameters: Mapping[str, Json]


def _folder() -> Traversable:
    return files("games.library")


@cache
def families() -> tuple[str, ...]:
    """Names of the families, sorted."""
    return tuple(
        sorted(
            item.name.removesuffix(".py")
            for item in _folder().iterdir()
            if item.name.endswith(".py") and not item.name.startswith("_")
        )
    )


@cache
def presets() -> Mapping[str, Preset]:
    """Presets by name, sorted."""
    table = json.loads((_folder() / "presets.json").read_text(encoding="utf-8"))
    return {
        name: Preset(name, fields["family"], fields["players"], fields["parameters"])
        for name, fields in sorted(table.items())
    }


def names() -> tuple[str, ...]:
    """Every name that `source` takes: families first, then presets."""
    return (*families(), *presets())


def preset(name: str) -> Preset:
    """What `name` stands for; a family is a preset that fixes nothing.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    if name in presets():
        return presets()[name]
    if name in families():
        fewest = _family_game(name)["min_players"]
        return Preset(name, name, max(2, cast("int", fewest)), {})
    raise UnknownGameError(
        f"no game called {name!r} in the library; there are {', '.join(names())}"
    )


def source(name: str) -> str:
    """The module source of a family or a preset.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    chosen = preset(name)
    return _family_source(name) if chosen.family == name else _preset_source(name)


@cache
def _preset_source(name: str) -> str:
    chosen = preset(name)
    return specialise(
        _family_source(chosen.family),
        name=name,
        summary=str(_family_game(chosen.family)["summary"]),
        num_players=chosen.players,
        parameters=chosen.parameters,
    )


def rulebook(name: str, parameters: Mapping[str, Json] | None = None, players: int = 0) -> str:
    """The rulebook as Markdown, for these parameters and this number of players.

    Args:
        name: A family or a preset.
        parameters: Replace the defaults; unknown names are refused.
        players: Number of players; 0 for the usual number.

    Raises:
        UnknownGameError: Listing the names there are.
        UnknownParameterError: Listing the parameters there are.
    """
    from jinja2 import Environment, StrictUndefined

    chosen = preset(name)
    known = {**defaults(_family_game(chosen.family)), **chosen.parameters}
    unknown = sorted((parameters or {}).keys() - known.keys())
    if unknown:
        raise UnknownParameterError(
            f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(known))}"
        )
    environment = Environment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    template = (_folder() / "rulebooks" / f"{chosen.family}.md").read_text(encoding="utf-8")
    values = {**known, **(parameters or {}), "players": players or chosen.players}
    text = environment.from_string(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def heuristic_sources(name: str) -> dict[str, str]:
    """Sources of the family's heuristics by name, sorted.

    Raises:
        UnknownGameError: Listing the names there are.
    """
    folder = _folder() / "heuristics" / preset(name).family
    return {
        item.name.removesuffix(".py"): item.read_text(encoding="utf-8")
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
        if item.name.endswith(".py") and not item.name.startswith("_")
    }


@cache
def _family_game(name: str) -> Mapping[str, Json]:
    """The family's `GAME`, parsed once a process; not to be changed."""
    return read_game(_family_source(name))


@cache
def _family_source(name: str) -> str:
    return (_folder() / f"{name}.py").read_text(encoding="utf-8")
