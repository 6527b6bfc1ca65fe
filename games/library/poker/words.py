"""Arithmetic of poker words: how many ranks a number of cards is."""

from collections.abc import Mapping, Sequence

from games.contract import Json

Settings = Mapping[str, Json]

_PLAYERS = 2
_FEW = 2
_LARGE = 20
_SUITS = 4


def copies(numbers: Sequence[int]) -> Settings:
    """So many jacks, queens and kings; copies that differ have no setting."""
    return {"ranks": 3, "suits": numbers[0] if len(set(numbers)) == 1 else 0}


def in_context(settings: Settings, base: Settings, said: Sequence[Settings]) -> Settings:
    """Ranks and suits of `deck_cards`; as many ranks as the game has anyway are left to it.

    A large pack has the usual four suits, if none are said.
    """
    merged = {**base}
    for other in said:
        merged |= other
    players = merged.get("num_players", _PLAYERS)
    result = {**settings}
    cards = result.pop("deck_cards", None)
    if isinstance(cards, int):
        stated = any("suits" in other for other in said)
        suits = _SUITS if cards >= _LARGE and not stated else merged.get("suits")
        whole = isinstance(suits, int) and suits > 0 and cards % suits == 0
        many = suits if isinstance(suits, int) and whole and cards // suits > _FEW else 1
        result |= {"ranks": cards // many, "suits": many}
    is_usual = base.get("ranks") == 0 and isinstance(players, int)
    if is_usual and isinstance(players, int) and result.get("ranks") == players + 1:
        result["ranks"] = 0
    return result
