"""Players at a table: random, greedy on heuristics, tree search, a solver, a person."""
