"""Tabletop Simulator: a sheet of cards, and the saved object that shows it."""

from app.export.exported import Exported, Files


def tabletop_files(exported: Exported) -> Files:
    """The sheet and the saved object."""
    return Files({"cards.json": exported.title.encode()})
