"""Arithmetic of capture words: how many rows a number of pieces fills."""

from collections.abc import Mapping, Sequence

from games.values import Json

Settings = Mapping[str, Json]


def in_context(settings: Settings, base: Settings, said: Sequence[Settings]) -> Settings:
    """Full rows for `pieces`, on the board that the brief or the game has."""
    merged = {**base}
    for other in said:
        merged |= other
    pieces, columns = settings.get("pieces"), merged.get("columns")
    if isinstance(pieces, int) and isinstance(columns, int) and pieces % columns == 0:
        rest = {name: value for name, value in settings.items() if name != "pieces"}
        return {**rest, "ranks": pieces // columns}
    return settings
