"""The two tournaments of the thesis' Ludii chapters, as their result files state them.

Share of 200 games a pair that the first named won: 100 with each of them firing first, 0.1 s a
move in the program and in the files, where the text says 1 s.
"""

from collections.abc import Mapping

GAMES = 200

Pairs = Mapping[tuple[str, str], float]
Means = Mapping[str, float]

FIRST: Pairs = {
    ("random", "UCT"): 0.005,
    ("random", "MAST"): 0.0,
    ("random", "FlatMC"): 0.01,
    ("UCT", "MAST"): 0.005,
    ("UCT", "FlatMC"): 0.755,
    ("MAST", "FlatMC"): 1.0,
}
"""Tournament 1: the players as Ludii has them, whose copies show the true fleets."""

FIRST_MEANS: Means = {"MAST": 599 / 600, "UCT": 351 / 600, "FlatMC": 247 / 600, "random": 3 / 600}

SECOND: Pairs = {
    ("random", "UCT"): 0.015,
    ("random", "MAST"): 0.015,
    ("random", "FlatMC"): 0.03,
    ("random", "OSLA"): 0.03,
    ("UCT", "MAST"): 0.06,
    ("UCT", "FlatMC"): 0.745,
    ("UCT", "OSLA"): 0.065,
    ("MAST", "FlatMC"): 0.885,
    ("MAST", "OSLA"): 0.29,
    ("FlatMC", "OSLA"): 0.115,
}
"""Tournament 2: the same behind the thesis' layer, and one step ahead."""

SECOND_MEANS: Means = {
    "OSLA": 700 / 800,
    "MAST": 620 / 800,
    "UCT": 371 / 800,
    "FlatMC": 291 / 800,
    "random": 18 / 800,
}
