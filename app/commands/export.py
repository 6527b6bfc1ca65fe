"""`export`: a game as files for a printer, a virtual table, and other tools."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app import options
from app.console import give, note, say

if TYPE_CHECKING:
    from app.export.exported import Exported, Files
    from app.table.session import LaidTable

_PAPERS = ("a4", "letter")


@dataclass(frozen=True, kw_only=True)
class _Formats:
    """The forms in which a game is exported; each has its writer in `_WRITERS`, by its name."""

    pdf: Annotated[
        bool, typer.Option("--pdf", help="Print and play: cards, boards, counters, rulebook.")
    ] = False
    tabletop_simulator: Annotated[
        bool, typer.Option("--tabletop-simulator", help="A sheet of cards and a saved object.")
    ] = False
    pettingzoo: Annotated[
        bool, typer.Option("--pettingzoo", help="One file: an environment of PettingZoo.")
    ] = False
    openspiel: Annotated[
        bool, typer.Option("--openspiel", help="One file: a Python game of OpenSpiel.")
    ] = False

    def chosen(self) -> list[str]:
        """The names of those that were asked for.

        Raises:
            typer.BadParameter: If none was.
        """
        known = [field.name for field in fields(self)]
        if not (asked := [name for name in known if getattr(self, name)]):
            ways = " or ".join(f"--{name.replace('_', '-')}" for name in known)
            raise typer.BadParameter(f"required: a form to export, {ways}")
        return asked


def _pdf(exported: "Exported") -> "Files":
    from app.export.exported import require_extra

    require_extra("print", "reportlab")
    from app.export.print_and_play import printed

    return printed(exported)


def _tabletop_simulator(exported: "Exported") -> "Files":
    from app.export.exported import require_extra

    require_extra("print", "PIL", "reportlab")
    from app.export.tabletop import tabletop_files

    return tabletop_files(exported)


def _pettingzoo(exported: "Exported") -> "Files":
    return _for_tool(exported, "pettingzoo", "pettingzoo")


def _openspiel(exported: "Exported") -> "Files":
    return _for_tool(exported, "openspiel", "pyspiel")


def _for_tool(exported: "Exported", tool: str, module: str) -> "Files":
    from app.export.exported import require_extra

    require_extra(tool, module)
    from app.export.kit import file_for

    return file_for(exported, tool)


_WRITERS: "dict[str, Callable[[Exported], Files]]" = {
    "pdf": _pdf,
    "tabletop_simulator": _tabletop_simulator,
    "pettingzoo": _pettingzoo,
    "openspiel": _openspiel,
}


@dataclass(frozen=True, kw_only=True)
class _Printing:
    """The way in which a game is printed."""

    paper: Annotated[str, typer.Option("--paper", help="a4 or letter.")] = "a4"
    font: Annotated[
        Path | None,
        typer.Option("--font", metavar="FILE", help="A .ttf file, for letters of other scripts."),
    ] = None
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**64 - 1, help="Of the example of play.")
    ] = 0

    def __post_init__(self) -> None:
        """Refuse a paper or a font that is none."""
        if self.paper not in _PAPERS:
            papers = " or ".join(_PAPERS)
            raise typer.BadParameter(f"{self.paper!r}; required: {papers}", param_hint="--paper")
        if self.font is not None and not self.font.is_file():
            raise typer.BadParameter(f"there is no file {self.font}", param_hint="--font")


@dataclass(frozen=True, kw_only=True)
class _Target:
    """The place of the files."""

    out: options.OutFolder = None
    force: Annotated[bool, typer.Option("--force", help="Replace files.")] = False


@options.grouped
def export_game(
    game: options.Game,
    *,
    formats: _Formats,
    printing: _Printing,
    players: options.Seats = 0,
    settings: options.Parameters = None,
    target: _Target,
    place: options.Isolation,
    as_json: options.Json = False,
) -> None:
    """Write a game for print and play, for Tabletop Simulator, or for other tools."""
    from app.export.exported import Exported, Files, write_files
    from app.table.session import open_table

    asked = formats.chosen()
    with place.opened() as opened, ExitStack() as stack:
        table = open_table(game, players, settings or (), opened, stack)
        exported = Exported(table, opened, printing.seed, printing.paper, printing.font)
        files = Files()
        for name in asked:
            files.join(_WRITERS[name](exported))
    folder = target.out or _usual_folder(table)
    written = [str(path) for path in write_files(files.contents, folder, force=target.force)]
    for remark in files.remarks:
        note(remark)
    told = {"game": table.setup.name, "files": written, "remarks": files.remarks}
    give(told, lambda: say("\n".join(written)), as_json=as_json)


def _usual_folder(table: "LaidTable") -> Path:
    """`export` in a run's folder; else a folder here that has the game's name."""
    if table.run is not None:
        return table.run / "export"
    file = Path(table.setup.name)
    return Path(f"{file.resolve().parent.name if file.name == 'game.py' else file.stem}-export")
