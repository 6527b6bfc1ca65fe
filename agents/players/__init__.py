"""Who sits at a table: random, greedy on heuristics, tree search, a solver.

player = make_player(parse_spec("ismcts:simulations=200"), seat=0, ..., sandbox=sandbox)
"""

from agents.players.making import SeatedPlayer, make_player
from agents.players.search import PRELOAD as SEARCHING
from agents.players.solved import PRELOAD as SOLVING
from agents.players.specs import (
    Parameter,
    PlayerInfo,
    PlayerSpec,
    PlayerSpecError,
    known_players,
    parse_spec,
)

PRELOAD = (*SEARCHING, *SOLVING)  # what the sandbox of players must preload

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
