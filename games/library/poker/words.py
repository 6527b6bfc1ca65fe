"""Arithmetic of poker words: how many ranks a number of cards is."""

from collections.abc import Mapping, Sequence

from games.values import Json

Settings = Mapping[str, Json]

_FEW = 2
_LARGE = 20
_SUITS = 4


def usual(players: int, parameters: Settings) -> Settings:
    """The ranks that the game has where it is left to it: one more than there are players."""
    del parameters
    return {"ranks": players + 1}


def copies(numbers: Sequence[int]) -> Settings:
    """So many jacks, queens and kings; copies that differ have no setting."""
    return {"ranks": 3, "suits": numbers[0] if len(set(numbers)) == 1 else 0}


def in_context(settings: Settings, base: Settings, said: Sequence[Settings]) -> Settings:
    """Ranks and suits of `deck_cards`; cards and bets for no more rounds than there are.

    A large pack has the usual four suits, if none are said.
    """
    merged = {**base}
    for other in said:
        merged |= other
    result = {**settings}
    cards = result.pop("deck_cards", None)
    if isinstance(cards, int):
        stated = any("suits" in other for other in said)
        suits = _SUITS if cards >= _LARGE and not stated else merged.get("suits")
        whole = isinstance(suits, int) and suits > 0 and cards % suits == 0
        many = suits if isinstance(suits, int) and whole and cards // suits > _FEW else 1
        result |= {"ranks": cards // many, "suits": many}
    if isinstance(rounds := result.get("rounds"), int):
        for name in ("board", "bets"):
            used = ",".join(str(base[name]).split(",")[:rounds])
            if used != base[name] and not any(name in other for other in said):
                result[name] = used
    return result
