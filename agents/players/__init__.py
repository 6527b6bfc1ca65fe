"""Who sits at a table: random, greedy on heuristics, tree search.

player = make_player(parse_spec("ismcts:simulations=200"), seat=0, ..., sandbox=sandbox)
"""

from agents.players.making import SeatedPlayer, make_player
from agents.players.search import PRELOAD
from agents.players.specs import (
    Parameter,
    PlayerInfo,
    PlayerSpec,
    PlayerSpecError,
    known_players,
    parse_spec,
)

__all__ = [
    "PRELOAD",
    "Parameter",
    "PlayerInfo",
    "PlayerSpec",
    "PlayerSpecError",
    "SeatedPlayer",
    "known_players",
    "make_player",
    "parse_spec",
]
