"""The thesis' stored tournaments in TAG: 500 games an ordered pair, 1,000 a pair.

Shares of games won by the first. The thesis' text speaks of 200 games a pair and of budgets up to
5,000 ms; its result files hold 1,000, and the budgets were never applied. Of the tournament with
random determinization only the one asked for 100 ms exists; that with constraint determinization
was asked for 1,000 ms, that with heat maps for 1,000 ms and 10 samples a map.
"""

from evals.battleship.tag_worlds import Kind

NAMES = ("random", "OSLA", "RMHC", "IS-MCTS", "MAST")
GAMES = 1000
"""Of a pair; a player has four pairs."""

PAIRS: dict[Kind, dict[tuple[str, str], float]] = {
    "random": {
        ("IS-MCTS", "RMHC"): 0.463,
        ("IS-MCTS", "OSLA"): 0.460,
        ("IS-MCTS", "MAST"): 0.493,
        ("IS-MCTS", "random"): 0.551,
        ("RMHC", "OSLA"): 0.500,
        ("RMHC", "MAST"): 0.531,
        ("RMHC", "random"): 0.553,
        ("OSLA", "MAST"): 0.526,
        ("OSLA", "random"): 0.564,
        ("MAST", "random"): 0.555,
    },
    "constraint": {
        ("IS-MCTS", "RMHC"): 0.011,
        ("IS-MCTS", "OSLA"): 0.011,
        ("IS-MCTS", "MAST"): 0.484,
        ("IS-MCTS", "random"): 0.953,
        ("RMHC", "OSLA"): 0.474,
        ("RMHC", "MAST"): 0.990,
        ("RMHC", "random"): 1.000,
        ("OSLA", "MAST"): 0.989,
        ("OSLA", "random"): 0.999,
        ("MAST", "random"): 0.959,
    },
    "heat map": {
        ("IS-MCTS", "RMHC"): 0.012,
        ("IS-MCTS", "OSLA"): 0.010,
        ("IS-MCTS", "MAST"): 0.486,
        ("IS-MCTS", "random"): 0.955,
        ("RMHC", "OSLA"): 0.496,
        ("RMHC", "MAST"): 0.991,
        ("RMHC", "random"): 1.000,
        ("OSLA", "MAST"): 0.992,
        ("OSLA", "random"): 0.999,
        ("MAST", "random"): 0.954,
    },
}
"""Determinization -> pair -> share of the first."""

AVERAGES: dict[Kind, dict[str, float]] = {
    "random": {"random": 0.444, "OSLA": 0.533, "RMHC": 0.530, "IS-MCTS": 0.492, "MAST": 0.501},
    "constraint": {"random": 0.022, "OSLA": 0.876, "RMHC": 0.863, "IS-MCTS": 0.365, "MAST": 0.374},
    "heat map": {"random": 0.023, "OSLA": 0.871, "RMHC": 0.869, "IS-MCTS": 0.366, "MAST": 0.371},
}
"""Determinization -> player -> mean over the four others."""

MAP_SAMPLES = 10
"""Fleets in a heat map of the tournament compared."""

LATENCY_OF_MAPS = 1.55
"""Copy latency with heat maps over that with constraints, as the thesis reads it."""
