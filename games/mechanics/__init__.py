"""Mechanic graphs (Cardiverse §3.1.1): what a game is made of, and what leads to its end."""

from games.mechanics.graph import (
    ROOT,
    GraphError,
    Kind,
    Mechanic,
    MechanicEdge,
    MechanicGraph,
    bounded,
    read_graph,
)
from games.mechanics.matching import GraphMatch, match_graphs

__all__ = [
    "ROOT",
    "GraphError",
    "GraphMatch",
    "Kind",
    "Mechanic",
    "MechanicEdge",
    "MechanicGraph",
    "bounded",
    "match_graphs",
    "read_graph",
]
