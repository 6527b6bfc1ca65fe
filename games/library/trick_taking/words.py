"""Arithmetic of trick-taking words: which way points count, and how a match ends."""

from collections.abc import Mapping, Sequence

from games.values import Json

Settings = Mapping[str, Json]

_WORTH = " worth"
_SIGNED = ("heart_points", "queen_of_spades_points", "jack_of_diamonds_points")
_PACKS = {"standard": 52, "short": 32, "tiny": 24}


def usual(players: int, parameters: Settings) -> Settings:
    """The hand that the game deals where it is left to it: the whole pack."""
    return {"hand_size": _PACKS.get(str(parameters["deck"]), 52) // players}


def vain(players: int, parameters: Settings) -> str:
    """Why no trick could ever score; empty where one could."""
    tricks = int(str(parameters["hand_size"] or usual(players, parameters)["hand_size"]))
    book = int(str(parameters["book"]))
    return (
        f"with {tricks} tricks in a deal nobody exceeds a book of {book}" if book >= tricks else ""
    )


def in_context(settings: Settings, base: Settings, said: Sequence[Settings]) -> Settings:
    """Points that a card is "worth" are penalties where the game counts penalties.

    `lowest_score` says which way points count; "X worth" is X with the sign left open.
    """
    merged = {**base}
    for other in said:
        merged |= other
    low = merged.get("lowest_score") is True
    penal = low or _negative(base.get("heart_points")) or _negative(merged.get("heart_points"))
    result: dict[str, Json] = {}
    for name, value in settings.items():
        plain = name.removesuffix(_WORTH)
        is_open = name != plain
        if name == "lowest_score":
            plain, value = "misere", bool(value) and not _negative(base.get("heart_points"))
        elif plain == "points_per_trick" and merged.get("misere") is True:
            value = abs(int(str(value)))
        elif isinstance(value, int) and ((is_open and penal) or (low and plain in _SIGNED)):
            value = -abs(value)
        result[plain] = value
    return _counted_deals(result, said)


def _negative(value: Json) -> bool:
    return isinstance(value, int) and value < 0


def _counted_deals(settings: dict[str, Json], said: Sequence[Settings]) -> Settings:
    """A number of deals ends the match only where no target score does."""
    if "deals" not in settings:
        return settings
    if any("target_score" in other for other in said):
        return {**settings, "max_deals": settings["deals"]}
    return {**settings, "target_score": 0}
