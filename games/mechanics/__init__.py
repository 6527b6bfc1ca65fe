"""Mechanic graphs (Cardiverse §3.1.1): what a game is made of, and what leads to its end."""

from games.mechanics.graph import (
    ROOT,
    GraphError,
    Kind,
    Mechanic,
    MechanicEdge,
    MechanicGraph,
    bounded,
)

__all__ = [
    "ROOT",
    "GraphError",
    "Kind",
    "Mechanic",
    "MechanicEdge",
    "MechanicGraph",
    "bounded",
]
