"""Print and play: the PDF files of a game."""

from app.export.exported import Exported, Files


def printed(exported: Exported) -> Files:
    """The files to print."""
    return Files({"rules.txt": exported.table.rulebook().encode()})
